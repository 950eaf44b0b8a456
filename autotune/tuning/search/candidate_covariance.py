"""The covariance of a search: how alike two candidates are in what is not yet understood.

A sum of Matern-5/2 terms over levels (Rasmussen and Williams 2006, eq. 4.17): one in all parameters
at once with a length of its own for each (ARD), and the main effects and pairs of an additive
process (Duvenaud, Nickisch and Rasmussen 2011, eq. 3), because a model is most often wrong about
one parameter or two at a time. In main effects and pairs a level is like its neighbours by one
share and stands for itself by the other (``rough``): a model misses a single value, such as the one
block size at which rows conflict, as often as it drifts. To these come a linear term in the
prediction, one in what a prior expects beside it, a constant of each problem, and noise.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from autotune.tuning.search.parameter_levels import Levels
from autotune.tuning.search.points import Floats, Indices

_ROOT5 = math.sqrt(5.0)
_BLOCK = 1 << 16
"""So many entries are worked on at a time, to stay in cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """Hyperparameters: ``lengths`` (p,), and standard deviations of the terms and the noise."""

    lengths: Floats
    joint: float
    main: float
    pairs: float
    noise: float

    @classmethod
    def of(cls, theta: Floats) -> "Shape":
        """From logarithms: the lengths, then joint, main, pairs, noise."""
        values = np.exp(theta)
        joint, main, pairs, noise = values[-4:].tolist()
        return cls(lengths=values[:-4], joint=joint, main=main, pairs=pairs, noise=noise)

    @property
    def variance(self) -> float:
        """Of one candidate, without constant, linear term and noise."""
        pairs = self.pairs if len(self.lengths) > 1 else 0.0
        return self.joint**2 + self.main**2 + pairs**2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """What the covariance knows of each candidate, (n,) each but for the levels.

    ``scale``: how unsure it is relative to the others. ``trend``: log prediction, centred.
    ``group``: its problem. ``constant``, ``slope``: standard deviations of the constant and of the
    factor of the trend. ``rough``: share of the variance of an effect that a level has by itself,
    in [0, 1). ``lent``: what a prior expects beside the prediction, centred; ``trust``: standard
    deviation of its factor.
    """

    levels: Levels
    scale: Floats
    trend: Floats
    group: Indices
    constant: float
    slope: float
    rough: float = 0.0
    lent: Floats | None = None
    trust: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.rough < 1:
            raise ValueError(f"rough is a share in [0, 1), not {self.rough}")

    def fixed(self, rows: Indices, columns: Indices) -> Floats:
        """The terms without hyperparameters, (rows, columns)."""
        same = self.group[rows][:, None] == self.group[columns][None]
        trend = np.outer(self.trend[rows], self.trend[columns])
        result: Floats = self.constant**2 * (1.0 + same) + self.slope**2 * trend
        if self.lent is not None:
            result += self.trust**2 * np.outer(self.lent[rows], self.lent[columns])
        return result

    def variance(self, shape: Shape, rows: Indices) -> Floats:
        """Of single candidates, without noise."""
        result: Floats = (
            self.scale[rows] ** 2 * shape.variance
            + 2 * self.constant**2
            + self.slope**2 * self.trend[rows] ** 2
        )
        if self.lent is not None:
            result += self.trust**2 * self.lent[rows] ** 2
        return result


def cross(
    inputs: Inputs,
    shape: Shape,
    rows: Indices,
    columns: Indices,
    indicator: sparse.csr_array,
) -> Floats:
    """The covariance between candidates, (rows, columns); ``indicator`` is that of the columns."""
    levels = inputs.levels
    picked = levels.index[rows]
    squares = [
        table[picked[:, place]] / length**2
        for place, (table, length) in enumerate(zip(levels.tables, shape.lengths, strict=True))
    ]
    stack = np.hstack(squares)
    alone = _roughened(_matern(stack), stack, inputs.rough)
    total = np.ascontiguousarray((indicator @ np.ascontiguousarray(stack.T)).T)
    for block in _blocks(total):
        _matern_in_place(block, shape.joint**2)
    effects = (indicator @ np.ascontiguousarray(alone.T)).T
    count = levels.parameters
    total += effects * (shape.main**2 / count)
    if count > 1:
        squared = (indicator @ np.ascontiguousarray((alone * alone).T)).T
        total += (effects * effects - squared) * (shape.pairs**2 / (count * (count - 1)))
    total *= inputs.scale[columns]
    total *= inputs.scale[rows][:, None]
    total += inputs.fixed(rows, columns)
    return total


