"""Performance-influence models: a sum of few readable terms, found by forward selection."""

from autotune.learning.influence.candidate_terms import Shape
from autotune.learning.influence.forward_selection import Criterion, Round, Rule, Selection
from autotune.learning.influence.influence_model import Influence, InfluencePredictor

__all__ = ["Criterion", "Influence", "InfluencePredictor", "Round", "Rule", "Selection", "Shape"]
