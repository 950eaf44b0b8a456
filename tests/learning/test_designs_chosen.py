"""The designs that choose: random, Sobol, D-optimal; and the space that they choose from."""

import importlib
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import Parameter, categorical, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.table import ParameterRows
from autotune.errors import InputError
from autotune.learning.designs import (
    DesignPlan,
    Members,
    chosen,
    d_optimal,
    members,
    plackett_burman,
    random,
    sobol,
    uniform,
)
from autotune.learning.designs.d_optimal import efficiency
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.repair import Repair

SEQUENCE = importlib.import_module("autotune.learning.designs.sobol")
"""The module, whose name in the package is that of its function."""


def wide(count: int = 6, values: int = 100) -> list[Parameter]:
    return [numeric(f"p{i}", range(values)) for i in range(count)]


MIXED = [
    numeric("a", range(8)), numeric("b", [1, 2, 4, 8]), categorical("c", ["x", "y", "z"]),
]  # fmt: skip
TIED = [ParameterConstraint("a * b <= 16"), ParameterConstraint("c != 'z' or b > 2")]
LEGAL = [
    (a, b, c)
    for a, b, c in product(range(8), (1, 2, 4, 8), "xyz")
    if a * b <= 16 and (c != "z" or b > 2)
]


# --- the space ------------------------------------------------------------------------------


def test_allowed_combinations_are_counted_exactly() -> None:
    domain = Domain(parameters=(*MIXED, *wide()), rules=tuple(TIED))
    assert domain.count == len(LEGAL) * 10**12
    assert domain.combinations == 96 * 10**12
    assert domain.components[0].places == (0, 1, 2)
    assert set(Domain(parameters=tuple(MIXED), rules=tuple(TIED))) == set(LEGAL)


def test_alternatives_among_many_flags_are_listed_without_all_combinations() -> None:
    flags = [numeric(f"f{i}", [0, 1]) for i in range(20)]
    rules = [ParameterConstraint(f"f{i} == 0 or f{k} == 0") for i, k in combinations(range(20), 2)]
    rules.append(ParameterConstraint(" + ".join(f"f{i}" for i in range(20)) + " == 1"))
    assert Domain(parameters=tuple(flags), rules=tuple(rules)).count == 20


@settings(max_examples=50, deadline=None)
@given(st.tuples(st.integers(0, 7), st.sampled_from([1, 2, 4, 8]), st.sampled_from("xyz")))
def test_a_repaired_point_is_the_nearest(point: tuple[int, int, str]) -> None:
    def distance(row: tuple[int, int, str]) -> float:
        steps = abs(row[0] - point[0]) / 7 + abs(np.log2(row[1]) - np.log2(point[1])) / 3
        return float(steps + (row[2] != point[2]))

    found = Repair(Domain(parameters=tuple(MIXED), rules=tuple(TIED))).nearest(point)
    assert found in LEGAL
    assert distance(found) == pytest.approx(min(map(distance, LEGAL)))  # type: ignore[arg-type]
    if point in LEGAL:
        assert found == point


def test_a_point_is_repaired_where_nothing_is_listed() -> None:
    parameters = (interval("x", 0, 1), interval("y", 0, 1), numeric("n", range(3)))
    domain = Domain(parameters=parameters, rules=(ParameterConstraint("x + y <= 1 and n > 0"),))
    found = Repair(domain).nearest((0.75, 0.5, 0))
    assert found is not None
    assert domain.allows(found)
    assert found[2] == 1


# --- random ---------------------------------------------------------------------------------


def test_a_space_of_1e12_is_drawn_from_without_being_listed() -> None:
    design = random(wide(), [ParameterConstraint("p0 <= p1")], rows=200, seed=4)
    assert len(set(design.rows)) == 200
    assert all(row[0] <= row[1] for row in design.rows)  # type: ignore[operator]
    assert random(wide(), [ParameterConstraint("p0 <= p1")], rows=200, seed=4).rows == design.rows
    assert random(wide(), [ParameterConstraint("p0 <= p1")], rows=200, seed=5).rows != design.rows


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 120), st.integers(0, 5))
def test_random_rows_are_allowed_and_different(rows: int, seed: int) -> None:
    design = random(MIXED, TIED, rows=rows, seed=seed)
    assert set(design.rows) <= set(LEGAL)
    assert len(design) == min(rows, len(LEGAL))
    assert bool(design.notes) == (rows > len(LEGAL))


