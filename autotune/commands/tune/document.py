"""The document of ``tune --emit-job``; ``tune`` itself prints the document of a study."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitJobDocument:
    """``autotune tune --emit-job --json``: the job that was written."""

    schema: Literal["autotune.emit-job/1"] = "autotune.emit-job/1"
    study: str
    folder: Path
    """What to take to the other machine, and to bring back."""
    script: Path
    """What to run there; it writes results.jsonl and states/ beside itself."""
    candidates: tuple[str, ...]
    """Ids of what it measures, in the order of the choice."""
