"""Formulas in the notation of a programming language."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.symbolic_totals import SymbolicTotal
from autotune.language import expression
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Sym

_LEVELS: Mapping[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
_CALL = 9
"""Binds closer than every operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaNotation:
    """How a language writes what languages write differently."""

    infix: frozenset[str]
    """Of ``+ - * /``: the operators that stand between their operands."""
    binary: Mapping[str, tuple[str, int, int]]
    """The other operators: a pattern of two operands, how closely an operand in it and the whole
    must bind (a power binds at 4, a call at 9)."""
    calls: Mapping[str, str]
    """Functions, with their arguments as ``{0}``, ``{1}``."""
    condition: str
    """With ``{test}``, ``{then}`` and ``{other}``."""
    total: str = ""
    """A sum, with ``{index}``, ``{trips}`` and ``{body}``."""
    reserved: frozenset[str]
    """Names that no variable may have."""
    number: Callable[[int | float], str] = repr

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """Every variable with its name in the language: an underscore follows reserved ones."""
        taken: dict[str, str] = {}
        for name in names:
            text = "".join(c if c.isascii() else "_" for c in name)
            while text in self.reserved or text in taken.values():
                text += "_"
            taken[name] = text
        return taken

    def write(self, expr: Expr, names: Mapping[str, str], outer: int = 0) -> str:
        """A formula in the language; symbols have the names that they are given."""
        match expr:
            case Num(value=value):
                text = self.number(value)
                return f"({text})" if value < 0 and outer else text
            case Sym(name=name):
                return names.get(name, name)
            case Neg(operand=operand):
                text = f"-{self.write(operand, names, 3)}"
                return f"({text})" if outer else text
            case Bin():
                text, level = self._operation(expr, names)
                return f"({text})" if level < outer else text
            case Cond(left=left, op=op, right=right, then=then, other=other):
                test = f"{self.write(left, names, 1)} {op} {self.write(right, names, 1)}"
                then_text, other_text = self.write(then, names), self.write(other, names)
                return self.condition.format(test=test, then=then_text, other=other_text)
            case Call(function="sum", arguments=(Sym(name=index), trips, body)):
                trips_text, body_text = self.write(trips, names), self.write(body, names)
                index_text = names.get(index, index)
                return self.total.format(index=index_text, trips=trips_text, body=body_text)
            case Call(function=function, arguments=arguments):
                return self.calls[function].format(*(self.write(a, names) for a in arguments))
            case _:
                raise ValueError("an array element is no number")

    def _operation(self, expr: Bin, names: Mapping[str, str]) -> tuple[str, int]:
        """The text of an operation, and how closely it binds."""
        if expr.op in self.infix:
            level = _LEVELS[expr.op]
            left = self.write(expr.left, names, level)
            return f"{left} {expr.op} {self.write(expr.right, names, level + 1)}", level
        pattern, operand, level = self.binary[expr.op]
        left, right = (self.write(part, names, operand) for part in (expr.left, expr.right))
        return pattern.format(left, right), level


def call(function: str) -> tuple[str, int, int]:
    """The pattern of an operator that the language writes as a call with two arguments."""
    return f"{function}({{0}}, {{1}})", 0, _CALL


def all_names(model: ParsedModel, totals: Iterable[SymbolicTotal] = ()) -> tuple[str, ...]:
    """The variables and indices of a model and its totals: inputs, the rank, derived ones first."""
    names = [*model.inputs, model.model.rank, *model.derived]
    names += [node.node.index for node in model.walk() if node.node.index]
    for total in totals:
        names += sorted(expression.symbols(total.formula.expr))
    return tuple(dict.fromkeys(names))


def identifier(text: str) -> str:
    """A title as a name of a function: other characters than letters become underscores."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in text.lower()).strip("_")
    return name if name and not name[0].isdigit() else f"model_{name}".rstrip("_")
