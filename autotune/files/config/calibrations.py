"""Reads calibrations from YAML (schema autotune.calibration/1), also as a section of a machine
file.
"""

from pathlib import Path

from autotune.domain.calibration import Calibration
from autotune.files.config.facts import draft, settle
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys

SCHEMA = "autotune.calibration/1"


def read_calibration(session: Session, path: Path) -> Calibration | None:
    """The calibration in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Calibration) if document else None
    if document is None or stated is None:
        return None
    check_calibration(session, document, stated, ())
    return settle(session, document, stated) if len(session.faults) == faults_before else None


def check_calibration(
    session: Session, document: Document, calibration: Calibration, under: Keys
) -> None:
    """Note what is impossible in a draft of a calibration; ``under``: the keys of its section in
    the document.
    """
    for level, share in calibration.exposed.items():
        if not 0 <= share <= 1:
            where = document.place((*under, "exposed", level))
            session.add(where, f"{level}: the exposed share is {share}", "a share from 0 to 1")
    for i, curve in enumerate(calibration.curves):
        settle(session, document, curve, (*under, "curves", i))
