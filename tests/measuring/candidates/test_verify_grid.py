"""Verification on grids: awkward extents that run every part of a blocked, unrolled sweep."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from autotune.domain.problem import StencilProblem
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    Transformation,
    Unroll,
    Variant,
)
from autotune.files import config
from autotune.measuring.candidates import protocol
from autotune.measuring.candidates.host_measurer import ReferenceStates
from autotune.measuring.verification import verify
from autotune.measuring.verification.verify import reference_state

stencil_of = cache(config.stencil)


def candidate(
    *changes: Transformation, name: str = "star3d-7pt", threads: int = 1, size: int = 300
) -> Candidate:
    stencil = stencil_of(name)
    return Candidate(
        variant=Variant(skeleton="jacobi", transformations=changes, parameters={}),
        problem=StencilProblem(stencil=stencil, extents=(size,) * len(stencil.dimensions)),
        layout=ExecutionLayout(threads=threads),
    )


def awkward(chosen: Candidate) -> tuple[int, ...]:
    small = verify.verification_problem(chosen)
    assert isinstance(small, StencilProblem)
    return small.extents


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", ["star3d-7pt", "star3d-r4"])
def test_extents_are_odd_and_cut_blocks_and_unrolling(name, threads):
    for bk, bj, bi, u in product((0, 4), (0, 8, 16), (0, 128, 256), (1, 2, 4, 7, 8)):
        sizes = {"k": bk, "j": bj, "i": bi}
        changes: list[Transformation] = [Block("sweep", d, b) for d, b in sizes.items() if b]
        changes += [Unroll("sweep", "i", u)] if u > 1 else []
        extents = awkward(candidate(*changes, name=name, threads=threads))
        for extent, block in zip(extents, sizes.values(), strict=True):
            assert extent % 2 == 1
            assert block == 0 or (extent > block and extent % block)
        assert u == 1 or extents[2] % u
        assert extents[0] // threads > bk, "every thread has a whole block and a part of one"
        assert extents[2] >= 2 * 8 * u, "rows run the unrolled vector loop"
        assert np.prod(extents) < 1_000_000


def test_a_block_beyond_the_timed_grid_asks_for_no_larger_grid():
    extents = awkward(candidate(Block("sweep", "i", 4096), size=64))
    assert extents[2] < 300, "the timed grid is one block, so is the verified one"


def test_a_plain_sweep_is_verified_on_a_small_grid():
    assert np.prod(awkward(candidate())) < 10_000
    assert awkward(candidate(name="star2d-5pt")) == (3, 43)


def test_the_reference_is_chosen_by_the_family():
    problem = candidate(name="star2d-5pt").problem.at((3, 5))
    state = ReferenceStates().state(problem, 2)
    assert np.array_equal(state, reference_state(problem, 2))
    assert state.shape == (15,)
    fields = verify.fields_of(problem)
    assert verify.judge(state, state, fields).status == "ok"
    wrong = state.copy()
    wrong[7] += 1e-9
    verdict = verify.judge(wrong, state, fields)
    assert verdict.status == "wrong-result"
    assert "component 7" in verdict.detail


def test_a_program_on_a_grid_takes_its_extents():
    arguments = protocol.verify_arguments(candidate(threads=2, size=64), 3, "out")
    assert arguments[:7] == ["verify", "--size", "64x64x64", "--n", "262144", "--threads", "2"]
    assert "--h" not in arguments
