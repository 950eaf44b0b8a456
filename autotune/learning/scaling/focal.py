"""Focal regions: the runs that resemble a requested time and are fitted, alone or with larger
weights.

Garren 2010, sections 3.2 and 3.4.3, forms regions by time, by other conditions, and by the shape of
the grid of processors. Weights by nearness are named there but not tried.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from autotune.errors import Fault, InputError, unknown_name
from autotune.learning.scaling.scaling_runs import Runs
from autotune.learning.scaling.weighted_regression import Bools, Floats

Basis = Literal["fitted", "measured"]
"""Whose times are near T0. Runs chosen by their measured time are those whose noise brings them
near it: that flattens the regression (its slopes shrink), which a fitted time does not."""


def within(times: Floats, focus: float, tolerance: float) -> Bools:
    """(n,) True for times from T0/(1 + tolerance) to T0 (1 + tolerance), which is symmetric in
    log2.

    Garren's Table 4.6 names regions by this tolerance: LT0 +- 0.3 is 2^0.3 - 1 = 23.11 %.

    >>> within(np.array([80.0, 100.0, 124.0, 126.0]), 100.0, 0.25).tolist()
    [True, True, True, False]
    """
    reach = math.log2(1 + tolerance) + 1e-12
    near: Bools = np.abs(np.log2(times / focus)) <= reach
    return near


def nearest(runs: Runs, times: Floats, focus: float, count: int) -> Bools:
    """(n,) True for the ``count`` runs, at each number of processors, whose time is
    nearest to T0.
    """
    chosen = np.zeros(len(runs), dtype=bool)
    distance = np.abs(np.log2(times / focus))
    for p in runs.levels:
        rows = np.flatnonzero(runs.at_level(p))
        chosen[rows[np.argsort(distance[rows], kind="stable")[:count]]] = True
    return chosen


def nearness(times: Floats, focus: float, width: float) -> Floats:
    """Weights in (0, 1], (n,): a Gaussian of log2(T/T0), a factor of 1 + width away at one sigma.

    Far runs keep a weight of 1e-6: they still count where there are no others.
    """
    distance = np.log2(times / focus) / math.log2(1 + width)
    return np.maximum(np.exp(-0.5 * distance**2), 1e-6)


def near_ratio(first: Floats, second: Floats, ratio: float) -> Bools:
    """(n,) True for grids of processors with |log2(first/second) - ratio| <= 1.

    Garren 2010, Figure 3.1: at every other number of processors the logarithm is odd, so a region
    includes both neighbours.
    """
    near: Bools = np.abs(np.log2(first / second) - ratio) <= 1 + 1e-9
    return near


def meets(runs: Runs, name: str, values: Sequence[int | float | str]) -> Bools:
    """(n,) True for runs whose field ``name`` has one of these values.

    Raises InputError for an unknown field or value.
    """
    if name not in runs.fields:
        raise InputError(unknown_name("--condition", "column", name, runs.fields))
    held = runs.fields[name]
    absent = [value for value in values if not any(_same(value, present) for present in held)]
    if absent:
        ordered = sorted(set(held), key=lambda present: (isinstance(present, str), present))
        allowed = [str(present) for present in ordered]
        found = f"no run has {name}={absent[0]}"
        raise InputError(Fault(where="--condition", found=found, expected=", ".join(allowed[:20])))
    return np.array(
        [any(_same(value, present) for value in values) for present in held], dtype=bool
    )


def _same(first: int | float | str, second: int | float | str) -> bool:
    return first == second or str(first) == str(second)
