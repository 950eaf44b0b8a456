"""A plan makes the design that its kind makes, and refuses settings of other kinds."""

from typing import Any

import pytest

from autotune.domain.tables.parameter import interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs import (
    KINDS,
    Kind,
    box_behnken,
    central_composite,
    d_optimal,
    full_factorial,
    plackett_burman,
    random,
    sobol,
)
from autotune.learning.designs.base import Design
from autotune.learning.designs.design_plan import DesignPlan

SPACE = [numeric(name, range(5)) for name in "abc"]
RULES = [ParameterConstraint("a + b + c < 11")]

CASES: dict[str, tuple[dict[str, Any], Design]] = {
    "full-factorial": ({}, full_factorial(SPACE, RULES)),
    "random": ({"rows": 7, "seed": 3}, random(SPACE, RULES, rows=7, seed=3)),
    "plackett-burman": (
        {"rows": 27, "levels": 3, "treatment": "drop"},
        plackett_burman(SPACE, RULES, size=(27, 3), treatment="drop"),
    ),
    "central-composite": (
        {"compatibility": "spl-conqueror"},
        central_composite(SPACE, RULES, compatibility="spl-conqueror"),
    ),
    "box-behnken": ({"treatment": "drop"}, box_behnken(SPACE, RULES, treatment="drop")),
    "sobol": ({"rows": 8, "treatment": "drop"}, sobol(SPACE, RULES, rows=8, treatment="drop")),
    "d-optimal": (
        {"rows": 9, "terms": "linear", "seed": 2},
        d_optimal(SPACE, RULES, rows=9, terms="linear", seed=2),
    ),
}


def test_every_kind_has_a_case() -> None:
    assert set(CASES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_makes_the_design_of_its_kind(kind: Any) -> None:
    settings, expected = CASES[kind]
    assert DesignPlan(kind=kind, **settings).design(SPACE, RULES) == expected


def test_what_is_not_said_is_repair_and_interactions() -> None:
    assert DesignPlan(kind="box-behnken").design(SPACE, RULES).settings["illegal"] == "repair"
    plan = DesignPlan(kind="d-optimal", rows=9)
    assert plan.design(SPACE).settings["terms"] == "interactions"


def test_a_sobol_plan_moves_forbidden_points_only_where_it_says_so() -> None:
    rules = [ParameterConstraint("a > 2")]
    passed = DesignPlan(kind="sobol", rows=4).design(SPACE, rules)
    moved = DesignPlan(kind="sobol", rows=4, treatment="repair").design(SPACE, rules)
    assert passed.moved == 0
    assert moved.moved > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"kind": "random"},
            "rows: none are given, but a design of kind random needs their number;"
            " expected how many rows to measure",
        ),
        (
            {"kind": "box-behnken", "rows": 5},
            "rows: 5 for a design of kind box-behnken; expected nothing: it has none",
        ),
        (
            {"kind": "sobol", "rows": 5, "levels": 3},
            "levels: 3 for a design of kind sobol; expected nothing: it has none",
        ),
        (
            {"kind": "random", "rows": 5, "terms": "linear"},
            "terms: linear for a design of kind random; expected nothing: it has none",
        ),
        (
            {"kind": "full-factorial", "treatment": "drop"},
            "illegal: drop for a design of kind full-factorial; expected nothing: it has none",
        ),
        (
            {"kind": "sobol", "rows": 5, "compatibility": "spl-conqueror"},
            "compatibility: spl-conqueror for a design of kind sobol;"
            " expected nothing: it has none",
        ),
        ({"kind": "random", "rows": 5, "seed": -1}, "seed: -1; expected at least 0"),
        (
            {"kind": "sobols", "rows": 5},
            "kind: 'sobols'; expected one of full-factorial, random, plackett-burman,"
            " central-composite, box-behnken, sobol, d-optimal (did you mean sobol?)",
        ),
        (
            {"kind": "d-optimal", "rows": 5, "terms": "linea"},
            "terms: 'linea'; expected one of linear, interactions, quadratic"
            " (did you mean linear?)",
        ),
        (
            {"kind": "box-behnken", "treatment": "move"},
            "illegal: 'move'; expected one of repair, drop",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_words(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        DesignPlan(**settings)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (0, "rows: 0; expected from 1 to 1000000 rows"),
        (1_000_001, "rows: 1000001; expected from 1 to 1000000 rows"),
    ],
)
def test_numbers_of_rows_that_no_design_has_are_refused(rows: int, message: str) -> None:
    kinds: tuple[Kind, ...] = ("random", "sobol")
    for kind in kinds:
        with pytest.raises(InputError) as error:
            DesignPlan(kind=kind, rows=rows).design(SPACE)
        assert str(error.value) == message


def test_fewer_rows_than_terms_are_refused() -> None:
    with pytest.raises(InputError) as error:
        DesignPlan(kind="d-optimal", rows=6).design([*SPACE, interval("t", 0, 1)])
    assert str(error.value) == (
        "rows: 6 rows for the 11 terms of a model with terms=interactions;"
        " expected at least 11 (take more rows or terms=linear)"
    )


def test_a_plan_whose_points_are_all_forbidden_says_so() -> None:
    rules = [ParameterConstraint("a == 1"), ParameterConstraint("b == 1")]
    with pytest.raises(InputError) as error:
        DesignPlan(kind="box-behnken", treatment="drop").design(SPACE, rules)
    assert str(error.value) == (
        "constraints: they forbid all 13 points of the design; expected at least one allowed"
        " point (repair them, or take a random design)"
    )
