"""Reads networks from YAML files (schema autotune.network/1); the section ``network:`` of a
machine has the same keys.
"""

from pathlib import Path

from autotune.domain.network import Network
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.network/1"


def read_network(session: Session, path: Path) -> Network | None:
    """The network in a separate file; None with faults noted where it cannot be read."""
    return read_file(session, path, SCHEMA, Network)
