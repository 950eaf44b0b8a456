"""The benchmark of the published tables: its figures from planted predictions."""

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

from autotune.domain.results import Part, Prediction
from autotune.files.config import reference
from autotune.results.evaluate.published_comparison import (
    ColumnScore,
    CommunicationGroup,
    PublishedComparison,
    RowPrediction,
    VariantDifference,
)

TABLES = [f"icpe19-table{k}" for k in range(2, 7)]


BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def _importable():
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def icpe19():
    path = BENCHMARKS / "icpe19.py"
    spec = importlib.util.spec_from_file_location("icpe19_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def planted(name: str, factor: float) -> PublishedComparison:
    """A table whose predicted differences are those of the paper times a factor."""
    found = reference(name)
    groups = []
    for group in found.groups:
        rule = group.row(found.rule)
        base = rule.predicted.value if rule else 0.0
        gaps = [
            VariantDifference(
                variant=row.variant,
                predicted=factor * (row.predicted.value - base),
                published=row.predicted.value - base,
                measured=0.0,
                suspect=row.predicted.suspect,
            )
            for row in group.rows
            if row is not rule
        ]
        score = ColumnScore(deviation=0.1, tau=0.5, losses=(0.02, 0.01))
        groups.append(
            CommunicationGroup(
                published=group,
                rows=tuple(_row(row) for row in group.rows),
                fitted=group.communication == "sparse",
                predicted=score,
                theirs=score,
                rule=0.03,
                differences=tuple(gaps),
            )
        )
    return PublishedComparison(
        reference=found,
        engine="kerncraft",
        problem=None,
        groups=tuple(groups),
        predicted=None,
        theirs=None,
        rule=None,
    )


def _row(row) -> RowPrediction:
    parts = (Part(sweep="comm", kind="communication", seconds=0.25),)
    prediction = Prediction(
        seconds=0.55, interval=None, parts=parts, engine="kerncraft", reason="planted"
    )
    return RowPrediction(published=row, candidate=None, prediction=prediction)


def test_the_common_differences_are_those_that_the_paper_s_tables_share(icpe19):
    tables = [planted(name, 1.0) for name in TABLES]
    common = {v: icpe19.common(tables, v) for v in ("ijl", "ilj", "lij", "lji")}
    expected = {"ijl": 0.155, "ilj": 0.229, "lij": 0.229, "lji": 0.079}
    assert common == pytest.approx(expected, abs=0.001)


def test_differences_are_counted_against_the_goal(icpe19):
    text = icpe19.differences([planted(name, 1.2) for name in TABLES[:1]])
    assert "of 8 within 10% of the paper's common figure" in text
    assert "0 of 8" in text


def test_shares_give_the_time_of_a_node(icpe19):
    lines = icpe19.shares(planted("icpe19-figures12-13", 1.0)).splitlines()
    node = next(line for line in lines if "allgather, node" in line)
    assert " ".join(node.split()).endswith("300.0 ms 0.3 s 0.35 s +0.0 %")


def test_fitted_groups_are_in_no_summary(icpe19):
    text = icpe19.scores([planted(name, 1.0) for name in TABLES])
    assert "over 8 groups" in text
    assert "medakzo sparse (fitted)" in text


# --- claims about figures ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def figures():
    return importlib.import_module("icpe19_figures")


NODE = {"jil": 0.14, "jli": 0.141, "lji": 0.21, "ijl": 0.30, "lij": 0.35, "ilj": 0.36}
"""Seconds of a node by order, at N = 5984 on 8 nodes."""


def curves(communication, nodes=8, **node):
    """Times over the sizes that are proportional to n and to the inverse number of nodes."""
    return {
        size: {
            order: (seconds * 8 / nodes + communication) * (size / 5984) ** 2
            for order, seconds in (NODE | node).items()
        }
        for size in (4800, 5984, 6000)
    }


def verdicts(figures, **node):
    _, numbers = importlib.import_module("reproduce_rows").load("scherg-2019")
    by_figure = {
        "4": curves(1.27, **node), "7": curves(0.05, **node), "10": curves(0.05, 4, **node)
    }  # fmt: skip
    outcomes = figures.judged(by_figure, {number.id: number.printed for number in numbers})
    reasons = {number.id for number in numbers if number.irreproducible}
    claimed = {number.id for number in numbers if not number.id.startswith("figure3")}
    assert claimed == set(outcomes) | reasons
    return {name: outcome.verdict for name, outcome in outcomes.items()}


def test_predictions_as_the_paper_describes_them_hold(figures):
    found = verdicts(figures)
    off = {name: verdict for name, verdict in found.items() if verdict != "holds"}
    assert off == {
        "figure4-deviation": "within rounding",
        "figure4-deviation-ilj": "within rounding",
        "figure10-ratio": "within rounding",
    }


def test_two_equal_first_orders_are_a_tie(figures):
    found = verdicts(figures, jli=NODE["jil"])
    assert found["figure4-first"] == "tied"
    assert found["figure14-close"] == "holds"


def test_claims_that_predictions_contradict_do_not_hold(figures):
    found = verdicts(figures, lji=0.1, ilj=0.2)
    wrong = {name for name, verdict in found.items() if verdict == "does not hold"}
    assert wrong == {"figure4-first", "figure4-last", "figure14-close"}


def test_a_changing_order_is_shown_by_size(figures):
    times = {4800: {"jil": 0.1, "jli": 0.1}, 6000: {"jil": 0.3, "jli": 0.2}}
    assert figures.shape(times).startswith("jil = jli at N = 4800; jli < jil at N = 6000; ")


def test_figures_without_claims_are_refused(figures):
    assert figures.figures("4,14") == ["4", "14"]
    with pytest.raises(ValueError, match="expected some of 4, 7, 10, 14"):
        figures.figures("5")
