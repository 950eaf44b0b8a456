"""Quantiles of the normal and of Student's distribution."""

import math

NORMAL_QUARTILE = 0.6744897501960817
"""Upper quartile of the standard normal distribution: 0.6745, which Garren 2010 rounds to 0.675."""


def student(freedom: float, level: float) -> float:
    """The two-sided quantile t of Student's distribution: a share ``level`` lies between -t and t.

    Infinite without degrees of freedom. ValueError for a level outside (0, 1).

    >>> round(student(10.0, 0.95), 3)
    2.228
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    return student_below(freedom, (1 + level) / 2) if freedom > 0 else math.inf


def student_below(freedom: float, share: float) -> float:
    """The one-sided quantile t of Student's distribution: a share ``share`` lies below t."""
    import scipy.special  # noqa: PLC0415 - heavy

    return float(scipy.special.stdtrit(freedom, share))
