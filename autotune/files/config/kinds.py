"""The kinds of files: the class for each value of the key ``schema``."""

from collections.abc import Mapping

from autotune.domain.assertion_model import MODEL_SCHEMA, AssertionModel
from autotune.domain.assertion_record import RECORD_SCHEMA, AssertionRecord
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.problem import ButcherTableau, Ivp
from autotune.domain.program import Program
from autotune.domain.reference import Reference
from autotune.domain.setup import Setup
from autotune.domain.skeleton import Skeleton
from autotune.domain.space import Space
from autotune.domain.stencil import Stencil
from autotune.files.config import (
    design_spaces,
    kernel_files,
    machines,
    measured_files,
    references,
    skeletons,
    spaces,
    studies,
)
from autotune.files.config.program import programs

FILES: Mapping[str, type] = {
    studies.SCHEMA: Setup,
    machines.SCHEMA: Machine,
    measured_files.NETWORK: Network,
    measured_files.CALIBRATION: Calibration,
    kernel_files.IVP: Ivp,
    kernel_files.METHOD: ButcherTableau,
    kernel_files.STENCIL: Stencil,
    skeletons.SCHEMA: Skeleton,
    spaces.SCHEMA: Space,
    programs.SCHEMA: Program,
    references.SCHEMA: Reference,
    design_spaces.SCHEMA: design_spaces.DesignFile,
}
"""Schema, ``autotune.machine/1``, to the frozen class whose fields are its keys."""

DATA: Mapping[str, type] = {RECORD_SCHEMA: AssertionRecord, MODEL_SCHEMA: AssertionModel}
"""The same of JSON files, which commands and the run-time library write."""

SOURCED = frozenset({machines.SCHEMA})
"""Those whose values may stand with their sources."""
