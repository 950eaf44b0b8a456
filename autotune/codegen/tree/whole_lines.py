"""Loops over components run some cache lines at a time.

Compilers then keep fewer pointers for the rows of a loop. Where fields alternate, which are
written out component by component otherwise, the formulas of all fields are evaluated for every
component of the line, and each component takes its own:

    u v u v u v u v    formula of u for all eight, formula of v for all eight, then
                       u in even, v in odd places; no element changes its place in a vector
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from autotune.codegen.tree.loop_tree import (
    Assign,
    Local,
    Statement,
    SumLoop,
    Sweep,
    SweepStretch,
    gathered,
    near,
    sums,
)
from autotune.domain.stencil import LINE
from autotune.language.expression import Cond, Expr, Num, Sym, number, symbols

COLUMN = "_column"
"""The field of a component: its place in its row. No formula may have this name."""
_SIZES = (1009, 2003)
"""Sizes at which the elements that a row reads are compared."""

_COMPONENTS = 10**9
"""A number of components, by which their end is known in bounds."""

Constants = Sequence[tuple[str, Expr]]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What is done for a component of any field."""

    statements: tuple[Statement, ...]
    """The statements for a component of the field ``COLUMN``."""
    before: int
    """Rows at the beginning that are written out: formulas of other fields would read before the
    first component of an array there."""
    after: int
    """Rows at the end that are written out, because of the last component."""


def in_lines(sweep: Sweep, lines: int) -> Sweep:
    """The sweep with its loops over so many cache lines at a time.

    Sums over an index and loops that store past the caches, which have their lines already, stay
    as they are, and so do fields that ``side_by_side`` refuses.
    """
    if sums(sweep) or sweep.streamed:
        return sweep
    if written_out(sweep) and not any(
        side_by_side(group, sweep.constants) for group in groups(sweep.stretches)
    ):
        return sweep
    return replace(sweep, name=f"{sweep.name}_lines{lines}", lines=lines)


def written_out(sweep: Sweep) -> bool:
    """Whether rows have a fixed length: their components are fields that alternate."""
    first = sweep.stretches[0]
    return first.columns is not None and isinstance(first.row, Num)


def groups(stretches: Sequence[SweepStretch]) -> Iterator[tuple[SweepStretch, ...]]:
    """The stretches of each group of rows within planes; all of them where there are no planes."""
    for planes in dict.fromkeys(stretch.planes for stretch in stretches):
        yield tuple(stretch for stretch in stretches if stretch.planes == planes)


def side_by_side(stretches: Sequence[SweepStretch], constants: Constants) -> SideBySide | None:
    """The statements for a component of any field; None where there are none.

    There are some if a cache line holds whole rows, and the fields have the same statements but for
    values and read at constant offsets.
    """
    row, first = stretches[0].row, stretches[0]
    assert isinstance(row, Num)
    if LINE % int(row.value) or not _alike(stretches) or _columns(stretches)[-1][1] != row.value:
        return None
    beyond = {_beyond(stretches, int(row.value), constants, size) for size in _SIZES}
    rows = beyond.pop()
    if beyond or rows is None or max(rows) > LINE:
        return None
    every = [statement for stretch in stretches for statement in stretch.statements]
    taken = {s.name for s in every if isinstance(s, Local)}.union(
        *(symbols(s.value) for s in every)
    )
    if COLUMN in taken:
        return None
    merged: list[Statement] = []
    for place, statement in enumerate(first.statements):
        values = [stretch.statements[place].value for stretch in stretches]
        assert not isinstance(statement, SumLoop)
        if len(set(values)) > 1:
            stem = statement.target if isinstance(statement, Assign) else statement.name
            names = [_fresh(f"{stem}_field{number_}", taken) for number_, _ in enumerate(values)]
            merged += [Local(name, value) for name, value in zip(names, values, strict=True)]
            statement = replace(statement, value=_chosen(names, _columns(stretches)))
        merged.append(statement)
    return SideBySide(tuple(merged), *rows)


def _alike(stretches: Sequence[SweepStretch]) -> bool:
    """Whether all stretches have the same statements but for values, and all columns in order."""

    def form(statement: Statement) -> tuple[object, ...] | None:
        match statement:
            case Assign(target=target, add=add):
                return target, add
            case Local(name=name):
                return (name,)
        return None

    forms = {tuple(form(s) for s in stretch.statements) for stretch in stretches}
    ends = [0, *(end for _, end in _columns(stretches))]
    starts = [begin for begin, _ in _columns(stretches)]
    return len(forms) == 1 and None not in forms.pop() and starts == ends[:-1]


def _columns(stretches: Sequence[SweepStretch]) -> list[tuple[int, int]]:
    """The first and the end column of each stretch."""
    return [
        (int(number(begin, {})), int(number(end, {})))
        for begin, end in (stretch.columns for stretch in stretches if stretch.columns)
    ]


def _beyond(
    stretches: Sequence[SweepStretch], row: int, constants: Constants, size: int
) -> tuple[int, int] | None:
    """Rows at the beginning and the end for whose components some formula reads outside an array.

    None reads outside between the first and the last element that the row reads anyway, or where
    the stretch is far enough from the ends. None as a result: offsets are not known.
    """
    values: dict[str, float] = {"j": 0, "N": size, "n": _COMPONENTS}
    for name, value in constants:
        with suppress(ValueError):  # a constant that depends on others is no part of an offset
            values[name] = number(value, values)
    try:
        reads = [_reads(stretch, values) for stretch in stretches]
    except ValueError:
        return None
    reached: dict[str, list[float]] = {}
    for offsets, (begin, end) in zip(reads, _columns(stretches), strict=True):
        for array, offset in offsets:
            reached.setdefault(array, []).extend((begin + offset, end - 1 + offset))
    first, last = number(stretches[0].lower, values), number(stretches[0].upper, values) - 1
    before = after = 0.0
    for array, offset in set().union(*reads):
        if offset < min(reached[array]):
            before = max(before, -(first + offset))
        if row - 1 + offset > max(reached[array]):
            after = max(after, last + offset - (_COMPONENTS - 1))
    return math.ceil(before / row), math.ceil(after / row)


def _reads(stretch: SweepStretch, values: Mapping[str, float]) -> set[tuple[str, float]]:
    """The elements that the statements of a stretch read: array and offset from the component.

    Raises ValueError where an offset is not known.
    """
    elements = set()
    for statement in stretch.statements:
        if gathered(statement):
            raise ValueError("an index array tells what is read")
        for ref in near(statement):
            offset = number(ref.indices[-1], values)
            if not math.isclose(number(ref.indices[-1], {**values, "j": 1}), offset + 1):
                raise ValueError("no constant offset")
            elements.add((ref.array, offset))
    return elements


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _chosen(names: Sequence[str], columns: Sequence[tuple[int, int]]) -> Expr:
    """The value of the field that a column belongs to."""
    *others, last = names
    value: Expr = Sym(last)
    for name, (_, end) in reversed(list(zip(others, columns, strict=False))):
        value = Cond(Sym(COLUMN), "<", Num(end), Sym(name), value)
    return value
