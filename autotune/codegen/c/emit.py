"""Prints sweeps as C functions, and the time step that calls them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from autotune.codegen.c import c_expressions
from autotune.codegen.c.c_expressions import SIZES, Kinds, name, real, whole
from autotune.codegen.c.c_lines import (
    GLUE,
    PREFETCH,
    SCALAR,
    STREAMING,
    independent,
    short,
    summed,
    wrapped,
)
from autotune.codegen.grid import grid_text, overlap_text, wavefront_text
from autotune.codegen.grid.grid_text import Bounds
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.whole_lines import COLUMN, SideBySide, side_by_side
from autotune.domain.stencil import LINE
from autotune.language.expression import (
    Bin,
    Expr,
    Num,
    Sym,
    number,
    rebuild,
    references,
    substitute,
    symbols,
)

_NARROW = 4
"""Stretches of at most so many columns are written out, so that one loop is the hot one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCode:
    """A sweep as C text: one function in a translation unit of its own."""

    name: str
    function: str
    text: str


def sweep_code(sweep: loop_tree.AnySweep) -> SweepCode:
    """The sweep as a self-contained C file with one function of external linkage."""
    if isinstance(sweep, loop_tree.GridSweep):
        parts, macros = grid_text.body(sweep), independent(None)
    else:
        parts, macros = _body(sweep, symbol_kinds(sweep)), independent(sweep.lanes)
        scalar = sweep.align > 1 or sweep.streamed or sweep.lines
        macros = [*macros, *(short(sweep.lanes) if sweep.lines else [])]
        macros += SCALAR if scalar else []
        macros += PREFETCH if sweep.prefetched else []
        macros += summed(sweep.lanes) if loop_tree.sums(sweep) else []
    macros = [*macros, *(STREAMING if sweep.streamed else [])]
    body = [line for part in parts for line in wrapped("    " + part)]
    head = c_expressions.support("\n".join(body))
    declared = signature(sweep)
    lines = [
        *head,
        *macros,
        f"{declared};",
        "",
        declared,
        "{",
        *body,
        "}",
        "",
    ]
    return SweepCode(name=sweep.name, function=function(sweep), text="\n".join(lines))


def function(sweep: loop_tree.AnySweep) -> str:
    """The name of the C function of a sweep."""
    return f"sweep_{sweep.name}"


def signature(sweep: loop_tree.AnySweep) -> str:
    """The C declaration of the function of a sweep, without a semicolon."""
    if isinstance(sweep, loop_tree.GridSweep):
        parameters = grid_text.parameters(sweep)
    else:
        parameters = _parameters(sweep)
    glued = ", ".join(parameter.replace(" ", GLUE) for parameter in parameters)
    return "\n".join(wrapped(f"void {function(sweep)}({glued})"))


def _parameters(sweep: loop_tree.Sweep) -> list[str]:
    written = {
        s.target for st in sweep.stretches for s in st.statements if isinstance(s, loop_tree.Assign)
    }
    kinds = symbol_kinds(sweep)
    parameters = ["long first", "long last"]
    for row, _ in sweep.rows:
        const = "" if row in written else "const "
        parameters.append(f"{const}double *restrict {name(row)}")
    parameters += [f"const int *restrict {name(table)}" for table in sweep.tables]
    parameters += [f"long {size}" for size in sizes(sweep)]
    parameters += [f"{kinds[constant]} {name(constant)}" for constant, _ in sweep.constants]
    parameters += [f"double {name(scalar)}" for scalar, _ in sweep.scalars]
    return parameters


def sizes(sweep: loop_tree.Sweep) -> list[str]:
    """The sizes among ``N`` and ``n`` that the function of the sweep takes as parameters."""
    used: set[str] = set()
    for expr in _expressions(sweep):
        used |= symbols(expr)
    return [size for size in ("N", "n") if size in used]


