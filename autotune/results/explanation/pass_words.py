"""What several sweeps of a stencil in one pass keep and compute twice, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from autotune.codegen.tree import loop_tree
from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.domain.variant import ExecutionLayout
from autotune.models.traffic.grid.front_shape import PassShape, front_shape
from autotune.models.traffic.grid.overlap_traffic import tile_shape
from autotune.results.explanation.pipeline_words import holding, last_size
from autotune.units import Bytes, show


@dataclass(frozen=True, slots=True)
class PassSizes:
    """A program with several sweeps in one pass, on grids of any size."""

    program: loop_tree.StepProgram
    problem: StencilProblem
    layout: ExecutionLayout

    def shape(self, extents: tuple[int, ...], line: Bytes) -> PassShape:
        """The pass of a thread with as many planes and neighbours as any has.

        ``extents``: of the grid, slowest dimension first; ``line``: of a cache. Raises ValueError
        for a program with one sweep in a pass.
        """
        placed = loop_tree.several_sweeps(self.program.body)
        if placed is None:
            raise ValueError("the program makes one sweep in a pass")
        several, blocks = placed
        threads = self.layout.ranks * self.layout.threads
        part = -(-extents[0] // threads), min(2, threads - 1)
        if isinstance(several, loop_tree.PlaneFront):
            return front_shape(several, dict(blocks), extents, part, int(line))
        return tile_shape(several, dict(blocks), extents, part, int(line))

    def in_words(self, machine: Machine) -> Iterator[str]:
        """What a thread keeps between the sweeps and computes for others, and what holds it."""
        line, extents = machine.line, self.problem.extents
        shape = self.shape(extents, line)
        more = f"{100 * shape.redundant:.2g} % more points at the borders of its blocks"
        work = f", and computes {more}" if shape.redundant else ""
        yield f"A thread keeps {show(shape.kept, 'size')} between the sweeps{work}."
        threads = self.layout.ranks // self.layout.nodes * self.layout.threads
        cache = holding(machine, threads, shape.kept)
        if cache is None:
            yield "No cache holds that, so that it is no faster than memory."
            return
        if len(set(extents)) > 1:
            yield f"{cache.name} holds that."
            return
        share = cache.size // min(cache.cores, threads)
        end = last_size(lambda n: self.shape((n,) * len(extents), line).kept <= share, extents[0])
        yield f"{cache.name} holds that {f'up to N = {end}' if end else 'at every size'}."
