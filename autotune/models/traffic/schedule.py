"""A program as a schedule: the calls of sweeps of one time step, in order, with their rows.

    Program ----> phases   ((LC a), (LC b), ...)  a phase is one sweep, or the sweeps of a tile loop
            \\---> regions  what lies between two barriers, as calls with their counts

Loops whose variable selects rows are expanded. Other loops (corrector steps) repeat themselves
from the second iteration on, so few iterations are expanded and the last one counts for the rest;
within a tile the second one does.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autotune.codegen.tree.loop_tree import (
    AnySweep,
    Comm,
    GridSweep,
    LoopNode,
    NodeBlock,
    PipelineLoop,
    PipelineStage,
    PlaneStrips,
    PutBack,
    Repeat,
    StepProgram,
    Swap,
    Sweep,
    Sync,
    Tiles,
    Wait,
    every_sweep,
    waits,
)
from autotune.codegen.tree.unique_nodes import UniqueNodes
from autotune.language.expression import number, symbols


@dataclass(frozen=True, slots=True)
class SweepCall:
    """One execution of a sweep: the number of the sweep in the program, and a stored row for each
    parameter.
    """

    sweep: int
    rows: tuple[tuple[str, int], ...]
    """Row parameter to the position of the row in the storage."""


@dataclass(frozen=True, slots=True)
class CallPhase:
    """Calls that run one after another or, with ``tile``, tile by tile."""

    calls: tuple[int, ...]
    tile: int | None
    stages: tuple[int, ...] = ()
    """The stage of each call in a pipeline, whose blocks are ``tile`` components long."""
    strips: PlaneStrips | None = None
    """What a pipeline takes of each plane at a time."""


@dataclass(frozen=True, slots=True)
class TimeStep:
    """The calls of one time step, with phases and barriers."""

    calls: tuple[SweepCall, ...]
    phases: tuple[CallPhase, ...]
    regions: tuple[tuple[tuple[int, int], ...], ...]
    """Per region between two barriers: (call, number of executions)."""
    barriers: float
    """Barriers of a time step; fewer than one where several steps share a barrier."""
    lags: int | None = None
    """The lags within which threads wait for one another at these; None: all threads do."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The time steps of a program up to the steady state; the last one is the steady step."""

    sweeps: tuple[AnySweep, ...]
    steps: tuple[TimeStep, ...]
    rows: tuple[str, ...]
    """Names of the rows, in the order of the storage: ``Y[2]``; those of windows are last."""
    windows: tuple[bool, ...] = ()
    """For each row of a window, at the end of ``rows``, whether it holds neighbours."""
    late: tuple[int, ...] = ()
    """For each row of a window how many stages later it is read at most."""

    def stored(self, row: int) -> bool:
        """Whether a row, by its position, is stored whole."""
        return row < len(self.rows) - len(self.windows)

    def neighbours(self, row: int) -> bool:
        """Whether a row, by its position, belongs to a window that holds neighbours."""
        return not self.stored(row) and self.windows[row - len(self.rows)]

    def lags(self, row: int) -> int:
        """How many stages later a row, by its position, is read at most; 0 where it is stored."""
        return 0 if self.stored(row) else self.late[row - len(self.rows)]


_SYNC = -1


