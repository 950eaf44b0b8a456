"""The reference of residuals: the predictions, and the offset of a prior from them.

A prior holds the times that a model of another machine, or of another problem, expects for the
candidates. Only its ratios within a problem count. With p its logarithm and b that of the
prediction (0 without one), h = (p - b), centred on each problem, is its contribution, weighted with
a factor w:

    log T = b + w h + r,     w ~ N(TRUST, SPREAD^2)

The process learns w with the residual r, as a linear term of its covariance (Rasmussen and Williams
2006, section 2.7): a prior that proves right is followed, one without information gets w = 0, one
that orders backwards gets a negative w.
"""

from dataclasses import dataclass

import numpy as np

from autotune.tuning.search.points import Floats, Indices

TRUST = 0.7
"""The share of a prior that is believed before anything was measured ..."""
SPREAD = 1.0
"""... and its standard deviation."""
USUAL = 0.3
"""Standard deviation of log(measured / predicted) of an engine that states none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """The reference of residuals for each candidate, (n,) each.

    ``level``: log seconds that are subtracted, zero without a prediction. ``trend``: log
    prediction, centred on each problem. ``scale``: the uncertainty of a candidate relative to the
    others. ``prior_offset``: h of this module, None without a prior. ``typical``: standard
    deviation of the engine's error, None if it states none.
    """

    level: Floats
    trend: Floats
    scale: Floats
    prior_offset: Floats | None
    modelled: bool
    typical: float | None


def basis(predicted: Floats, sigma: Floats, group: Indices, prior: Floats | None = None) -> Basis:
    """The reference of residuals of n candidates.

    ``predicted``: (n,) log seconds that an engine predicts. ``sigma``: (n,) the standard deviations
    that the engine states. ``group``: (n,) the index of each candidate's problem. ``prior``: (n,)
    log seconds that the prior expects. A value that is not known is nan.
    """
    with_prediction = ~np.isnan(predicted)
    modelled = bool(with_prediction.any())
    stated = sigma[~np.isnan(sigma) & with_prediction]
    typical = float(np.clip(np.median(stated), 0.1, 0.6)) if stated.size else None
    usual = USUAL if typical is None else typical
    level, trend, scale = (np.full(len(predicted), x) for x in (0.0, 0.0, 1.0))
    if modelled:
        usable = with_prediction & ~np.isnan(sigma)
        scale[usable] = np.clip(sigma[usable] / usual, 0.5, 2.0)
    for number in np.unique(group).tolist():
        members = group == number
        some = members & with_prediction
        centre = predicted[some] if some.any() else predicted[with_prediction]
        middle = float(np.median(centre)) if centre.size else 0.0
        level[members] = np.where(with_prediction[members], predicted[members], middle)
        if some.any():
            trend[some] = predicted[some] - float(np.mean(centre))
            spread = float(np.clip(np.std(centre), 0.2, 1.5))
            scale[members & ~with_prediction] = np.hypot(1.0, spread / usual)
    from_prior = (
        None if prior is None or np.isnan(prior).all() else _prior_offset(prior - level, group)
    )
    if from_prior is not None:
        level = level + TRUST * from_prior
    return Basis(
        level=level,
        trend=trend,
        scale=scale,
        prior_offset=from_prior,
        modelled=modelled,
        typical=typical,
    )


def _prior_offset(beside: Floats, group: Indices) -> Floats:
    """The offset of a prior from the prediction, centred on each problem; zero where it is
    unknown.
    """
    shifts = np.zeros(len(beside))
    for number in np.unique(group).tolist():
        some = (group == number) & ~np.isnan(beside)
        if some.any():
            shifts[some] = beside[some] - float(np.mean(beside[some]))
    return shifts
