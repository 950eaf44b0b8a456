"""The kernels that a program of an IVP runs on a node: stretches of code for kerncraft, their
executions and components.

A kernel of the program is one sweep over all components, or several sweeps over regions that cover
all components together (a right-hand side and its boundaries). kerncraft analyses the *long*
stretches of a kernel, those whose share of the components stays constant as N grows. The components
of the other stretches, the boundaries, are attributed to the long stretches in proportion. So the
iterations of a kernel always add up to the block.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from autotune.codegen import communication
from autotune.codegen.c.kerncraft_c import SHARE, kernel_text
from autotune.codegen.c.kernel_values import KernelText
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import Ivp, Problem
from autotune.domain.variant import Candidate
from autotune.language.expression import Num, number
from autotune.models.engines.kerncraft.step_plan import StretchWork
from autotune.models.traffic.schedule import Schedule, schedule
from autotune.models.traffic.set_conflicts import leading_dimension

_LARGE = 10_007
"""A size at which short stretches can be told from long ones."""
_LONG = 1e-3
"""Smallest share of the components, at size ``_LARGE``, of a long stretch."""

Values = Mapping[str, float | int]
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelStretch:
    """A long stretch of a kernel, with its source text for kerncraft."""

    sweep: str
    kernel: str
    region: loop_tree.SweepStretch
    """The components that count as the stretch's."""
    text: KernelText


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKernel:
    """A kernel over all components: its long stretches, and the number of its executions per time
    step.
    """

    stretches: tuple[KernelStretch, ...]
    executions: int

    def components(self, block: Interval, values: Values) -> list[float]:
        """The number of components of a block attributed to each stretch; they add up
        to the block.
        """
        if len(self.stretches) == 1:
            return [float(block[1] - block[0])]
        extents = [components_within(stretch.region, block, values) for stretch in self.stretches]
        if not any(extents):  # only boundary: as the whole problem is
            everything = (0, int(values["n"]))
            extents = [components_within(s.region, everything, values) or 1 for s in self.stretches]
        scale = (block[1] - block[0]) / sum(extents)
        return [count * scale for count in extents]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """One time step of a solver of an IVP as kernels for kerncraft."""

    ivp: Ivp
    kernels: tuple[NodeKernel, ...]
    barriers: float
    granule: int
    """Number of components of which the blocks of ranks are multiples."""

    @property
    def on_grid(self) -> bool:
        """Whether its stretches sweep over grids: never."""
        return False

    @property
    def stretches(self) -> list[KernelStretch]:
        """Every stretch, in program order."""
        return [stretch for kernel in self.kernels for stretch in kernel.stretches]

    def work(self, candidate: Candidate) -> list[list[StretchWork]]:
        """For every node, the work in every stretch."""
        problem = cast(Problem, candidate.problem)  # a plan of an IVP
        values = self.ivp.values(problem.size)
        blocks = node_blocks(problem.n, self.granule, candidate.ranks, candidate.nodes)
        return [self._within(block, values, candidate.threads_per_node) for block in blocks]

    def leading(self, candidate: Candidate, pad_lines: int, line: int) -> int:
        """Elements from one row to the next of the arrays of a candidate."""
        return leading_dimension(candidate.problem.n, pad_lines, line)

    def _within(self, block: Interval, values: Values, threads: int) -> list[StretchWork]:
        share = -(-(block[1] - block[0]) // threads)
        result = []
        for kernel in self.kernels:
            counts = kernel.components(block, values)
            for stretch, count in zip(kernel.stretches, counts, strict=True):
                mine = min(share, max(1, round(count)))
                result.append(
                    StretchWork(
                        text=stretch.text.text,
                        sizes=stretch.text.sizes({**values, SHARE: mine}),
                        iterations=count * kernel.executions / stretch.text.components,
                    )
                )
        return result


def plan(program: loop_tree.StepProgram, ivp: Ivp) -> NodePlan | str:
    """The program as kernels for kerncraft, or the reason why kerncraft cannot model it."""
    if program.windows:
        return "kerncraft knows no loop that follows another one, so no pipeline"
    if has_tiles(program.body):
        return "kerncraft takes no loop variable in the bounds of a loop, so no tiles"
    steps = schedule(program)
    if any(sweep.streamed for sweep in map(_on_components, steps.sweeps)):
        return "kerncraft prices no stores past the caches"
    bands = _bands(steps, ivp)
    if isinstance(bands, str):
        return bands
    kernels = []
    for group, executions in bands.items():
        stretches = _long(tuple(_on_components(steps.sweeps[index]) for index in group), ivp)
        if isinstance(stretches, str):
            return stretches
        kernels.append(NodeKernel(stretches=stretches, executions=executions))
    return NodePlan(
        ivp=ivp, kernels=tuple(kernels), barriers=steps.steps[-1].barriers, granule=program.granule
    )


def _on_components(sweep: loop_tree.AnySweep) -> loop_tree.Sweep:
    assert isinstance(sweep, loop_tree.Sweep), "programs of IVPs have no other sweeps"
    return sweep


def has_tiles(block: loop_tree.NodeBlock) -> bool:
    """Whether a program goes tile by tile, or block by block."""
    return any(
        isinstance(node, loop_tree.Tiles)
        or (isinstance(node, loop_tree.Repeat) and has_tiles(node.body))
        for node in block.nodes
    )


def _bands(steps: Schedule, ivp: Ivp) -> dict[tuple[int, ...], int] | str:
    """Groups of consecutive calls that together cover all components, with the executions of each
    group.

    A text with the reason where calls do not cover every component once.
    """
    step = steps.steps[-1]
    executions: Counter[int] = Counter()
    for region in step.regions:
        executions.update(dict(region))
    values = ivp.values(max(_LARGE, ivp.minimum))
    n = int(values["n"])
    bands: Counter[tuple[int, ...]] = Counter()
    group: tuple[int, ...] = ()
    covered = 0
    for number_, call in enumerate(step.calls):
        sweep = _on_components(steps.sweeps[call.sweep])
        group += (call.sweep,)
        covered += sum(components_within(region, (0, n), values) for region, _ in _regions(sweep))
        if covered < n:
            continue
        if covered > n:
            return f"the sweeps up to {sweep.name} do not cover every component once"
        bands[group] += executions[number_]
        group, covered = (), 0
    if group:
        return f"the sweeps up to {steps.sweeps[group[-1]].name} leave components out"
    return dict(bands)


def components_within(region: loop_tree.SweepStretch, block: Interval, values: Values) -> int:
    """The number of components of a region that lie in a block."""
    lower = max(block[0], int(number(region.lower, values)))
    upper = min(block[1], int(number(region.upper, values)))
    if upper <= lower:
        return 0
    if region.columns is None or region.row is None:
        return upper - lower
    row = int(number(region.row, values))
    first, end = (int(number(e, values)) for e in region.columns)

    def before(j: int) -> int:
        return j // row * (end - first) + min(max(j % row - first, 0), end - first)

    return before(upper) - before(lower)


def _regions(sweep: loop_tree.Sweep) -> list[tuple[loop_tree.SweepStretch, loop_tree.SweepStretch]]:
    """The regions of a sweep, each with its stretch; all rows of fixed length are one region, as
    they share a loop.
    """
    first = sweep.stretches[0]
    if first.columns is not None and isinstance(first.row, Num):
        return [(replace(first, columns=None, row=None), first)]
    return [(stretch, stretch) for stretch in sweep.stretches]


def _long(group: Sequence[loop_tree.Sweep], ivp: Ivp) -> tuple[KernelStretch, ...] | str:
    values = ivp.values(max(_LARGE, ivp.minimum))
    n = int(values["n"])
    long_stretches = []
    for sweep in group:
        for region, stretch in _regions(sweep):
            if components_within(region, (0, n), values) < _LONG * n:
                continue
            text = kernel_text(sweep, stretch, ivp)
            if isinstance(text, str):
                return text
            long_stretches.append(
                KernelStretch(sweep=sweep.name, kernel=sweep.kernel, region=region, text=text)
            )
    return (
        tuple(long_stretches)
        or f"no stretch of {group[0].name} is long: nothing for kerncraft to look at"
    )


def node_blocks(n: int, granule: int, ranks: int, nodes: int) -> list[Interval]:
    """The components of each node: the joined blocks of its ranks, without empty ones."""
    blocks = communication.blocks(n, granule, ranks)
    per_node = ranks // nodes
    intervals = [(blocks[k][0], blocks[k + per_node - 1][1]) for k in range(0, ranks, per_node)]
    return [block for block in intervals if block[1] > block[0]]
