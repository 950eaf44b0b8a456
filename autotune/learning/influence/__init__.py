"""Performance-influence models: a sum of few readable terms, found by forward selection."""

from autotune.learning.influence.candidate_terms import Shape
from autotune.learning.influence.forward_selection import (
    Criterion,
    ForwardSelection,
    Round,
    StoppingRule,
)
from autotune.learning.influence.influence_model import Influence, InfluencePredictor

__all__ = [
    "Criterion",
    "ForwardSelection",
    "Influence",
    "InfluencePredictor",
    "Round",
    "Shape",
    "StoppingRule",
]
