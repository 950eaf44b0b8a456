"""Shapes of sweeps over rows: ranges, offsets, what a pass touches, columns of rows."""

from dataclasses import replace
from math import inf

import pytest

from autotune.codegen.tree import regions
from autotune.codegen.tree.loop_tree import (
    Assign,
    Local,
    Statement,
    StoredRow,
    SumLoop,
    Sweep,
    SweepStretch,
)
from autotune.files import config
from autotune.language.expression import Num, Sym, parse
from autotune.models.traffic.sweep_shape import RowAccess, shape

ROWS = (("out", StoredRow("F")), ("a", StoredRow("y")), ("b", StoredRow("z")))


def stretch(
    *statements: Statement, columns: tuple[str, str] | None = None, row: str | None = None
) -> SweepStretch:
    return SweepStretch(
        parse("N"),
        parse("n - N"),
        statements,
        None if columns is None else (parse(columns[0]), parse(columns[1])),
        None if row is None else parse(row),
    )


def sweep(*stretches: SweepStretch) -> Sweep:
    return Sweep(name="s", kernel="s", rows=ROWS, scalars=(), stretches=stretches)


def assign(value: str, target: str = "out", add: bool = False) -> Assign:
    return Assign(target, parse(value), add=add)


VALUES = {"N": 10, "n": 100}


def test_a_sweep_goes_over_its_range_and_reads_its_rows_at_their_offsets() -> None:
    made = shape(sweep(stretch(assign("a[j-1] + 2*a[j+N] + b[j]"))), VALUES)
    assert (made.lower, made.upper, made.share) == (10, 90, 1.0)
    assert made.accesses == (
        RowAccess("out", (0,), False, True),
        RowAccess("a", (10, -1), True, False),
        RowAccess("b", (0,), True, False),
    )
    assert made.streams == (("a", -1), ("a", 10), ("b", 0), ("out", 0))
    assert made.touches == made.streams
    assert (made.starts, made.run) == ((10,), inf)


def test_what_is_added_to_is_loaded_and_what_was_assigned_before_is_not() -> None:
    added = shape(sweep(stretch(assign("a[j]", add=True))), VALUES)
    assert added.accesses[0] == RowAccess("out", (0,), True, True)
    fresh = shape(sweep(stretch(assign("a[j]"), assign("out[j] + b[j]"))), VALUES)
    assert fresh.accesses[0] == RowAccess("out", (0,), False, True)
    later = shape(sweep(stretch(assign("out[j] + b[j]"), assign("a[j]", add=True))), VALUES)
    assert later.accesses[0] == RowAccess("out", (0,), True, True)


def test_a_row_that_is_written_is_touched_by_every_statement() -> None:
    made = shape(sweep(stretch(assign("a[j]"), assign("a[j] + out[j]"))), VALUES)
    assert made.streams == (("a", 0), ("out", 0))
    assert made.touches == (("a", 0), ("out", 0), ("out", 0), ("out", 0))


def test_temporaries_read_and_store_nothing() -> None:
    made = shape(sweep(stretch(Local("t", parse("a[j]*k")), assign("t + b[j]"))), VALUES)
    assert made.streams == (("a", 0), ("b", 0), ("out", 0))


def test_constants_are_functions_of_the_size_that_values_replace() -> None:
    plain = sweep(stretch(assign("a[j+w]")))
    made = Sweep(
        name="s", kernel="s", rows=ROWS, scalars=(), stretches=plain.stretches,
        constants=(("w", parse("2*N")),),
    )  # fmt: skip
    assert shape(made, VALUES).streams[0] == ("a", 20)
    assert shape(made, {**VALUES, "w": 3}).streams[0] == ("a", 3)


def test_columns_of_rows_are_a_share_and_loops_of_their_own() -> None:
    """8 of 10 columns; rows repeat their place in the lines after 16."""
    made = shape(sweep(stretch(assign("a[j]"), columns=("1", "N-1"), row="N")), VALUES)
    assert made.share == pytest.approx(0.8)
    assert made.run == 8.0
    assert made.starts == tuple(10 * k + 1 for k in range(16))


def test_rows_of_a_fixed_length_are_one_loop() -> None:
    fixed = SweepStretch(Sym("N"), Sym("n"), (assign("a[j]"),), (Num(0), Num(1)), Num(2))
    made = shape(sweep(fixed), VALUES)
    assert (made.starts, made.run) == ((10,), inf)
    assert made.share == 0.5


