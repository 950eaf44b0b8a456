"""A sweep over a grid as a kernel for kerncraft: its text, and its extents in a core's part."""

import math
from dataclasses import dataclass, replace

from autotune.codegen.c.grid_kernel import BLOCKS, grid_sizes, grid_text
from autotune.codegen.c.kernel_values import KernelText
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import strides
from autotune.domain.variant import Block, Candidate
from autotune.models.engines.kerncraft.node_plan import has_tiles
from autotune.models.engines.kerncraft.step_plan import StretchWork
from autotune.models.traffic.schedule import schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class GridStretch:
    """A sweep over a grid with its text for kerncraft."""

    sweep: str
    kernel: str
    text: KernelText


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPlan:
    """One time step of a stencil: a sweep over the grid."""

    stretches: tuple[GridStretch, ...]
    barriers: float

    @property
    def on_grid(self) -> bool:
        """Whether its stretches sweep over grids: always."""
        return True

    def work(self, candidate: Candidate) -> list[list[StretchWork]]:
        """The work of the node with most planes; each of its threads has as many as the largest."""
        problem = _grid(candidate)
        planes, *others = problem.extents
        part = (-(-planes // (candidate.ranks * candidate.threads)), *others)
        sizes = dict(zip(problem.stencil.dimensions, part, strict=True))
        blocks = tuple({**sizes, **_blocks(candidate)}.values())
        threads = candidate.threads_per_node
        return [
            [
                StretchWork(
                    text=stretch.text.text,
                    sizes=grid_sizes(part, blocks, problem.stencil.radius),
                    iterations=float(threads * math.prod(part)),
                )
                for stretch in self.stretches
            ]
        ]

    def leading(self, candidate: Candidate, pad_lines: int, line: int) -> int:  # noqa: ARG002
        """Elements from one row to the next of the arrays of a candidate."""
        problem = _grid(candidate)
        return strides(problem.extents, problem.stencil.radius, pad_lines)[-2]


def _grid(candidate: Candidate) -> StencilProblem:
    problem = candidate.problem
    assert isinstance(problem, StencilProblem), "a plan of a grid"
    return problem


def grid_plan(program: loop_tree.StepProgram) -> GridPlan | str:
    """The program of a stencil as a kernel for kerncraft, or the reason why there is none."""
    several = loop_tree.several_sweeps(program.body)
    if several is not None:
        return f"kerncraft takes one sweep over a grid, not {several[0].sweeps} in one pass"
    blocked, stretches = has_tiles(program.body), []
    for sweep in loop_tree.grid_sweeps(program.body):
        text = grid_text(sweep)
        if isinstance(text, str):
            return text
        if blocked:
            text = replace(text, notes=(*text.notes, BLOCKS))
        stretches.append(GridStretch(sweep=sweep.name, kernel=sweep.kernel, text=text))
    steps = schedule(program).steps
    return GridPlan(stretches=tuple(stretches), barriers=steps[-1].barriers)


def _blocks(candidate: Candidate) -> dict[str, int]:
    return {
        change.dimension: change.size
        for change in candidate.variant.transformations
        if isinstance(change, Block)
    }
