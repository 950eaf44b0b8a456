"""The figure of learning curves: what is drawn, and with which words."""

from xml.etree import ElementTree

import pytest

from autotune.commands.learn.compare.figure import svg
from autotune.learning.comparison.learning_curves import CurveTable, ModelScore, Trial
from autotune.learning.comparison.splits import SplitPlan


def score(error: float | None) -> ModelScore:
    return ModelScore(
        rows=8,
        answered=1.0,
        error_rate=error,
        mdape=error,
        tau_b=0.5,
        top_loss={1: 0.2, 3: 0.1},
        coverage=0.9,
        half_width=0.1,
    )


def curves(*, failed: bool = False, floor: bool = False) -> CurveTable:
    """An engine and a learned model on 8 and 16 rows; ``failed``: the learned model never fits."""
    trials = [
        Trial(
            model=model,
            size=size,
            repeat=repeat,
            group=None,
            score=None if failed and model == "pool" else score(1.0 / size + 0.01 * repeat),
            failure="no fit" if failed and model == "pool" else "",
        )
        for model in ("analytical", "pool")
        for size in (8, 16)
        for repeat in range(3)
    ]
    return CurveTable(
        models=("analytical", "pool"),
        kinds=("analytical", "learned"),
        split_plan=SplitPlan(sizes=(8, 16), repeats=3),
        trials=tuple(trials),
        tops=(1, 3),
        floor=(score(0.02),) if floor else (),
        planned=12,
    )


@pytest.mark.parametrize("failed", [False, True])
def test_both_panels_have_their_titles_and_every_model_its_name(failed: bool) -> None:
    drawn = svg(curves(failed=failed), "Models of <runs> & more")
    ElementTree.fromstring(drawn)
    for words in ("error rate (MAPE)", "loss, mean", "rows learned from", "analytical", "pool"):
        assert words in drawn
    assert "Models of &lt;runs&gt; &amp; more" in drawn


def test_a_second_measurement_is_a_line_of_its_own() -> None:
    assert "measured again" in svg(curves(floor=True), "runs")
    assert "measured again" not in svg(curves(), "runs")
