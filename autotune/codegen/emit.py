"""Printers: sweeps as C functions, the step as C around their calls."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autotune.codegen import ctext, ir
from autotune.codegen.ctext import SIZES, Kinds, name, real, whole
from autotune.expression import Bin, Expr, Num, Sym, number, rebuild, references, symbols

_WIDTH = 100
_GLUE = "\xa0"
"""A space at which no line is broken."""
_INDEPENDENT = [
    "#ifdef __clang__",
    "#define INDEPENDENT",
    "#else",
    '#define INDEPENDENT _Pragma("GCC ivdep")',
    "#endif",
    "",
]
"""The iterations of a marked loop are independent; clang takes that from ``restrict`` alone."""
_NARROW = 4
"""Stretches of at most so many columns are written out, so that one loop is the hot one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCode:
    """A sweep as C: one function in a translation unit of its own."""

    name: str
    function: str
    text: str


def sweep_code(sweep: ir.Sweep) -> SweepCode:
    """The sweep as a self-contained C file with one function of external linkage."""
    body = [line for part in _body(sweep, _kinds(sweep)) for line in _wrapped("    " + part)]
    head = ctext.support("\n".join(body))
    lines = [
        *head,
        *_INDEPENDENT,
        f"{signature(sweep)};",
        "",
        signature(sweep),
        "{",
        *body,
        "}",
        "",
    ]
    return SweepCode(name=sweep.name, function=function(sweep), text="\n".join(lines))


def function(sweep: ir.Sweep) -> str:
    """The name of the function of a sweep."""
    return f"sweep_{sweep.name}"


def signature(sweep: ir.Sweep) -> str:
    """The declaration of the function, without a semicolon."""
    written = {
        s.target for st in sweep.stretches for s in st.statements if isinstance(s, ir.Assign)
    }
    kinds = _kinds(sweep)
    parameters = ["long first", "long last"]
    for row, _ in sweep.rows:
        const = "" if row in written else "const "
        parameters.append(f"{const}double *restrict {name(row)}")
    parameters += [f"long {size}" for size in sizes(sweep)]
    parameters += [f"{kinds[constant]} {name(constant)}" for constant, _ in sweep.constants]
    parameters += [f"double {name(scalar)}" for scalar, _ in sweep.scalars]
    glued = ", ".join(parameter.replace(" ", _GLUE) for parameter in parameters)
    return "\n".join(_wrapped(f"void {function(sweep)}({glued})"))


