"""Reads stencils from YAML (schema autotune.stencil/1)."""

from pathlib import Path

from autotune.domain.stencil import Stencil
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.stencil/1"


def read_stencil(session: Session, path: Path) -> Stencil | None:
    """The stencil in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, SCHEMA, Stencil, name=path.stem)
