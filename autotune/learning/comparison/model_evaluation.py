"""How well models predict the candidates of a study."""

from dataclasses import dataclass

from autotune.learning.comparison.learning_curves import CurveTable


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedStudy:
    """The measured candidates of a study that models are scored on."""

    name: str
    rows: int
    """Measured candidates."""
    random: int
    """Candidates measured at random: only these are scored on."""
    engines: tuple[str, ...]
    parameters: tuple[str, ...]
    """What candidates differ in, and may be left out."""
    problems: tuple[str, ...]
    """Rankings and losses are those within a problem."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelEvaluation:
    """The scores of models on the candidates of a study."""

    study: EvaluatedStudy
    curve: CurveTable
    notes: tuple[str, ...] = ()