def test_every_allowed_row_is_as_likely() -> None:
    counts = dict.fromkeys(LEGAL, 0)
    for seed in range(200):
        for row in random(MIXED, TIED, rows=15, seed=seed).rows:
            counts[row] += 1  # type: ignore[index]
    expected = 3000 / len(LEGAL)
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi2 < len(LEGAL) + 4 * np.sqrt(2 * len(LEGAL))


def test_intervals_with_constraints_are_drawn_by_rejection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uniform, "_TRIES", 2000)
    parameters = [interval("x", 0, 1), interval("y", 0, 1)]
    design = random(parameters, [ParameterConstraint("x * x + y * y <= 1")], rows=50)
    points = np.array(design.rows, dtype=float)
    assert len(points) == 50
    assert (np.hypot(*points.T) <= 1).all()
    with pytest.raises(InputError, match="no allowed combination in 2000"):
        random(parameters, [ParameterConstraint("x > 2")], rows=3)


# --- Sobol ----------------------------------------------------------------------------------


def test_sobol_is_balanced_at_powers_of_two() -> None:
    parameters = [numeric("a", range(16)), numeric("b", range(16)), numeric("c", range(16))]
    design = sobol(parameters, rows=16, seed=3)
    for column in zip(*design.rows, strict=True):
        assert sorted(column) == list(range(16))
    assert sobol(parameters, rows=16, seed=3).rows == design.rows
    assert not design.notes
    assert "32 rows would keep the sequence balanced" in sobol(parameters, rows=20).notes[0]


def test_sobol_passes_over_forbidden_points_and_counts_them() -> None:
    design = sobol(MIXED, TIED, rows=32, seed=1)
    assert set(design.rows) <= set(LEGAL)
    assert len(design) == 32
    assert "forbidden by constraints" in design.notes[0]
    repaired = sobol(MIXED, TIED, rows=16, seed=1, treatment="repair")
    assert repaired.moved > 0
    assert f"constraints forbid {repaired.moved} more: moved" in " ".join(repaired.notes)


def test_points_beside_the_rows_of_a_table_are_not_called_forbidden() -> None:
    inputs = ParameterRows(parameters=tuple(MIXED), rows=tuple(LEGAL[::3]))
    passed = sobol(MIXED, [members(inputs)], rows=8, seed=1)
    moved = sobol(MIXED, [members(inputs)], rows=8, seed=1, treatment="repair")
    assert "that are not among the given rows" in passed.notes[0]
    assert f"the given rows lack {moved.moved} more: moved" in " ".join(moved.notes)
    assert not any("constraints" in note for note in (*passed.notes, *moved.notes))


def test_sobol_finds_the_few_allowed_rows_of_a_large_space(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SEQUENCE, "_FARTHEST", 2048)
    parameters = wide(4)
    rows = tuple((i, 99 - i, i, i) for i in range(0, 100, 5))
    design = sobol(parameters, [Members(("p0", "p1", "p2", "p3"), rows)], rows=8)
    assert set(design.rows) <= set(rows)
    assert len(design) == 8
    with pytest.raises(InputError, match="forbid the first"):
        sobol(wide(4), [Members(("p0", "p1", "p2", "p3"), rows[:1])], rows=1, treatment="drop")


# --- D-optimal ------------------------------------------------------------------------------


def test_d_optimal_finds_the_corners() -> None:
    parameters = [numeric("a", [-1, 0, 1]), numeric("b", [-1, 0, 1])]
    design = d_optimal(parameters, rows=4)
    assert set(design.rows) == set(product((-1, 1), repeat=2))
    assert design.settings["efficiency"] == pytest.approx(1)


def test_d_optimal_is_no_worse_than_any_other_choice() -> None:
    parameters = [numeric("a", range(-1, 2)), numeric("b", range(-1, 2))]
    rules = [ParameterConstraint("a + b <= 1")]
    design = d_optimal(parameters, rules, rows=6, terms="quadratic")

    def value(rows: list[tuple[int, int]]) -> float:
        a, b = np.array(rows, dtype=float).T
        return efficiency(np.column_stack([np.ones(len(a)), a, b, a * b, a * a, b * b]))

    legal = [row for row in product(range(-1, 2), repeat=2) if sum(row) <= 1]
    best = max(value(list(rows)) for rows in combinations(legal, 6))
    assert value(list(design.rows)) == pytest.approx(best)  # type: ignore[arg-type]


