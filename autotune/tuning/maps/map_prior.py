"""The prior of all times of a map before any is measured: contenders x cells.

A *contender* is what an application can ship: a variant and a build, without size and threads. A
*cell* is a size with a number of threads. Times are natural logarithms of seconds per time step, so
differences of them are relative.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.domain.results import Prediction
from autotune.domain.variant import Value

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Flags = NDArray[np.bool_]

UNTOLD = 0.3
"""Standard deviation of log(measured / predicted) of a contender where the engine states none."""
_TRUSTED = (0.5, 0.1, 0.2)
"""Standard deviations of what all predictions of a model share: a constant, per octave of the size,
per octave of the threads."""
_VAGUE = (20.0, 3.0, 2.0)
"""The same of times without a model, in logarithms of seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Sizes x thread counts; cell number ``size index * threads + thread index``."""

    sizes: tuple[int, ...]
    threads: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, values in (("sizes", self.sizes), ("threads", self.threads)):
            if not values:
                raise ValueError(f"a map needs {name}")
            if values[0] < 1 or any(b <= a for a, b in itertools.pairwise(values)):
                raise ValueError(f"{name} must be positive and increase, not {values}")

    def __len__(self) -> int:
        return len(self.sizes) * len(self.threads)

    def at(self, number: int) -> tuple[int, int]:
        """The size and the number of threads of a cell."""
        return self.sizes[number // len(self.threads)], self.threads[number % len(self.threads)]

    @property
    def octaves(self) -> tuple[Floats, Floats]:
        """log2 of size and of threads of every cell."""
        sizes = np.repeat(np.log2(np.array(self.sizes, dtype=np.float64)), len(self.threads))
        threads = np.tile(np.log2(np.array(self.threads, dtype=np.float64)), len(self.sizes))
        return sizes, threads


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPrior:
    """Predicted log times with their uncertainties; K contenders, C cells, F figures."""

    cells: Cells
    mean: Floats
    """(K, C)"""
    shifts: Floats
    """(K, C, F): relative change when a figure is one standard deviation off, for all alike."""
    independent: Floats
    """(K, C): standard deviation of a contender alone."""
    traits: Floats
    """(K, M): rows whose products are the similarity of two contenders, 1 with itself."""
    legal: Flags
    """(K, C): whether the contender exists in the cell."""
    twin: Whole
    """(K, C): the contender with the same program: itself where it is legal; -1: none."""
    predicted: bool
    """Whether an engine predicted the times."""

    def __post_init__(self) -> None:
        shape = self.mean.shape
        if shape != (len(self.traits), len(self.cells)) or self.shifts.shape[:2] != shape:
            raise ValueError(f"{shape} times do not fit {len(self.cells)} cells")
        if self.independent.shape != shape or self.legal.shape != shape:
            raise ValueError("every time needs its uncertainty and whether it is legal")
        if self.twin.shape != shape:
            raise ValueError("every contender needs its twin in every cell")
        if not self.legal.any(axis=0).all():
            raise ValueError("a cell without a legal contender has no winner")
        if not (np.isfinite(self.mean).all() and np.isfinite(self.independent).all()):
            raise ValueError("times and uncertainties must be finite")

    @property
    def trend(self) -> Floats:
        """(C, 3): errors common to all times, as standard deviations: constant, size, threads."""
        sizes, threads = self.cells.octaves
        scale = _TRUSTED if self.predicted else _VAGUE
        columns = (np.ones(len(sizes)), sizes - sizes.mean(), threads - threads.mean())
        return np.column_stack([sd * column for sd, column in zip(scale, columns, strict=True)])


def prior(
    cells: Cells,
    parameters: Sequence[Mapping[str, Value]],
    predictions: Sequence[Sequence[Prediction | None]],
    twins: Mapping[tuple[int, int], int] | None = None,
) -> MapPrior:
    """The prior of K contenders; ``predictions`` has C for each, None where it is not legal.

    ``twins``: for a (contender, cell), the legal contender that is the same program there. A
    contender that an engine cannot predict, while it predicts others, gets the median of those with
    a wide uncertainty.
    """
    legal = np.array([[p is not None for p in row] for row in predictions])
    seconds = np.array(
        [[np.nan if p is None or p.seconds is None else p.seconds for p in r] for r in predictions],
        dtype=np.float64,
    )
    predicted = bool(np.isfinite(seconds).any())
    names = sorted(
        {n for row in predictions for p in row if p and p.uncertainty for n in p.uncertainty.shared}
    )
    shifts = np.zeros((*seconds.shape, len(names)))
    deviations = np.full(seconds.shape, UNTOLD)
    for k, row in enumerate(predictions):
        for c, per_cell in enumerate(row):
            if per_cell is not None and per_cell.uncertainty is not None:
                deviations[k, c] = max(per_cell.uncertainty.independent, 0.02)
                shifts[k, c] = [per_cell.uncertainty.shared.get(name, 0.0) for name in names]
    twin = np.where(legal, np.arange(len(legal))[:, None], -1)
    for (contender, cell), other in (twins or {}).items():
        twin[contender, cell] = other
    mean = _filled(np.log(seconds)) if predicted else np.zeros(seconds.shape)
    deviations[np.isnan(seconds)] = UNTOLD * (2 if predicted else 1)
    return MapPrior(
        cells=cells,
        mean=mean,
        shifts=shifts,
        independent=deviations,
        traits=traits(parameters),
        legal=legal,
        twin=twin,
        predicted=predicted,
    )


def _filled(times: Floats) -> Floats:
    """The times with unknown ones replaced by the median of their cell, or else of all cells."""
    finite = np.isfinite(times)
    columns = ((times[some, c], some.any()) for c, some in enumerate(finite.T))
    middle = np.array([np.median(column) if some else np.nan for column, some in columns])
    middle[np.isnan(middle)] = np.nanmedian(middle)
    return np.where(finite, times, middle)


def traits(parameters: Sequence[Mapping[str, Value]]) -> Floats:
    """Feature vectors of contenders whose inner product is their mean similarity.

    The mean is over the parameters that vary. The similarity of numbers falls exponentially with
    their distance in the list of sorted values; other values are similar only if they are equal.
    """
    names = sorted({name for row in parameters for name in row})
    columns = [[row.get(name) for row in parameters] for name in names]
    varying = [column for column in columns if len({_key(value) for value in column}) > 1]
    if not varying:
        return np.ones((len(parameters), 1))
    share = 1 / np.sqrt(len(varying))
    return np.hstack([share * _features(column) for column in varying])


def _features(column: Sequence[Value]) -> Floats:
    levels = sorted({_key(value): value for value in column}.items())
    place = {key: k for k, (key, _) in enumerate(levels)}
    rows = np.array([place[_key(value)] for value in column])
    ordered = [isinstance(v, int | float) and not isinstance(v, bool) for _, v in levels]
    near = np.eye(len(levels))
    numbers = np.flatnonzero(ordered)
    if len(numbers) > 1:
        steps = np.arange(len(numbers)) / (len(numbers) - 1)
        near[np.ix_(numbers, numbers)] = np.exp(-2 * np.abs(steps[:, None] - steps))
    root = np.linalg.cholesky(near)
    return np.asarray(root[rows], dtype=np.float64)


def _key(value: Value) -> tuple[str, float, str]:
    """A sorting key for values that keeps types apart, so that True differs from 1."""
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    return type(value).__name__, number, str(value)
