"""Measured candidates as data for a fit, and scores of predictions for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.variant import Candidate
from autotune.models.refinement.posterior_fit import Floats, RefinementData
from autotune.statistics import estimators, rank_correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCandidate:
    """A measured candidate: its seconds per step, and their uncertainty."""

    candidate: Candidate
    seconds: float
    noise: float
    """Relative standard deviation of the seconds, between launches if there are several."""

    @property
    def problem(self) -> str:
        """The label of the problem; candidates of one problem are ranked against one another."""
        return self.candidate.problem.label

    @property
    def kernel(self) -> str:
        """The name of the kernel without the problem size; all rows of a kernel are left out
        together.
        """
        return self.candidate.problem.name


def data(rows: Sequence[MeasuredCandidate]) -> RefinementData:
    """The rows in the form that a fit takes."""
    return RefinementData(
        logs=np.log([row.seconds for row in rows]),
        noise=np.array([row.noise for row in rows]),
        groups=tuple(row.kernel for row in rows),
    )


# --- scoring --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionScore:
    """How well predictions agree with measured times: means over problems, each problem counted
    once.
    """

    rows: int
    problems: int
    deviation: float
    """Median of the absolute deviations (predicted - measured) / measured, over all rows."""
    tau: float | None
    """Kendall's tau-b."""
    pairs: float | None
    """Share of the pairs measured more than 5 % apart that are in the right order."""
    losses: Mapping[int, float]
    """k to the mean loss of the best of the predicted top k."""


TOPS = (1, 3)


def score(rows: Sequence[MeasuredCandidate], predicted: Floats) -> PredictionScore:
    """The score of predicted seconds, one per row. Raises ValueError for no rows."""
    if not rows:
        raise ValueError("nothing to score on")
    times = np.array([row.seconds for row in rows])
    by_problem = list(_problems(rows))
    taus = [rank_correlation.kendall(predicted[k], times[k]) for k in by_problem]
    pairs = [estimators.ordered_pairs(predicted[k], times[k]) for k in by_problem]
    losses = {
        top: float(
            np.mean(
                [rank_correlation.top_loss(predicted[k], times[k], top) or 0.0 for k in by_problem]
            )
        )
        for top in TOPS
    }
    return PredictionScore(
        rows=len(rows),
        problems=len(by_problem),
        deviation=float(np.median(np.abs(predicted / times - 1))),
        tau=_mean(taus),
        pairs=_mean(pairs),
        losses=losses,
    )


def _problems(
    rows: Sequence[MeasuredCandidate],
) -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The positions of the rows of each problem, one problem after another."""
    names = np.array([row.problem for row in rows])
    for name in dict.fromkeys(names.tolist()):
        yield np.flatnonzero(names == name)


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return float(np.mean(numbers)) if numbers else None