def _bounds(stretch: loop_tree.SweepStretch) -> tuple[Expr, ...]:
    if (stretch.lower, stretch.upper) == (Num(0), Sym("n")):
        return ()
    row = () if stretch.row is None else (stretch.row,)
    planes: tuple[Expr, ...] = ()
    if stretch.planes is not None:
        planes = (stretch.planes.first, stretch.planes.end, stretch.planes.size)
    return (stretch.lower, stretch.upper, *(stretch.columns or ()), *row, *planes)


def _expressions(sweep: loop_tree.Sweep) -> Iterator[Expr]:
    for stretch in sweep.stretches:
        yield from _bounds(stretch)
        for statement in stretch.statements:
            yield statement.value
            if isinstance(statement, loop_tree.SumLoop):
                yield from (statement.lower, statement.upper)


def symbol_kinds(sweep: loop_tree.AnySweep) -> Kinds:
    """The C types of all symbols: ``double``, except where a whole number is needed."""
    if isinstance(sweep, loop_tree.GridSweep):
        return grid_text.symbol_kinds(sweep)
    needed = {s for stretch in sweep.stretches for e in _bounds(stretch) for s in symbols(e)}
    for stretch in sweep.stretches:
        for statement in stretch.statements:
            needed |= c_expressions.whole_symbols(statement.value)
            if isinstance(statement, loop_tree.SumLoop):
                needed |= symbols(statement.lower) | symbols(statement.upper)
    declared: dict[str, c_expressions.Kind] = dict(SIZES)
    kinds: dict[str, c_expressions.Kind] = {**SIZES, COLUMN: "long"}
    for constant, value in sweep.constants:
        declared[constant] = c_expressions.kind(value, declared)
        kinds[constant] = (
            "long" if declared[constant] == "long" and constant in needed else "double"
        )
    for stretch in sweep.stretches:
        for statement in stretch.statements:
            if isinstance(statement, loop_tree.SumLoop):
                kinds[statement.index] = "long"
            elif isinstance(statement, loop_tree.Local):
                kinds[statement.name] = c_expressions.kind(statement.value, kinds)
    return kinds


# --- bodies ---------------------------------------------------------------------------------


def _body(sweep: loop_tree.Sweep, kinds: Kinds) -> Iterator[str]:
    stretch = sweep.stretches[0]
    if _bounds(stretch):
        yield f"const long lower = {whole(stretch.lower, kinds)};"
        yield f"const long upper = {whole(stretch.upper, kinds)};"
        yield "if (first < lower)"
        yield "    first = lower;"
        yield "if (last > upper)"
        yield "    last = upper;"
    if stretch.columns is None:
        yield from _loop("first", "last", stretch, kinds, sweep)
    elif stretch.planes is not None:
        yield from _planes(sweep, kinds)
    elif isinstance(stretch.row, Num):
        yield from _short_rows(sweep, sweep.stretches, kinds, ("first", "last"))
    else:
        yield from _long_rows(sweep, kinds)
    if sweep.streamed:
        yield "STREAMED();"


