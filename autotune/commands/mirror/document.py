"""The document of ``autotune mirror``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorDocument:
    """``autotune mirror --json``: the file of the journal, and the number of its trials."""

    schema: Literal["autotune.mirror/1"] = "autotune.mirror/1"
    study: str
    file: Path
    studies: tuple[str, ...]
    """Names of the Optuna studies in it, one for each problem."""
    trials: int