def _wrapped(line: str) -> list[str]:
    """A line of C, continued on further ones where it is long."""
    if len(line) <= _WIDTH or line.lstrip().startswith("#"):
        return [line.replace(_GLUE, " ")]
    indent = line[: len(line) - len(line.lstrip())]
    lines = textwrap.wrap(
        line,
        _WIDTH,
        subsequent_indent=indent + "        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace(_GLUE, " ") for part in lines]


def sizes(sweep: ir.Sweep) -> list[str]:
    """Which of N and n the function takes."""
    used: set[str] = set()
    for expr in _expressions(sweep):
        used |= symbols(expr)
    return [size for size in ("N", "n") if size in used]


def _bounds(stretch: ir.Stretch) -> tuple[Expr, ...]:
    if (stretch.lower, stretch.upper) == (Num(0), Sym("n")):
        return ()
    row = () if stretch.row is None else (stretch.row,)
    return (stretch.lower, stretch.upper, *(stretch.columns or ()), *row)


def _expressions(sweep: ir.Sweep) -> Iterator[Expr]:
    for stretch in sweep.stretches:
        yield from _bounds(stretch)
        for statement in stretch.statements:
            yield statement.value


def _kinds(sweep: ir.Sweep) -> dict[str, ctext.Kind]:
    """The types of all symbols: constants are doubles but where a whole number is needed."""
    needed = {s for stretch in sweep.stretches for e in _bounds(stretch) for s in symbols(e)}
    for stretch in sweep.stretches:
        for statement in stretch.statements:
            needed |= ctext.whole_symbols(statement.value)
    declared: dict[str, ctext.Kind] = dict(SIZES)
    kinds: dict[str, ctext.Kind] = dict(SIZES)
    for constant, value in sweep.constants:
        declared[constant] = ctext.kind(value, declared)
        kinds[constant] = (
            "long" if declared[constant] == "long" and constant in needed else "double"
        )
    for stretch in sweep.stretches:
        for statement in stretch.statements:
            if isinstance(statement, ir.Local):
                kinds[statement.name] = ctext.kind(statement.value, kinds)
    return kinds


# --- bodies ---------------------------------------------------------------------------------


def _body(sweep: ir.Sweep, kinds: Kinds) -> Iterator[str]:
    stretch = sweep.stretches[0]
    if _bounds(stretch):
        yield f"const long lower = {whole(stretch.lower, kinds)};"
        yield f"const long upper = {whole(stretch.upper, kinds)};"
        yield "if (first < lower)"
        yield "    first = lower;"
        yield "if (last > upper)"
        yield "    last = upper;"
    if stretch.columns is None:
        yield from _loop("first", "last", _statements(stretch, kinds))
    elif isinstance(stretch.row, Num):
        yield from _short_rows(sweep, kinds, int(stretch.row.value))
    else:
        yield from _long_rows(sweep, kinds)


def _loop(first: str, last: str, lines: list[str]) -> Iterator[str]:
    yield "INDEPENDENT"
    yield f"for (long j = {first}; j < {last}; j++) {{"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _statements(stretch: ir.Stretch, kinds: Kinds, shift: int = 0) -> list[str]:
    """The statements for one component; with ``shift`` for that many components after j."""
    lines = []
    for statement in stretch.statements:
        value = _shifted(statement.value, shift)
        if isinstance(statement, ir.Local):
            local = kinds[statement.name]
            text = real(value, kinds) if local == "double" else whole(value, kinds)
            lines.append(f"const {local} {name(statement.name)} = {text};")
        else:
            sign = "+=" if statement.add else "="
            index = f"j + {shift}" if shift else "j"
            lines.append(f"{name(statement.target)}[{index}] {sign} {real(value, kinds)};")
    return lines


def _shifted(expr: Expr, shift: int) -> Expr:
    """The expression for the component ``shift`` after j, whole numbers in sums put together."""
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


def _short_rows(sweep: ir.Sweep, kinds: Kinds, row: int) -> Iterator[str]:
    """Rows of fixed length, written out: the loop goes from row to row."""
    lines: list[str] = []
    for stretch in sweep.stretches:
        assert stretch.columns is not None
        begin, end = (int(number(e, {})) for e in stretch.columns)
        for column in range(begin, end):
            statements = _statements(stretch, kinds, column)
            scoped = any(isinstance(s, ir.Local) for s in stretch.statements)
            lines += ["{", *(f"    {s}" for s in statements), "}"] if scoped else statements
    yield "INDEPENDENT"
    yield f"for (long j = first; j < last; j += {row}) {{"
    yield from (f"    {line}" for line in lines)
    yield "}"


def _long_rows(sweep: ir.Sweep, kinds: Kinds) -> Iterator[str]:
    """Rows whose length depends on N: clamped columns in each row of the band."""
    row = sweep.stretches[0].row
    assert row is not None
    yield f"const long row = {whole(row, kinds)};"
    yield "for (long start = first / row*row; start < last; start += row) {"
    for stretch in sweep.stretches:
        yield from (f"    {line}" for line in _columns(stretch, kinds))
    yield "}"


def _columns(stretch: ir.Stretch, kinds: Kinds) -> Iterator[str]:
    assert stretch.columns is not None
    begin, end = stretch.columns
    width = _width(stretch)
    if width is not None:
        for column in range(width):
            yield "{"
            yield f"    const long j = start{_offset(begin, column, kinds)};"
            yield "    if (first <= j && j < last) {"
            yield from (f"        {line}" for line in _statements(stretch, kinds))
            yield "    }"
            yield "}"
        return
    yield "{"
    yield f"    const long head = start{_offset(begin, 0, kinds)};"
    yield f"    const long tail = start{_offset(end, 0, kinds)};"
    yield "    const long from = head < first ? first : head;"
    yield "    const long to = tail < last ? tail : last;"
    yield from (f"    {line}" for line in _loop("from", "to", _statements(stretch, kinds)))
    yield "}"


def _offset(expr: Expr, shift: int, kinds: Kinds) -> str:
    """What is added to the start of a row, as text; nothing for its first column."""
    if isinstance(expr, Num):
        expr, shift = Num(expr.value + shift), 0
    if expr == Num(0):
        return ""
    return f" + {whole(Bin('+', expr, Num(shift)) if shift else expr, kinds, 1)}"


def _width(stretch: ir.Stretch) -> int | None:
    """The number of columns where it is small and the same at every size, else None."""
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


def step_lines(program: ir.Program, phases: list[str]) -> list[str]:
    """The body of the step function: every thread runs it, barriers order the threads."""
    lines = _block(program.body, phases, "first", "last")
    return [line for part in lines for line in _wrapped("    " + part)]


def initial_lines(sweeps: list[ir.Sweep]) -> list[str]:
    """The body of the function that sets the initial values of the thread's block."""
    return [line for sweep in sweeps for line in _wrapped("    " + _call(sweep, "first", "last"))]


def _block(block: ir.Block, phases: list[str], first: str, last: str) -> Iterator[str]:
    current = ""
    for node in block.nodes:
        kernels = _kernels(node)
        if len(kernels) == 1:
            (kernel,) = kernels
            if kernel != current:
                yield f"PHASE({phases.index(kernel)});"
            yield from _node(node, None, first, last)
            current = kernel
        else:
            yield from _node(node, phases, first, last)
            current = ""


def _kernels(node: ir.Node) -> set[str]:
    if isinstance(node, ir.Sweep):
        return {node.kernel}
    if isinstance(node, ir.Repeat | ir.Tiles):
        return {sweep.kernel for sweep in ir.sweeps(node.body)}
    return set()


def _inside(block: ir.Block, phases: list[str] | None, first: str, last: str) -> Iterator[str]:
    if phases is not None:
        lines = _block(block, phases, first, last)
    else:
        lines = (line for node in block.nodes for line in _node(node, None, first, last))
    return (f"    {line}" for line in lines)


def _node(node: ir.Node, phases: list[str] | None, first: str, last: str) -> Iterator[str]:
    match node:
        case ir.Sweep():
            yield _call(node, first, last)
        case ir.Repeat(variable=variable, first=begin, end=end, body=body):
            mark = name(variable)
            yield f"for (int {mark} = {begin}; {mark} < {end}; {mark}++) {{"
            yield from _inside(body, phases, first, last)
            yield "}"
        case ir.Tiles(size=size, body=body):
            yield f"for (long from = {first}; from < {last}; from += {size}) {{"
            yield f"    const long to = from + {size} < {last} ? from + {size} : {last};"
            yield from _inside(body, phases, "from", "to")
            yield "}"
        case ir.Sync():
            yield "PHASE(BARRIER);"
            yield "#pragma omp barrier"
        case ir.Swap(first=one, second=other):
            yield f"exchange(me, {array(one)}, {array(other)});"
        case ir.Comm(array=array_):
            yield "PHASE(COMMUNICATION);"
            yield "#pragma omp master"
            yield f"communicate(me, {array(array_)});"
            yield "PHASE(BARRIER);"
            yield "#pragma omp barrier"


def array(name_: str) -> str:
    """The constant that numbers a stored array."""
    return f"ARRAY_{name_}"


def _call(sweep: ir.Sweep, first: str, last: str) -> str:
    arguments = [first, last]
    for _, row in sweep.rows:
        index = Num(0) if row.index is None else row.index
        arguments.append(f"row(me,{_GLUE}{array(row.array)},{_GLUE}{_index(index)})")
    arguments += [f"constants.{size}" for size in sizes(sweep)]
    arguments += [f"constants.{name(constant)}" for constant, _ in sweep.constants]
    arguments += [_scalar(expr) for _, expr in sweep.scalars]
    return f"{function(sweep)}({', '.join(arguments)});"


def _index(index: Expr) -> str:
    return whole(index, _whole(symbols(index)))


def _scalar(expr: Expr) -> str:
    """A scalar argument: coefficients of the method by their tables, h and t by name."""
    loops = {s for ref in references(expr) for index in ref.indices for s in symbols(index)}
    return real(expr, _whole(loops))


def _whole(names: Iterable[str]) -> Kinds:
    kinds: dict[str, ctext.Kind] = {}
    for symbol in names:
        kinds[symbol] = "long"
    return kinds
