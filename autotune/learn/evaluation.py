"""How well models predict the candidates of a study."""

from dataclasses import dataclass

from autotune.learn.curves import CurveTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """How well models predict the candidates of a study."""

    study: str
    rows: int
    random: int
    engines: tuple[str, ...]
    parameters: tuple[str, ...]
    curve: CurveTable
    analytical: tuple[str, ...]
    """The names of the analytical models among those of the curve."""
    notes: tuple[str, ...] = ()
