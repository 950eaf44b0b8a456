"""How much times of one program differ from run to run on one host, other days and loads included.

Within a run drift is the same for all candidates of a round. Between runs it is not known: the
machine has another temperature, other memory pages, other neighbours. An assumption counts as much
as some runs, so that few runs do not hide it.
"""

import math
from collections.abc import Sequence

RUN_SHIFT = 0.05
"""Standard deviation of the logarithm of how much slower a later run is, before it is seen."""
_WORTH = 4.0
"""So many pairs of runs the assumption is worth."""


def run_shift(shifts: Sequence[float]) -> float:
    """Standard deviation of the logarithm of how much slower a run is than an earlier one.

    ``shifts``: that logarithm of pairs of runs that measured the same candidates.

    >>> run_shift([]), round(run_shift([0.1, -0.1, 0.1, -0.1]), 3)
    (0.05, 0.079)
    """
    squares = sum(shift**2 for shift in shifts)
    return math.sqrt((_WORTH * RUN_SHIFT**2 + squares) / (_WORTH + len(shifts)))


def freedom(shifts: Sequence[float]) -> float:
    """Degrees of freedom of that standard deviation."""
    return _WORTH + len(shifts)
