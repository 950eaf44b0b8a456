"""The totals of a model as a function of Octave and MATLAB."""

from collections.abc import Sequence

from autotune.assertions.modelling.forms.notation import (
    FormulaNotation,
    all_names,
    call,
    identifier,
)
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.symbolic_totals import SymbolicTotal
from autotune.assertions.modelling.tree_walk import METRICS

_KEYWORDS = (
    "break case catch continue do else elseif end end_try_catch end_unwind_protect endfor"
    " endfunction endif endparfor endswitch endwhile for function global if otherwise parfor"
    " persistent return switch try until unwind_protect unwind_protect_cleanup while"
)
_OF_ONE = ("abs", "ceil", "exp", "floor", "log", "log2", "sqrt")
_FUNCTIONS = f"{' '.join(_OF_ONE)} max min mod ma_if ma_sum Inf NaN ans"

OCTAVE = FormulaNotation(
    infix=frozenset("+-*/"),
    binary={"**": ("{0} ^ {1}", 5, 4), "//": ("floor(({0}) / ({1}))", 0, 9), "%": call("mod")},
    calls={
        **{name: f"{name}({{0}})" for name in _OF_ONE},
        "max": "max({0}, {1})",
        "min": "min({0}, {1})",
    },
    condition="ma_if({test}, {then}, {other})",
    total="ma_sum(@({index}) {body}, {trips})",
    reserved=frozenset(f"{_KEYWORDS} {_FUNCTIONS} {' '.join(METRICS)}".split()),
)

_HELPERS = """\
function value = ma_if(test, a, b)
  if test
    value = a;
  else
    value = b;
  end
end

function total = ma_sum(f, trips)
  total = 0;
  for index = 0:trips - 1
    total = total + f(index);
  end
end
"""


def octave(model: ParsedModel, totals: Sequence[SymbolicTotal]) -> str:
    """A file with one function: inputs and rank in, the totals of that rank out, in their order.

    Numbers are doubles: totals beyond 2^53 are rounded.
    """
    names = OCTAVE.names(all_names(model, totals))
    inputs = ", ".join(names[name] for name in (*model.inputs, model.model.rank))
    results = ", ".join(total.metric for total in totals)
    lines = [f"function [{results}] = {identifier(model.model.name)}({inputs})"]
    lines += [f"  % {model.model.name}: totals of one rank".replace("\n", " ")]
    lines += [f"  % {total.metric}: {METRICS[total.metric]}" for total in totals]
    for name, formula in model.derived.items():
        lines.append(f"  {names[name]} = {OCTAVE.write(formula.expr, names)};")
    for total in totals:
        lines.append(f"  {total.metric} = {OCTAVE.write(total.formula.expr, names)};")
    return "\n".join([*lines, "end", "", _HELPERS])