def _loop(
    first: str, last: str, stretch: loop_tree.SweepStretch, kinds: Kinds, sweep: loop_tree.Sweep
) -> Iterator[str]:
    """C lines for a loop; with ``align`` over 1 the components before the first multiple of it run
    in a loop of their own, which is not vectorised.
    """
    if sweep.streamed:
        yield from _streamed(first, last, stretch, kinds, sweep)
        return
    lines, align = _statements(stretch.statements, kinds), sweep.align
    if align > 1:
        yield from _head((first, last), lines, align)
        first = "aligned"
    if sweep.lines:
        yield from _strips((first, last), lines, sweep, kinds)
        return
    yield from _independent(stretch)
    yield f"for (long j = {first}; j < {last}; j++) {{"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _head(
    bounds: tuple[str, str], lines: Sequence[str], align: int, step: int = 1, least: int = 0
) -> Iterator[str]:
    """C lines for the components before ``aligned``, the first multiple of ``align`` that has at
    least so many of them before it.
    """
    first, last = bounds
    yield f"const long multiple = ({first} + {least + align - 1}) / {align}*{align};"
    yield f"const long aligned = multiple < {last} ? multiple : {last};"
    yield f"for (long j = {first}; j < aligned; {'j++' if step == 1 else f'j += {step}'}) {{"
    yield "    SCALAR;"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _prefetches(sweep: loop_tree.Sweep, start: str, kinds: Kinds) -> Iterator[str]:
    """C lines that fetch what a sweep reads or writes some lines after component ``start``."""
    if sweep.prefetched:
        yield "{"
        yield f"    const long j = {start} + {LINE * sweep.ahead};"
        for ref in sweep.prefetched:
            yield f"    PREFETCH({name(ref.array)}, {whole(ref.indices[-1], kinds)});"
        yield "}"


def _strips(
    bounds: tuple[str, str],
    lines: Sequence[str],
    sweep: loop_tree.Sweep,
    kinds: Kinds,
    fields: SideBySide | None = None,
) -> Iterator[str]:
    """C lines for a loop over the components of some cache lines, before which those lines are
    fetched that later ones need; the components left over run in vectors as far as these reach,
    rows of ``fields`` one by one.

    ``lines``: the statements for component j; where there are ``fields``, for a row from j on.
    """
    (first, last), count = bounds, LINE * sweep.lines
    statements, row, end = lines, 1, last
    if fields:
        statements = _statements(fields.statements, kinds)
        row = int(number(sweep.stretches[0].row or Num(1), {}))
        if fields.after:
            within = f"{last} - {fields.after * row}"
            yield f"const long end = {first} < {within} ? {within} : {first};"
            end = "end"
    yield f"const long rest = {end} - ({end} - {first}) % {count};"
    yield f"for (long strip = {first}; strip < rest; strip += {count}) {{"
    yield from (f"    {line}" for line in _prefetches(sweep, "strip", kinds))
    yield "    SHORT"
    # counted from zero, for the number of passes is a constant to the compiler then
    yield f"    for (long of_line = 0; of_line < {count}; of_line++) {{"
    yield "        const long j = strip + of_line;"
    if fields and any(name(COLUMN) in line for line in statements):
        yield f"        const long {name(COLUMN)} = of_line % {row};"
    yield from (f"        {line}" for line in statements)
    yield "    }"
    yield "}"
    if row == 1:
        yield "INDEPENDENT"
    yield f"for (long j = rest; j < {last}; {'j++' if row == 1 else f'j += {row}'}) {{"
    if row > 1:
        yield "    SCALAR;"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _streamed(
    first: str, last: str, stretch: loop_tree.SweepStretch, kinds: Kinds, sweep: loop_tree.Sweep
) -> Iterator[str]:
    """C lines for a loop over whole cache lines, which are computed in a buffer and stored past the
    caches; the components before and after them run one by one.
    """
    lines = _statements(stretch.statements, kinds)
    (target,) = {s.target for s in stretch.statements if isinstance(s, loop_tree.Assign)}
    row = name(target)
    stored = f"{row}[j] ="
    assert sum(line.startswith(stored) for line in lines) == 1
    yield f"const long aligned = {first} + to_line({row} + {first}, {last} - {first});"
    yield f"const long rest = {last} - ({last} - aligned) % {LINE};"
    for begin, end in ((first, "aligned"), ("rest", last)):
        yield f"for (long j = {begin}; j < {end}; j++) {{"
        yield "    SCALAR;"
        yield from (f"    {line}" for line in lines)
        yield "}"
    yield f"for (long multiple = aligned; multiple < rest; multiple += {LINE}) {{"
    yield from (f"    {line}" for line in _prefetches(sweep, "multiple", kinds))
    yield f"    double eight[{LINE}] __attribute__((aligned({8 * LINE})));"
    yield "    INDEPENDENT"
    yield f"    for (long within = 0; within < {LINE}; within++) {{"
    if any(re.search(r"\bj\b", line.replace(stored, "")) for line in lines):
        yield "        const long j = multiple + within;"
    for line in lines:
        yield "        " + line.replace(stored, "eight[within] =", 1)
    yield "    }"
    yield f"    stream_line({row} + multiple, eight);"
    yield "}"


