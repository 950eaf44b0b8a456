"""The designs of fixed shape: against what is published, and against what they promise."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import Parameter, categorical, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs import (
    SEEDS,
    box_behnken,
    central_composite,
    full_factorial,
    plackett_burman,
)
from autotune.learning.designs.design_levels import at_levels, conqueror_levels, nearest, snapped_up
from autotune.learning.designs.plackett_burman import aliases, clear_columns, matrix

SPL = "spl-conqueror"
SIZES = list(SEEDS)


def some(count: int, values: int = 3) -> list[Parameter]:
    return [numeric(name, range(values)) for name in "ABCDEFGHIJKL"[:count]]


# --- full factorial: Kaltenecker 2016, Table 2.1 and Figure 2.2 -------------------------------


def test_full_factorial_is_table_2_1() -> None:
    options = [numeric("A", [1, 2]), numeric("B", [1, 5]), numeric("C", [1, 2])]
    printed = (
        (1, 1, 1), (1, 1, 2), (1, 5, 1), (1, 5, 2), (2, 1, 1), (2, 1, 2), (2, 5, 1), (2, 5, 2),
    )  # fmt: skip
    assert full_factorial(options).rows == printed
    first_fastest = full_factorial(options, compatibility=SPL).rows
    assert first_fastest[:2] == ((1, 1, 1), (2, 1, 1))
    assert set(first_fastest) == set(printed)


def test_full_factorial_holds_every_combination_of_figure_2_2() -> None:
    options = [numeric("A", range(1, 6)), numeric("B", range(2, 11, 2))]
    design = full_factorial(options)
    assert len(design) == 25
    assert set(design.rows) == set(product(range(1, 6), range(2, 11, 2)))


def test_full_factorial_keeps_to_constraints_and_says_so() -> None:
    design = full_factorial(
        some(3), [ParameterConstraint("A + B <= 2"), ParameterConstraint("C != 1")]
    )
    assert len(design) == 6 * 2
    assert design.notes == ("12 of 27 combinations are allowed",)


def test_full_factorial_refuses_what_it_cannot_list() -> None:
    with pytest.raises(InputError, match="any number from 0"):
        full_factorial([interval("x", 0, 1)])
    with pytest.raises(InputError, match="1000000000000 combinations"):
        full_factorial([numeric(f"p{i}", range(100)) for i in range(6)])


# --- Plackett-Burman: Kaltenecker 2016, Table 2.2 -------------------------------------------


def test_table_2_2_is_the_design_of_9_rows_with_mirrored_columns() -> None:
    printed = """01120221 10112022 21011202 22101120 02210112 20221011 12022101 11202210
                 00000000"""
    table = {tuple(int(digit) for digit in row) for row in printed.split()}
    rows = {tuple(row) for row in matrix(9, 3, 8).tolist()}
    assert {row[::-1] for row in rows} == table
    design = plackett_burman(some(8), size=(9, 3))
    assert set(design.rows) == rows
    assert len(design) == 9


@pytest.mark.parametrize("size", SIZES)
def test_every_column_holds_every_level_as_often(size: tuple[int, int]) -> None:
    n, levels = size
    for column in matrix(n, levels, n - 1).T:
        assert np.bincount(column, minlength=levels).tolist() == [n // levels] * levels


@pytest.mark.parametrize("size", SIZES)
def test_pairs_of_levels_are_as_often_within_the_first_columns_and_not_beyond(
    size: tuple[int, int],
) -> None:
    n, levels = size
    clear = clear_columns(n, levels)
    assert clear == {9: 4, 27: 13, 81: 40, 25: 6, 125: 31, 49: 8}[n]
    columns = matrix(n, levels, n - 1).T
    often = [n // levels**2] * levels**2
    for shift in range(1, n - 1):  # the rows are cyclic: the first column stands for all
        pairs = np.bincount(columns[0] * levels + columns[shift], minlength=levels**2)
        if shift % clear:
            assert pairs.tolist() == often
        else:
            assert np.count_nonzero(pairs) == levels


def test_aliased_parameters_are_named() -> None:
    assert aliases(9, 3, "ABCDEFGH") == [("A", "E"), ("B", "F"), ("C", "G"), ("D", "H")]
    assert aliases(9, 3, "ABCD") == []
    (note,) = plackett_burman(some(5), size=(9, 3)).notes
    assert "A with E" in note
    assert "(25, 5) tells them apart" in note
    assert plackett_burman(some(5)).settings["rows"] == 25
    assert not plackett_burman(some(5), size=(None, 3)).notes


def test_equal_rows_are_kept_once() -> None:
    def rows(parameters: int, compatibility: str | None) -> list[int]:
        return [
            len(plackett_burman(some(parameters, size[1]), size=size, compatibility=compatibility))
            for size in SIZES
        ]

    for compatibility in (None, SPL):
        assert rows(2, compatibility) == [9, 9, 9, 25, 25, 49]
        assert rows(3, compatibility)[1:3] == [27, 27]
    collapsed = plackett_burman(some(2), size=(81, 3))
    assert set(collapsed.replicates) == {9}
    assert (collapsed.points, collapsed.repeated) == (81, 72)
    assert "72 of 81 points repeat" in collapsed.notes[0]


@pytest.mark.parametrize(
    ("size", "count", "match"),
    [
        ((10, 3), 2, r"no design of n = 10 rows and l = 3 levels.*\(9, 3\), \(27, 3\)"),
        ((9, 5), 2, r"\(49, 7\)"),
        ((None, 4), 2, "no design of l = 4 levels"),
        ((9, 3), 9, r"at most 8, one less than rows.*\(27, 3\)"),
    ],
)
def test_impossible_sizes_are_refused(
    size: tuple[int | None, int | None], count: int, match: str
) -> None:
    with pytest.raises(InputError, match=match):
        plackett_burman(some(count), size=size)


def test_categories_are_levels_or_crossed() -> None:
    options = [*some(2), categorical("s", ["cg", "gmres"])]
    ours = plackett_burman(options, size=(9, 3))
    assert Counter(row[2] for row in ours.rows) == {"cg": 6, "gmres": 3}
    assert "fewer values than 3 levels: s (2); some stand for several levels" in ours.notes
    theirs = plackett_burman(options, size=(9, 3), compatibility=SPL)
    assert len(theirs) == 18
    assert Counter(row[2] for row in theirs.rows) == {"cg": 9, "gmres": 9}
    flags = plackett_burman([*some(2), numeric("f", [0, 1])], size=(9, 3), compatibility=SPL)
    assert len(flags) == 18


def test_a_parameter_of_one_value_takes_no_column() -> None:
    design = plackett_burman([numeric("one", [7]), *some(4)], size=(9, 3))
    assert {row[0] for row in design.rows} == {7}
    assert not design.notes


# --- levels and values ----------------------------------------------------------------------


def test_levels_are_those_of_table_4_1() -> None:
    assert at_levels(numeric("x", range(1, 101)), 3) == (1, 50, 100)
    assert at_levels(numeric("y", range(0, 51, 2)), 3) == (0, 24, 50)
    grid = plackett_burman(
        [numeric("x", range(1, 101)), numeric("y", range(0, 51, 2))], size=(9, 3)
    )
    assert set(grid.rows) == set(product((1, 50, 100), (0, 24, 50)))


def test_levels_of_spl_conqueror_differ() -> None:
    rng = np.random.default_rng(0)
    assert conqueror_levels(numeric("x", range(1, 101)), 3, rng) == (1, 51, 100)
    assert conqueror_levels(numeric("x", range(1, 5)), 3, rng) == (1, 3, 4)
    assert conqueror_levels(numeric("x", range(10)), 7, rng) == (0, 2, 4, 6, 8, 9, 9)
    assert conqueror_levels(numeric("x", [3, 5, 9]), 3, rng) == (3, 5, 9)
    padded = conqueror_levels(numeric("x", [3, 5]), 5, rng)
    assert padded[:2] == (3, 5)
    assert set(padded) == {3, 5}


@given(st.integers(1, 60), st.sampled_from([3, 5, 7]))
def test_levels_span_the_domain_evenly(size: int, levels: int) -> None:
    values = at_levels(numeric("x", range(size)), levels)
    numbers = [int(value) for value in values]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (0, size - 1)
    gaps = np.diff(numbers)
    if size > levels:
        assert gaps.max() - gaps.min() <= 1
    else:
        counts = Counter(numbers)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_an_interval_has_levels_of_equal_distance() -> None:
    assert at_levels(interval("x", 0, 2), 5) == (0, 0.5, 1, 1.5, 2)


# --- central composite: Kaltenecker 2016, Figure 2.4 ------------------------------------------


def test_central_composite_inscribed() -> None:
    options = [numeric("A", range(1, 6)), numeric("B", range(2, 11, 2))]
    axial = {(3, 6), (1, 6), (5, 6), (3, 2), (3, 10)}
    ours = central_composite(options)
    assert set(ours.rows) == axial | set(product((2, 4), (4, 8)))
    theirs = central_composite(options, compatibility=SPL)
    assert set(theirs.rows) == axial | set(product((2, 5), (4, 10)))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_central_composite_has_its_points(k: int) -> None:
    options = [interval(name, -1, 1) for name in "abcde"[:k]]
    design = central_composite(options)
    distances = np.linalg.norm(np.array(design.rows, dtype=float), axis=1)
    assert design.points == 2**k + 2 * k + 1
    assert np.allclose(sorted(distances)[1:], 1)
    theirs = central_composite(options, compatibility=SPL)
    assert theirs.points == k**2 + 2 * k + 1


def test_spl_conqueror_repeats_a_cube_point_of_three_options() -> None:
    design = central_composite(some(3, 9), compatibility=SPL)
    assert design.repeated == 1
    assert "9 cube points, as SPL Conqueror makes; a full cube has 8" in design.notes


def test_values_are_snapped_to_the_nearest_or_up() -> None:
    parameter = numeric("x", [2, 4, 8])
    assert [nearest(parameter, target) for target in (3, 5.9, 6.1, 99)] == [2, 4, 8, 8]
    assert [snapped_up(parameter, target) for target in (2, 2.1, 5, 99)] == [2, 4, 8, 8]


def test_categories_and_flags_have_no_centre() -> None:
    options = [*some(2, 5), categorical("s", ["a", "b"]), numeric("f", [0, 1])]
    design = central_composite(options)
    assert len(design) == 9 * 4
    assert "repeated for each combination of s, f, which have no centre" in design.notes
    with pytest.raises(InputError, match="none is numeric with 3 values"):
        central_composite(options[2:])


# --- Box-Behnken ----------------------------------------------------------------------------


def test_box_behnken_has_the_published_numbers_of_runs() -> None:
    published = {3: 12, 4: 24, 5: 40, 6: 48, 7: 56}
    for k, runs in published.items():
        design = box_behnken(some(k))
        assert len(design) == runs + 1
        ends = np.array(design.rows, dtype=float) - 1
        assert set((ends != 0).sum(axis=1)) == {0, 2 if k < 6 else 3}
        assert np.allclose(ends.T @ ends, np.diag(np.diag(ends.T @ ends)))
        assert len(set(np.diag(ends.T @ ends))) == 1
    assert len(box_behnken(some(7), compatibility=SPL)) == 4 * 21 + 1


def test_box_behnken_needs_three_parameters() -> None:
    with pytest.raises(InputError, match=r"2 numeric parameters.*at least three"):
        box_behnken(some(2))


# --- constraints ----------------------------------------------------------------------------


def test_forbidden_points_are_moved_or_left_out_and_counted() -> None:
    options = some(4, 10)
    rules = [ParameterConstraint("A + B <= 9")]
    moved = plackett_burman(options, rules, size=(9, 3))
    assert all(row[0] + row[1] <= 9 for row in moved.rows)  # type: ignore[operator]
    assert (moved.moved, moved.dropped) == (3, 0)
    assert "constraints forbid 3 of 9 points: 3 moved to the nearest allowed row" in moved.notes[0]
    dropped = plackett_burman(options, rules, size=(9, 3), treatment="drop")
    assert (len(dropped), dropped.moved, dropped.dropped) == (6, 0, 3)
    assert set(dropped.rows) < set(plackett_burman(options, size=(9, 3)).rows)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 12), st.sampled_from(["repair", "drop"]))
def test_no_design_breaks_a_constraint(limit: int, treatment: str) -> None:
    options = [*some(3, 5), categorical("s", ["a", "b"])]
    rules = [
        ParameterConstraint(f"A + B + C <= {limit}"),
        ParameterConstraint("s != 'a' or A <= B"),
    ]
    for make in (plackett_burman, central_composite, box_behnken):
        try:
            design = make(options, rules, treatment=treatment)
        except InputError:
            assert treatment == "drop"
            continue
        values = [design.values(i) for i in range(len(design))]
        assert all(rule.holds(each) for rule in rules for each in values)
        assert design.points == len(design) + design.dropped + design.repeated


def test_contradicting_constraints_are_an_error() -> None:
    with pytest.raises(InputError, match="no combination of the values is allowed"):
        central_composite(some(3), [ParameterConstraint("A > B"), ParameterConstraint("B > A")])


def test_a_constraint_without_an_answer_names_the_values() -> None:
    with pytest.raises(InputError, match=r"B % A.*B=0, A=0"):
        full_factorial(some(2), [ParameterConstraint("B % A == 0")])
    with pytest.raises(InputError, match="unknown parameter 'size'"):
        full_factorial(some(2), [ParameterConstraint("size > 1")])
