"""Refines the constants of a calibration by the measurements of a study, and scores them on other
kernels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from autotune.domain.calibration import Z80, Calibration
from autotune.domain.machine import Machine
from autotune.models.refinement.measured_rows import MeasuredCandidate, PredictionScore, data, score
from autotune.models.refinement.posterior_fit import Floats, Mask, Model, ShiftPosterior, fit
from autotune.models.refinement.shifting_constants import (
    ShiftingConstant,
    limited_shifts,
    prior,
    shiftable_constants,
    shifted,
)

Predict = Callable[[Calibration, float], Floats]
"""Calibration, and a factor on all in-core times, to the predicted seconds of each row."""
Watch = Callable[[int, int, str], None]
"""Called with the number of finished fits, of all fits, and the name of the next."""

LEAST_ROWS = 8
"""Smallest number of measured candidates from which a dozen constants can be refined."""
_NUDGE = 0.05
_BETTER, _WORSE = 0.005, 0.01
"""Absolute differences of a score below these are no difference."""
Verdict = Literal["better", "same", "worse", "unscored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantChange:
    """A constant before and after the refinement, each with its 80 % interval."""

    figure: ShiftingConstant
    before: tuple[float, float, float]
    """Value, low, high."""
    after: tuple[float, float, float]
    """Equal to ``before`` where the study has no information on it."""
    informed: bool
    variance: float
    """Variance of the posterior over that of the prior; 1 without information."""
    moved: int
    """Number of predictions that this change alone moves by more than half a per cent."""
    effect: float
    """The largest relative change of a prediction, with its sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """The scores of rows that the fit did not use, before and after the refinement."""

    name: str
    before: PredictionScore
    after: PredictionScore


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTimeFactor:
    """The factor on all in-core times that fits the residuals best: a diagnosis, never applied."""

    factor: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """The refinement of a calibration by a study, with its scores; creating it stores nothing."""

    study: str
    calibration: Calibration
    """The refined calibration."""
    changes: tuple[ConstantChange, ...]
    error: float
    """Relative error of the model beyond the noise of the samples, estimated."""
    inside: CrossValidation
    """Scores on the study itself, which flatter the fit."""
    outside: tuple[CrossValidation, ...]
    """Scores on each part that was left out in turn, or on the second study."""
    total: CrossValidation | None
    """Scores on all left-out parts together; None where nothing could be left out."""
    basis: str
    """In words, what was left out."""
    core: CoreTimeFactor | None
    kernels: Mapping[str, float]
    """Kernel to the median of measured over predicted time, after the refinement."""
    verdict: Verdict
    reasons: tuple[str, ...]
    """The grounds of the verdict, in words."""


@dataclass(slots=True)
class _Model:
    """The model as a function of shifts that gives logarithms of seconds; each point is evaluated
    once.
    """

    calibration: Calibration
    figures: tuple[ShiftingConstant, ...]
    predict: Predict
    evaluated: dict[bytes, Floats] = field(default_factory=dict)

    def __call__(self, shifts: Floats) -> Floats:
        key = shifts.tobytes()
        if key not in self.evaluated:
            changed = shifted(self.calibration, self.figures, shifts.tolist())
            self.evaluated[key] = np.log(self.predict(changed, 1.0))
        return self.evaluated[key]

    def of(self, selected: Mask) -> Model:
        """The same function, restricted to the rows ``selected``."""
        return lambda shifts: self(shifts)[selected]


def _unwatched(done: int, total: int, what: str) -> None:
    """A progress callback that does nothing."""


