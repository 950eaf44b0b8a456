"""The work of one part of a sweep on one vector: loads and stores, or arithmetic on registers.

The C lines are the same for any loops around them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autotune.codegen.c import c_expressions
from autotune.codegen.c.c_expressions import Kinds, name, real, whole
from autotune.codegen.tree import loop_tree
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Ref, Sym, rebuild, walk

_REGISTERS = 12
"""Number of registers that stand for loaded values; the compiler has the others."""
_CALL = re.compile(r"\b(fabs|positive|smaller|larger|power[2-8])\(")
_LANEWISE = ("abs", "min", "max")
"""Functions that have a form on vectors."""


class ProbeImpossible(Exception):
    """Raised where a sweep has no such probe; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopShape:
    """The properties of the compiled loop that its probes must share."""

    vector: int = 8
    """Bytes of the vectors of the loop; 8 for scalar code."""
    loads: float = 0.0
    """Load instructions per component, of rows, constants and spilled values; 0: not known."""

    @property
    def lanes(self) -> int:
        """Components per vector."""
        return max(1, self.vector // 8)


@dataclass(frozen=True, slots=True)
class PartBody:
    """The C lines of a part: before the loops, for one vector, for one component."""

    before: Sequence[str]
    vector: Sequence[str]
    single: Sequence[str]
    scalar: str = ""
    """C text that calls functions of numbers."""


def head(lanes: int) -> list[str]:
    """C lines that define the vector type and prevent values from being optimised away."""
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
    """C lines of the vector functions that statements call."""
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


def moving(loaded: Sequence[str], stored: Sequence[str], shape: LoopShape) -> PartBody:
    """A part that loads and stores these elements, given as C text, and computes nothing.

    Raises ProbeImpossible where there are none.
    """
    if not loaded and not stored:
        raise ProbeImpossible("it loads no row")
    # what a compiler loads more often than once, and constants from memory, is loaded again
    count = max(len(loaded), round(shape.loads * shape.lanes)) if loaded else 0
    many = [loaded[k % len(loaded)] for k in range(count)]
    return PartBody(
        ["lane stored = " + _start(0, shape.lanes) + ";", "KEEP(stored);"],
        [*_loads(many, "lane"), *(f"STORE(lane, {element}) = stored;" for element in stored)],
        [*_loads(loaded, "one"), *(f"STORE(one, {element}) = 1.0;" for element in stored)],
    )


def _loads(elements: Sequence[str], kind: str) -> Iterator[str]:
    """C lines with one load instruction per element, into a register that is not used further."""
    return (f"USE(LOAD({kind}, {element}));" for element in elements)


# --- arithmetic -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Statements:
    """The statements of a component on registers, as C lines; collected while they are written."""

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

    def write(self, statement: loop_tree.Statement) -> None:
        """Add a statement. Raises ``ProbeImpossible`` where it has no form on registers."""
        if isinstance(statement, loop_tree.SumLoop):
            raise ProbeImpossible("it has a sum over an index, which is a loop of its own")
        if loop_tree.gathered(statement):
            raise ProbeImpossible("it reads through an index array")
        value = rebuild(statement.value, self._value)
        if isinstance(statement, loop_tree.Assign) and statement.add:
            value = Bin("+", self._value(Ref(statement.target, (Sym("j"),))), value)
        self.work += sum(isinstance(part, Bin | Neg | Call | Cond) for part in walk(value))
        if isinstance(statement, loop_tree.Assign):
            result = f"result{len(self.lines)}"
            self._lane(result, value)
            self.results[statement.target] = result
        elif self._varies(value):
            self._lane(name(statement.name), value)
        else:
            self._number(name(statement.name), value, self.kinds.get(statement.name, "double"))

    def _value(self, part: Expr) -> Expr:
        """The expression with each element replaced by its register, or by its last result where it
        was assigned.
        """
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

    def _number(self, target: str, value: Expr, kind: c_expressions.Kind) -> None:
        text = real(value, self.kinds) if kind == "double" else whole(value, self.kinds)
        self.scalar.append(text)
        self.lines.append(f"const {kind} {target} = {text};")

    def _lanewise(self, expr: Expr) -> Expr:
        """The expression on vectors; parts that are the same for all components are computed before
        the loops.
        """
        match expr:
            case Sym(name="j"):
                raise ProbeImpossible("it computes with its loop variable")
            case Call() | Cond() if not self._varies(expr):
                return self._before(expr)
            case Cond():
                raise ProbeImpossible(
                    "it has a condition, which vectors of registers have no form for"
                )
            case Call(function=function, arguments=arguments):
                if function not in _LANEWISE:
                    raise ProbeImpossible(f"it calls {function}, which is not of vectors")
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
        """A name for the value, computed before the loops, of an expression that is the same for
        all components.
        """
        text = real(expr, self.kinds)
        self.scalar.append(text)
        target = f"same{len(self.lines)}"
        value = f"(lane){{0}} + ({text})" if splat else text
        self.lines.append(f"const {'lane' if splat else 'double'} {target} = {value};")
        return Sym(target)


def arithmetic(statements: Sequence[loop_tree.Statement], kinds: Kinds, lanes: int) -> PartBody:
    """A part that runs the statements on registers; ``ProbeImpossible`` where it cannot."""
    lines_of = _Statements(kinds, lanes)
    for statement in statements:
        lines_of.write(statement)
    if not lines_of.work:
        raise ProbeImpossible("it computes nothing")
    used = sorted(set(lines_of.registers.values()))
    return PartBody(
        [f"lane {register} = {_start(k, lanes)};" for k, register in enumerate(used)],
        [
            *(f"KEEP({register});" for register in used),
            *lines_of.lines,
            *(f"USE({result});" for result in lines_of.results.values()),
        ],
        (),
        scalar="\n".join(lines_of.scalar),
    )


def _start(place: int, lanes: int) -> str:
    return "{" + ", ".join([f"{1 + place / 8}"] * lanes) + "}"
