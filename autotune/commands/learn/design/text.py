"""A design of experiments as a CSV table of rows to measure, and in words."""

import csv
import io
from collections.abc import Sequence

from autotune.domain.tables.parameter_space import DesignSpace
from autotune.learning.designs import Design
from autotune.units import counted

CANDIDATE = "candidate"


def table(design: Design, candidates: Sequence[str] = ()) -> str:
    """CSV text: a header of parameters and a line per row to measure; candidate ids come first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*([CANDIDATE] if candidates else []), *design.names])
    for i, row in enumerate(design.rows):
        writer.writerow([*candidates[i : i + 1], *row])
    return text.getvalue()


def summary(design: Design, space: DesignSpace) -> str:
    """A design in words: its kind, settings and size, and notes to know before using it."""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {_short(value)}"
        for name, value in design.settings.items()
        if value is not None
    )
    parameters, rows = counted(len(design.names), "parameter"), counted(len(design), "row")
    head = f"{design.kind} design of {parameters}: {rows}"
    lines = [head + (f" ({settings})" if settings else ""), f"space: {space.source}"]
    return "\n".join([*lines, *(f"note: {note}" for note in (*space.notes, *design.notes))])


def _short(value: str | int | float) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
