"""The benchmark of the published tables: its figures from planted predictions."""

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


@pytest.fixture(scope="module")
def icpe19():
    path = Path(__file__).parents[3] / "benchmarks" / "icpe19.py"
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
