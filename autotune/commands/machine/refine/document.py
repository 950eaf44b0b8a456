"""The document of ``machine refine``."""

from pathlib import Path
from typing import TypedDict

from autotune.domain.machine import Machine
from autotune.models.refinement import (
    ConstantChange,
    CoreTimeFactor,
    CrossValidation,
    PredictionScore,
    Refinement,
)


class ConstantRow(TypedDict):
    """One constant before and after."""

    constant: str
    """``inbound.L2@1``: constant, level, threads."""
    unit: str
    before: float
    before_interval: list[float]
    """80 %: low and high."""
    after: float
    after_interval: list[float]
    informed: bool
    """Whether the study says anything of it; else it keeps what was measured."""
    variance_ratio: float
    """Variance of what is known after, over before."""
    moved: int
    """Predictions that its change alone moves by more than 0.5 %."""
    effect: float
    """The largest of these changes, relative."""


class ScoreRow(TypedDict):
    """How predictions do against measured times."""

    rows: int
    problems: int
    median_deviation: float
    tau_b: float | None
    ordered_pairs: float | None
    top1_loss: float
    top3_loss: float


class ScoredRow(TypedDict):
    """A part that the fit did not see, by predictions before and after."""

    name: str
    before: ScoreRow
    after: ScoreRow


class CoreRow(TypedDict):
    """The factor of all in-core times that the residuals ask for; never applied."""

    factor: float
    interval: list[float]


class RefineDocument(TypedDict):
    """``autotune machine refine --json``."""

    schema: str
    machine: str
    study: str
    rows: int
    unpredicted: int
    """Measured candidates that the engine cannot predict."""
    model_error: float
    """Relative standard deviation of what the model misses, beyond the noise of the samples."""
    constants: list[ConstantRow]
    basis: str
    """What was left out."""
    outside: list[ScoredRow]
    total: ScoredRow | None
    """All that was left out; null where there was nothing to leave out."""
    inside: ScoredRow
    verdict: str
    """better, same, worse or unscored."""
    reasons: list[str]
    core: CoreRow | None
    kernels: dict[str, float]
    """Kernel to the median of measured over predicted, after."""
    applied: str | None
    """The file of the calibration, where it was changed."""
    refused: str
    """Why it was not applied though it was asked for; empty else."""
    notes: list[str]


class UndoDocument(TypedDict):
    """``autotune machine refine --undo --json``."""

    schema: str
    machine: str
    undone: str
    """The file of the calibration."""


def refinement(
    machine: Machine,
    found: Refinement,
    rows: tuple[int, int],
    applied: Path | None,
    refused: str,
    notes: tuple[str, ...],
) -> RefineDocument:
    """What a study makes of the constants; ``rows``: fitted to, and not predicted."""
    return {
        "schema": "autotune.machine.refine/1",
        "machine": machine.name,
        "study": found.study,
        "rows": rows[0],
        "unpredicted": rows[1],
        "model_error": found.error,
        "constants": [_constant(change) for change in found.changes],
        "basis": found.basis,
        "outside": [_scored(each) for each in found.outside],
        "total": _scored(found.total) if found.total else None,
        "inside": _scored(found.inside),
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "core": _core(found.core) if found.core else None,
        "kernels": dict(found.kernels),
        "applied": str(applied) if applied else None,
        "refused": refused,
        "notes": list(notes),
    }


def undone(machine: Machine, place: Path) -> UndoDocument:
    """That the calibration is as it was measured."""
    return {
        "schema": "autotune.machine.refine.undo/1",
        "machine": machine.name,
        "undone": str(place),
    }


def _constant(change: ConstantChange) -> ConstantRow:
    return {
        "constant": change.figure.name,
        "unit": change.figure.unit,
        "before": change.before[0],
        "before_interval": list(change.before[1:]),
        "after": change.after[0],
        "after_interval": list(change.after[1:]),
        "informed": change.informed,
        "variance_ratio": change.variance,
        "moved": change.moved,
        "effect": change.effect,
    }


def _scored(left: CrossValidation) -> ScoredRow:
    return {"name": left.name, "before": _score(left.before), "after": _score(left.after)}


def _score(score: PredictionScore) -> ScoreRow:
    return {
        "rows": score.rows,
        "problems": score.problems,
        "median_deviation": score.deviation,
        "tau_b": score.tau,
        "ordered_pairs": score.pairs,
        "top1_loss": score.losses[1],
        "top3_loss": score.losses[3],
    }


def _core(core: CoreTimeFactor) -> CoreRow:
    return {"factor": core.factor, "interval": [core.low, core.high]}
