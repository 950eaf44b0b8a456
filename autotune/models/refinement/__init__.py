"""Refinement of a machine's calibrated constants by the measurements of a study."""

from autotune.models.refinement.kept_refinement import with_refinement, without_refinement
from autotune.models.refinement.measured_rows import MeasuredCandidate, PredictionScore
from autotune.models.refinement.refinement_posterior import (
    LEAST_ROWS,
    ConstantChange,
    CoreTimeFactor,
    CrossValidation,
    Predict,
    Refinement,
    refine,
)
from autotune.models.refinement.shifting_constants import (
    ShiftingConstant,
    shiftable_constants,
    shifted,
)

__all__ = [
    "LEAST_ROWS",
    "ConstantChange",
    "CoreTimeFactor",
    "CrossValidation",
    "MeasuredCandidate",
    "Predict",
    "PredictionScore",
    "Refinement",
    "ShiftingConstant",
    "refine",
    "shiftable_constants",
    "shifted",
    "with_refinement",
    "without_refinement",
]