def _blocks(matrix: Floats) -> list[Floats]:
    flat = matrix.reshape(-1)
    return [flat[start : start + _BLOCK] for start in range(0, flat.size, _BLOCK)]


def _matern(squares: Floats) -> Floats:
    found = squares.copy()
    _matern_in_place(found, 1.0)
    return found


def _roughened(smooth: Floats, squares: Floats, rough: float) -> Floats:
    """A share of what levels have in common, the whole of what a level has with itself."""
    result: Floats = np.where(squares == 0.0, 1.0, (1 - rough) * smooth)
    return result


def _matern_in_place(squares: Floats, variance: float) -> None:
    """Squared scaled distances become covariances."""
    np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
    squares *= _ROOT5
    falling = np.exp(-squares)
    falling *= variance
    rising = squares / 3
    rising += 1
    squares *= rising
    squares += 1
    squares *= falling


class Evidence:
    """Observations as the marginal likelihood needs them."""

    def __init__(self, inputs: Inputs, rows: Indices, extra: Floats, values: Floats) -> None:
        """``extra``: (n, n), covariance beside that of the inputs. ``values``: (n,), centred."""
        self.values = values
        self._tables = inputs.levels.tables
        self._rough = inputs.rough
        self._scale = np.outer(inputs.scale[rows], inputs.scale[rows])
        self._fixed = inputs.fixed(rows, rows) + extra
        index, starts = inputs.levels.index[rows].T, inputs.levels.starts
        sizes = np.array(inputs.levels.sizes)[:, None, None]
        self._codes = starts[:, None, None] + sizes * index[:, :, None] + index[:, None, :]

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """Negative log marginal likelihood (Rasmussen and Williams 2006, eq. 5.8), its gradient."""
        shape = Shape.of(theta)
        count = len(self._tables)
        pairs = max(count * (count - 1), 1)
        # what depends on one parameter is computed for its levels, then picked
        tables = [t / length**2 for t, length in zip(self._tables, shape.lengths, strict=True)]
        flat = np.concatenate([table.ravel() for table in tables])
        smooth, slope = _with_slope(flat)
        by_level = _roughened(smooth, flat, self._rough)
        slope *= 1 - self._rough
        scaled, alone = flat[self._codes], by_level[self._codes]
        drift = (slope * flat)[self._codes]
        joint, steep = _with_slope(scaled.sum(axis=0))
        total = alone.sum(axis=0)
        main = total / count
        both = (total * total - np.einsum("pij,pij->ij", alone, alone)) / pairs
        covariance = shape.joint**2 * joint + shape.main**2 * main + shape.pairs**2 * both
        covariance = covariance * self._scale + self._fixed
        covariance[np.diag_indices_from(covariance)] += shape.noise**2
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            return 1e10, np.zeros_like(theta)
        inverse = np.linalg.inv(covariance)
        solved = inverse @ self.values
        loss = 0.5 * float(self.values @ solved) + float(np.log(np.diag(factor)).sum())
        weight = inverse - np.outer(solved, solved)
        trace = float(np.trace(weight))
        weight *= self._scale
        by_pairs = weight * (2 * shape.pairs**2 / pairs)
        # dk / d log length = -2 scaled dk / d scaled
        gradient = np.empty_like(theta)
        common = weight * (shape.main**2 / count) + by_pairs * total
        gradient[:-4] = (
            np.einsum("pij,pij,ij->p", alone, drift, by_pairs)
            - np.tensordot(drift, common, axes=2)
            - np.tensordot(scaled, weight * steep * shape.joint**2, axes=2)
        )
        gradient[-4] = shape.joint**2 * (weight * joint).sum()
        gradient[-3] = shape.main**2 * (weight * main).sum()
        gradient[-2] = shape.pairs**2 * (weight * both).sum()
        gradient[-1] = shape.noise**2 * trace
        return loss, gradient


def _with_slope(squares: Floats) -> tuple[Floats, Floats]:
    """Matern-5/2 of squared scaled distances, and its derivative by them."""
    root = np.sqrt(np.maximum(squares, 0.0)) * _ROOT5
    falling = np.exp(-root)
    return (1 + root + root * root / 3) * falling, -(5 / 6) * (1 + root) * falling