def refine(
    study: str,
    machine: Machine,
    rows: Sequence[MeasuredCandidate],
    others: Sequence[MeasuredCandidate],
    predict: Predict,
    watch: Watch = _unwatched,
) -> Refinement:
    """The posterior of the calibration of ``machine`` given the rows of a study.

    ``others`` are rows of another study to score on. Without any, each kernel of the study is left
    out in turn (each problem, where there is only one kernel). ``predict`` gives the seconds of the
    rows, then of the others. Raises ValueError for fewer than ``LEAST_ROWS`` rows.
    """
    if len(rows) < LEAST_ROWS:
        raise ValueError(f"{len(rows)} measured candidates, at least {LEAST_ROWS} are needed")
    calibration = machine.calibration
    assert calibration is not None
    model = _Model(calibration, shiftable_constants(machine), predict)
    from_study = np.arange(len(rows) + len(others)) < len(rows)
    basis, folds = _folds(rows, others)
    watch(0, 1 + len(folds), "all kernels")
    posterior = _fit(model, rows, from_study)
    outside, total = _left_out(model, posterior, rows, others, folds, watch)
    watch(1 + len(folds), 1 + len(folds), "done")
    before, after = (
        np.exp(model(0 * posterior.shift))[from_study],
        np.exp(model(posterior.shift))[from_study],
    )
    verdict, reasons = _verdict(total)
    changes = tuple(_changes(model, posterior, from_study))
    return Refinement(
        study=study,
        calibration=_refined(
            shifted(calibration, model.figures, posterior.shift.tolist()), changes
        ),
        changes=changes,
        error=posterior.error,
        inside=CrossValidation(name=study, before=score(rows, before), after=score(rows, after)),
        outside=outside,
        total=total,
        basis=basis,
        core=_core(model, posterior, from_study, data(rows).noise),
        kernels=_kernels(rows, posterior.residual),
        verdict=verdict,
        reasons=reasons,
    )


def _fit(model: _Model, rows: Sequence[MeasuredCandidate], fitted: Mask) -> ShiftPosterior:
    """The posterior from the rows that the mask ``fitted`` selects; the mask starts
    with ``rows``.
    """
    some = [row for row, keep in zip(rows, fitted[: len(rows)], strict=True) if keep]
    posterior = fit(model.of(fitted), data(some), prior(model.figures))
    return replace(
        posterior, shift=np.array(limited_shifts(model.figures, posterior.shift.tolist()))
    )


def _left_out(
    model: _Model,
    posterior: ShiftPosterior,
    rows: Sequence[MeasuredCandidate],
    others: Sequence[MeasuredCandidate],
    folds: Mapping[str, Mask],
    watch: Watch,
) -> tuple[tuple[CrossValidation, ...], CrossValidation | None]:
    """The scores of each fold by a fit without it, and the scores of all folds together."""
    everyone = [*rows, *others]
    from_study = np.arange(len(everyone)) < len(rows)
    before = np.exp(model(0 * posterior.shift))
    after = before.copy()

    def scored(name: str, left: Mask) -> CrossValidation:
        some = [row for row, out in zip(everyone, left, strict=True) if out]
        return CrossValidation(
            name=name, before=score(some, before[left]), after=score(some, after[left])
        )

    outside = []
    for number, (name, left) in enumerate(folds.items(), start=1):
        watch(number, 1 + len(folds), f"without {name}")
        fitted = posterior if others else _fit(model, rows, from_study & ~left)
        after[left] = np.exp(model(fitted.shift))[left]
        outside.append(scored(name, left))
    if not folds:
        return (), None
    everything: Mask = np.any(list(folds.values()), axis=0)
    return tuple(outside), scored("all", everything)


def _folds(
    rows: Sequence[MeasuredCandidate], others: Sequence[MeasuredCandidate]
) -> tuple[str, dict[str, Mask]]:
    """A phrase on what is left out, and the folds: the name and the mask of rows of each."""
    count = len(rows) + len(others)
    if others:
        names = [row.kernel for row in others]
        phrase = "another study, kernel by kernel"
        offset = len(rows)
    else:
        offset = 0
        names, phrase = [row.kernel for row in rows], "each kernel left out in turn"
        if len(set(names)) < 2:
            names = [row.problem for row in rows]
            phrase = "each problem left out in turn: the study has one kernel only"
        if len(set(names)) < 2:
            return "nothing: the study has one problem only", {}
    folds = {}
    for name in dict.fromkeys(names):
        folds[name] = np.zeros(count, dtype=bool)
        folds[name][offset : offset + len(names)] = [label == name for label in names]
    return phrase, folds


