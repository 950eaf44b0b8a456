"""How well models predict the candidates of a study."""

from dataclasses import dataclass

from autotune.learning.comparison.learning_curves import CurveTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """How well models predict the candidates of a study."""

    study: str
    rows: int
    random: int
    engines: tuple[str, ...]
    parameters: tuple[str, ...]
    problems: tuple[str, ...]
    """Rankings and losses are those within a problem."""
    curve: CurveTable
    notes: tuple[str, ...] = ()
