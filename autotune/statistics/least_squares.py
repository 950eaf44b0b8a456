"""Coefficients of linear least squares."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def least_squares(matrix: Floats, values: Floats) -> Floats:
    """The coefficients (k,) that fit ``values`` (n,) best by the columns of ``matrix`` (n, k).

    Columns are scaled to equal length, so that their units do not matter.

    >>> least_squares(np.array([[1.0], [1.0], [1.0]]), np.array([2.0, 5.0, 8.0])).round(9).tolist()
    [5.0]
    """
    lengths = np.linalg.norm(matrix, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.linalg.lstsq(matrix / scale, values, rcond=None)[0] / scale)
