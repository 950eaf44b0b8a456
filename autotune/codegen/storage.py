"""Bytes of memory that a program of several arrays takes on a node."""

import math

from autotune.codegen import communication
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import AnyProblem, Problem, StencilProblem, generated
from autotune.domain.variant import ExecutionLayout
from autotune.units import Bytes

_DOUBLE = 8
_INDEX = 4
_LINE = 8
_PAGE = 512
"""Doubles of a cache line and of a page, to which the main program rounds up."""


def node_bytes(
    program: loop_tree.StepProgram, problem: AnyProblem, layout: ExecutionLayout
) -> Bytes:
    """Bytes of all arrays of a program on the fullest node of a layout.

    A rank has the pages of its block of every row, and of whole rows where it gathers them; what
    it holds of its neighbours, windows and buffers of tiles are left out, because they are small.
    """
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        rank = _grid_rank(program, problem, layout.ranks)
    else:
        rank = _vector_rank(program, problem, layout)
    return Bytes(rank * -(-layout.ranks // layout.nodes))


def _vector_rank(program: loop_tree.StepProgram, problem: Problem, layout: ExecutionLayout) -> int:
    """Bytes that one rank holds of rows of n components, and of index arrays."""
    padded = program.pad_lines > 0
    row = _up(problem.n, _PAGE if padded else _LINE) + _LINE * program.pad_lines
    gathered = communication.communicated(program) if layout.communication == "allgather" else ()
    share = -(-row // layout.ranks)
    doubles = sum(rows * (row if array in gathered else share) for array, rows in program.arrays)
    return _DOUBLE * doubles + _INDEX * problem.n * len(problem.ivp.indices)


def _grid_rank(program: loop_tree.StepProgram, problem: StencilProblem, ranks: int) -> int:
    """Bytes that one rank holds of grids with their ghosts."""
    ghosts = 2 * problem.stencil.radius
    slowest, *middle, last = problem.extents
    line = _up(last + ghosts, _LINE) + _LINE * program.pad_lines
    planes = -(-slowest // ranks) + ghosts
    plane = math.prod(extent + ghosts for extent in middle) * line
    return _DOUBLE * len(program.arrays) * planes * plane


def _up(count: int, unit: int) -> int:
    """The next multiple of a unit."""
    return -(-count // unit) * unit
