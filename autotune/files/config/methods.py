"""Reads Butcher tableaux from YAML (schema autotune.method/1)."""

from pathlib import Path

from autotune.domain.problem import ButcherTableau
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.method/1"


def read_method(session: Session, path: Path) -> ButcherTableau | None:
    """The Butcher tableau in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, SCHEMA, ButcherTableau, name=path.stem)
