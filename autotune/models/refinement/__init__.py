"""What a study teaches about the physical constants of its machine, as a posterior."""

from autotune.models.refinement.kept_refinement import noted, undone
from autotune.models.refinement.measured_rows import Measured, Score
from autotune.models.refinement.refinement_posterior import (
    LEAST_ROWS,
    Change,
    Core,
    LeftOut,
    Predict,
    Refinement,
    refine,
)
from autotune.models.refinement.shifting_constants import Figure, figures, shifted

__all__ = [
    "LEAST_ROWS",
    "Change",
    "Core",
    "Figure",
    "LeftOut",
    "Measured",
    "Predict",
    "Refinement",
    "Score",
    "figures",
    "noted",
    "refine",
    "shifted",
    "undone",
]
