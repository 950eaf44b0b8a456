"""How well models predict a study, as it is said in words."""

from autotune.commands.learn.compare import text
from autotune.learning.comparison.learning_curves import CurveTable
from autotune.learning.comparison.model_evaluation import EvaluatedStudy, ModelEvaluation
from autotune.learning.comparison.splits import SplitPlan


def evaluation(*problems: str, notes: tuple[str, ...] = ()) -> ModelEvaluation:
    """Of a study without any trial."""
    study = EvaluatedStudy(
        name="quick", rows=40, random=25, engines=("reuse",), parameters=("order", "pad"),
        problems=problems,
    )  # fmt: skip
    curve = CurveTable(models=(), kinds=(), split_plan=SplitPlan(sizes=(5,), repeats=1), trials=())
    return ModelEvaluation(study=study, curve=curve, notes=notes)


def test_the_head_says_what_was_measured_and_what_was_scored_on() -> None:
    head = text.evaluation(evaluation("heat2d-256")).splitlines()[0]
    assert head == "study quick: 40 measured candidates, scored on those measured at random (25)"


def test_of_several_problems_the_best_are_those_within_each() -> None:
    head = text.evaluation(evaluation("heat2d-256", "heat2d-512")).splitlines()[0]
    assert head.endswith(", best candidates within each of heat2d-256, heat2d-512")


def test_notes_come_last() -> None:
    lines = text.evaluation(evaluation("p", notes=("few rows", "one engine"))).splitlines()
    assert lines[-2:] == ["note: few rows", "note: one engine"]
