"""Reads kernel files: initial value problems, methods, stencils.

The schemas are autotune.ivp/1, autotune.method/1 and autotune.stencil/1.
"""

from pathlib import Path

from autotune import paths
from autotune.domain.problem import ButcherTableau, Ivp
from autotune.domain.stencil import Stencil
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

IVP, METHOD, STENCIL = "autotune.ivp/1", "autotune.method/1", "autotune.stencil/1"


def read_ivp(session: Session, path: Path) -> Ivp | None:
    """The problem in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, IVP, Ivp, name=paths.stem(path))


def read_method(session: Session, path: Path) -> ButcherTableau | None:
    """The Butcher tableau in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, METHOD, ButcherTableau, name=paths.stem(path))


def read_stencil(session: Session, path: Path) -> Stencil | None:
    """The stencil in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, STENCIL, Stencil, name=paths.stem(path))
