"""Prints loops that do one part of a sweep's work, as C.

    loop         the sweep as it is
    loads        every element that it reads is loaded; nothing is computed or stored
    moves        elements are loaded and stored; nothing is computed             -> T_nOL
    arithmetic   the statements on registers; nothing is loaded or stored        -> T_OL

A part has the name and the parameters of the sweep, so it takes its place in a program. Parts work
on vectors as wide as those of the compiled loop, written out, so that no compiler decides again on
how the loop is vectorised.
"""

from collections.abc import Iterator
from typing import Literal

from autotune.codegen.c import c_expressions, emit
from autotune.codegen.c.c_expressions import Kinds, name, real, whole
from autotune.codegen.c.emit import SweepCode
from autotune.codegen.grid import grid_text
from autotune.codegen.probes import probe_parts
from autotune.codegen.probes.probe_parts import LoopShape, PartBody, ProbeImpossible
from autotune.codegen.tree import loop_tree
from autotune.language.expression import Num, Ref, Sym, number, references

Part = Literal["loop", "loads", "moves", "arithmetic"]
PARTS: tuple[Part, ...] = ("loop", "loads", "moves", "arithmetic")

_UNROLLED = 4


def code(sweep: loop_tree.AnySweep, part: Part, shape: LoopShape) -> SweepCode:
    """The C text of one part of a sweep; raises ``ProbeImpossible`` with the reason."""
    if part == "loop":
        return emit.sweep_code(sweep)
    kinds = emit.symbol_kinds(sweep)
    if isinstance(sweep, loop_tree.GridSweep):
        body = _body(sweep, (loop_tree.Assign(sweep.target, sweep.value),), part, shape)
        loops = grid_text.around(sweep, _over_row(sweep, shape.lanes, body))
    else:
        stretch = _hot(sweep)
        body = _body(sweep, stretch.statements, part, shape)
        loops = _around(stretch, kinds, shape.lanes, body)
    lines = [*body.before, *loops]
    head = [*c_expressions.support(body.scalar), *probe_parts.head(shape.lanes)]
    signature = emit.signature(sweep)
    used = [f"(void){parameter};" for parameter in _parameters(sweep)]
    text = [*head, f"{signature};", "", signature, "{"]
    text += [*(f"    {line}" for line in (*used, *lines)), "}", ""]
    return SweepCode(name=sweep.name, function=emit.function(sweep), text="\n".join(text))


def _parameters(sweep: loop_tree.AnySweep) -> list[str]:
    """The names of parameters that the part may not use, for a line that silences warnings about
    them.
    """
    passed = (*sweep.rows, *sweep.constants, *sweep.scalars)
    if isinstance(sweep, loop_tree.GridSweep):
        sizes = [*grid_text.strides(sweep), *map(name, grid_text.extents(sweep))]
    else:
        sizes = [*emit.sizes(sweep), *map(name, sweep.tables)]
    return [*(name(parameter) for parameter, _ in passed), *sizes]


def _body(
    sweep: loop_tree.AnySweep,
    statements: tuple[loop_tree.Statement, ...],
    part: Part,
    shape: LoopShape,
) -> PartBody:
    if sweep.streamed:
        raise ProbeImpossible("it stores past the caches, which the parts of a sweep do not")
    if isinstance(sweep, loop_tree.GridSweep) and sweep.in_place:
        raise ProbeImpossible("it updates its array in place: a part alone has other dependences")
    if part == "arithmetic":
        if isinstance(sweep, loop_tree.GridSweep) and sweep.unroll:
            raise ProbeImpossible(
                "it is unrolled: compilers add permutations that its statements do not have"
            )
        return probe_parts.arithmetic(statements, emit.symbol_kinds(sweep), shape.lanes)
    loaded, stored = _elements(sweep, statements)
    return probe_parts.moving(loaded, stored if part == "moves" else (), shape)


def _hot(sweep: loop_tree.Sweep) -> loop_tree.SweepStretch:
    """The widest stretch of the sweep, which takes most of its time."""
    first = sweep.stretches[0]
    if first.columns is None:
        return first
    if isinstance(first.row, Num):
        raise ProbeImpossible(
            "rows of a fixed length are written out: one loop has all their columns"
        )
    widths = {stretch: _width(stretch) for stretch in sweep.stretches}
    wide = [s for s, width in widths.items() if 2 * width >= max(widths.values())]
    if len(wide) > 1:
        raise ProbeImpossible("several loops share its time")
    return wide[0]