def _independent(*stretches: loop_tree.SweepStretch) -> list[str]:
    """The mark of a loop over components that compilers may vectorise: all but those that hold a
    sum, whose own loop is vectorised.
    """
    statements = (s for stretch in stretches for s in stretch.statements)
    held = any(isinstance(statement, loop_tree.SumLoop) for statement in statements)
    return [] if held else ["INDEPENDENT"]


def _statements(
    statements: Sequence[loop_tree.Statement], kinds: Kinds, shift: int = 0
) -> list[str]:
    """The statements for one component; with ``shift`` for the component that many
    places after j.
    """
    lines: list[str] = []
    for statement in statements:
        value = _shifted(statement.value, shift)
        if isinstance(statement, loop_tree.SumLoop):
            lines += _sum_loop(statement, value, kinds)
        elif isinstance(statement, loop_tree.Local):
            local = kinds.get(statement.name, "double")
            text = real(value, kinds) if local == "double" else whole(value, kinds)
            lines.append(f"const {local} {name(statement.name)} = {text};")
        else:
            sign = "+=" if statement.add else "="
            index = f"j + {shift}" if shift else "j"
            lines.append(f"{name(statement.target)}[{index}] {sign} {real(value, kinds)};")
    return lines


def _sum_loop(total: loop_tree.SumLoop, value: Expr, kinds: Kinds) -> Iterator[str]:
    """C lines for a sum over an index: a loop whose terms are added up in any order."""
    target, index = name(total.name), name(total.index)
    lower, upper = whole(total.lower, kinds), whole(total.upper, kinds)
    yield f"double {target} = 0.0;"
    yield f"SUM({target})"
    yield f"for (long {index} = {lower}; {index} < {upper}; {index}++)"
    yield f"    {target} += {real(value, kinds)};"


def _shifted(expr: Expr, shift: int) -> Expr:
    """The expression for the component ``shift`` places after j, with whole numbers in sums
    combined.
    """
    if not shift:
        return expr

    def change(part: Expr) -> Expr:
        match part:
            case Sym(name="j"):
                return Bin("+", part, Num(shift))
            case Bin("+" | "-" as op, Bin("+", left, Num(int() as a)), Num(int() as b)):
                total = a + b if op == "+" else a - b
                if total == 0:
                    return left
                return Bin("+" if total > 0 else "-", left, Num(abs(total)))
        return part

    return rebuild(expr, change)


def _short_rows(
    sweep: loop_tree.Sweep,
    stretches: Sequence[loop_tree.SweepStretch],
    kinds: Kinds,
    bounds: tuple[str, str],
) -> Iterator[str]:
    """C lines for rows of fixed length: every component of a row is written out, in a loop over
    rows from the first to the second of the ``bounds``; or for whole cache lines of them, with
    their fields side by side.
    """
    row = stretches[0].row
    assert isinstance(row, Num)
    lines: list[str] = []
    for stretch in stretches:
        assert stretch.columns is not None
        begin, end = (int(number(e, {})) for e in stretch.columns)
        for column in range(begin, end):
            statements = _statements(stretch.statements, kinds, column)
            scoped = any(not isinstance(s, loop_tree.Assign) for s in stretch.statements)
            lines += ["{", *(f"    {s}" for s in statements), "}"] if scoped else statements
    fields = side_by_side(stretches, sweep.constants) if sweep.lines else None
    if fields:
        first, last = bounds
        if sweep.align > 1 or fields.before:
            align, step = max(sweep.align, int(row.value)), int(row.value)
            yield from _head(bounds, lines, align, step, fields.before * step)
            first = "aligned"
        yield from _strips((first, last), lines, sweep, kinds, fields)
        return
    yield from _independent(*stretches)
    yield f"for (long j = {bounds[0]}; j < {bounds[1]}; j += {int(row.value)}) {{"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _long_rows(sweep: loop_tree.Sweep, kinds: Kinds) -> Iterator[str]:
    """C lines for rows whose length depends on N: a loop over the columns, limited to the band,
    within a loop over rows.
    """
    row = sweep.stretches[0].row
    assert row is not None
    yield f"const long row = {whole(row, kinds)};"
    yield "for (long start = first / row*row; start < last; start += row) {"
    for stretch in sweep.stretches:
        yield from (f"    {line}" for line in _columns(stretch, kinds, sweep))
    yield "}"


