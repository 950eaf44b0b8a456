"""The reproduction of published numbers: verdicts, data, what comes out."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _importable():
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def rows():
    return importlib.import_module("reproduce_rows")


@pytest.fixture(scope="module")
def thesis(rows):
    (found,) = importlib.import_module("reproduce_kaltenecker").sections()
    return {row.number.id: row for row in found.rows}, found


def number(rows, printed, corrected=""):
    return rows.Number(
        id="x", where="", what="", printed=printed, corrected=corrected, reason="of a slip"
    )


@pytest.mark.parametrize(
    ("printed", "computed", "verdict"),
    [
        ("0.33", 1 / 3, "digits"),
        ("-0.66", -2 / 3, "truncated"),
        ("-0.67", -2 / 3, "digits"),
        ("36.1", 36.16, "truncated"),
        ("36.1", 36.21, "differs"),
        ("20", 20.4, "digits"),
        ("20", 21.0, "differs"),
        ("0122", "0122", "digits"),
        ("0122", "0121", "differs"),
        ("5", None, "not computed"),
    ],
)
def test_verdicts(rows, printed, computed, verdict):
    assert rows.verdict(number(rows, printed), computed) == verdict


def test_an_erratum_is_told_from_a_match(rows):
    wrong = number(rows, "8", corrected="4")
    assert rows.verdict(wrong, 4.0) == "erratum"
    assert rows.verdict(wrong, 8.0) == "digits"
    assert rows.verdict(wrong, 5.0) == "differs"


def test_rounded_inputs_leave_a_range_open(rows):
    printed = number(rows, "0.087")
    assert rows.verdict(printed, rows.Span(0.0796, 0.066, 0.093)) == "inputs"
    assert rows.verdict(printed, rows.Span(0.0796, 0.066, 0.080)) == "differs"


@pytest.mark.parametrize("name", ["kaltenecker-2016", "ibeid-2019", "extra-p", "scherg-2019"])
def test_published_numbers_load(rows, name):
    title, numbers = rows.load(name)
    assert title
    assert len({each.id for each in numbers}) == len(numbers) > 5


@pytest.mark.parametrize(
    "measure",
    ["error-rate", "cosine", "jaccard", "manhattan", "euclidean", "minkowski", "chebyshev"],
)
def test_table_4_1_comes_out_to_every_digit(thesis, measure):
    found, _ = thesis
    assert found[f"example-{measure}"].verdict in ("digits", "truncated")


def test_the_syntactic_example_comes_out(thesis):
    found, _ = thesis
    assert found["score"].computed == pytest.approx(-2 / 3)
    assert found["score"].verdict == "truncated"


def test_designs_benchmarks_and_expansions_come_out(thesis):
    found, _ = thesis
    for place in range(1, 10):
        assert found[f"plackett-burman-{place}"].verdict == "digits"
    for place in range(1, 8):
        assert found[f"inverse-bandwidth-{place}"].verdict in ("digits", "truncated")
    assert [found[f"expansion-{d}"].verdict for d in (1, 2, 3)] == ["digits", "digits", "erratum"]


def test_one_dimensional_rows_come_out_within_the_printed_coefficients(thesis):
    found, _ = thesis
    close = ("digits", "truncated", "inputs")
    names = ("error-rate", "cosine", "jaccard", "manhattan", "euclidean", "minkowski", "chebyshev")
    assert all(found[f"1d-FF-{name}"].verdict in close for name in names)


def test_whatever_does_not_come_out_has_a_reason(thesis):
    _, section = thesis
    assert section.unexplained == ()
    assert len(section.rows) > 300
