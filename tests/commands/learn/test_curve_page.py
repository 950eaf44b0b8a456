"""The page of compared models: which model for what, how sure that is, and all scores."""

import pytest

from autotune.commands.learn.compare.curve_page import page
from autotune.learning.comparison.learning_curves import CurveTable, ModelScore, Trial
from autotune.learning.comparison.splits import SplitPlan
from autotune.results.page import frame
from autotune.results.page.frame import Drawing

ERRORS = {"analytical": 0.3, "pool": 0.1}


def score(error: float) -> ModelScore:
    return ModelScore(
        rows=8, answered=1.0, error_rate=error, mdape=error, tau_b=0.5, top_loss={1: 0.2, 3: error},
        coverage=0.9, half_width=0.1,
    )  # fmt: skip


def curves(*, repeats: int = 6, swing: float = 0.0, fitted: bool = True) -> CurveTable:
    """An engine and a learned model; ``swing``: by how much they take turns in being better."""
    trials = [
        Trial(
            model=model, size=size, repeat=repeat, group=None,
            score=score(error + (swing if (repeat % 2) == (model == "pool") else 0.0))
            if fitted else None,
            failure="" if fitted else "no fit",
        )
        for model, error in ERRORS.items()
        for size in (8, 16)
        for repeat in range(repeats)
    ]  # fmt: skip
    return CurveTable(
        models=tuple(ERRORS),
        kinds=("analytical", "learned"),
        split_plan=SplitPlan(sizes=(8, 16), repeats=repeats),
        trials=tuple(trials),
        tops=(1, 3),
        planned=len(trials),
    )


def made(table: CurveTable) -> frame.Page:
    return page(table, "Models of <runs>", "the tables", Drawing("<svg></svg>"))


def test_a_sure_lead_is_a_decision() -> None:
    predict, choose = made(curves()).decisions
    assert (predict.verdict, predict.state) == ("Use pool", "decided")
    assert [number.value for number in predict.numbers] == ["10.0 %", "30.0 %"]
    assert "by 20.0 points" in predict.sure
    assert choose.numbers[0].words == "top-3 loss of pool"


@pytest.mark.parametrize("table", [curves(swing=0.9), curves(repeats=2)])
def test_turns_and_few_splits_are_no_decision(table: CurveTable) -> None:
    predict = made(table).decisions[0]
    assert predict.state == "open"
    assert predict.verdict.startswith("No decision between ")


def test_without_a_score_nothing_is_decided_and_the_reason_is_on_the_page() -> None:
    whole = made(curves(fitted=False))
    assert {decision.state for decision in whole.decisions} == {"failed"}
    assert "pool was not fitted to 8, 16 rows: no fit" in frame.render(whole)


def test_every_model_has_a_row_for_every_size() -> None:
    whole = made(curves())
    listing = whole.sections[1].cards[0].blocks[0]
    assert [[c.text for c in row.cells[:4]] for row in listing.rows][2:] == [
        ["pool", "learned", "8", "10.0 %"],
        ["pool", "learned", "16", "10.0 %"],
    ]
    text = frame.render(whole)
    assert "Models of &lt;runs&gt;" in text
    assert text.count("<svg></svg>") == 1