def _planes(sweep: loop_tree.Sweep, kinds: Kinds) -> Iterator[str]:
    """C lines for rows within planes: for each plane, a loop over each group of rows that have the
    same stretches, limited to the band.
    """
    row, planes = sweep.stretches[0].row, sweep.stretches[0].planes
    assert row is not None
    assert planes is not None
    yield f"const long row = {whole(row, kinds)};"
    yield f"const long layer = {whole(planes.size, kinds)};"
    yield "for (long corner = first / layer*layer; corner < last; corner += layer) {"
    for rows, group in groupby(sweep.stretches, key=lambda stretch: stretch.planes):
        assert rows is not None
        yield "    {"
        for line, place in (("above", rows.first), ("below", rows.end)):
            offset = "" if place == Num(0) else f" + {whole(place, kinds, 2)}*row"
            yield f"        const long {line} = corner{offset};"
        yield "        const long top = above < first ? first / row*row : above;"
        yield "        const long bottom = below < last ? below : last;"
        if isinstance(row, Num):
            lines = _short_rows(sweep, tuple(group), kinds, ("top", "bottom"))
            yield from (f"        {line}" for line in lines)
        else:
            yield "        for (long start = top; start < bottom; start += row) {"
            for stretch in group:
                yield from (f"            {line}" for line in _columns(stretch, kinds, sweep))
            yield "        }"
        yield "    }"
    yield "}"


def _columns(
    stretch: loop_tree.SweepStretch, kinds: Kinds, sweep: loop_tree.Sweep
) -> Iterator[str]:
    assert stretch.columns is not None
    begin, end = stretch.columns
    width = _width(stretch)
    if width is not None:
        for column in range(width):
            yield "{"
            yield f"    const long j = start{_offset(begin, column, kinds)};"
            yield "    if (first <= j && j < last) {"
            yield from (f"        {line}" for line in _statements(stretch.statements, kinds))
            yield "    }"
            yield "}"
        return
    yield "{"
    yield f"    const long head = start{_offset(begin, 0, kinds)};"
    yield f"    const long tail = start{_offset(end, 0, kinds)};"
    yield "    const long from = head < first ? first : head;"
    yield "    const long to = tail < last ? tail : last;"
    yield from (f"    {line}" for line in _loop("from", "to", stretch, kinds, sweep))
    yield "}"


def _offset(expr: Expr, shift: int, kinds: Kinds) -> str:
    """C text of what is added to the start of a row; empty for the first column."""
    if isinstance(expr, Num):
        expr, shift = Num(expr.value + shift), 0
    if expr == Num(0):
        return ""
    return f" + {whole(Bin('+', expr, Num(shift)) if shift else expr, kinds, 1)}"


def _width(stretch: loop_tree.SweepStretch) -> int | None:
    """The number of columns if it is small and the same at every size; else None."""
    assert stretch.columns is not None
    first, end = stretch.columns
    if symbols(first) | symbols(end) <= {"N"}:
        widths = {
            int(number(end, {"N": n})) - int(number(first, {"N": n})) for n in (11, 101, 1009)
        }
        if len(widths) == 1 and min(widths) <= _NARROW:
            return widths.pop()
    return None


