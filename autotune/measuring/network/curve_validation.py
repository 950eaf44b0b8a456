"""Cross-validation of cost curves: errors on samples that were held out of the fit.

Each fold leaves out one repeat *and* one octave of sizes, because the neighbours of a size, and the
other samples of its launch, would reveal its value. The same folds choose the number of pieces
(four at most), so the error reported for the chosen curve is slightly too small.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from autotune.measuring.network import piecewise_regression
from autotune.measuring.network.outliers import SamplePoints
from autotune.measuring.network.piecewise_regression import Floats, LinearPiece

MOST = 4
"""Largest number of pieces that is tried."""
_PLAIN = 0
_WORTH = 0.1
"""Relative reduction of the mean error that an additional piece must bring."""
_MOST_ERROR = 1.0
"""Largest error that a fold may contribute, so that none decides alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationErrors:
    """The relative errors abs(fitted / measured - 1) on samples that were held out of the fit."""

    median: float
    p90: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveValidation:
    """Cross-validated errors by number of pieces; empty where there are too few samples to leave
    some out.
    """

    errors: Mapping[int, ValidationErrors] = field(default_factory=dict)
    """Scored without outliers."""
    disturbed: Mapping[int, ValidationErrors] = field(default_factory=dict)
    """Errors scored with outliers."""
    plain: ValidationErrors | None = None
    """Errors of one ordinary least squares line, scored without outliers."""
    floor: ValidationErrors | None = None
    """Errors of the other repeats' median at the same size, for each repeat: the smallest error
    that a fit can reach."""
    chosen: int = 1
    """The number of pieces that these folds choose."""


def level(points: SamplePoints) -> LinearPiece:
    """The constant with the smallest squared relative error, for operations without a size."""
    value = float(np.sum(1 / points.y) / np.sum(1 / points.y**2))
    return LinearPiece(first=0.0, last=0.0, intercept=value, slope=0.0, free_slope=0.0)


def octaves(x: Floats) -> npt.NDArray[np.intp]:
    """The number of the octave of each size; an octave holds the sizes from 2^k up to 2^(k+1)."""
    return np.floor(np.log2(np.maximum(x, 1.0)) + 1e-9).astype(np.intp)


def _fewest_pieces(folds: Mapping[int, Sequence[float]]) -> int:
    """The smallest number of pieces whose error exceeds the least error by no more than its
    standard error.

    ``folds``: number of pieces to the mean error of each octave left out. The standard error is
    that of the differences between two fits over the same folds (Breiman et al. 1984, section
    3.4.3, paired).
    """
    means = {count: float(np.mean(errors)) for count, errors in folds.items()}
    best = min(means, key=lambda count: (means[count], count))
    for count in sorted(means):
        apart = np.array(folds[count]) - np.array(folds[best])
        spread = float(np.std(apart, ddof=1)) if len(apart) > 1 else 0.0
        standard = spread / np.sqrt(len(apart))
        if np.mean(apart) <= max(standard, _WORTH * means[best]):
            return count
    return best


def validated(points: SamplePoints, far: npt.NDArray[np.bool_]) -> CurveValidation:
    """The cross-validated errors of 1 to MOST pieces and of a plain line; empty for too few sizes.

    ``far``: True for outliers, which are left out of all fits. An octave of outliers only is not
    scored.
    """
    octave = octaves(points.x)
    if len(np.unique(octave)) < 3:
        return CurveValidation()
    several = len(np.unique(points.repeat)) > 1
    inner: dict[int, list[Floats]] = {}
    whole: dict[int, list[Floats]] = {}
    folds: dict[int, list[float]] = {}
    for left_out in np.unique(octave):
        begun = {count: len(parts) for count, parts in inner.items()}
        for repeat in np.unique(points.repeat):
            test = (octave == left_out) & (points.repeat == repeat)
            train = ~far & (octave != left_out) & ((points.repeat != repeat) | (not several))
            if not test.any() or len(np.unique(points.x[train])) < 2:
                continue
            models = _models(points.only(train))
            for score, members in ((inner, test & ~far), (whole, test)):
                if not members.any():
                    continue
                x, y = medians(points.only(members))
                for count, model in models.items():
                    score.setdefault(count, []).append(np.abs(model(x) / y - 1))
        for count, parts in inner.items():
            if count != _PLAIN and len(parts) > begun.get(count, 0):
                fold = np.concatenate(parts[begun.get(count, 0) :])
                folds.setdefault(count, []).append(float(np.minimum(fold, _MOST_ERROR).mean()))
    plain = inner.pop(_PLAIN, [])
    return CurveValidation(
        errors={count: _errors(parts) for count, parts in inner.items()},
        disturbed={count: _errors(parts) for count, parts in whole.items() if count != _PLAIN},
        plain=_errors(plain) if plain else None,
        floor=_floor(points.only(~far)),
        chosen=_fewest_pieces(folds) if folds else 1,
    )


def _floor(points: SamplePoints) -> ValidationErrors | None:
    parts = []
    for repeat in np.unique(points.repeat):
        repetition, others = (
            points.only(points.repeat == repeat),
            points.only(points.repeat != repeat),
        )
        if len(others.x):
            expected = dict(zip(*medians(others), strict=True))
            floors = [
                y / expected[x] - 1
                for x, y in zip(*medians(repetition), strict=True)
                if x in expected
            ]
            parts += [np.abs(np.array(floors))] if floors else []
    return _errors(parts) if parts else None


def _models(training: SamplePoints) -> dict[int, Callable[[Floats], Floats]]:
    """Number of pieces to the fit with that many pieces; _PLAIN: one line by absolute error."""
    fits = piecewise_regression.pieces(training.x, training.y, MOST)
    models: dict[int, Callable[[Floats], Floats]] = {
        count: functools.partial(piecewise_regression.evaluate, fits[min(count, len(fits)) - 1])
        for count in range(1, MOST + 1)
    }
    intercept, slope = piecewise_regression.plain_line(training.x, training.y)
    return models | {_PLAIN: lambda x: intercept + slope * x}


def level_errors(points: SamplePoints, far: npt.NDArray[np.bool_]) -> CurveValidation:
    """The errors of a constant fitted to the other repeats; empty for a single repeat."""
    inner: list[Floats] = []
    whole: list[Floats] = []
    for repeat in np.unique(points.repeat):
        training = points.only(~far & (points.repeat != repeat))
        if not len(training.x):
            continue
        value = level(training).intercept
        for score, members in ((inner, ~far), (whole, np.ones_like(far))):
            y = points.y[members & (points.repeat == repeat)]
            if len(y):
                score.append(np.abs(np.array([value / np.median(y) - 1])))
    return CurveValidation(
        errors={1: _errors(inner)} if inner else {}, disturbed={1: _errors(whole)} if whole else {}
    )


def medians(points: SamplePoints) -> tuple[Floats, Floats]:
    """The sizes, and the median of the samples at each size."""
    sizes = np.unique(points.x)
    return sizes, np.array([np.median(points.y[points.x == x]) for x in sizes])


def _errors(parts: Sequence[Floats]) -> ValidationErrors:
    values = np.concatenate(parts)
    return ValidationErrors(
        median=float(np.median(values)), p90=float(np.quantile(values, 0.9)), count=len(values)
    )
