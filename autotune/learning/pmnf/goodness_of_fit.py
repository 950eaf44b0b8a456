"""Measures of how well a model in performance model normal form fits, as Extra-P prints them."""

from dataclasses import dataclass

import numpy as np

from autotune.learning.models.base import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodnessOfFit:
    """Errors of predicted values p against measured ones a, as Extra-P 4 defines them.

    ``smape``: 100 mean 2 |p - a| / (|a| + |p|), percent. ``rss``: sum (p - a)^2, in the square of
    the unit. ``rrss``: sum ((p - a) / a)^2. ``re``: mean |p - a| / a, a share. ``ar2``: R^2
    adjusted for the number of terms; 1 for a constant.
    """

    smape: float
    rss: float
    rrss: float
    re: float
    ar2: float


def figures(predicted: Floats, measured: Floats, terms: int) -> GoodnessOfFit:
    """The measures of fit of a model with ``terms`` terms beside the constant."""
    difference = predicted - measured
    rss = float(difference @ difference)
    count = len(measured)
    total = float(np.sum((measured - measured.mean()) ** 2))
    adjusted = 1.0
    if terms and count > terms + 1 and total > 0:
        adjusted = 1 - rss / total * (count - 1) / (count - terms - 1)
    return GoodnessOfFit(
        smape=float(smape(predicted, measured)),
        rss=rss,
        rrss=float(np.sum((difference / measured) ** 2)),
        re=float(np.mean(np.abs(difference) / measured)),
        ar2=adjusted,
    )


def smape(predicted: Floats, measured: Floats) -> Floats:
    """Symmetric mean absolute percentage error over the first axis, percent."""
    sizes = np.abs(measured) + np.abs(predicted)
    return np.asarray(np.mean(200 * np.abs(predicted - measured) / sizes, axis=0))
