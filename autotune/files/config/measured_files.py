"""Readers of what was measured of a machine: its calibration and its network.

The schemas are autotune.calibration/1 and autotune.network/1. The sections ``calibration:`` and
``network:`` of a machine file have the same keys.
"""

from functools import partial

from autotune.domain.calibration import Calibration
from autotune.domain.machine_checks import impossible_figures
from autotune.domain.network import Network
from autotune.files.config.facts import read_file

CALIBRATION, NETWORK = "autotune.calibration/1", "autotune.network/1"


read_calibration = partial(
    read_file, schema=CALIBRATION, kind=Calibration, check=impossible_figures
)
"""The calibration in a file, whose figures are possible; None with faults noted otherwise."""
read_network = partial(read_file, schema=NETWORK, kind=Network)
