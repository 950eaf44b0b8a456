"""Garren's tables as data, and what their points allow."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


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
    assert len(known) == 17
    assert all(line.note for line in known)
    assert sum(line.verdict == "agrees" for line in lines) >= 34


def test_the_three_predictions_of_bt_are_low_by_one_factor(lines):
    ratios = [
        line.printed / line.computed for line in lines if line.what.startswith("time of SIZE 1")
    ]
    assert ratios == pytest.approx([0.935] * 3, abs=0.001)


def test_an_erratum_needs_a_reason(tables):
    with pytest.raises(ValueError, match="an erratum is printed"):
        tables._cell("here", {"printed": 1.0, "corrected": 2.0})
    with pytest.raises(ValueError, match="neither a number nor text"):
        tables._cell("here", None)
