"""Programs made of one sweep of a candidate, which run this sweep alone.

A sweep is taken out of its program with the values that its loops have at its first call, and runs
on rows of its own. It runs tile by tile, each tile many times in a row, so that its working set is
what the tile touches. So the length of the tile selects the memory level that the data come from. A
sweep over a grid runs on arrays of its own, in the blocks that it has in its program; there the
grid selects the level.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from autotune.codegen.tree import loop_tree
from autotune.language.expression import Num, number, substitute

STATE = "y"
"""The array of the state, which every program of an initial value problem has."""

_Loop = tuple[str, int, int]
_Blocks = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ProbedSweep:
    """A sweep of a program, with the loops around its first call."""

    sweep: loop_tree.AnySweep
    loops: tuple[tuple[str, int], ...]
    """Loop variables and the values at which the sweep is taken."""
    calls: int
    """Calls in a time step, all that have the same function."""
    blocks: tuple[tuple[str, int], ...] = ()
    """For a sweep over a grid: the blocked dimensions around it, with their block sizes."""


def probed_sweeps(program: loop_tree.StepProgram) -> list[ProbedSweep]:
    """The sweeps of a program, one for each C function, in the order of their first calls."""
    sweeps: dict[str, ProbedSweep] = {}
    for sweep, loops, count, blocks in _walk(program.body, (), 1, ()):
        previous = sweeps.get(sweep.name)
        if previous:
            sweeps[sweep.name] = replace(previous, calls=previous.calls + count)
        else:
            # loops at different values, so that rows of one array are different rows
            values = tuple(
                (variable, min(begin + place, end - 1))
                for place, (variable, begin, end) in enumerate(loops)
            )
            sweeps[sweep.name] = ProbedSweep(sweep, values, count, blocks)
    return list(sweeps.values())


def _walk(
    block: loop_tree.NodeBlock, loops: tuple[_Loop, ...], count: int, blocks: _Blocks
) -> Iterator[tuple[loop_tree.AnySweep, tuple[_Loop, ...], int, _Blocks]]:
    for node in block.nodes:
        match node:
            case loop_tree.Sweep() | loop_tree.GridSweep():
                yield node, loops, count, blocks
            case loop_tree.Repeat(variable=variable, first=first, end=end, body=body):
                inner = (*loops, (variable, first, end))
                yield from _walk(body, inner, count * (end - first), blocks)
            case loop_tree.Tiles(size=size, body=body, dimension=dimension):
                inside = blocks if dimension is None else (*blocks, (dimension, size))
                yield from _walk(body, loops, count, inside)
            case loop_tree.PipelineLoop(body=body) | loop_tree.PipelineStage(body=body):
                yield from _walk(body, loops, count, blocks)


def single_sweep_program(
    program: loop_tree.StepProgram, probed: ProbedSweep, pad_lines: int
) -> loop_tree.StepProgram:
    """The program that runs one sweep once per step and stores only the rows of the sweep."""
    sweep = probed.sweep
    if isinstance(sweep, loop_tree.GridSweep):
        return _alone_on_grid(program, sweep, probed.blocks, pad_lines)
    fixed = {variable: Num(value) for variable, value in probed.loops}

    def place(row: loop_tree.StoredRow) -> tuple[str, int]:
        index = Num(0) if row.index is None else substitute(row.index, fixed)
        return row.array, int(number(index, {}))

    names: dict[tuple[str, int], str] = {}
    for _, row in sweep.rows:
        names.setdefault(place(row), f"row{len(names)}" if names else STATE)
    single = replace(
        sweep,
        rows=tuple((name, loop_tree.StoredRow(names[place(row)])) for name, row in sweep.rows),
        scalars=tuple((name, substitute(value, fixed)) for name, value in sweep.scalars),
    )
    return replace(
        program,
        body=loop_tree.NodeBlock((single,)),
        arrays=tuple((name, 1) for name in names.values()),
        windows=(),
        pad_lines=pad_lines,
        plain=None,
    )


def _alone_on_grid(
    program: loop_tree.StepProgram, sweep: loop_tree.GridSweep, blocks: _Blocks, pad_lines: int
) -> loop_tree.StepProgram:
    """The program of one sweep over a grid, on arrays named after its parameters."""
    names = tuple(name for name, _ in sweep.rows)
    node: loop_tree.Node = replace(
        sweep, rows=tuple((name, loop_tree.StoredRow(name)) for name in names)
    )
    for dimension, size in reversed(blocks):
        node = loop_tree.Tiles(size, loop_tree.NodeBlock((node,)), dimension)
    return replace(
        program,
        body=loop_tree.NodeBlock((node,)),
        arrays=tuple((name, 1) for name in names),
        pad_lines=pad_lines,
    )


def repeated(program: loop_tree.StepProgram, tile: int | None, times: int) -> loop_tree.StepProgram:
    """The program run tile by tile, each tile ``times`` times in a row; None: all tiles in one
    pass.
    """
    again = loop_tree.Repeat("again", 0, times, program.body)
    node = again if tile is None else loop_tree.Tiles(tile, loop_tree.NodeBlock((again,)))
    return replace(program, body=loop_tree.NodeBlock((node,)), plain=None)
