"""The page of a comparison: ends of intervals keep their digits, cautions stand on the card."""

import pytest

from autotune.domain.metric import TIME
from autotune.results.comparison import comparison_page, side_words
from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    RatioRange,
    SideComparison,
    SideFacts,
    SideWinner,
    faster,
)

CAUTION = "the sources of the program, or what its file says, differ"


def compared(ratio: RatioRange, *cautions: str) -> SideComparison:
    winners = tuple(
        SideWinner(
            side=side, candidate="block8", settings={"block": 8}, cost=1.0, interval=None,
            measured=True, contenders=1, speedup=None, prediction=None,
        )
        for side in ("old", "new")
    )  # fmt: skip
    pair = PairVerdict(
        first="old", second="new", ratio=ratio, faster=faster(ratio), basis="Launched in turn.",
        winner="same", cautions=cautions,
    )  # fmt: skip
    problem = ComparedProblem(label="sum", objective=TIME, winners=winners, pairs=(pair,))
    sides = tuple(
        SideFacts(name=n, kind="study", words=n, machine="m", compilers="gcc")
        for n in ("old", "new")
    )
    return SideComparison(sides=sides, problems=(problem,))


@pytest.mark.parametrize(
    ("ratio", "name", "number", "span"),
    [
        (RatioRange(value=1.14, low=1.003, high=1.29), "new", "1.14x", "1.003 to 1.29"),
        (RatioRange(value=1.1, low=1.03, high=1.17), "new", "1.10x", "1.03 to 1.17"),
        (RatioRange(value=1 / 1.14, low=1 / 1.29, high=1 / 1.004), "old", "1.14x", "1.004 to 1.29"),
    ],
)
def test_no_interval_of_a_proven_gain_is_printed_as_holding_1(ratio, name, number, span):
    comparison = compared(ratio)
    (decision,) = comparison_page.page(comparison).decisions
    assert decision.state == "decided"
    assert decision.verdict.startswith(f"{name} is {number} ({span}) faster")
    (shown,) = decision.numbers
    assert (shown.value, shown.span) == (number, span)
    assert decision.verdict in side_words.text(comparison)


def test_what_differs_beside_the_code_is_on_the_card():
    ratio = RatioRange(value=1.2, low=1.1, high=1.3)
    (decision,) = comparison_page.page(compared(ratio, CAUTION)).decisions
    assert decision.advice == f"Caution: {CAUTION}. The winner is the same: block8."