@dataclass(slots=True)
class _Walk:
    """The state of expanding one time step into calls."""

    sweeps: Mapping[int, int]
    places: dict[str, int]
    """Array to its first row in the storage; swaps change it."""
    calls: list[SweepCall] = field(default_factory=list)
    unique_calls: dict[SweepCall, SweepCall] = field(default_factory=dict)
    """Equal calls are one object, so that identity tells them apart."""
    phases: list[CallPhase] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    """Calls and barriers of the whole step, loops fully repeated."""

    def block(self, block: NodeBlock, loop: Mapping[str, int], tile: list[int] | None) -> None:
        for node in block.nodes:
            match node:
                case Sweep() | GridSweep():
                    self.call(node, loop, tile)
                case Repeat():
                    self.repeat(node, loop, tile)
                case Tiles() if node.dimension is not None:
                    self.block(node.body, loop, tile)  # blocks of a grid are one call
                case Tiles() if tile is None:
                    calls: list[int] = []
                    self.block(node.body, loop, calls)
                    if calls:
                        self.phases.append(CallPhase(tuple(calls), node.size))
                case PipelineLoop() if tile is None:
                    self.pipeline(node, loop)
                case Sync() | Wait() if tile is None:
                    self.order.append(_SYNC)
                case Swap():
                    places = self.places
                    first, second = node.first, node.second
                    places[first], places[second] = places[second], places[first]
                case Comm() | PutBack():
                    pass
                case _:
                    raise ValueError(f"{type(node).__name__} inside a tile loop")

    def pipeline(self, node: PipelineLoop, loop: Mapping[str, int]) -> None:
        calls: list[int] = []
        stages: list[int] = []
        for stage in node.body.nodes:
            if not isinstance(stage, PipelineStage):
                raise ValueError(f"{type(stage).__name__} beside the stages of a pipeline")
            self.block(stage.body, loop, calls)
            stages += [stage.number] * (len(calls) - len(stages))
        self.phases.append(CallPhase(tuple(calls), node.block, tuple(stages), node.strips))

    def call(self, sweep: AnySweep, loop: Mapping[str, int], tile: list[int] | None) -> None:
        rows = tuple(
            (name, self.places[row.array] + (int(number(row.index, loop)) if row.index else 0))
            for name, row in sweep.rows
        )
        index = len(self.calls)
        sweep_call = SweepCall(self.sweeps[id(sweep)], rows)
        self.calls.append(self.unique_calls.setdefault(sweep_call, sweep_call))
        self.order.append(index)
        if tile is None:
            self.phases.append(CallPhase((index,), None))
        else:
            tile.append(index)

    def repeat(self, node: Repeat, loop: Mapping[str, int], tile: list[int] | None) -> None:
        count = node.end - node.first
        repetitions, swapped = count, _has_swap(node.body)
        if not _selects_rows(node):
            # With two buffers the iterations alternate: keep the parity of the count. In a tile
            # the last one differs: what it writes leaves the caches with the tile.
            repetitions = min(count, 3 if tile is not None else 2)
            if swapped:
                repetitions = min(count, 3 if count % 2 else 4)
        every = list[list[int]]()
        for value in range(node.first, node.first + repetitions):
            start = len(self.order)
            self.block(node.body, {**loop, node.variable: value}, tile)
            every.append(self.order[start:])
        if count > repetitions:
            usual = every[1] if tile is not None and not swapped else every[-1]
            self.order.extend(usual * (count - repetitions))


def _has_swap(block: NodeBlock) -> bool:
    return any(
        isinstance(node, Swap) or (isinstance(node, LoopNode) and _has_swap(node.body))
        for node in block.nodes
    )


def _selects_rows(node: Repeat) -> bool:
    return any(
        row.index is not None and node.variable in symbols(row.index)
        for sweep in every_sweep(node.body)
        for _, row in sweep.rows
    )


def schedule(program: StepProgram) -> Schedule:
    """The schedule of a program: one warm-up step (two with swaps of rows), then the steady step.

    Raises ValueError for a barrier or a tile loop within a tile loop.
    """
    sweeps = tuple({id(sweep): sweep for sweep in every_sweep(program.body)}.values())
    numbers = {id(sweep): index for index, sweep in enumerate(sweeps)}
    places: dict[str, int] = {}
    names: list[str] = []
    windows = tuple((window.array, window.rows) for window in program.windows)
    for array, rows in (*program.arrays, *windows):
        places[array] = len(names)
        names += [array] if rows == 1 else [f"{array}[{index}]" for index in range(rows)]
    first = _step(program, numbers, places)
    held = tuple(w.neighbours for w in program.windows for _ in range(w.rows))
    late = tuple(w.lags for w in program.windows for _ in range(w.rows))
    if not _has_swap(program.body):
        return Schedule(sweeps, (first, first), tuple(names), held, late)
    steps = (first, _step(program, numbers, places), _step(program, numbers, places))
    return Schedule(sweeps, steps, tuple(names), held, late)


def _step(program: StepProgram, numbers: Mapping[int, int], places: dict[str, int]) -> TimeStep:
    walk = _Walk(numbers, places)
    walk.block(program.body, {}, None)
    regions: list[Counter[int]] = [Counter()]
    for index in walk.order:
        if index == _SYNC:
            regions.append(Counter())
        else:
            regions[-1][index] += 1
    return TimeStep(
        calls=tuple(walk.calls),
        phases=tuple(walk.phases),
        regions=tuple(tuple(sorted(region.items())) for region in regions if region),
        barriers=walk.order.count(_SYNC),
        lags=max((wait.lags for wait in waits(program.body)), default=None),
    )


Plan = TypeVar("Plan")


class PlanCache(Generic[Plan]):
    """Plans of programs, each made once; programs that differ in padding only share theirs.

    A program is looked up by its identity, and its body by that of its nodes: hashing them takes
    longer than a look-up.
    """

    def __init__(self, make: Callable[[StepProgram], Plan], nodes: UniqueNodes) -> None:
        self._make = make
        self._nodes = nodes
        self._programs: dict[int, tuple[StepProgram, Plan]] = {}
        self._plans: dict[tuple[object, ...], Plan] = {}

    def __getitem__(self, program: StepProgram) -> Plan:
        if id(program) not in self._programs:
            storage = (self._nodes.block_key(program.body), program.arrays)
            if storage not in self._plans:
                self._plans[storage] = self._make(program)
            self._programs[id(program)] = program, self._plans[storage]
        return self._programs[id(program)][1]
