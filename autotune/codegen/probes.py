"""Programs made of one sweep: what a candidate spends most of its time in, run by itself.

A sweep is taken out of its program with the values that its loops have at its first call, and runs
on rows of its own. Tile by tile, each tile many times in a row, its working set is what the tile
touches; so the length of the tile chooses the level that its data come from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from autotune.codegen import ir
from autotune.expression import Num, number, substitute

STATE = "y"
"""The array of the state, which every program of an initial value problem has."""

_Loop = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A sweep of a program, and the loops around its first call."""

    sweep: ir.Sweep
    loops: tuple[tuple[str, int], ...]
    """Loop variables and the values at which the sweep is taken."""
    calls: int
    """Calls in a time step, all that have the same function."""


def taken(program: ir.Program) -> list[Taken]:
    """Each function of a program once, in the order of their first calls."""
    found: dict[str, Taken] = {}
    for sweep, loops, count in _walk(program.body, (), 1):
        known = found.get(sweep.name)
        if known:
            found[sweep.name] = replace(known, calls=known.calls + count)
        else:
            # loops at different values, so that rows of one array are different rows
            values = tuple(
                (variable, min(begin + place, end - 1))
                for place, (variable, begin, end) in enumerate(loops)
            )
            found[sweep.name] = Taken(sweep, values, count)
    return list(found.values())


def _walk(
    block: ir.Block, loops: tuple[_Loop, ...], count: int
) -> Iterator[tuple[ir.Sweep, tuple[_Loop, ...], int]]:
    for node in block.nodes:
        match node:
            case ir.Sweep():
                yield node, loops, count
            case ir.Repeat(variable=variable, first=first, end=end, body=body):
                yield from _walk(body, (*loops, (variable, first, end)), count * (end - first))
            case ir.Tiles(body=body):
                yield from _walk(body, loops, count)


def alone(program: ir.Program, one: Taken, pad_lines: int) -> ir.Program:
    """The program that runs one sweep once a step; nothing but its rows is stored."""
    fixed = {variable: Num(value) for variable, value in one.loops}

    def place(row: ir.Row) -> tuple[str, int]:
        index = Num(0) if row.index is None else substitute(row.index, fixed)
        return row.array, int(number(index, {}))

    names: dict[tuple[str, int], str] = {}
    for _, row in one.sweep.rows:
        names.setdefault(place(row), f"row{len(names)}" if names else STATE)
    single = replace(
        one.sweep,
        rows=tuple((name, ir.Row(names[place(row)])) for name, row in one.sweep.rows),
        scalars=tuple((name, substitute(value, fixed)) for name, value in one.sweep.scalars),
    )
    return replace(
        program,
        body=ir.Block((single,)),
        arrays=tuple((name, 1) for name in names.values()),
        pad_lines=pad_lines,
    )


def repeated(program: ir.Program, tile: int, times: int) -> ir.Program:
    """The same tile by tile, each ``times`` times in a row before the next."""
    again = ir.Repeat("again", 0, times, program.body)
    return replace(program, body=ir.Block((ir.Tiles(tile, ir.Block((again,))),)))
