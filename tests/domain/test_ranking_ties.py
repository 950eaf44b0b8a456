"""Equal predictions are ordered by their work in the core, then by identity."""

from stencil_samples import candidate, problem

from autotune.domain.ranking import rank
from autotune.domain.results import Part, Prediction


def prediction(seconds: float, core: float) -> Prediction:
    return Prediction(
        seconds=seconds,
        interval=None,
        parts=(
            Part(sweep="s", kind="T_OL", seconds=core),
            Part(sweep="s", kind="MEM", seconds=seconds),
        ),
        engine="kerncraft",
        reason="",
    )


def test_of_two_that_saturate_the_memory_the_one_with_less_work_comes_first() -> None:
    grid = problem(40, 40, 40)
    asked = [candidate(grid, j=j) for j in (4, 8, 16)]
    for order in (asked, asked[::-1]):
        work = {c.identity: core for c, core in zip(asked, (3.0, 1.0, 2.0), strict=True)}
        made = [prediction(10.0, work[c.identity]) for c in order]
        (ranking,) = rank(order, made)
        assert [e.candidate.variant.parameters["j"] for e in ranking.entries] == [8, 16, 4]


def test_time_comes_before_work() -> None:
    grid = problem(40, 40, 40)
    asked = [candidate(grid, j=4), candidate(grid, j=8)]
    (ranking,) = rank(asked, [prediction(9.0, 5.0), prediction(10.0, 1.0)])
    assert ranking.entries[0].candidate is asked[0]
