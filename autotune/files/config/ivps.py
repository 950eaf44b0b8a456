"""Reads initial value problems from YAML (schema autotune.ivp/1)."""

from pathlib import Path

from autotune.domain.problem import Ivp
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.ivp/1"


def read_ivp(session: Session, path: Path) -> Ivp | None:
    """The problem in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, SCHEMA, Ivp, name=path.stem)