# --- the step -------------------------------------------------------------------------------

THREAD = ("first", "last")
"""The bounds of the rows of a thread."""


def step_lines(program: loop_tree.StepProgram, phases: list[str]) -> list[str]:
    """The body of the step function, which every thread runs; barriers order the threads."""
    bounds: Bounds = {None: THREAD}
    if program.grid is not None:
        bounds = {d: (f"first_{d}", f"last_{d}") for d in program.grid.dimensions}
    return _lines(_block(program.body, phases, bounds))


def call_lines(sweeps: list[loop_tree.Sweep]) -> list[str]:
    """The calls of sweeps over the thread's block, one after the other."""
    return _lines(_call(sweep, {None: THREAD}) for sweep in sweeps)


def grid_initial_lines(sweeps: list[loop_tree.GridSweep]) -> list[str]:
    """The body of the function that sets initial values on a grid, ghost points included."""
    calls = []
    for sweep in sweeps:
        slowest, *others = sweep.dimensions
        ghosts = sweep.radius
        bounds: dict[str | None, tuple[str, str]] = {slowest: ("me->begin", "me->end")}
        for place, d in enumerate(others, start=1):
            bounds[d] = (f"-{ghosts}", f"me->extent[{place}]{GLUE}+{GLUE}{ghosts}")
        calls.append(_call(sweep, bounds))
    return _lines(calls)


def _lines(parts: Iterable[str]) -> list[str]:
    return [line for part in parts for line in wrapped("    " + part)]


def _block(block: loop_tree.NodeBlock, phases: list[str], bounds: Bounds) -> Iterator[str]:
    current = ""
    for node in block.nodes:
        kernels = _kernels(node)
        if len(kernels) == 1:
            (kernel,) = kernels
            if kernel != current:
                yield f"PHASE({phases.index(kernel)});"
            yield from _node(node, None, bounds)
            current = kernel
        else:
            yield from _node(node, phases, bounds)
            current = ""


def _kernels(node: loop_tree.Node) -> set[str]:
    return {sweep.kernel for sweep in loop_tree.every_sweep(loop_tree.NodeBlock((node,)))}


def _inside(block: loop_tree.NodeBlock, phases: list[str] | None, bounds: Bounds) -> Iterator[str]:
    if phases is not None:
        lines = _block(block, phases, bounds)
    else:
        lines = (line for node in block.nodes for line in _node(node, None, bounds))
    return (f"    {line}" for line in lines)


def _node(node: loop_tree.Node, phases: list[str] | None, bounds: Bounds) -> Iterator[str]:
    match node:
        case loop_tree.Sweep() | loop_tree.GridSweep():
            if guard := _guard(node, bounds):
                yield guard
            yield f"    {_call(node, bounds)}" if guard else _call(node, bounds)
        case loop_tree.PlaneFront(plane=plane):
            further = wavefront_text.arguments(node) + _constants(plane)
            yield from wavefront_text.lines(node, bounds, function(plane), further)
        case loop_tree.OverlappedTile(sweep=sweep):
            yield from overlap_text.lines(node, bounds, function(sweep), _constants(sweep))
        case loop_tree.Repeat(variable=variable, first=begin, end=end, body=body):
            mark = name(variable)
            yield f"for (int {mark} = {begin}; {mark} < {end}; {mark}++) {{"
            yield from _inside(body, phases, bounds)
            yield "}"
        case loop_tree.Tiles(size=size, body=body, dimension=dimension):
            first, last = bounds[dimension]
            tail = "" if dimension is None else f"_{dimension}"
            begin_, end_ = f"from{tail}", f"to{tail}"
            yield f"for (long {begin_} = {first}; {begin_} < {last}; {begin_} += {size}) {{"
            next_ = f"{begin_} + {size}"
            yield f"    const long {end_} = {next_} < {last} ? {next_} : {last};"
            yield from _inside(body, phases, {**bounds, dimension: (begin_, end_)})
            yield "}"
        case loop_tree.PipelineLoop():
            yield from _pipeline(node, phases, bounds)
        case loop_tree.Sync():
            yield "PHASE(BARRIER);"
            yield "#pragma omp barrier"
        case loop_tree.Swap(first=former, second=latter):
            yield f"exchange(me, {array(former)}, {array(latter)});"
        case loop_tree.PutBack(array=array_, copy=copy):
            yield f"put_back(me, {array(array_)}, {array(copy)}, span + lag, constants.n);"
        case loop_tree.Wait():
            yield "PHASE(WAIT);"
            yield "wait_for_neighbours(&me->own->neighbours);"
        case loop_tree.Comm(array=array_):
            yield "PHASE(COMMUNICATION);"
            yield "#pragma omp master"
            yield f"communicate(me, {array(array_)});"
            yield "PHASE(BARRIER);"
            yield "#pragma omp barrier"


