"""Distances of all pairs of points to the nearest other point, block by block, with NumPy.

    python distances.py POINTS BLOCK DTYPE FORM [SEED]

FORM: ``difference`` subtracts coordinates, ``product`` expands |a - b|^2 and multiplies matrices.
Prints a line of JSON: seconds of three runs, the largest relative error, the sum of distances.
"""

import json
import sys
import time

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def nearest(points: Floats, block: int, form: str) -> Floats:
    """The distance of every point to its nearest other point, (n,)."""
    count = len(points)
    squares = (points * points).sum(axis=1)
    found = np.empty(count, dtype=points.dtype)
    for first in range(0, count, block):
        rows = points[first : first + block]
        if form == "product":
            apart = squares[first : first + block, None] - 2 * rows @ points.T + squares
        else:
            apart = np.zeros((len(rows), count), dtype=points.dtype)
            for column in range(points.shape[1]):
                difference = rows[:, column, None] - points[:, column]
                apart += difference * difference
        apart[np.arange(len(rows)), np.arange(first, first + len(rows))] = np.inf
        found[first : first + block] = np.sqrt(np.maximum(apart.min(axis=1), 0))
    return found


def main() -> None:
    count, block, dtype, form = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    exact = np.random.default_rng(seed).random((count, 3))
    points = exact.astype(dtype)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        found = nearest(points, block, form)
        seconds.append(time.perf_counter() - start)
    right = nearest(exact, 64, "difference")
    error = float(np.max(np.abs(found - right) / right))
    print(json.dumps({"seconds": seconds, "error": error, "sum": float(found.sum())}))


if __name__ == "__main__":
    main()
