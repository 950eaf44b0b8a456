"""Floating-point operations of sweeps over components, as formulas of the components swept.

Counted is what the printed C text does, by the rule of counters of source lines: + - * / of real
numbers; functions of a library and what compilers compute for constants are none. Arguments of the
calls of sweeps, a few products for each, are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from autotune.codegen.c import emit
from autotune.codegen.c.c_expressions import Kinds, kind, name
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.whole_lines import side_by_side
from autotune.domain.problem import Problem
from autotune.language import counts
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
    references,
    show,
    symbols,
)

HEADER = "modeling_assertions.h"
"""The header of the statements of programs that state their operations."""
_POSITIVE = 2
"""Operations of the helper function that is max(x, 0)."""
_UNITS = (Num(1), Num(1.0), Num(-1), Num(-1.0))


@dataclass(frozen=True, slots=True)
class SweepOperations:
    """The operations of a sweep over [begin, end), in the language of ``language/counts.py``."""

    statements: str
    """Operations of the lines of the function, in terms of begin, end and sizes."""
    helpers: str
    """Operations of the helper functions that these lines call."""

    def sizes(self) -> tuple[str, ...]:
        """Sizes and constants of the problem in the operations of the lines."""
        return tuple(sorted(symbols(counts.parse(self.statements)) - {"begin", "end"}))

    def value(self, begin: int, end: int, values: Mapping[str, float | int]) -> int:
        """All operations over [begin, end); ``values``: of N, n and the constants."""
        total = counts.parse(f"{self.statements} + {self.helpers}")
        return int(counts.exact(total, {**values, "begin": begin, "end": end}))


class NoFormula(Exception):
    """Raised where operations depend on values or on places; the message is the reason."""


def operations_of_sweep(sweep: loop_tree.Sweep) -> SweepOperations:
    """The operations of a sweep. Raises NoFormula."""
    if sweep.lines and side_by_side(sweep.stretches, sweep.constants):
        raise NoFormula("lines of fields side by side evaluate formulas that they do not use")
    kinds = emit.symbol_kinds(sweep)
    lines: list[str] = []
    helpers: list[str] = []
    for stretch in _columns_apart(sweep.stretches):
        at_component = _Operators(kinds, stretch.shifted)
        places = _between(stretch.stretch)
        of_statements = [at_component.statement(s) for s in stretch.stretch.statements]
        lines += _terms([count for count, _ in of_statements], places)
        helpers += _terms([count for _, count in of_statements], places)
    return SweepOperations(" + ".join(lines) or "0", " + ".join(helpers) or "0")


def operations_of_step(
    program: loop_tree.StepProgram, problem: Problem, block: tuple[int, int]
) -> dict[str, int]:
    """The operations of one time step over the block of a rank, by C function.

    Tiles are of whole blocks, so they change nothing. Raises NoFormula for pipelines, whose stages
    overlap, and where a sweep has no formula.
    """
    values = problem.ivp.values(problem.size)
    totals: dict[str, int] = {}
    for sweep, times in _repeated(program.body, 1):
        function = emit.function(sweep)
        operations = operations_of_sweep(sweep).value(*block, values)
        totals[function] = totals.get(function, 0) + times * operations
    return totals


def stating_code(sweep: loop_tree.Sweep) -> emit.SweepCode:
    """The C text of a sweep that states its operations; the usual one where there is no formula.

    It includes ``HEADER``. Helper functions are lines outside of the block that is stated.
    """
    try:
        operations = operations_of_sweep(sweep)
    except NoFormula:
        return emit.sweep_code(sweep)
    code = emit.sweep_code(sweep)
    opening = f"{emit.signature(sweep)}\n{{\n"
    head, body = code.text.split(opening)
    variables = [("begin", "first"), ("end", "last"), *((s, name(s)) for s in operations.sizes())]
    begin = [
        *(f'ma_var("{variable}", {value});' for variable, value in variables),
        f'ma_flop_begin("{code.function}", "{operations.statements}");',
    ]
    lines = "".join(f"    {line}\n" for line in begin)
    inside = body.removesuffix("}\n")
    text = f'{head}{opening}{lines}{inside}    ma_flop_end("{code.function}");\n}}\n'
    return replace(code, text=f'#include "{HEADER}"\n{text}')


def _repeated(block: loop_tree.NodeBlock, times: int) -> Iterator[tuple[loop_tree.Sweep, int]]:
    """The sweeps of a block and how often they cover the components."""
    for node in block.nodes:
        match node:
            case loop_tree.Sweep():
                yield node, times
            case loop_tree.Repeat(first=first, end=end, body=body):
                yield from _repeated(body, times * (end - first))
            case loop_tree.Tiles(body=body):
                yield from _repeated(body, times)
            case loop_tree.PipelineLoop():
                raise NoFormula("the stages of a pipeline compute components twice")


# --- components -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """A stretch; ``shifted``: its statements are printed for a component that is not j."""

    stretch: loop_tree.SweepStretch
    shifted: bool


def _columns_apart(stretches: tuple[loop_tree.SweepStretch, ...]) -> Iterator[_Column]:
    """Stretches; those of rows of fixed length, which are written out, column by column."""
    for stretch in stretches:
        if stretch.columns is None or not isinstance(stretch.row, Num):
            yield _Column(stretch, shifted=False)
            continue
        first, end = (int(number(bound, {})) for bound in stretch.columns)
        for column in range(first, end):
            columns = (Num(column), Num(column + 1))
            yield _Column(replace(stretch, columns=columns), shifted=column > 0)


def _between(stretch: loop_tree.SweepStretch) -> str:
    """The number of components of a stretch in [begin, end)."""
    low, high = "begin", "end"
    if (stretch.lower, stretch.upper) != (Num(0), Sym("n")):
        low = f"max(begin, {_text(stretch.lower)})"
        high = f"min(end, {_text(stretch.upper)})"
    if stretch.columns is not None:
        low, high = _below(low, stretch), _below(high, stretch)
    return f"max(0, {high} - {low})"


def _below(place: str, stretch: loop_tree.SweepStretch) -> str:
    """The number of components of a stretch before a place, without regard to its bounds."""
    assert stretch.columns is not None
    assert stretch.row is not None
    row = _text(stretch.row)
    begin, end = map(_text, stretch.columns)
    width = f"({end} - {begin})"

    def in_rows(at: str) -> str:
        return f"({at}//{row}*{width} + min(max({at} % {row} - {begin}, 0), {width}))"

    if stretch.planes is None:
        return in_rows(place)
    first, last, size = map(_text, (stretch.planes.first, stretch.planes.end, stretch.planes.size))
    rows = f"({last} - {first})"
    within = f"min(max({place} % {size} - {first}*{row}, 0), {rows}*{row})"
    return f"({place}//{size}*{rows}*{width} + {in_rows(within)})"


def _text(expr: Expr) -> str:
    """A bound, in brackets; it is whole by its form."""
    return show(expr) if isinstance(expr, Num | Sym) else f"({show(expr)})"


def _terms(counted: list["_Count"], places: str) -> list[str]:
    """Operations at every component, and those of sums, as formulas."""
    constant = sum(count.once for count in counted)
    further = [f"{places}*{part}" for count in counted for part in count.sums]
    return [*([f"{constant}*{places}"] if constant else []), *further]


# --- operators ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Count:
    """Operations of a statement at a component, and formulas of those in its sum."""

    once: int
    sums: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Operators:
    """Counts operators of statements as C text has them."""

    kinds: Kinds
    shifted: bool

    def statement(self, statement: loop_tree.Statement) -> tuple[_Count, _Count]:
        """Operations of a statement, and those of helper functions that it calls."""
        lines, helpers = (count(statement.value) for count in (self._lines, self._helpers))
        if isinstance(statement, loop_tree.SumLoop):
            if {"j"} & (symbols(statement.lower) | symbols(statement.upper)):
                raise NoFormula("the terms of a sum depend on the component")
            terms = f"max(0, {_text(statement.upper)} - {_text(statement.lower)})"
            return _Count(0, (f"{lines + 1}*{terms}",)), _Count(
                0, (f"{helpers}*{terms}",) if helpers else ()
            )
        added = isinstance(statement, loop_tree.Assign) and statement.add
        return _Count(lines + added), _Count(helpers)

    def _lines(self, expr: Expr) -> int:
        """Operators of an expression that is printed as a real number."""
        if kind(expr, self.kinds) == "long":
            return self._converted(expr)
        match expr:
            case Bin(op="**", left=left, right=Num(value=exponent)):
                if exponent == 0:
                    return 0
                written_out = isinstance(left, Sym | Ref) or exponent == 1
                return int(exponent - 1 if written_out else 0) + self._lines(left) * (
                    int(exponent) if written_out else 1
                )
            case Bin(op=op, left=left, right=right):
                here = 0 if _constant(expr) or _neutral(op, left, right) else 1
                return here + self._lines(left) + self._lines(right)
        return self._inside(expr, self._lines)

    def _converted(self, expr: Expr) -> int:
        """Operators of a whole number that is printed as a real one."""
        if "j" not in symbols(expr):
            return 0
        if self.shifted:
            raise NoFormula("a formula uses the number of the component")
        match expr:
            case Neg(operand=operand):
                return self._converted(operand)
            case Bin(op="+" | "-" | "*", left=left, right=right):
                return 1 + self._converted(left) + self._converted(right)
        return 0

    def _helpers(self, expr: Expr) -> int:
        """Operations of the helper functions that an expression calls."""
        here = 0
        match expr:
            case Bin(op="**", left=left, right=Num(value=exponent)):
                if exponent > 1 and not isinstance(left, Sym | Ref):
                    here = int(exponent) - 1
            case Call(function="max", arguments=arguments):
                zero = any(argument in (Num(0), Num(0.0)) for argument in arguments)
                here = _POSITIVE if zero else 0
        if isinstance(expr, Bin):
            return here + self._helpers(expr.left) + self._helpers(expr.right)
        return here + self._inside(expr, self._helpers)

    def _inside(self, expr: Expr, count: Callable[[Expr], int]) -> int:
        """The operations of the parts of an expression."""
        match expr:
            case Neg(operand=operand):
                return count(operand)
            case Call(arguments=arguments):
                return sum(map(count, arguments))
            case Cond(left=left, right=right, then=then, other=other):
                if count(then) != count(other):
                    raise NoFormula("the operations depend on a condition")
                return count(left) + count(right) + count(then)
        return 0


def _constant(expr: Expr) -> bool:
    """Whether compilers compute an expression."""
    return not symbols(expr) and not references(expr)


def _neutral(op: str, left: Expr, right: Expr) -> bool:
    """Whether compilers drop a product by 1 or turn it into a sign."""
    return (op in "*/" and right in _UNITS) or (op == "*" and left in _UNITS)