def _pipeline(
    node: loop_tree.PipelineLoop, phases: list[str] | None, bounds: Bounds
) -> Iterator[str]:
    first, last = bounds[None]
    yield f"const long span = {len(node.body.nodes) - 1} * lag;"
    yield f"if ({first} < {last}) {{"
    yield f"    const long begin = {first} > span ? {first} - span : 0;"
    if node.strips is not None:
        yield "    for (long strip = 0; strip < plane_size; strip += strip_width)"
    yield f"    for (long at = begin; at < {last} + span; at += {node.block}) {{"
    for stage in node.body.nodes:
        assert isinstance(stage, loop_tree.PipelineStage)
        parts = ("from", "to") if node.strips is None else ("head", "tail")
        yield "        {"
        yield (
            f"            const long {parts[0]} = stage_from(at, {first}, span,"
            f"{GLUE}{stage.number} * lag);"
        )
        yield (
            f"            const long {parts[1]} = stage_to(at + {node.block}, {last}, span,"
            f"{GLUE}{stage.number} * lag, constants.n);"
        )
        if node.strips is None:
            yield "            if (from < to) {"
        else:
            further = f"{len(node.body.nodes) - 1 - stage.number} * margin"
            yield (
                "            for (long corner = head / plane_size * plane_size; corner < tail;"
                " corner += plane_size) {"
            )
            yield f"                const long from = strip_from(head, corner, strip - {further});"
            yield (
                "                const long to = strip_to(tail, corner, strip + strip_width +"
                f" {further}, plane_size);"
            )
            yield "                if (from >= to)"
            yield "                    continue;"
        calls = [
            f"    const struct place place = place_of(windows,{GLUE}from);",
            *_inside(stage.body, phases, {**bounds, None: ("from", "to")}),
        ]
        if node.in_place is not None and stage is node.body.nodes[-1]:
            calls = list(_in_place(calls, node.in_place))
        yield from (f"            {line}" for line in calls)
        yield "            }"
        yield "        }"
    yield "    }"
    yield "}"


def _in_place(calls: Iterable[str], arrays: tuple[str, str]) -> Iterator[str]:
    """The calls of a stage from ``from`` to ``to`` part by part; a part that other threads read is
    kept apart.
    """
    both = ", ".join(array(name_) for name_ in arrays)
    rest = "to, span + lag, constants.n"
    yield f"    struct part part = part_of(me, from, {rest});"
    yield f"    for (; part.from < part.to; part = part_of(me, part.to, {rest})) {{"
    yield "        const long from = part.from, to = part.to;"
    yield f"        begin_part(me, {both}, &part);"
    yield from (f"    {line}" for line in calls)
    yield f"        end_part(me, {both}, &part);"
    yield "    }"


