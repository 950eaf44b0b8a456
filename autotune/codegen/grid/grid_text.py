"""Prints sweeps over grids as C: a function over a box of points, and the arguments of its callers.

    void sweep_x(long first_k, long last_k, ..., double *restrict v, const double *restrict u,
                 long plane, long line, extents, constants, scalars)

Arrays point to the interior point (0, ..., 0); ``plane`` and ``line`` are the doubles from a point
to the next one in the slower dimensions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from autotune.codegen.c import c_expressions
from autotune.codegen.c.c_expressions import Kinds, name, real
from autotune.codegen.c.c_lines import GLUE
from autotune.codegen.tree import loop_tree
from autotune.domain.stencil import LINE, offsets
from autotune.language.expression import Bin, Expr, Num, Ref, Sym, rebuild, substitute, symbols

Bounds = Mapping[str | None, tuple[str, str]]
"""Dimension to the names of its first and end point in the code around a call."""

_STRIDES = ("plane", "line")
AT = "at"
"""The row of a point: its distance from the row of the interior point 0."""
_POSITIONS = ("first", "last", "whole", "from", "to")
_LANE, _LANES = "lane", "lanes"
_HEAD, _TAIL = "head", "tail"
_STREAMING = (_LANE, _LANES, _HEAD, _TAIL, "to_line", "stream_line")


def own_names(dimensions: Iterable[str]) -> frozenset[str]:
    """The names that generated functions on grids use for themselves."""
    per_dimension = {f"{word}_{d}" for word in _POSITIONS for d in dimensions}
    return frozenset({AT, *_STRIDES, *_STREAMING, *per_dimension})


def strides(sweep: loop_tree.GridSweep) -> tuple[str, ...]:
    """The stride parameters of the function: one for each dimension except the last."""
    return _STRIDES[len(_STRIDES) - len(sweep.dimensions[:-1]) :]


def extents(sweep: loop_tree.GridSweep) -> list[str]:
    """The extents that the function takes as parameters."""
    used = symbols(sweep.value)
    return [d.upper() for d in (*sweep.across, *sweep.dimensions) if d.upper() in used]


def parameters(sweep: loop_tree.GridSweep) -> list[str]:
    """The C parameters of the function of a sweep."""
    kinds = symbol_kinds(sweep)
    declared = [f"long {word}_{d}" for d in sweep.dimensions for word in ("first", "last")]
    for row, _ in sweep.rows:
        const = "" if row == sweep.target else "const "
        declared.append(f"{const}double *restrict {name(row)}")
    declared += [f"long {stride}" for stride in strides(sweep)]
    declared += [f"long {name(extent)}" for extent in extents(sweep)]
    declared += [f"{kinds[constant]} {name(constant)}" for constant, _ in sweep.constants]
    declared += [f"double {name(scalar)}" for scalar, _ in sweep.scalars]
    return declared


def box(sweep: loop_tree.GridSweep, bounds: Bounds) -> list[str]:
    """The arguments of a call that state the box of points that it covers."""
    return [end for dimension in sweep.dimensions for end in bounds[dimension]]


def body(sweep: loop_tree.GridSweep) -> Iterator[str]:
    """The C lines of the body of the function."""
    inner = sweep.dimensions[-1]
    factor = dict(sweep.unroll).get(inner, 1)
    if factor > 1:
        points = f"last_{inner} - first_{inner}"
        yield f"const long whole_{inner} = last_{inner} - ({points}) % {factor};"
    yield from around(sweep, _streamed_row(sweep) if sweep.streamed else _row(sweep, factor))
    if sweep.streamed:
        yield "STREAMED();"


def around(sweep: loop_tree.GridSweep, row: Iterable[str]) -> Iterator[str]:
    """C loops over the rows of the box, with the lines of ``row`` inside."""
    *outer, _ = sweep.dimensions
    places = zip(outer, strides(sweep), strict=True)
    at = f"const long {AT} = {' + '.join(f'{d}*{stride}' for d, stride in places) or '0'};"
    lines = [at, *row]
    for d in reversed(outer):
        head = f"for (long {d} = first_{d}; {d} < last_{d}; {d}++) {{"
        lines = [head, *(f"    {line}" for line in lines), "}"]
    yield from lines


def _row(sweep: loop_tree.GridSweep, factor: int) -> Iterator[str]:
    """C lines of the innermost loop; an unrolled loop is followed by one for the remaining points.

    The loop for the remaining points contains an empty instruction, at no cost. Otherwise compilers
    would vectorise it, with another remainder, for fewer points than the factor. gcc -O2 vectorises
    the unrolled loop within a group of points (and does not vectorise a loop that is not unrolled).
    gcc -O3 and clang vectorise it across groups, with permutations that make it slower than the
    loop without unrolling.
    """
    i = sweep.dimensions[-1]
    end, step = (f"whole_{i}", f"{i} += {factor}") if factor > 1 else (f"last_{i}", f"{i}++")
    first = f"first_{i}"
    if sweep.colour is not None:
        others = " + ".join((first, *sweep.dimensions[:-1], str(sweep.colour)))
        first, step = f"{first} + (({others}) & 1)", f"{i} += 2"
    if not sweep.ordered:
        yield "INDEPENDENT"
    yield f"for (long {i} = {first}; {i} < {end}; {step}) {{"
    for shift in range(factor):
        yield f"    {_statement(sweep, shift)}"
    yield "}"
    if factor > 1:
        yield f"for (long {i} = whole_{i}; {i} < last_{i}; {i}++) {{"
        yield '    __asm__("");'
        yield f"    {_statement(sweep, 0)}"
        yield "}"


def _streamed_row(sweep: loop_tree.GridSweep) -> Iterator[str]:
    """C lines of the innermost loop over whole cache lines, which are computed in a buffer and
    stored past the caches; the points before and after them run one by one.
    """
    i = sweep.dimensions[-1]
    text = _statement(sweep, 0)
    buffer = f"{_LANES}[{_LANE}] = {_glued(real(_in_lane(sweep), symbol_kinds(sweep)))};"
    target = f"{name(sweep.target)} + {AT} + "
    yield f"const long {_HEAD} = first_{i} + to_line({target}first_{i}, last_{i} - first_{i});"
    yield f"const long {_TAIL} = last_{i} - (last_{i} - {_HEAD}) % {LINE};"
    yield f"for (long {i} = first_{i}; {i} < {_HEAD}; {i}++) {{"
    yield '    __asm__("");'
    yield f"    {text}"
    yield "}"
    yield f"for (long {i} = {_HEAD}; {i} < {_TAIL}; {i} += {LINE}) {{"
    yield f"    double {_LANES}[{LINE}] __attribute__((aligned({8 * LINE})));"
    yield "    INDEPENDENT"
    yield f"    for (long {_LANE} = 0; {_LANE} < {LINE}; {_LANE}++)"
    yield f"        {buffer}"
    yield f"    stream_line({target}{i}, {_LANES});"
    yield "}"
    yield f"for (long {i} = {_TAIL}; {i} < last_{i}; {i}++) {{"
    yield '    __asm__("");'
    yield f"    {text}"
    yield "}"


def _statement(sweep: loop_tree.GridSweep, shift: int) -> str:
    """The assignment to the point ``shift`` after the loop variable."""
    dimensions = sweep.dimensions
    kinds = symbol_kinds(sweep)
    here = Ref(sweep.target, tuple(Sym(d) for d in dimensions))
    target, value = (placed(_shifted(e, dimensions[-1], shift), sweep) for e in (here, sweep.value))
    text = f"{real(target, kinds)} = {real(value, kinds)};"
    return _glued(text)


def _in_lane(sweep: loop_tree.GridSweep) -> Expr:
    """The value at the point ``lane`` after the loop variable."""
    i = sweep.dimensions[-1]
    return substitute(placed(sweep.value, sweep), {i: Bin("+", Sym(i), Sym(_LANE))})


def _glued(text: str) -> str:
    """C text that is not broken within the index of an array."""
    return re.sub(r"\[[^]]*\]", lambda index: index[0].replace(" ", GLUE), text)


def _shifted(expr: Expr, variable: str, shift: int) -> Expr:
    return substitute(expr, {variable: Bin("+", Sym(variable), Num(shift))}) if shift else expr


def placed(expr: Expr, sweep: loop_tree.GridSweep) -> Expr:
    """The expression with grid elements addressed by their distance from the interior point 0."""

    def change(part: Expr) -> Expr:
        if not isinstance(part, Ref):
            return part
        *outer, last = offsets(part, sweep.dimensions)
        place: Expr = Sym(AT)
        for steps, stride in zip(outer, strides(sweep), strict=True):
            place = _plus(place, steps, Sym(stride))
        place = Bin("+", place, Sym(sweep.dimensions[-1]))
        return Ref(part.array, (_plus(place, last, None),))

    return rebuild(expr, change)


def _plus(left: Expr, times: int, unit: Expr | None) -> Expr:
    """C expression ``left + times*unit``, without the second term where ``times`` is 0."""
    if times == 0:
        return left
    size: Expr = Num(abs(times))
    if unit is not None:
        size = unit if abs(times) == 1 else Bin("*", size, unit)
    return Bin("+" if times > 0 else "-", left, size)


def symbol_kinds(sweep: loop_tree.GridSweep) -> Kinds:
    """The C types of all symbols: ``double``, except where a whole number is needed."""
    needed = c_expressions.whole_symbols(sweep.value)
    kinds: dict[str, c_expressions.Kind] = {}
    extents = (d.upper() for d in (*sweep.across, *sweep.dimensions))
    for symbol in (*sweep.dimensions, *extents, AT, *_STRIDES, _LANE):
        kinds[symbol] = "long"
    declared = dict(kinds)
    for constant, value in sweep.constants:
        declared[constant] = c_expressions.kind(value, declared)
        whole_number = declared[constant] == "long" and constant in needed
        kinds[constant] = "long" if whole_number else "double"
    return kinds
