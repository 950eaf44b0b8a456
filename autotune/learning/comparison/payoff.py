"""Payoff: the number of measured rows from which on a learned model beats an analytical one.

The model and the analytical model are scored on the same test rows of the same split, so that the
difficulty of a split cancels. Their difference is the median over the splits for the error rate,
and the mean for a top-k loss, since most top-k losses are exactly 0. Its interval is a percentile
bootstrap over the splits (or over the values left out, where splits leave out values). It shows how
much the verdict depends on the draw of the splits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.learning.comparison.learning_curves import CurveTable, Kind, Trial

RESAMPLES = 2000
FEWEST = 5
"""Splits, for an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much lower the error or loss of a model is than that of another model, as a share.

    A positive gain means that the model is better. ``low`` and ``high`` bound its interval; they
    are None where there are too few splits.
    """

    size: int
    value: float
    low: float | None
    high: float | None
    splits: int

    @property
    def sure(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.low is not None and self.low > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Payoff:
    """The training size from which on a model beats another at all larger sizes too.

    null means that there is no such size.
    """

    model: str
    against: str
    seems: int | None
    """By the gain itself."""
    sure: int | None
    """And with the whole interval above zero there."""
    gains: tuple[Gain, ...]
    """By training size: in the error rate, or in a top-k loss."""


def payoff(curves: CurveTable, model: str, against: str, k: int | None = None) -> Payoff:
    """The payoff of a model against another model, in the error rate or, with ``k``, in the top-k
    loss.
    """
    sizes = curves.split_plan.sizes
    computed = [_gain(curves, model, against, size, k) for size in sizes]
    gains = tuple(gain for gain in computed if gain is not None)
    start = _better_from(gains, sizes)
    later = [g.size for g in gains if start is not None and g.size >= start and g.sure]
    sure = later[0] if later else None
    return Payoff(model=model, against=against, seems=start, sure=sure, gains=gains)


def _better_from(gains: Sequence[Gain], sizes: tuple[int, ...]) -> int | None:
    """The smallest of the sizes at which, and at all larger ones, there is a gain; None where there
    is none.
    """
    reached = None
    if tuple(gain.size for gain in gains) != sizes[-len(gains) :]:
        return None  # no value at the largest sizes
    for gain in reversed(gains):
        if not gain.value > 0:
            break
        reached = gain.size
    return reached


def best_analytical(curves: CurveTable, k: int | None = None) -> str | None:
    """The analytical model with the least error or loss at the largest size; None without one."""
    size = curves.split_plan.sizes[-1]
    values = {}
    for name in curves.of_kind("analytical"):
        point = (
            curves.point(name, size, "error_rate") if k is None else curves.top_loss(name, size, k)
        )
        if point is not None:
            values[name] = point.median if k is None else point.mean
    return min(values, key=lambda name: values[name]) if values else None


def earliest(curves: CurveTable, kind: Kind, k: int | None = None) -> Payoff | None:
    """The payoff of the model of this kind that beats the best analytical model at the smallest
    training size.

    Models are ordered by the size from which their gain is sure, then by the size from which they
    seem better, then by the gain at the largest size. Choosing the best of several models favours
    luck: the smaller its lead, the more. None without a model of the kind and an analytical model.
    """
    rival = best_analytical(curves, k)
    if rival is None:
        return None
    tried = [payoff(curves, model, rival, k) for model in curves.of_kind(kind)]
    never = 2 * curves.split_plan.sizes[-1]
    return min(
        (candidate for candidate in tried if candidate.gains),
        key=lambda candidate: (
            candidate.sure or never,
            candidate.seems or never,
            -candidate.gains[-1].value,
        ),
        default=None,
    )


def _gain(curves: CurveTable, model: str, against: str, size: int, k: int | None) -> Gain | None:
    others = {(t.repeat, t.group): _value(t, k) for t in curves.of(against, size)}
    by_unit: dict[object, list[float]] = {}
    for trial in curves.of(model, size):
        ours, theirs = _value(trial, k), others.get((trial.repeat, trial.group))
        if ours is not None and theirs is not None:
            unit = trial.repeat if trial.group is None else trial.group
            by_unit.setdefault(unit, []).append(theirs - ours)
    if not by_unit:
        return None
    centre = np.median if k is None else np.mean
    differences = np.array([float(centre(values)) for values in by_unit.values()])
    low, high = _interval(differences, curves, k)
    return Gain(
        size=size,
        value=float(centre(differences)),
        low=low,
        high=high,
        splits=len(differences),
    )


def _value(trial: Trial, k: int | None) -> float | None:
    if trial.score is None:
        return None
    return trial.score.error_rate if k is None else trial.score.top_loss.get(k)


def _interval(
    differences: "np.ndarray[tuple[int], np.dtype[np.float64]]", curves: CurveTable, k: int | None
) -> tuple[float | None, float | None]:
    if len(differences) < FEWEST:
        return None, None
    generator = np.random.default_rng([curves.split_plan.seed, len(differences)])
    drawn = differences[generator.integers(len(differences), size=(RESAMPLES, len(differences)))]
    centres = np.median(drawn, axis=1) if k is None else np.mean(drawn, axis=1)
    tail = (1 - curves.level) / 2
    low, high = np.quantile(centres, [tail, 1 - tail])
    return float(low), float(high)
