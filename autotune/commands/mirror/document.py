"""The document of ``autotune mirror``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorDocument:
    """``autotune mirror --json``: where the journal was written, and what is in it."""

    schema: Literal["autotune.mirror/1"] = "autotune.mirror/1"
    study: str
    file: Path
    studies: tuple[str, ...]
    """Names of the Optuna studies in it, one for each problem."""
    trials: int
