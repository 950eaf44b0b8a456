"""Reads calibrations from YAML (schema autotune.calibration/1); the section ``calibration:`` of a
machine has the same keys.
"""

from pathlib import Path

from autotune.domain.calibration import Calibration
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.calibration/1"


def read_calibration(session: Session, path: Path) -> Calibration | None:
    """The calibration in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, SCHEMA, Calibration)
