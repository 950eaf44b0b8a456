"""Designs of experiments: which rows to measure, so that a model can be learned from few.

    full_factorial     every allowed combination
    random             each as likely, none twice
    plackett_burman    main effects at 3, 5 or 7 levels
    central_composite  a quadratic around the centre, inscribed
    box_behnken        the same without corners
    sobol              evenly spread, at any number of rows
    d_optimal          the rows that pin down the terms of a linear model best

Each takes parameters and constraints and gives a ``Design``; ``Plan`` is the choice of one as
data. ``Members`` is the constraint that allows given rows only, such as those of a table.
"""

from autotune.learn.designs.base import (
    COMPATIBILITIES,
    KINDS,
    TREATMENTS,
    Compatibility,
    Design,
    Kind,
    Treatment,
)
from autotune.learn.designs.columns import TERMS, Terms
from autotune.learn.designs.composite import box_behnken, central_composite
from autotune.learn.designs.d_optimal import d_optimal
from autotune.learn.designs.factorial import full_factorial
from autotune.learn.designs.plackett_burman import SEEDS, plackett_burman
from autotune.learn.designs.plan import Plan
from autotune.learn.designs.rules import Members
from autotune.learn.designs.sequence import sobol
from autotune.learn.designs.tables import chosen, members
from autotune.learn.designs.uniform import random
from autotune.learn.space import Rule, Space

__all__ = [
    "COMPATIBILITIES", "KINDS", "SEEDS", "TERMS", "TREATMENTS", "Compatibility", "Design", "Kind",
    "Members", "Plan", "Rule", "Space", "Terms", "Treatment", "box_behnken", "central_composite",
    "chosen", "d_optimal", "full_factorial", "members", "plackett_burman", "random", "sobol",
]  # fmt: skip
