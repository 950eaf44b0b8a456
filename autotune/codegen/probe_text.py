"""Loops that do one part of a sweep's work, as C.

    loop         the sweep as it is
    loads        every row that it reads is loaded; nothing is computed or stored
    moves        rows are loaded and stored; nothing is computed                 -> T_nOL
    arithmetic   the statements on registers; nothing is loaded or stored        -> T_OL

A part has the name and the parameters of the sweep, so it takes its place in a program. Parts work
on vectors as wide as those of the compiled loop, written out, so that no compiler decides again on
how the loop is vectorised.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autotune.codegen import ctext, emit, ir
from autotune.codegen.ctext import Kinds, name, real, whole
from autotune.codegen.emit import SweepCode
from autotune.expression import (
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
    Num,
    Ref,
    Sym,
    number,
    rebuild,
    references,
    walk,
)

Part = Literal["loop", "loads", "moves", "arithmetic"]
PARTS: tuple[Part, ...] = ("loop", "loads", "moves", "arithmetic")

_UNROLLED = 4
_REGISTERS = 12
"""Registers that stand for loaded values; the others are left to the compiler."""
_CALL = re.compile(r"\b(fabs|positive|smaller|larger|power[2-8])\(")
_LANEWISE = ("abs", "min", "max")
"""Functions that work on vectors too."""


class NotMade(Exception):
    """There is no such probe of this sweep; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the compiled loop is like, for its parts to be alike."""

    vector: int = 8
    """Bytes of its vectors; 8 for scalar code."""
    loads: float = 0.0
    """Its load instructions per component, of rows, constants and spilled values; 0: not known."""

    @property
    def lanes(self) -> int:
        """Components per vector."""
        return max(1, self.vector // 8)


@dataclass(frozen=True, slots=True)
class _Body:
    """What a part does: before the loops, for a vector, for one component."""

    before: Sequence[str]
    vector: Sequence[str]
    single: Sequence[str]
    scalar: str = ""
    """Text that calls functions of numbers."""


def code(sweep: ir.Sweep, part: Part, shape: Shape) -> SweepCode:
    """The C text of one part of a sweep; raises NotMade with the reason where there is none."""
    if part == "loop":
        return emit.sweep_code(sweep)
    stretch = _hot(sweep)
    kinds = emit._kinds(sweep)
    if part == "arithmetic":
        body = _arithmetic(stretch, kinds, shape.lanes)
    else:
        body = _moving(sweep, stretch, kinds, shape, stores=part == "moves")
    lines = [*body.before, *_around(stretch, kinds, shape.lanes, body)]
    head = [*ctext.support(body.scalar), *_head(shape.lanes)]
    signature = emit.signature(sweep)
    used = [f"(void){name(parameter)};" for parameter in _parameters(sweep)]
    text = [*head, f"{signature};", "", signature, "{"]
    text += [*(f"    {line}" for line in (*used, *lines)), "}", ""]
    return SweepCode(name=sweep.name, function=emit.function(sweep), text="\n".join(text))


def _parameters(sweep: ir.Sweep) -> list[str]:
    given = (*sweep.rows, *sweep.constants, *sweep.scalars)
    return [*(parameter for parameter, _ in given), *emit.sizes(sweep)]


def _hot(sweep: ir.Sweep) -> ir.Stretch:
    """The stretch that takes the time: the one that is wide."""
    first = sweep.stretches[0]
    if first.columns is None:
        return first
    if isinstance(first.row, Num):
        raise NotMade("rows of a fixed length are written out: one loop has all their columns")
    widths = {stretch: _width(stretch) for stretch in sweep.stretches}
    wide = [s for s, width in widths.items() if 2 * width >= max(widths.values())]
    if len(wide) > 1:
        raise NotMade("several loops share its time")
    return wide[0]


def _width(stretch: ir.Stretch) -> float:
    """Columns at a large size."""
    assert stretch.columns is not None
    first, end = (number(e, {"N": 1000, "n": 1_000_000}) for e in stretch.columns)
    return float(end - first)


# --- loops around what is done --------------------------------------------------------------


def _around(stretch: ir.Stretch, kinds: Kinds, lanes: int, body: _Body) -> Iterator[str]:
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


def _vectors(first: str, last: str, lanes: int, body: _Body) -> Iterator[str]:
    """Over vectors, several in a pass, then one by one, then over the components that are left."""
    yield f"long at = {first};"
    for unrolled in (_UNROLLED, 1):
        step = lanes * unrolled
        yield f"for (; at + {step} <= {last}; at += {step}) {{"
        for place in range(unrolled):
            yield "    {"
            yield f"        const long j = at + {place * lanes};"
            yield "        (void)j;"
            yield from (f"        {line}" for line in body.vector)
            yield "    }"
        yield "}"
    yield f"for (long j = at; j < {last}; j++) {{"
    yield "    (void)j;"
    yield from (f"    {line}" for line in body.single)
    yield "}"


def _head(lanes: int) -> list[str]:
    """The type of a vector, and how values are kept from the optimiser."""
    size = f"vector_size({8 * lanes}), " if lanes > 1 else ""
    lines = [
        f"typedef double lane __attribute__(({size}aligned(8), may_alias));",
        f"typedef unsigned long bits __attribute__(({size}aligned(8), may_alias));",
        "typedef double one __attribute__((may_alias));",
        "#if defined(__x86_64__)",
        '#define CLASS "x"',
        "#elif defined(__aarch64__)",
        '#define CLASS "w"',
        "#else",
        '#define CLASS "m"',
        "#endif",
        '#define KEEP(value) __asm__ volatile("" : "+" CLASS(value))',
        '#define USE(value) __asm__ volatile("" : : CLASS(value))',
        "#define LOAD(type, element) (*(const volatile type *)&(element))",
        "#define STORE(type, element) (*(volatile type *)&(element))",
    ]
    return [*lines, *(_functions() if lanes > 1 else ()), ""]


def _functions() -> list[str]:
    """What statements call, on vectors."""
    either = "(lane)(((bits){0} & (bits)({1})) | ((bits){2} & ~(bits)({1})))"
    lines = [
        "#define INLINE static inline __attribute__((unused))",
        "INLINE lane lane_fabs(lane x) { return (lane)((bits)x & 0x7fffffffffffffffUL); }",
        "INLINE lane lane_positive(lane x) { return 0.5*(x + lane_fabs(x)); }",
        "INLINE lane lane_smaller(lane a, lane b)",
        f"{{ return {either.format('b', 'b < a', 'a')}; }}",
        "INLINE lane lane_larger(lane a, lane b)",
        f"{{ return {either.format('b', 'b > a', 'a')}; }}",
    ]
    for power in range(2, 9):
        product = "*".join("x" * power)
        lines.append(f"INLINE lane lane_power{power}(lane x) {{ return {product}; }}")
    return lines


# --- loads and stores -----------------------------------------------------------------------


def _moving(
    sweep: ir.Sweep, stretch: ir.Stretch, kinds: Kinds, shape: Shape, *, stores: bool
) -> _Body:
    loaded, stored = _elements(sweep, stretch, kinds)
    if not stores and not loaded:
        raise NotMade("it loads no row")
    # what a compiler loads more often than once, and constants from memory, is loaded again
    count = max(len(loaded), round(shape.loads * shape.lanes)) if loaded else 0
    many = [loaded[k % len(loaded)] for k in range(count)]
    written = stored if stores else ()
    return _Body(
        ["lane stored = " + _start(0, shape.lanes) + ";", "KEEP(stored);"],
        [*_loads(many, "lane"), *(f"STORE(lane, {element}) = stored;" for element in written)],
        [*_loads(loaded, "one"), *(f"STORE(one, {element}) = 1.0;" for element in written)],
    )


def _loads(elements: Sequence[str], kind: str) -> Iterator[str]:
    """One load instruction each, into a register that nothing needs."""
    return (f"USE(LOAD({kind}, {element}));" for element in elements)


def _elements(
    sweep: ir.Sweep, stretch: ir.Stretch, kinds: Kinds
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The elements that are loaded and those that are stored, each once; as C, with ``j``.

    What was stored in the same iteration is not loaded again.
    """
    rows = {row for row, _ in sweep.rows}
    loaded: dict[str, None] = {}
    stored: dict[str, None] = {}
    for statement in stretch.statements:
        read = [real(r, kinds) for r in references(statement.value) if r.array in rows]
        if isinstance(statement, ir.Assign) and statement.add:
            read.append(f"{name(statement.target)}[j]")
        loaded |= dict.fromkeys(element for element in read if element not in stored)
        if isinstance(statement, ir.Assign):
            stored[f"{name(statement.target)}[j]"] = None
    return tuple(loaded), tuple(stored)


