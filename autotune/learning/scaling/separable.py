"""Checks whether runs separate the effect of the size from that of the processors; weak scaling
alone does not.
"""

import math

import numpy as np

from autotune.errors import Fault, InputError
from autotune.learning.scaling.scaling_runs import Runs, logs

REFUSED = 1000.0
"""Variance inflation from which no method is tried: sizes on the same processors differ so little,
a thirtieth of their spread over all runs, that noise decides."""
SEVERE = 10.0
"""Variance inflation that is called severe (Marquardt 1970): refused where no size is excluded."""

_SIZE = 2


def inflation(runs: Runs) -> float:
    """The variance inflation factor of log2 SIZE, 1/(1 - R^2), at least 1.

    R^2 is that of the regression of log2 SIZE on log2 P and the covariates; inf where log2 SIZE
    follows from them. The factor says how much the variance of the size's coefficient grows because
    large sizes were run on many processors. It is 1 where the sizes are the same at every number of
    processors.
    """
    rows = logs(runs.points)
    others, size = np.delete(rows, _SIZE, axis=1), rows[:, _SIZE]
    total = float(((size - size.mean()) ** 2).sum())
    if total == 0:
        return 1.0
    rest = size - others @ np.linalg.lstsq(others, size, rcond=None)[0]
    left = float(rest @ rest)
    return max(1.0, total / left) if left > 1e-18 * total else math.inf


def check_separable(runs: Runs, limit: float = REFUSED) -> None:
    """Raise InputError where the inflation of the size is above ``limit``."""
    factor = inflation(runs)
    if factor <= limit or len(runs) < rows_needed(runs):
        return
    raise InputError(
        Fault(
            where="--size",
            found="sizes grow with P: the runs do not tell log2(P) and log2(SIZE) apart"
            f" (variance inflation {factor:.3g})",
            expected=f"runs of several sizes at the same P: an inflation below {limit:g}",
            hint="the two effects cannot be separated; add runs of another size at the same P",
        )
    )


def rows_needed(runs: Runs) -> int:
    """The least number of runs for the full regression: one for each of its coefficients."""
    return len(runs.variables.logarithms)