def window(name_: str) -> str:
    """The name of the C constant that numbers the first row of a window."""
    return f"WINDOW_{name_}"


def array(name_: str) -> str:
    """The name of the C constant that numbers a stored array."""
    return f"ARRAY_{name_}"


def _call(sweep: loop_tree.AnySweep, bounds: Bounds) -> str:
    if isinstance(sweep, loop_tree.GridSweep):
        arguments = _grid_arguments(sweep, bounds)
    elif sweep.called:
        (dy, y), ((_, time),) = (_row(row) for _, row in sweep.rows), sweep.scalars
        block = ", ".join([*bounds[None], _scalar(time), y, dy])
        return f"call_back(constants.callback, {block});"
    else:
        arguments = _row_arguments(sweep, bounds)
    arguments += _constants(sweep)
    return f"{function(sweep)}({', '.join(arguments)});"


def _constants(sweep: loop_tree.AnySweep) -> list[str]:
    """The last arguments of a call: constants of the problem, then scalars."""
    return [
        *(f"constants.{name(constant)}" for constant, _ in sweep.constants),
        *(_scalar(expr) for _, expr in sweep.scalars),
    ]


def _guard(sweep: loop_tree.AnySweep, bounds: Bounds) -> str:
    """A condition for the call of a sweep over a part of the rows in a tile or a block of a
    pipeline, most of which have none of it: a call costs more; else empty.
    """
    if isinstance(sweep, loop_tree.GridSweep) or bounds[None] == THREAD:
        return ""
    every = {_bounds(stretch)[:2] for stretch in sweep.stretches}
    limits = every.pop() if len(every) == 1 else ()
    if not limits:
        return ""
    used = {c: Sym(f"constants.{name(c)}") for limit in limits for c in symbols(limit)}
    kinds = {symbol.name: symbol_kinds(sweep)[constant] for constant, symbol in used.items()}
    lower, upper = (whole(substitute(limit, used), kinds) for limit in limits)
    first, last = bounds[None]
    return f"if ({first} < {upper} && {last} > {lower})"


def _grid_arguments(sweep: loop_tree.GridSweep, bounds: Bounds) -> list[str]:
    return [
        *grid_text.box(sweep, bounds),
        *(f"me->array[{array(row.array)}]" for _, row in sweep.rows),
        *(f"me->stride[{place}]" for place, _ in enumerate(grid_text.strides(sweep))),
        *(f"constants.{name(extent)}" for extent in grid_text.extents(sweep)),
    ]


def _row_arguments(sweep: loop_tree.Sweep, bounds: Bounds) -> list[str]:
    arguments = [*bounds[None], *(_row(row) for _, row in sweep.rows)]
    arguments += [f"constants.{name(table)}" for table in sweep.tables]
    return arguments + [f"constants.{size}" for size in sizes(sweep)]


def _row(row: loop_tree.StoredRow) -> str:
    """C text of a row of an array, or of a window at a place."""
    index = Num(0) if row.index is None else row.index
    if row.window:
        first = f"{window(row.array)}{GLUE}+{GLUE}{whole(index, _whole(symbols(index)), 1)}"
        return f"window_row(windows,{GLUE}{first},{GLUE}place)"
    return f"row(me,{GLUE}{array(row.array)},{GLUE}{_index(index)})"


def _index(index: Expr) -> str:
    return whole(index, _whole(symbols(index)))


def _scalar(expr: Expr) -> str:
    """C text of a scalar argument: a coefficient as an element of its table, ``h`` and ``t`` by
    name.
    """
    loops = {s for ref in references(expr) for index in ref.indices for s in symbols(index)}
    return real(expr, _whole(loops))


def _whole(names: Iterable[str]) -> Kinds:
    kinds: dict[str, c_expressions.Kind] = {}
    for symbol in names:
        kinds[symbol] = "long"
    return kinds
