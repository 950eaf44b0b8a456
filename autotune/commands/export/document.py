"""The document of ``autotune export``: the file written for other programs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.commands.export.export_options import Format
from autotune.results.export.entries import Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDocument:
    """``autotune export --json``."""

    schema: Literal["autotune.export/1"] = "autotune.export/1"
    study: str
    format: Format
    file: Path
    rows: int
    """Entries of a header or of this study in a wisdom file, else rows of the table."""
    choices: Choices | None = None
    """What to run at each size and number of threads; null for tables."""
    notes: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    """Entries of a wisdom file that gave way to those of this study."""
    readers: tuple[Path, ...] = ()
    """Files of the readers of wisdom files."""