# --- arithmetic -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Statements:
    """The statements of a component on registers, as C; grows while they are written."""

    kinds: Kinds
    lanes: int
    registers: dict[Ref, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    """Row to the value that was last assigned to it."""
    vectors: set[str] = field(default_factory=set)
    """Names that stand for one value per component."""
    lines: list[str] = field(default_factory=list)
    scalar: list[str] = field(default_factory=list)
    """Lines that call functions of numbers, not of vectors."""
    work: int = 0

    def write(self, statement: ir.Statement) -> None:
        """Add a statement. Raises NotMade where it has no form on registers."""
        value = rebuild(statement.value, self._value)
        if isinstance(statement, ir.Assign) and statement.add:
            value = Bin("+", self._value(Ref(statement.target, (Sym("j"),))), value)
        self.work += sum(isinstance(part, Bin | Neg | Call | Cond) for part in walk(value))
        if isinstance(statement, ir.Assign):
            result = f"result{len(self.lines)}"
            self._lane(result, value)
            self.results[statement.target] = result
        elif self._varies(value):
            self._lane(name(statement.name), value)
        else:
            self._number(name(statement.name), value, self.kinds.get(statement.name, "double"))

    def _value(self, part: Expr) -> Expr:
        """A register in place of an element, the last result in place of what was assigned."""
        if not isinstance(part, Ref):
            return part
        if part.array in self.results and part.indices == (Sym("j"),):
            return Sym(self.results[part.array])
        register = f"loaded{len(self.registers) % _REGISTERS}"
        self.vectors.add(register)
        return Sym(self.registers.setdefault(part, register))

    def _varies(self, expr: Expr) -> bool:
        names = self.vectors | {"j"}
        return any(isinstance(part, Sym) and part.name in names for part in walk(expr))

    def _lane(self, target: str, value: Expr) -> None:
        if self.lanes > 1:
            value = self._lanewise(value)
        text = real(value, self.kinds)
        if self.lanes > 1:
            text = _CALL.sub(r"lane_\1(", text)
            text = text if self._varies(value) else f"(lane){{0}} + {text}"
        else:
            self.scalar.append(text)
        self.vectors.add(target)
        self.lines.append(f"const lane {target} = {text};")

    def _number(self, target: str, value: Expr, kind: ctext.Kind) -> None:
        text = real(value, self.kinds) if kind == "double" else whole(value, self.kinds)
        self.scalar.append(text)
        self.lines.append(f"const {kind} {target} = {text};")

    def _lanewise(self, expr: Expr) -> Expr:
        """The same for vectors: what does not vary is computed before, as numbers."""
        match expr:
            case Sym(name="j"):
                raise NotMade("it computes with its loop variable")
            case Call() | Cond() if not self._varies(expr):
                return self._before(expr)
            case Cond():
                raise NotMade("it has a condition, which vectors of registers have no form for")
            case Call(function=function, arguments=arguments):
                if function not in _LANEWISE:
                    raise NotMade(f"it calls {function}, which is not of vectors")
                return Call(
                    function,
                    tuple(
                        self._lanewise(a) if self._varies(a) else self._before(a, splat=True)
                        for a in arguments
                    ),
                )
            case Neg(operand=operand):
                return Neg(self._lanewise(operand))
            case Bin(op=op, left=left, right=right):
                if op == "**":
                    return Bin(op, self._lanewise(left), right)
                return Bin(op, self._lanewise(left), self._lanewise(right))
        return expr

    def _before(self, expr: Expr, *, splat: bool = False) -> Sym:
        """A name for the value of an expression that is the same for every component."""
        text = real(expr, self.kinds)
        self.scalar.append(text)
        target = f"same{len(self.lines)}"
        value = f"(lane){{0}} + ({text})" if splat else text
        self.lines.append(f"const {'lane' if splat else 'double'} {target} = {value};")
        return Sym(target)


def _arithmetic(stretch: ir.Stretch, kinds: Kinds, lanes: int) -> _Body:
    made = _Statements(kinds, lanes)
    for statement in stretch.statements:
        made.write(statement)
    if not made.work:
        raise NotMade("it computes nothing")
    used = sorted(set(made.registers.values()))
    return _Body(
        [f"lane {register} = {_start(k, lanes)};" for k, register in enumerate(used)],
        [
            *(f"KEEP({register});" for register in used),
            *made.lines,
            *(f"USE({result});" for result in made.results.values()),
        ],
        (),
        scalar="\n".join(made.scalar),
    )


def _start(place: int, lanes: int) -> str:
    return "{" + ", ".join([f"{1 + place / 8}"] * lanes) + "}"