def _changes(model: _Model, posterior: ShiftPosterior, from_study: Mask) -> list[ConstantChange]:
    zero = np.zeros(len(posterior.shift))
    start = model(zero)[from_study]
    changes = []
    for index, figure in enumerate(model.figures):
        shift = float(posterior.shift[index])
        # a level that was held at a slower one nearer to the core is told and undone like any other
        informed = bool(posterior.informed[index]) or shift != 0.0
        alone = zero.copy()
        alone[index] = shift
        ratio = np.expm1(model(alone)[from_study] - start)
        largest = float(ratio[np.argmax(np.abs(ratio))])
        before = (figure.value, *figure.interval(0.0, figure.sigma))
        sigma = float(posterior.sigma[index])
        after = (figure.at(shift), *figure.interval(shift, sigma)) if informed else before
        changes.append(
            ConstantChange(
                figure=figure,
                before=before,
                after=after,
                informed=informed,
                variance=(sigma / figure.sigma) ** 2,
                moved=int(np.sum(np.abs(ratio) > 0.005)),
                effect=largest,
            )
        )
    return changes


def _core(
    model: _Model,
    posterior: ShiftPosterior,
    from_study: Mask,
    noise: Floats,
) -> CoreTimeFactor | None:
    """The factor on all in-core times that fits the residuals best, by weighted least squares.

    None where in-core times have too little effect on the predictions.
    """
    changed = shifted(model.calibration, model.figures, posterior.shift.tolist())
    nudged = np.log(model.predict(changed, 1.0 + _NUDGE))[from_study]
    slope = (nudged - model(posterior.shift)[from_study]) / np.log1p(_NUDGE)
    weight = posterior.weight / (posterior.error**2 + noise**2)
    information = float(np.sum(weight * slope**2))
    if information <= 1.0:
        return None
    shift = float(np.sum(weight * slope * posterior.residual)) / information
    half = Z80 / np.sqrt(information)
    return CoreTimeFactor(
        factor=float(np.exp(shift)),
        low=float(np.exp(shift - half)),
        high=float(np.exp(shift + half)),
    )


def _kernels(rows: Sequence[MeasuredCandidate], residual: Floats) -> dict[str, float]:
    names = np.array([row.kernel for row in rows])
    return {
        name: float(np.exp(np.median(residual[names == name])))
        for name in dict.fromkeys(names.tolist())
    }


def _verdict(total: CrossValidation | None) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict with its reasons: "worse" if any score is worse, "better" if one is better and
    none is worse.
    """
    if total is None:
        return "unscored", ("there is nothing outside the study to score on",)
    before, after = total.before, total.after
    gains = {
        "median deviation": before.deviation - after.deviation,
        "pairs in order": (after.pairs or 0.0) - (before.pairs or 0.0),
        **{f"top-{k} loss": before.losses[k] - after.losses[k] for k in before.losses},
    }
    worse = tuple(
        f"{name} worse by {-100 * gain:.1f} points"
        for name, gain in gains.items()
        if gain < -_WORSE
    )
    if worse:
        return "worse", worse
    better = tuple(
        f"{name} better by {100 * gain:.1f} points"
        for name, gain in gains.items()
        if gain > _BETTER
    )
    return ("better", better) if better else ("same", ("no score differs by more than it should",))


def _refined(calibration: Calibration, changes: Sequence[ConstantChange]) -> Calibration:
    """The calibration with the intervals of its constants after the refinement."""
    constants = dict(calibration.constants)
    for change in changes:
        name = change.figure.name
        if change.informed and name in constants:
            value, low, high = change.after
            constants[name] = replace(
                constants[name], value=value, low=min(low, value), high=max(high, value)
            )
    return replace(calibration, constants=constants)
