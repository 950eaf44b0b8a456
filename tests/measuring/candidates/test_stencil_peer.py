"""The body of a stencil as the peers of ``benchmarks/stencil_peers.py`` read it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from autotune.domain.problem import StencilProblem
from autotune.files import config
from autotune.language.expression import show
from autotune.measuring.verification import grid_reference


@pytest.fixture(scope="module")
def peer():
    path = Path(__file__).parents[3] / "benchmarks" / "stencil_peer.py"
    spec = importlib.util.spec_from_file_location("stencil_peer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["star3d-7pt", "box3d-27pt", "star3d-r4"])
def test_a_peer_reads_the_body_of_the_stencil(name, peer) -> None:
    stencil = config.stencil(name)
    problem = StencilProblem(stencil=stencil, extents=(9, 10, 11))
    u, r = grid_reference.initial(problem), stencil.radius
    assert u.shape == (9 + 2 * r, 10 + 2 * r, 11 + 2 * r)

    def read(k: int, j: int, i: int) -> np.ndarray:
        return u[r + k : r + k + 9, r + j : r + j + 10, r + i : r + i + 11]

    constants = dict(stencil.values(problem.extents))
    value = peer.body_of({"body": show(stencil.body), "constants": constants}, read)
    expected = grid_reference.sweeps(problem, 1).reshape(problem.extents)
    assert np.abs(value - expected).max() < 1e-14
