"""Documents of what was written for other programs: ``export``."""

from pathlib import Path
from typing import TypedDict


class ChoiceRow(TypedDict):
    """What to run at one size and number of threads."""

    machine: str
    """Its identity."""
    problem: str
    """What is computed, whatever its size: the id in a wisdom file."""
    ranks: int
    label: str
    """The problem that was tuned."""
    size: int
    threads: int
    candidate: str
    parameters: dict[str, str | int | float | bool | None]
    measured_s: float | None
    measured_interval_s: list[float] | None
    verified: bool
    ties: list[str]
    """Ids of the candidates that noise does not tell from it."""
    loss_bound: float | None
    """Of a decision map: following it loses at most this share of the best time."""
    source: str
    """measured, or map."""


class SkippedRow(TypedDict):
    """A problem, or one number of threads of it, without a choice."""

    problem: str
    threads: int | None
    reason: str


class ExportDocument(TypedDict):
    """``autotune export --json``."""

    schema: str
    study: str
    format: str
    file: str
    rows: int
    """Entries of a header or of this study in a wisdom file, else rows of the table."""
    choices: list[ChoiceRow]
    """Of headers and wisdom files; empty for tables."""
    skipped: list[SkippedRow]
    notes: list[str]
    replaced: list[str]
    """Entries of a wisdom file that gave way to those of this study."""
    readers: list[str]
    """Files of the readers of wisdom files."""


def written(study: str, kind: str, path: Path, rows: int) -> ExportDocument:
    """What was written; what was chosen, left out, noted and replaced is entered by the caller."""
    return {
        "schema": "autotune.export/1",
        "study": study,
        "format": kind,
        "file": str(path),
        "rows": rows,
        "choices": [],
        "skipped": [],
        "notes": [],
        "replaced": [],
        "readers": [],
    }
