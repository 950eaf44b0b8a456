"""The reference of stencils against sweeps written by hand, point by point."""

from itertools import product
from math import cos, sin

import numpy as np
import pytest

from autotune import paths
from autotune.domain.problem import StencilProblem
from autotune.files import config
from autotune.measuring.verification import grid_reference
from autotune.measuring.verification.grid_reference import sweeps


def first(k, j, i, extents):
    """The initial values of the 3-D stencils."""
    nk, nj, ni = extents
    pattern = ((3 * (i + 8) + 5 * (j + 8) + 7 * (k + 8)) % 31) / 31
    return 1 + 0.5 * pattern + 0.25 * (i + 2 * j + 3 * k + 64) / (ni + 2 * nj + 3 * nk + 128)


def first_2d(j, i, extents):
    nj, ni = extents
    pattern = ((3 * (i + 8) + 5 * (j + 8)) % 31) / 31
    return 1 + 0.5 * pattern + 0.25 * (i + 2 * j + 64) / (ni + 2 * nj + 128)


def star(u, k, j, i, r):
    return (
        u[k - r, j, i] + u[k + r, j, i] + u[k, j - r, i] + u[k, j + r, i]
        + u[k, j, i - r] + u[k, j, i + r]
    )  # fmt: skip


def star3d_7pt(u, k, j, i):
    return 0.4 * u[k, j, i] + 0.1 * star(u, k, j, i, 1)


def star3d_r4(u, k, j, i):
    weights = (0.09, 0.03, 0.015, 0.0075)
    rest = sum(w * star(u, k, j, i, r) for r, w in enumerate(weights, start=1))
    return 0.145 * u[k, j, i] + rest


def star3d_13pt(u, k, j, i):
    return 0.22 * u[k, j, i] + 0.1 * star(u, k, j, i, 1) + 0.03 * star(u, k, j, i, 2)


def box2d_9pt(u, j, i):
    weights = (0.3, 0.14, 0.035)
    return sum(weights[abs(a) + abs(b)] * u[j + a, i + b] for a, b in product((-1, 0, 1), repeat=2))


def box3d_27pt(u, k, j, i):
    weights = (0.2, 0.05, 0.025, 0.025)
    return sum(
        weights[abs(a) + abs(b) + abs(c)] * u[k + a, j + b, i + c]
        for a, b, c in product((-1, 0, 1), repeat=3)
    )


def star3d_7pt_variable(u, k, j, i):
    along_i = 0.05 * sin(0.3 * i + 0.2 * j + 0.1 * k)
    along_j = 0.05 * cos(0.1 * i + 0.3 * j + 0.2 * k)
    along_k = 0.05 * sin(0.2 * i + 0.1 * j + 0.3 * k)
    return (
        0.4 * u[k, j, i]
        + (0.1 + along_i) * u[k, j, i - 1] + (0.1 - along_i) * u[k, j, i + 1]
        + (0.1 + along_j) * u[k, j - 1, i] + (0.1 - along_j) * u[k, j + 1, i]
        + (0.1 + along_k) * u[k - 1, j, i] + (0.1 - along_k) * u[k + 1, j, i]
    )  # fmt: skip


def star2d_5pt(u, j, i):
    return 0.4 * u[j, i] + 0.15 * (u[j, i - 1] + u[j, i + 1] + u[j - 1, i] + u[j + 1, i])


BY_HAND = {
    "star3d-7pt": star3d_7pt,
    "star3d-r4": star3d_r4,
    "box3d-27pt": box3d_27pt,
    "star3d-7pt-variable": star3d_7pt_variable,
    "star2d-5pt": star2d_5pt,
    "star3d-13pt": star3d_13pt,
    "box2d-9pt": box2d_9pt,
    "gauss-seidel3d-7pt": star3d_7pt,
    "red-black3d-7pt": star3d_7pt,
}


def in_order(name, extents):
    """The points of a sweep in place in the order of their updates; None for other sweeps."""
    points = list(product(*map(range, extents)))
    if name.startswith("red-black"):
        return sorted(points, key=lambda point: sum(point) % 2)
    return points if name.startswith("gauss-seidel") else None


def by_hand(point, extents, radius, steps, order=None):
    """Values by index, ghosts at negative ones: a dictionary, not an array with ghosts."""
    start = first if len(extents) == 3 else first_2d
    everywhere = product(*(range(-radius, extent + radius) for extent in extents))
    u = {index: start(*index, extents) for index in everywhere}
    for _ in range(steps):
        if order is not None:
            for index in order:
                u[index] = point(u, *index)
            continue
        new = dict(u)
        for index in product(*map(range, extents)):
            new[index] = point(u, *index)
        u = new
    return np.array([u[index] for index in product(*map(range, extents))])


def problem(name, *extents):
    return StencilProblem(stencil=config.stencil(name), extents=extents)


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_the_reference_is_what_is_written_by_hand(name):
    radius = config.stencil(name).radius
    extents = (radius + 2, radius + 3, radius + 5)[: 2 if "2d" in name else 3]
    for steps in (0, 3):
        expected = by_hand(BY_HAND[name], extents, radius, steps, in_order(name, extents))
        found = sweeps(problem(name, *extents), steps)
        assert np.max(np.abs(found - expected)) <= 1e-14


def test_every_shipped_stencil_is_written_by_hand():
    assert sorted(paths.names("kernels/stencil")) == sorted(BY_HAND)


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_values_neither_grow_nor_vanish(name):
    radius = config.stencil(name).radius
    state = sweeps(problem(name, *(max(3, radius),) * (2 if "2d" in name else 3)), 200)
    assert np.all((state > 1) & (state < 1.75))


@pytest.mark.parametrize("name", ["star3d-r4", "star3d-7pt-variable", "star2d-5pt"])
def test_chunks_change_nothing(name, monkeypatch):
    extents = (5, 7, 9)[: 2 if "2d" in name else 3]
    whole = sweeps(problem(name, *extents), 2)
    monkeypatch.setattr(grid_reference, "_CHUNK", 12)
    assert np.array_equal(sweeps(problem(name, *extents), 2), whole)


def test_a_wrong_weight_is_noticed():
    """The initial values tell every neighbour from the others."""
    right = config.stencil("star3d-7pt")
    state = sweeps(problem("star3d-7pt", 6, 6, 6), 1).reshape(6, 6, 6)
    for axis in range(3):
        assert np.min(np.abs(np.diff(state, axis=axis))) > 0
    assert right.values((6, 6, 6))["c1"] == 0.1