def test_d_optimal_beats_random_rows_and_repeats_itself() -> None:
    parameters = [*MIXED, interval("x", 0.1, 10), *wide(3, 20)]
    design = d_optimal(parameters, TIED, rows=30, terms="linear", seed=2)
    reached, started = design.settings["efficiency"], design.settings["efficiency_random"]
    assert isinstance(reached, float)
    assert isinstance(started, float)
    assert reached > 1.5 * started
    assert all(tuple(row[:3]) in LEGAL for row in design.rows)
    again = d_optimal(parameters, TIED, rows=30, terms="linear", seed=2)
    assert again.rows == design.rows


def test_terms_that_cannot_be_told_apart_are_left_out() -> None:
    parameters = [numeric("a", range(3)), numeric("b", range(3)), numeric("c", range(3))]
    design = d_optimal(parameters, [ParameterConstraint("a == b")], rows=5, terms="linear")
    assert "left out: b" in design.notes[1]
    with pytest.raises(InputError, match="3 rows for the 4 terms"):
        d_optimal(parameters, rows=3, terms="linear")


# --- rows of a table, plans -------------------------------------------------------------------


def test_a_design_over_the_rows_of_a_table_finds_them() -> None:
    rng = np.random.default_rng(1)
    rows = tuple(LEGAL[i] for i in rng.permutation(len(LEGAL))[:40])
    inputs = ParameterRows(parameters=tuple(MIXED), rows=rows)
    for plan in (
        DesignPlan(kind="random", rows=12),
        DesignPlan(kind="sobol", rows=12),
        DesignPlan(kind="d-optimal", rows=16, terms="linear"),
        DesignPlan(kind="plackett-burman", levels=3),
        DesignPlan(kind="central-composite"),
        DesignPlan(kind="full-factorial"),
    ):
        design = plan.design(MIXED, [members(inputs)])
        places = chosen(design, inputs)
        assert [inputs.rows[i] for i in places] == list(design.rows)
    with pytest.raises(ValueError, match="none of 40 rows"):
        chosen(plackett_burman([*MIXED[:2], categorical("c", ["w"])], size=(9, 3)), inputs)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"kind": "sobol"}, "a design of kind sobol needs their number"),
        ({"kind": "sobl", "rows": 3}, "did you mean sobol"),
        ({"kind": "full-factorial", "rows": 3}, "rows: 3 for a design of kind full-factorial"),
        ({"kind": "random", "rows": 3, "levels": 3}, "levels: 3"),
        ({"kind": "random", "rows": 3, "compatibility": "spl-conqueror"}, "compatibility"),
        ({"kind": "random", "rows": 3, "treatment": "drop"}, "illegal"),
        ({"kind": "central-composite", "terms": "linear"}, "terms"),
        ({"kind": "random", "rows": 3, "seed": -1}, "seed"),
    ],
)
def test_settings_that_do_not_go_with_a_kind_are_refused(
    settings: dict[str, object], match: str
) -> None:
    with pytest.raises(InputError, match=match):
        DesignPlan(**settings)  # type: ignore[arg-type]


# --- limits ---------------------------------------------------------------------------------


def test_a_point_far_from_the_allowed_rows_is_moved_to_one_that_was_drawn() -> None:
    domain = Domain(
        parameters=tuple(interval(f"x{i}", 0, 1) for i in range(6)),
        rules=(ParameterConstraint("x0 + x1 + x2 + x3 + x4 + x5 <= 2"),),
    )
    repair = Repair(domain)
    found = repair.nearest((1.0,) * 6)
    assert found is not None
    assert domain.allows(found)
    repair._left = 0  # as after many points: the neighbours are no longer tried
    again = repair.nearest((1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    assert again is not None
    assert domain.allows(again)


def test_a_sequence_among_hardly_any_allowed_rows_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SEQUENCE, "_FARTHEST", 64)
    monkeypatch.setattr("autotune.learning.designs.repair._TRIES", 100)
    monkeypatch.setattr("autotune.learning.designs.repair._LOOKED_AT", 50)
    rule = ParameterConstraint(" + ".join(f"p{i}" for i in range(6)) + " <= 2")
    with pytest.raises(InputError, match="forbid the first 64 points"):
        sobol(wide(), [rule], rows=8, treatment="repair")


def test_a_d_optimal_design_of_too_many_rows_is_refused() -> None:
    with pytest.raises(InputError, match="from 1 to 3000 rows"):
        d_optimal(wide(), rows=3001)


def test_a_range_that_no_float_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="too wide"):
        interval("x", -1e308, 1e308)
