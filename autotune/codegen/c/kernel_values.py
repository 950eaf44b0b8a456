"""Expressions in kerncraft's C, the names of a text, and the text itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.codegen.c import c_expressions
from autotune.language.expression import (
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
    Num,
    Ref,
    Sym,
    number,
    show,
)

STAND_IN = (
    "max and min stand as additions: one instruction each, on the ports of an addition on Intel"
    " cores, on as many others on AMD Zen"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelText:
    """One stretch of a sweep, or a sweep over a grid, as kerncraft C."""

    text: str
    constants: tuple[tuple[str, Expr], ...]
    """The sizes of the text as expressions of ``N``, ``n`` and ``share`` (components of a core), or
    of the extents of a part of a grid."""
    components: int = 1
    """Components (points of a grid) that one iteration of the innermost loop computes."""
    notes: tuple[str, ...] = ()

    def sizes(self, values: Mapping[str, float | int]) -> dict[str, int]:
        """The sizes at given values of these names."""
        return {name: int(number(expr, values)) for name, expr in self.constants}


class Unfit(Exception):
    """Raised for a construct that kerncraft cannot express; the message is the reason."""


@dataclass(slots=True)
class KernelNames:
    """The scalars of a text, the names that are taken, and what is to be said of it."""

    taken: set[str]
    scalars: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    counter: str = "long"
    """The C type of loop variables."""

    def scalar(self, symbol: str) -> str:
        """The name of the scalar that stands for a symbol in the text."""
        if symbol not in self.scalars:
            self.scalars[symbol] = self.fresh(symbol)
        return self.scalars[symbol]

    def fresh(self, stem: str) -> str:
        """A name that is not used yet, without the trailing underscore of names that kerncraft
        makes.
        """
        name = c_expressions.name(stem).strip("_") or "x"
        while name in self.taken or c_expressions.name(name) != name:
            name += "x"
        self.taken.add(name)
        return name

    def declarations(self, arrays: Sequence[str]) -> list[str]:
        """The C declarations of arrays with their extents, then of the scalars."""
        return [f"double {name};" for name in (*arrays, *self.scalars.values())]


def nest(declarations: Sequence[str], loops: Sequence[str], lines: Sequence[str]) -> str:
    """A text of declarations and one nest of loops around the lines."""
    done = [*declarations, ""]
    done += ["    " * depth + loop for depth, loop in enumerate(loops)]
    done[-1] += " {"
    indent = "    " * len(loops)
    return "\n".join(
        [*done, *(indent + line for line in lines), "    " * (len(loops) - 1) + "}", ""]
    )


def index(variable: str, shift: int) -> str:
    """An index of an element: the loop variable and an offset."""
    return f"{variable}{shift:+d}" if shift else variable


def value_text(expr: Expr, names: KernelNames, element: Callable[[Ref], str], place: Expr) -> Expr:
    """The expression with numbers as doubles, and with elements and scalars under their names in
    the text; ``place``: the number of the component that stands for ``j``.

    Raises Unfit for what kerncraft cannot express.
    """

    def again(part: Expr) -> Expr:
        return value_text(part, names, element, place)

    match expr:
        case Num(value=value):
            return Num(float(value))
        case Sym(name="j"):
            names.counter = "int"
            return place
        case Sym(name=name):
            return Sym(names.scalar(name))
        case Ref():
            return Sym(element(expr))
        case Neg(operand=operand):
            return Neg(again(operand))
        case Bin(op="**", left=left, right=Num(value=int() as power)):
            if power == 0:
                return Num(1.0)
            product = base = again(left)
            for _ in range(power - 1):
                product = Bin("*", product, base)
            return product
        case Bin(op="+" | "-" | "*" | "/" as op, left=left, right=right):
            return Bin(op, again(left), again(right))
        case Bin(op=op):
            raise Unfit(f"{show(expr)} ({op} of whole numbers)")
        case Call(function="max" | "min", arguments=(first, second)):
            names.notes[STAND_IN] = None
            return Bin("+", _operand(first, again, names), _operand(second, again, names))
        case Call(function=function):
            raise Unfit(f"it has no function calls: {function}")
        case Cond():
            raise Unfit(f"it has no conditions: {show(expr)}")
    raise AssertionError(expr)


def _operand(expr: Expr, again: Callable[[Expr], Expr], names: KernelNames) -> Expr:
    """An operand of max; a number is replaced by a named scalar, since compilers would drop ``x +
    0.0``.
    """
    return Sym(names.scalar("bound")) if isinstance(expr, Num) else again(expr)
