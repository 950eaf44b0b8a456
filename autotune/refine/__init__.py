"""What a study teaches about the physical constants of its machine, as a posterior."""

from autotune.refine.figures import Figure, figures, shifted
from autotune.refine.kept import noted, undone
from autotune.refine.posterior import (
    LEAST_ROWS,
    Change,
    Core,
    LeftOut,
    Predict,
    Refinement,
    refine,
)
from autotune.refine.rows import Measured, Score

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
