"""The totals of a model as a function of Python: as source text, and as a callable."""

import keyword
from collections.abc import Callable, Mapping, Sequence

from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.forms.notation import (
    FormulaNotation,
    all_names,
    call,
    identifier,
)
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.symbolic_totals import SymbolicTotal
from autotune.assertions.modelling.tree_walk import METRICS, Metric
from autotune.language.counts import Value

_BUILT_IN = ("abs", "int", "isinstance", "math", "max", "min", "range", "sum", "Fraction")

PYTHON = FormulaNotation(
    infix=frozenset("+-*"),
    binary={
        "/": call("_divided"),
        "//": ("({0} // {1})", 3, 9),
        "%": ("({0} % {1})", 3, 9),
        "**": call("_power"),
    },
    calls={
        "abs": "abs({0})", "ceil": "math.ceil({0})", "floor": "math.floor({0})",
        "exp": "math.exp({0})", "log": "math.log({0})", "log2": "_log2({0})", "sqrt": "_sqrt({0})",
        "max": "max({0}, {1})", "min": "min({0}, {1})",
    },
    condition="({then} if {test} else {other})",
    total="sum({body} for {index} in range(int({trips})))",
    reserved=frozenset({*keyword.kwlist, *keyword.softkwlist, *_BUILT_IN}),
)  # fmt: skip

HELPERS = '''\
import math
from fractions import Fraction


def _divided(over, under):
    """An exact quotient of whole numbers and fractions."""
    if isinstance(over, float) or isinstance(under, float):
        return over / under
    return _reduced(Fraction(over) / Fraction(under))


def _reduced(value):
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _power(base, exponent):
    if isinstance(base, float) or not isinstance(exponent, int):
        return math.pow(base, exponent)
    return _reduced(Fraction(base) ** exponent)


def _log2(value):
    """The logarithm, exact of powers of two."""
    if not isinstance(value, float) and value > 0:
        top, bottom = Fraction(value).as_integer_ratio()
        if top & (top - 1) == 0 and bottom & (bottom - 1) == 0:
            return top.bit_length() - bottom.bit_length()
    return math.log2(value)


def _sqrt(value):
    """The square root, exact of squares."""
    if not isinstance(value, float) and value >= 0:
        top, bottom = Fraction(value).as_integer_ratio()
        roots = math.isqrt(top), math.isqrt(bottom)
        if roots[0] ** 2 == top and roots[1] ** 2 == bottom:
            return _reduced(Fraction(*roots))
    return math.sqrt(value)
'''
"""Exact arithmetic for generated programs."""


def python_source(model: ParsedModel, totals: Sequence[SymbolicTotal]) -> str:
    """A module with one function of the inputs and the rank: the totals of that rank by name.

    Whole numbers and fractions stay exact. The module needs only the standard library.
    """
    names = PYTHON.names(all_names(model, totals))
    inputs = ", ".join(names[name] for name in model.inputs)
    lines = [f'"""{quoted(model.model.name)}: totals of one rank."""', "", HELPERS, ""]
    lines += [f"def {identifier(model.model.name)}(*, {inputs}, {names[model.model.rank]}=0):"]
    lines += [f'    """{", ".join(METRICS[total.metric] for total in totals)}."""']
    for name, formula in model.derived.items():
        lines.append(f"    {names[name]} = {PYTHON.write(formula.expr, names)}")
    lines.append("    return {")
    for total in totals:
        lines.append(f'        "{total.metric}": {PYTHON.write(total.formula.expr, names)},')
    return "\n".join([*lines, "    }", ""])


def quoted(text: str) -> str:
    """A text that may stand in quotes of a generated program."""
    return "".join(c if c.isprintable() and c not in '\\"' else " " for c in text)


def python_callable(
    model: ParsedModel, totals: Sequence[SymbolicTotal]
) -> Callable[..., Mapping[Metric, Value]]:
    """A function of the inputs and the rank by name: the totals of that rank by name.

    It raises InputError for unknown and missing variables and for values outside their domains.
    """

    def evaluate(*, rank: int = 0, **values: Value) -> Mapping[Metric, Value]:
        bound = bind(model, values, identifier(model.model.name), defaults=False).at_rank(rank)
        return {total.metric: total.formula.at(bound) for total in totals}

    return evaluate
