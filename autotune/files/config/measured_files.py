"""Readers of what was measured of a machine: its calibration and its network.

The schemas are autotune.calibration/1 and autotune.network/1. The sections ``calibration:`` and
``network:`` of a machine file have the same keys.
"""

from functools import partial
from pathlib import Path

from autotune.domain.calibration import Calibration
from autotune.domain.machine_checks import impossible_figures
from autotune.domain.network import Network
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session
from autotune.units import Hertz

CALIBRATION, NETWORK = "autotune.calibration/1", "autotune.network/1"


def read_calibration(
    session: Session, path: Path, clock: Hertz | None = None
) -> Calibration | None:
    """The calibration in a file, whose figures are possible, beside the ``clock`` of its machine
    too; None with faults noted otherwise.
    """
    check = partial(impossible_figures, clock=clock)
    return read_file(session, path, schema=CALIBRATION, kind=Calibration, check=check)


read_network = partial(read_file, schema=NETWORK, kind=Network)