def test_rows_of_planes_are_a_share_of_them() -> None:
    (_, interior, _) = regions.evaluation(
        config.ivp("heat3d"), "rhs", StoredRow("F"), StoredRow("Y"), Sym("t")
    )
    found = shape(interior, config.ivp("heat3d").values(10))
    assert (found.lower, found.upper) == (100, 900)
    rows = [1 / 10, 8 / 100, 8 / 10 * 8 / 10, 8 / 100, 1 / 10]
    assert found.share == pytest.approx(sum(rows)) == pytest.approx(1)
    assert found.starts[:3] == (111, 121, 131)
    assert found.run == 8
    assert dict(found.streams).keys() == {"y", "F"}
    assert sorted(o for name, o in found.streams if name == "y") == [-100, -10, -1, 0, 1, 10, 100]


def test_pairs_in_planes_are_one_loop_a_plane() -> None:
    (_, interior, _) = regions.evaluation(
        config.ivp("brusselator2d-mix"), "rhs", StoredRow("F"), StoredRow("Y"), Sym("t")
    )
    found = shape(interior, config.ivp("brusselator2d-mix").values(10))
    assert (found.lower, found.upper, found.share) == (20, 180, pytest.approx(1))
    assert found.starts[:3] == (22, 42, 62)
    assert found.run == 16


def test_empty_columns_cover_nothing() -> None:
    made = shape(sweep(stretch(assign("a[j]"), columns=("5", "3"), row="N")), VALUES)
    assert (made.share, made.run) == (0.0, 1.0)


def test_boundary_columns_count_by_their_iterations_only() -> None:
    """A column of ten has no streams of its own; five of ten beside five have."""
    narrow = stretch(assign("b[j]"), columns=("0", "1"), row="N")
    broad = stretch(assign("a[j]"), columns=("1", "N"), row="N")
    made = shape(sweep(narrow, broad), VALUES)
    assert made.share == pytest.approx(1.0)
    assert made.streams == (("a", 0), ("out", 0))
    assert [access.parameter for access in made.accesses] == ["out", "a"]
    assert made.starts[0] == 1
    halves = (
        stretch(assign("b[j]"), columns=("0", "3"), row="N"),
        stretch(assign("a[j]"), columns=("4", "10"), row="N"),
    )
    both = shape(sweep(*halves), VALUES)
    assert both.share == pytest.approx(0.9)
    assert both.streams == (("b", 0), ("out", 0), ("a", 0))


@pytest.mark.parametrize(("size", "starts", "head"), [(64, {0}, 7.0), (20, {0}, 5.0)])
def test_an_aligned_loop_begins_at_a_line(size: int, starts: set[int], head: float) -> None:
    """Rows of 64 begin at lines, so their columns from 1 on have seven components before the next;
    of rows of 20, half do, and half begin four components behind one.
    """
    plain = sweep(stretch(assign("a[j - 1]"), columns=("1", "N - 1"), row="N"))
    values = {"N": size, "n": size * size}
    made = shape(replace(plain, align=8), values)
    assert {start % 8 for start in made.starts} == starts
    assert made.head == head
    assert made.run == shape(plain, values).run
    assert shape(plain, values).head == 0


def total(value: str, upper: str = "N", name: str = "s", lower: str = "0") -> SumLoop:
    return SumLoop(name, "k", parse(lower), parse(upper), parse(value))


def test_a_sum_reads_its_rows_once_more_for_each_component() -> None:
    made = shape(
        sweep(stretch(total("(a[k+N] - a[j-1])*a[k]*b[k+1]"), assign("s*b[j]"))),
        VALUES,
    )
    assert (made.terms, made.sums) == (10.0, 1)
    assert made.accesses == (
        RowAccess("out", (0,), False, True),
        RowAccess("a", (0, -1), True, False, 20),
        RowAccess("b", (0,), True, False, 10),
    )


def test_elements_that_several_terms_read_count_once() -> None:
    sums = (total("a[k] + a[k+1]"), total("a[k]", "n", "r", "N"))
    made = shape(sweep(stretch(*sums, assign("s + r"))), VALUES)
    assert (made.terms, made.sums) == (100.0, 2)
    assert {access.parameter: access.swept for access in made.accesses} == {"out": 0, "a": 100}


def test_a_sum_in_some_columns_is_refused() -> None:
    columns = (("0", "4"), ("4", "10"))
    some = (stretch(total("a[k]"), assign("s"), columns=c, row="N") for c in columns)
    with pytest.raises(ValueError, match="has a sum over an index in some columns of a row"):
        shape(sweep(*some), VALUES)
