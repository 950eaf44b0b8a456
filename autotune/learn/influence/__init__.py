"""Performance-influence models: a sum of few readable terms, found by forward selection."""

from autotune.learn.influence.candidates import Shape
from autotune.learn.influence.model import Influence, InfluencePredictor
from autotune.learn.influence.selection import Criterion, Round, Rule, Selection

__all__ = ["Criterion", "Influence", "InfluencePredictor", "Round", "Rule", "Selection", "Shape"]
