"""The reference of residuals: the level of each problem, and hints that say how times differ.

A hint is a list of log times of the candidates that need not be right: what an engine predicts, or
what a model of another machine or of another problem expects (the prior). Its values are compressed
as times are, and centred on each problem, for only ratios within a problem count. With h_k the
hints of a candidate, L the level of its problem and r the residual:

    log T = L + sum_k w_k h_k + r,     w_k ~ N(0, SPREAD^2)

The process learns the weights with the residual, as linear terms of its covariance (Rasmussen and
Williams 2006, section 2.7): a hint that proves right is followed, one without information gets
w = 0, one that orders backwards gets a negative w. Before anything is measured w is 0: a hint must
earn its weight, since times that prove it right are soon seen, and those that prove it wrong too.
"""

from dataclasses import dataclass

import numpy as np

from autotune.tuning.search.points import Floats, Indices
from autotune.tuning.search.time_compression import Bend

SPREAD = 0.7
"""Standard deviation of the weight of a hint before anything was measured."""
USUAL = 0.3
"""Standard deviation of log(measured / predicted) of an engine that states none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """The reference of residuals for n candidates.

    ``level``: (n,) log seconds that are subtracted, the same for all candidates of a problem: the
    median of its predictions, zero without any. ``hints``: (k, n), those of this module.
    ``scale``: (n,) the uncertainty of a candidate relative to the others.
    """

    level: Floats
    hints: Floats
    scale: Floats


def basis(predicted: Floats, sigma: Floats, group: Indices, prior: Floats | None = None) -> Basis:
    """The reference of residuals of n candidates.

    ``predicted``: (n,) log seconds that an engine predicts. ``sigma``: (n,) the standard deviations
    that the engine states. ``group``: (n,) the index of each candidate's problem. ``prior``: (n,)
    log seconds that the prior expects. A value that is not known is nan.
    """
    with_prediction = ~np.isnan(predicted)
    level, scale = np.zeros(len(predicted)), np.ones(len(predicted))
    usable = with_prediction & ~np.isnan(sigma)
    if usable.any():
        typical = float(np.clip(np.median(sigma[usable]), 0.1, 0.6))
        scale[usable] = np.clip(sigma[usable] / typical, 0.5, 2.0)
    if with_prediction.any():
        for number in np.unique(group).tolist():
            members = group == number
            some = members & with_prediction
            level[members] = np.median(
                predicted[some] if some.any() else predicted[with_prediction]
            )
            if some.any():
                scale[members & ~with_prediction] = np.hypot(
                    1.0, np.clip(np.std(predicted[some]), 0.2, 1.5)
                )
    given = [hint for hint in (predicted, prior) if hint is not None and not np.isnan(hint).all()]
    hints = np.array([centred(hint, group) for hint in given]).reshape(-1, len(predicted))
    return Basis(level=level, hints=hints, scale=scale)


def centred(hint: Floats, group: Indices) -> Floats:
    """A hint, (n,) log seconds, compressed above the median of each problem and centred on it.

    Zero where it is nan.
    """
    result = np.zeros(len(hint))
    for number in np.unique(group).tolist():
        some = (group == number) & ~np.isnan(hint)
        if some.any():
            values = Bend(knee=float(np.median(hint[some]))).down(hint[some])
            result[some] = values - float(values.mean())
    return result
