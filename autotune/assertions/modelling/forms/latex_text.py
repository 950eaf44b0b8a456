"""The totals of a model in LaTeX (with amsmath)."""

from collections.abc import Mapping, Sequence

from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.symbolic_totals import SymbolicTotal
from autotune.assertions.modelling.tree_walk import METRICS
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Sym

_LEVELS: Mapping[str, int] = {"+": 1, "-": 1, "*": 2}
_ORDER: Mapping[str, str] = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}
_CALLS: Mapping[str, str] = {
    "abs": r"\left| {0} \right|",
    "ceil": r"\left\lceil {0} \right\rceil",
    "floor": r"\left\lfloor {0} \right\rfloor",
    "exp": r"\exp\left( {0} \right)",
    "log": r"\ln\left( {0} \right)",
    "log2": r"\log_2\left( {0} \right)",
    "sqrt": r"\sqrt{{ {0} }}",
    "max": r"\max\left( {0}, {1} \right)",
    "min": r"\min\left( {0}, {1} \right)",
}


def latex(model: ParsedModel, totals: Sequence[SymbolicTotal]) -> str:
    """The definitions of the derived variables and the totals, aligned at the equals signs."""
    rows = [
        rf"{symbol(name)} &= {written(formula.expr)} \\" for name, formula in model.derived.items()
    ]
    rows += [
        rf"\text{{{METRICS[total.metric]}}} &= {written(total.formula.expr)} \\" for total in totals
    ]
    title = f"% {model.model.name}: totals of one rank".replace("\n", " ")
    return "\n".join([title, r"\begin{align*}", *rows, r"\end{align*}", ""])


def symbol(name: str) -> str:
    """A variable: one letter in italics, a longer name upright."""
    return name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def written(expr: Expr, outer: int = 0) -> str:
    """A formula; brackets where it would bind less closely than ``outer``."""
    match expr:
        case Num(value=value):
            return _number(value, outer)
        case Sym(name=name):
            return symbol(name)
        case Neg(operand=operand):
            return _bracketed(f"-{written(operand, 3)}", outer > 0)
        case Bin():
            return _operation(expr, outer)
        case Cond(left=left, op=op, right=right, then=then, other=other):
            test = f"{written(left)} {_ORDER[op]} {written(right)}"
            first = rf"{written(then)} & \text{{if }} {test} \\"
            last = rf"{written(other)} & \text{{otherwise}}"
            return rf"\begin{{cases}} {first} {last} \end{{cases}}"
        case Call(function="sum", arguments=(Sym(name=index), trips, body)):
            end = Bin("-", trips, Num(1))
            limits = rf"\sum_{{ {symbol(index)} = 0 }}^{{ {written(end)} }}"
            return _bracketed(rf"{limits} \left( {written(body)} \right)", outer > 4)
        case Call(function=function, arguments=arguments):
            return _CALLS[function].format(*map(written, arguments))
        case _:
            raise ValueError("an array element is no number")


def _operation(expr: Bin, outer: int) -> str:
    left, op, right = expr.left, expr.op, expr.right
    match op:
        case "/":
            return _bracketed(_fraction(left, right), outer > 4)
        case "//":
            return rf"\left\lfloor {_fraction(left, right)} \right\rfloor"
        case "%":
            return rf"\left( {written(left, 3)} \bmod {written(right, 3)} \right)"
        case "**":
            return _bracketed(f"{written(left, 5)}^{{ {written(right)} }}", outer > 4)
    level = _LEVELS[op]
    sign = r"\cdot" if op == "*" else op
    return _bracketed(f"{written(left, level)} {sign} {written(right, level + 1)}", level < outer)


def _fraction(left: Expr, right: Expr) -> str:
    return rf"\frac{{ {written(left)} }}{{ {written(right)} }}"


def _bracketed(text: str, needed: bool) -> str:
    return rf"\left( {text} \right)" if needed else text


def _number(value: int | float, outer: int) -> str:
    text = repr(value)
    if "e" in text:
        digits, exponent = text.split("e")
        return _bracketed(rf"{digits} \cdot 10^{{ {int(exponent)} }}", outer > 1)
    return _bracketed(text, value < 0 and outer > 0)
