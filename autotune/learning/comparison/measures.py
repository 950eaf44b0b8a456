"""Measures of how far predictions are from a reference: errors, similarities and distances.

Errors are shares (0.1 is 10 %). The reference is the measured times, or the predictions of another
model. The distances have two conventions; every result states which one was used:

    textbook     Minkowski's distance of order p, (sum |d|^p)^(1/p)
    kaltenecker  mean |d|^p, without the root: how the tables of Kaltenecker (2016) were computed,
                 against his own section 2.3.3
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from autotune.statistics.rank_correlation import kendall

Floats = NDArray[np.float64]
Convention = Literal["textbook", "kaltenecker"]
CONVENTIONS: tuple[Convention, ...] = ("textbook", "kaltenecker")


# --- errors -----------------------------------------------------------------------------------


def absolute_percentage_errors(predicted: ArrayLike, reference: ArrayLike) -> Floats:
    """|p - r| / |r| of each row, (n,), as shares; ValueError where the reference is 0."""
    p, r = _pair(predicted, reference)
    if np.any(r == 0):
        raise ValueError("a relative error needs a reference that is never 0")
    return np.asarray(np.abs(p - r) / np.abs(r))


def mape(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Mean absolute percentage error, as a share.

    >>> mape([11.0, 8.0], [10.0, 10.0])
    0.15000000000000002
    """
    return float(np.mean(absolute_percentage_errors(predicted, reference)))


def mdape(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Median absolute percentage error, as a share; what Garren (2010) calls MAPE."""
    return float(np.median(absolute_percentage_errors(predicted, reference)))


def error_rate(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Kaltenecker's name (2016, section 4.2) for the mean absolute percentage error."""
    return mape(predicted, reference)


# --- similarities -----------------------------------------------------------------------------


def cosine(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cosine of the angle between two vectors, in [-1, 1]; None where one is zero.

    Insensitive to a common factor: a model that is wrong tenfold everywhere reaches 1.
    """
    a, b = _pair(first, second)
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return None if size == 0 else float(a @ b) / size


def jaccard(first: ArrayLike, second: ArrayLike) -> float | None:
    """Sum of the smaller over sum of the larger values (Ruzicka), in [0, 1]; 1 where equal.

    None where a value is negative, for which it means nothing, or where all are 0.
    """
    a, b = _pair(first, second)
    larger = float(np.maximum(a, b).sum())
    if larger == 0 or min(a.min(), b.min()) < 0:
        return None
    return float(np.minimum(a, b).sum()) / larger


# --- distances --------------------------------------------------------------------------------


def minkowski(
    first: ArrayLike, second: ArrayLike, p: float, convention: Convention = "textbook"
) -> float:
    """Minkowski's distance of order p >= 1; p = inf is the largest difference, in both conventions.

    In the unit of the values, to the power p by the convention ``kaltenecker``.

    >>> minkowski([0.0, 0.0], [3.0, 4.0], 2), minkowski([0.0, 0.0], [3.0, 4.0], 2, "kaltenecker")
    (5.0, 12.5)
    """
    _checked(convention)
    if not p >= 1:
        raise ValueError(f"Minkowski's distance has an order of at least 1, not {p}")
    a, b = _pair(first, second)
    distances = np.abs(a - b)
    largest = float(distances.max())
    if math.isinf(p) or largest == 0:
        return largest
    if convention == "kaltenecker":
        return float(np.mean(distances**p))
    # shares of the largest, so that no power overflows
    return largest * float(np.sum((distances / largest) ** p) ** (1 / p))


def manhattan(first: ArrayLike, second: ArrayLike, convention: Convention = "textbook") -> float:
    """Minkowski's distance of order 1."""
    return minkowski(first, second, 1, convention)


def euclidean(first: ArrayLike, second: ArrayLike, convention: Convention = "textbook") -> float:
    """Minkowski's distance of order 2."""
    return minkowski(first, second, 2, convention)


def chebyshev(first: ArrayLike, second: ArrayLike) -> float:
    """The largest absolute difference (Minkowski's distance of infinite order)."""
    return minkowski(first, second, math.inf)


# --- all together -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Semantics:
    """The semantic comparison of two models, or of a model with measurements: all measures of their
    values.

    ``reference`` names what the relative errors are relative to. ``unit`` is the unit of both
    series and of the distances; by the convention ``kaltenecker`` the distances are in powers of
    this unit.
    """

    n: int
    unit: str
    reference: str
    convention: Convention
    error_rate: float
    mdape: float
    cosine: float | None
    jaccard: float | None
    manhattan: float
    euclidean: float
    minkowski_3: float
    chebyshev: float
    tau_b: float | None


def semantics(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    name: str,
    unit: str,
    convention: Convention = "textbook",
) -> Semantics:
    """Every semantic measure of the predictions against a reference; ``name`` is the name of the
    reference.

    Kaltenecker's Table 4.1 compares the analytical model with the *empirical* one as reference.
    Raises ValueError for no rows, for unequal numbers of rows and for values that are not finite.
    """
    p, r = _pair(predicted, reference)
    return Semantics(
        n=len(p),
        unit=unit,
        reference=name,
        convention=_checked(convention),
        error_rate=error_rate(p, r),
        mdape=mdape(p, r),
        cosine=cosine(p, r),
        jaccard=jaccard(p, r),
        manhattan=manhattan(p, r, convention),
        euclidean=euclidean(p, r, convention),
        minkowski_3=minkowski(p, r, 3, convention),
        chebyshev=chebyshev(p, r),
        tau_b=kendall(p, r),
    )


def _checked(convention: Convention) -> Convention:
    if convention not in CONVENTIONS:
        raise ValueError(f"a convention is one of {', '.join(CONVENTIONS)}, not {convention!r}")
    return convention


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"{a.size} values do not pair with {b.size}")
    if a.size == 0:
        raise ValueError("there is nothing to compare")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("values must be finite; leave out the rows that have none")
    return a, b
