"""Designs of experiments: choose which rows to measure, so that a model can be learned from few of
them.

    full_factorial     every allowed combination
    random             each as likely, none twice
    plackett_burman    main effects at 3, 5 or 7 levels
    central_composite  a quadratic around the centre, inscribed
    box_behnken        the same without corners
    sobol              evenly spread, at any number of rows
    d_optimal          the rows that pin down the terms of a linear model best

Each takes parameters and constraints and gives a ``Design``; ``DesignPlan`` is the choice of one as
data. ``Members`` is the constraint that allows given rows only, such as those of a table.
"""

from autotune.domain.tables.parameter_space import DesignSpace, RowRule
from autotune.learning.designs.base import (
    COMPATIBILITIES,
    KINDS,
    TREATMENTS,
    Compatibility,
    Design,
    Kind,
    Treatment,
)
from autotune.learning.designs.composite import box_behnken, central_composite
from autotune.learning.designs.d_optimal import d_optimal
from autotune.learning.designs.design_columns import TERMS, Terms
from autotune.learning.designs.design_plan import DesignPlan
from autotune.learning.designs.factorial import full_factorial
from autotune.learning.designs.plackett_burman import SEEDS, plackett_burman
from autotune.learning.designs.row_rules import Members
from autotune.learning.designs.sobol import sobol
from autotune.learning.designs.table_designs import chosen, members
from autotune.learning.designs.uniform import random

__all__ = [
    "COMPATIBILITIES",
    "KINDS",
    "SEEDS",
    "TERMS",
    "TREATMENTS",
    "Compatibility",
    "Design",
    "DesignPlan",
    "DesignSpace",
    "Kind",
    "Members",
    "RowRule",
    "Terms",
    "Treatment",
    "box_behnken",
    "central_composite",
    "chosen",
    "d_optimal",
    "full_factorial",
    "members",
    "plackett_burman",
    "random",
    "sobol",
]  # fmt: skip