def _width(stretch: loop_tree.SweepStretch) -> float:
    """The number of columns of a stretch at a large size."""
    assert stretch.columns is not None
    first, end = (number(e, {"N": 1000, "n": 1_000_000}) for e in stretch.columns)
    return float(end - first)


# --- loops around what is done --------------------------------------------------------------


def _around(
    stretch: loop_tree.SweepStretch, kinds: Kinds, lanes: int, body: PartBody
) -> Iterator[str]:
    if (stretch.lower, stretch.upper) != (Num(0), Sym("n")):
        yield f"const long lower = {whole(stretch.lower, kinds)};"
        yield f"const long upper = {whole(stretch.upper, kinds)};"
        yield "if (first < lower)"
        yield "    first = lower;"
        yield "if (last > upper)"
        yield "    last = upper;"
    if stretch.columns is None:
        yield from _vectors("first", "last", lanes, body)
        return
    assert stretch.row is not None
    begin, end = stretch.columns
    yield f"const long row = {whole(stretch.row, kinds)};"
    yield "for (long start = first / row*row; start < last; start += row) {"
    yield f"    const long head = start + {whole(begin, kinds, 1)};"
    yield f"    const long tail = start + {whole(end, kinds, 1)};"
    yield "    const long from = head < first ? first : head;"
    yield "    const long to = tail < last ? tail : last;"
    yield from (f"    {line}" for line in _vectors("from", "to", lanes, body))
    yield "}"


def _over_row(sweep: loop_tree.GridSweep, lanes: int, body: PartBody) -> Iterator[str]:
    """C lines of the innermost loop over a row of a grid."""
    inner = sweep.dimensions[-1]
    yield f"(void){grid_text.AT};"
    yield from _vectors(f"first_{inner}", f"last_{inner}", lanes, body, inner)


def _vectors(
    first: str, last: str, lanes: int, body: PartBody, variable: str = "j"
) -> Iterator[str]:
    """C loops over several vectors per pass, then single vectors, then the remaining components."""
    from_ = f"from_{variable}"
    yield f"long {from_} = {first};"
    for unrolled in (_UNROLLED, 1):
        step = lanes * unrolled
        yield f"for (; {from_} + {step} <= {last}; {from_} += {step}) {{"
        for place in range(unrolled):
            yield "    {"
            yield f"        const long {variable} = {from_} + {place * lanes};"
            yield f"        (void){variable};"
            yield from (f"        {line}" for line in body.vector)
            yield "    }"
        yield "}"
    yield f"for (long {variable} = {from_}; {variable} < {last}; {variable}++) {{"
    yield f"    (void){variable};"
    yield from (f"    {line}" for line in body.single)
    yield "}"


# --- elements -------------------------------------------------------------------------------


def _elements(
    sweep: loop_tree.AnySweep, statements: tuple[loop_tree.Statement, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The elements that are loaded and those that are stored, as C text, each listed once.

    An element that was stored earlier in the same iteration is not loaded again.
    """
    rows = {row for row, _ in sweep.rows}
    loaded: dict[str, None] = {}
    stored: dict[str, None] = {}
    for statement in statements:
        if isinstance(statement, loop_tree.SumLoop):
            raise ProbeImpossible("it has a sum over an index, which is a loop of its own")
        if isinstance(sweep, loop_tree.Sweep) and sweep.tables:
            raise ProbeImpossible("it reads through an index array")
        read = [_element(r, sweep) for r in references(statement.value) if r.array in rows]
        target = _target(statement, sweep) if isinstance(statement, loop_tree.Assign) else None
        if isinstance(statement, loop_tree.Assign) and statement.add and target:
            read.append(target)
        loaded |= dict.fromkeys(element for element in read if element not in stored)
        if target:
            stored[target] = None
    return tuple(loaded), tuple(stored)


def _target(statement: loop_tree.Assign, sweep: loop_tree.AnySweep) -> str:
    point = sweep.dimensions if isinstance(sweep, loop_tree.GridSweep) else ("j",)
    return _element(Ref(statement.target, tuple(map(Sym, point))), sweep)


def _element(ref: Ref, sweep: loop_tree.AnySweep) -> str:
    placed = grid_text.placed(ref, sweep) if isinstance(sweep, loop_tree.GridSweep) else ref
    return real(placed, emit.symbol_kinds(sweep))
