"""Stencils: points of a grid, its slowest dimension spread over ranks and threads."""

from collections.abc import Mapping

from autotune.codegen import communication
from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.family import STENCIL
from autotune.domain.problem import AnyProblem, StencilProblem
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    OverlappedTiles,
    SeveralSweeps,
    StreamStores,
    Unroll,
)


class StencilKind:
    """The kind of stencils that are swept over a grid."""

    title = STENCIL.words
    engines: tuple[str, ...] = STENCIL.engines

    def limited(self, problem: AnyProblem) -> bool:  # noqa: ARG002
        """True: a stencil reads only neighbours."""
        return True

    def near(self, problem: AnyProblem) -> bool:  # noqa: ARG002
        """True: a stencil reads only neighbours."""
        return True

    def misfit(
        self,
        problem: AnyProblem,
        layout: ExecutionLayout,
        stages: int = 1,
    ) -> str | None:
        """Why a layout cannot be used; None if it can.

        Grids are swept in lexicographic order by one thread of one rank only.
        """
        if layout.ranks > 1:
            grid = grid_problem(problem)
            return communication.grid_legal(grid, layout.ranks, layout.communication, stages)
        ordered = isinstance(problem, StencilProblem) and problem.stencil.order == "lexicographic"
        if ordered and layout.threads > 1:
            return (
                "points are updated in lexicographic order, each from those before it: only one"
                " thread keeps that order"
            )
        return None

    def largest_parts(
        self,
        program: StepProgram,  # noqa: ARG002 - its granule is one point
        problem: AnyProblem,
        threads: int,
    ) -> Mapping[str | None, int]:
        """The number of points in each dimension of the largest part of a thread."""
        grid = grid_problem(problem)
        slowest, *others = zip(grid.stencil.dimensions, grid.extents, strict=True)
        return {slowest[0]: -(-slowest[1] // threads), **dict(others)}

    def longest_pipeline(self, program: StepProgram, problem: AnyProblem, part: int) -> int:  # noqa: ARG002
        """0: sweeps of a stencil have no pipelines."""
        return 0

    def doubt(self, problem: AnyProblem) -> None:
        """None: a stencil states nothing that is not checked when it is read."""

    def features(self, candidate: Candidate) -> Mapping[str, int]:
        """The modelling vector of a candidate."""
        return modelling_vector(candidate)


def grid_problem(problem: AnyProblem) -> StencilProblem:
    """The same problem with its type narrowed to a grid; ValueError for a problem without one."""
    if not isinstance(problem, StencilProblem):
        raise ValueError(f"{problem.label} is no stencil: it has no grid")
    return problem


def modelling_vector(candidate: Candidate) -> dict[str, int]:
    """The modelling vector (I, J, K, bi, bj, bk, u, t) of a stencil candidate, by name, in order.

    Extents in points, fastest dimension first; block sizes, equal to the extent if there is no
    block or a larger one; how many times the innermost loop is unrolled (1: not unrolled); threads.
    A 2-D stencil has no K and bk. Candidates with several sweeps in one pass have their number too,
    as ``sweeps``, those that go from tile to tile ``tiles`` 1, and those that store past the caches
    ``nt`` 1. Source: Ibeid et al., IPDPS workshops 2019, section III.B, where 0 stands for a loop
    that is not unrolled. Raises ValueError for a candidate that is not a stencil.
    """
    problem = grid_problem(candidate.problem)
    extents = dict(zip(problem.stencil.dimensions, problem.extents, strict=True))
    blocks = dict(extents)
    unrolled, others = 1, {}
    for transformation in candidate.variant.transformations:
        match transformation:
            case Block(dimension=dimension, size=size):
                blocks[dimension] = min(size, blocks[dimension])
            case Unroll(factor=factor):
                unrolled = max(factor, unrolled)
            case SeveralSweeps(sweeps=sweeps):
                others["sweeps"] = sweeps
                if isinstance(transformation, OverlappedTiles):
                    others["tiles"] = 1
            case StreamStores():
                others["nt"] = 1
    order = tuple(reversed(problem.stencil.dimensions))
    return {
        **{d.upper(): extents[d] for d in order},
        **{f"b{d}": blocks[d] for d in order},
        "u": unrolled,
        "t": candidate.threads,
        **others,
    }
