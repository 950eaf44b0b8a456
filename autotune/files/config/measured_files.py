"""Reads what was measured of a machine: its calibration and its network.

The schemas are autotune.calibration/1 and autotune.network/1. The sections ``calibration:`` and
``network:`` of a machine file have the same keys.
"""

from pathlib import Path

from autotune.domain.calibration import Calibration
from autotune.domain.network import Network
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

CALIBRATION, NETWORK = "autotune.calibration/1", "autotune.network/1"


def read_calibration(session: Session, path: Path) -> Calibration | None:
    """The calibration in a file; None with faults noted where it cannot be read."""
    return read_file(session, path, CALIBRATION, Calibration)


def read_network(session: Session, path: Path) -> Network | None:
    """The network in a separate file; None with faults noted where it cannot be read."""
    return read_file(session, path, NETWORK, Network)
