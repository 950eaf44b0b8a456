"""Garren's tables as data, and what their points allow."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def _module(name: str):
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables():
    return _module("garren_tables")


@pytest.fixture(scope="module")
def lines(tables):
    _module("garren_lines")
    return _module("reproduce_garren").compared()


def test_every_table_is_there_with_its_rows(tables):
    rows = {name: len(tables.read(name).rows) for name in tables.names()}
    numbers = (1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    counts = (6, 6, 6, 22, 6, 15, 3, 6, 15, 5, 18)
    assert rows == {f"garren-table4-{k}": count for k, count in zip(numbers, counts, strict=True)}
    for name in rows:
        assert "Garren" in tables.read(name).source


def test_times_and_sizes_have_units(tables):
    for k in (8, 9, 10, 11, 12, 13):
        columns = tables.read(f"garren-table4-{k}").columns
        assert columns["size"]["unit"]
        assert all(columns[n]["unit"] == "s" for n in ("time", "predicted") if n in columns)


def test_errata_are_marked(tables):
    cell = tables.read("garren-table4-2").rows[0]["e_mape"]
    assert (cell.printed, cell.value, cell.suspect) == (7.74, 7.47, False)
    assert all(row["predicted"].suspect for row in tables.read("garren-table4-10").rows)
    corrected = tables.read("garren-table4-14").rows[12]["condition"]
    assert corrected.value == "P1=1, J=2"


def test_what_can_be_computed_is_what_is_printed(lines):
    differing = [line.what for line in lines if line.verdict == "differs" and line.expected]
    assert not differing
    known = [line for line in lines if line.verdict == "differs"]
    places = [line.where for line in known]
    assert {place: places.count(place) for place in places} == {
        "table 1.1": 1, "table 4.12": 12, "table 4.13": 1,
    }  # fmt: skip
    assert all(line.note for line in known)
    assert sum(line.verdict == "agrees" for line in lines) >= 50


def test_a_wrong_number_is_an_erratum_where_the_corrected_one_comes_out(lines):
    found = {line.what: (line.printed, line.corrected) for line in lines if line.corrected}
    assert found == {"E(MAPE) BT, %": (7.74, 7.47), "BT, 2^6.50, s": (101, 91)}
    assert all(line.verdict == "erratum" for line in lines if line.corrected)


def test_the_forecasts_of_bt_are_those_of_the_printed_equation_at_2048(lines):
    """By hand: 2^(-13.36 - 0.95*11 + 2.92 log2 SIZE)."""
    found = {line.printed: line for line in lines if line.where == "table 4.10"}
    for size, printed in ((1518, 132.37), (1380, 100.21), (1242, 73.67)):
        by_hand = 2.0**-13.36 * 2048**-0.95 * size**2.92
        assert found[printed].computed == pytest.approx(by_hand)
        assert found[printed].verdict == "agrees"
        assert abs(2.0**-13.36 * 1936**-0.95 * size**2.92 / printed - 1) > 0.05


@pytest.mark.parametrize(
    ("printed", "computed", "verdict"),
    [
        (12.93, 12.9356, "truncated"), (12.94, 12.9356, "agrees"), (-0.66, -0.6666, "truncated"),
        (-0.67, -0.6622, "differs"), (12.92, 12.9356, "differs"), (7.74, 7.4712, "erratum"),
    ],
)  # fmt: skip
def test_verdicts(lines, printed, computed, verdict):
    line = sys.modules["garren_lines"].Line(
        where="", what="", printed=printed, computed=computed, corrected=7.47
    )
    assert line.verdict == verdict


def test_an_erratum_needs_a_reason(tables):
    with pytest.raises(ValueError, match="an erratum is printed"):
        tables._cell("here", {"printed": 1.0, "corrected": 2.0})
    with pytest.raises(ValueError, match="neither a number nor text"):
        tables._cell("here", None)
