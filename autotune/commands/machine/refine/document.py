"""The documents of ``machine refine``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.models.refinement import Refinement


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineDocument:
    """``autotune machine refine --json``: the refined constants, and whether they were applied."""

    schema: Literal["autotune.machine.refine/1"] = "autotune.machine.refine/1"
    machine: str
    refinement: Refinement
    rows: int
    """Measured candidates that were fitted to."""
    unpredicted: int
    """Measured candidates that the engine cannot predict."""
    applied: Path | None
    """The file of the calibration, where it was changed."""
    refused: str
    """Why it was not applied though it was asked for; empty else."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineUndoDocument:
    """``autotune machine refine --undo --json``: the calibration before any refinement."""

    schema: Literal["autotune.machine.refine.undo/1"] = "autotune.machine.refine.undo/1"
    machine: str
    undone: Path
    """The file of the calibration."""
