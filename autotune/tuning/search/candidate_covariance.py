"""The covariance of a search: how similar two candidates are in their prediction errors.

A sum of Matern-5/2 terms over levels (Rasmussen and Williams 2006, eq. 4.17): one in all parameters
together with a length for each (ARD), and the main effects and pairs of an additive process
(Duvenaud, Nickisch and Rasmussen 2011, eq. 3), because times most often depend on one parameter or
two at a time. Further terms are a linear one in each hint, a constant of each problem, and noise.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from autotune.statistics.gaussian_process.evidence import Evidence
from autotune.statistics.gaussian_process.kernels import (
    ROOT5,
    Fixed,
    KernelTerm,
    TermValue,
    White,
    matern52_in_place,
    matern52_with_slope,
)
from autotune.tuning.search.parameter_levels import ParameterLevels
from autotune.tuning.search.points import Floats, Indices

_BLOCK = 1 << 16
"""So many entries are worked on at a time, to stay in cache."""


@dataclass(frozen=True, slots=True)
class TermSizes:
    """Standard deviations of the terms: in all parameters, main effects, pairs of effects."""

    joint: float
    main: float
    pairs: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchHyperparameters:
    """Hyperparameters: ``lengths`` (p,), and standard deviations of the terms and the noise."""

    lengths: Floats
    terms: TermSizes
    noise: float

    @classmethod
    def of(cls, theta: Floats) -> "SearchHyperparameters":
        """Hyperparameters from their logarithms: the lengths, then joint, main, pairs, noise."""
        values = np.exp(theta)
        *terms, noise = values[-4:].tolist()
        return cls(lengths=values[:-4], terms=TermSizes(*terms), noise=noise)

    @property
    def variance(self) -> float:
        """The variance of one candidate, without constant, linear term and noise."""
        terms = self.terms
        pairs = terms.pairs if len(self.lengths) > 1 else 0.0
        return terms.joint**2 + terms.main**2 + pairs**2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """The inputs of the covariance for each candidate, (n,) each except the levels.

    ``scale``: its uncertainty relative to others. ``group``: its problem. ``hints``: (k, n), log
    times that may say how candidates differ, centred. ``constant``, ``weight``: standard deviations
    of the constant and of the factor of each hint.
    """

    levels: ParameterLevels
    scale: Floats
    group: Indices
    hints: Floats
    constant: float
    weight: float

    def fixed(self, rows: Indices, columns: Indices) -> Floats:
        """The terms without hyperparameters, (rows, columns)."""
        same = self.group[rows][:, None] == self.group[columns][None]
        result: Floats = self.constant**2 * (1.0 + same)
        if len(self.hints):
            result += self.weight**2 * (self.hints[:, rows].T @ self.hints[:, columns])
        return result

    def variance(self, shape: SearchHyperparameters, rows: Indices) -> Floats:
        """The variance of each candidate of ``rows``, without noise."""
        result: Floats = self.scale[rows] ** 2 * shape.variance + 2 * self.constant**2
        result += self.weight**2 * np.square(self.hints[:, rows]).sum(axis=0)
        return result


def cross(
    inputs: Inputs,
    shape: SearchHyperparameters,
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
    alone = _matern(stack)
    total = np.ascontiguousarray((indicator @ np.ascontiguousarray(stack.T)).T)
    for block in _blocks(total):
        matern52_in_place(block, shape.terms.joint**2)
    effects = (indicator @ np.ascontiguousarray(alone.T)).T
    count = levels.parameters
    total += effects * (shape.terms.main**2 / count)
    if count > 1:
        squared = (indicator @ np.ascontiguousarray((alone * alone).T)).T
        total += (effects * effects - squared) * (shape.terms.pairs**2 / (count * (count - 1)))
    total *= inputs.scale[columns]
    total *= inputs.scale[rows][:, None]
    total += inputs.fixed(rows, columns)
    return total


def _blocks(matrix: Floats) -> list[Floats]:
    flat = matrix.reshape(-1)
    return [flat[start : start + _BLOCK] for start in range(0, flat.size, _BLOCK)]


def _matern(squares: Floats) -> Floats:
    values = squares.copy()
    matern52_in_place(values, 1.0)
    return values


def evidence(inputs: Inputs, rows: Indices, extra: Floats, values: Floats) -> Evidence:
    """The marginal likelihood of observations as a function of log hyperparameters.

    Their order is that of ``SearchHyperparameters.of``. ``extra``: (n, n), covariance besides that
    of the inputs. ``values``: (n,), centred.
    """
    return Evidence(covariance_terms(inputs, rows, extra), values)


def covariance_terms(inputs: Inputs, rows: Indices, extra: Floats | float) -> list[KernelTerm]:
    """The terms of the covariance between candidates, with hyperparameters in the order of
    ``SearchHyperparameters.of``; ``extra`` is added, (n, n).
    """
    fixed = inputs.fixed(rows, rows) + extra
    upper = np.triu_indices(len(rows), 1)
    return [LevelTerms.between(inputs, rows), White(), Fixed(fixed[upper], np.diag(fixed))]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelTerms:
    """The joint, main and pairwise terms of the covariance of a list of candidates.

    Hyperparameters: lengths, standard deviations of the joint, main and pairwise terms. A term that
    depends on one parameter is computed for its levels, then looked up for each pair of candidates.
    """

    tables: tuple[Floats, ...]
    """Squared distances of the levels of each parameter."""
    codes: Indices
    """(p, m) places of a pair of candidates in the flattened tables."""
    scale: Floats
    """(m,) products of the scales of both candidates."""
    scale_alone: Floats
    """(n,) squares of the scales."""

    @classmethod
    def between(cls, inputs: Inputs, rows: Indices) -> "LevelTerms":
        """The terms for all pairs of candidates at the given rows."""
        first, second = np.triu_indices(len(rows), 1)
        index, starts = inputs.levels.index[rows].T, inputs.levels.starts
        sizes = np.array(inputs.levels.sizes)[:, None]
        scale = inputs.scale[rows]
        return cls(
            tables=tuple(inputs.levels.tables),
            codes=np.asarray(
                starts[:, None] + sizes * index[:, first] + index[:, second], dtype=np.intp
            ),
            scale=scale[first] * scale[second],
            scale_alone=scale * scale,
        )

    @property
    def count(self) -> int:
        """The number of hyperparameters of the terms."""
        return len(self.tables) + 3

    def at(self, values: Floats) -> TermValue:
        """The value of the terms at their hyperparameters: lengths and standard deviations."""
        joint, main, pairs = (float(value) ** 2 for value in values[-3:])
        count = len(self.tables)
        couples = max(count * (count - 1), 1)
        tables = [t / length**2 for t, length in zip(self.tables, values[:-3], strict=True)]
        flat = np.concatenate([table.ravel() for table in tables])
        smooth, steep = matern52_with_slope(np.sqrt(np.maximum(flat, 0.0)) * ROOT5)
        scaled = flat[self.codes]
        alone = smooth[self.codes]
        falling = (steep * flat)[self.codes]  # minus the derivative by the log length
        together, together_steep = matern52_with_slope(np.sqrt(scaled.sum(axis=0)) * ROOT5)
        total = alone.sum(axis=0)
        mean = total / count
        both = (total * total - np.einsum("pm,pm->m", alone, alone)) / couples
        pairs_alone = pairs if count > 1 else 0.0

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:
            weight, of_scale = upper * self.scale, float(diagonal @ self.scale_alone)
            by_pairs = weight * (2 * pairs / couples)
            by_length = (
                falling @ (weight * (main / count) + by_pairs * total)
                - np.einsum("pm,pm,m->p", alone, falling, by_pairs)
                + scaled @ (weight * together_steep * joint)
            )
            return [
                *by_length.tolist(),
                joint * (2 * float(weight @ together) + of_scale),
                main * (2 * float(weight @ mean) + of_scale),
                2 * pairs * float(weight @ both) + pairs_alone * of_scale,
            ]

        upper = joint * together + main * mean + pairs * both
        alike = joint + main + pairs_alone
        return TermValue(upper * self.scale, alike * self.scale_alone, gradient)
