"""How often, from which seed and by which rows a table is split unless it is told otherwise."""

from typing import Literal

Drawing = Literal["random", "sobol", "d-optimal"]
"""How training rows are chosen among those measured."""
DRAWING: Drawing = "random"
REPEATS = 5
"""Splits of each size."""
SEED = 0
