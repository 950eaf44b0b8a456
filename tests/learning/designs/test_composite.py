"""Second-order designs: tables by hand, and the moments that their authors promise."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from autotune.domain.tables.parameter import Parameter, categorical, interval, numeric
from autotune.errors import InputError
from autotune.learning.designs.base import Design
from autotune.learning.designs.composite import box_behnken, central_composite


def unit(count: int) -> list[Parameter]:
    """Parameters that may be any number from -1 to 1."""
    return [interval(f"x{k}", -1, 1) for k in range(count)]


def points(design: Design) -> np.ndarray:
    return np.array(design.rows, dtype=np.float64)


# --- central composite ------------------------------------------------------------------------


def test_central_composite_of_two_by_hand() -> None:
    """Centre 5, reach 4 / sqrt(2) = 2.83: the cube is at 2.17 and 7.83, so at 2 and 8."""
    design = central_composite([numeric("a", range(1, 10)), numeric("b", range(1, 10))])
    assert design.rows == (
        (5, 5), (1, 5), (9, 5), (5, 1), (5, 9), (8, 8), (2, 8), (8, 2), (2, 2),
    )  # fmt: skip
    assert design.notes == ()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_all_points_but_the_centre_lie_on_a_sphere(k: int) -> None:
    design = points(central_composite(unit(k)))
    away = np.sort(np.linalg.norm(design, axis=1))
    assert away == pytest.approx([0.0] + [1.0] * (len(design) - 1))
    assert len(design) == (3 if k == 1 else 1 + 2 * k + 2**k)


def test_the_design_of_one_parameter_repeats_its_ends() -> None:
    """Axial and cube points coincide for k = 1."""
    design = central_composite(unit(1))
    assert (design.points, design.repeated) == (5, 2)
    assert sorted(design.rows) == [(-1.0,), (0.0,), (1.0,)]


def test_the_moments_of_three_parameters() -> None:
    """Odd moments vanish; sum x_i^2 = 2 + 8/3, sum x_i^2 x_j^2 = 8/9, sum x_i^4 = 2 + 8/9."""
    design = points(central_composite(unit(3)))
    assert design.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert design.T @ design == pytest.approx((2 + 8 / 3) * np.eye(3))
    squares = design**2
    assert squares.T @ squares == pytest.approx(8 / 9 + 2 * np.eye(3))


def test_what_has_no_centre_is_crossed_and_said() -> None:
    others = [categorical("c", ["u", "v"]), numeric("flag", [0, 1]), numeric("fixed", [3])]
    design = central_composite([numeric("a", [1, 2, 3]), *others])
    assert design.rows == tuple((a, c, flag, 3) for c in "uv" for flag in (0, 1) for a in (2, 1, 3))
    assert design.notes[0] == "repeated for each combination of c, flag, which have no centre"


def test_too_few_values_for_five_levels_are_said() -> None:
    design = central_composite([numeric("a", [1, 2, 3]), numeric("b", range(9))])
    assert design.notes[0] == "fewer than five different values: a (3)"


def test_spl_conqueror_has_k_squared_cube_points() -> None:
    options = [numeric(name, range(1, 10)) for name in "abc"]
    design = central_composite(options, compatibility="spl-conqueror")
    assert design.notes[0] == "9 cube points, as SPL Conqueror makes; a full cube has 8"
    assert design.points == 1 + 6 + 9
    assert design.settings["compatibility"] == "spl-conqueror"


@pytest.mark.parametrize("make", [central_composite, box_behnken])
def test_a_design_around_a_centre_needs_one(make: Callable[..., Design]) -> None:
    with pytest.raises(InputError) as error:
        make([categorical("c", ["u", "v"]), numeric("flag", [0, 1]), numeric("two", [1, 2])])
    assert str(error.value) == (
        "parameters: none is numeric with 3 values or more;"
        " expected at least one: the design has a centre between its ends"
    )


def test_too_many_parameters_for_a_cube_are_refused() -> None:
    with pytest.raises(InputError) as error:
        central_composite(unit(20))
    assert str(error.value) == (
        "parameters: 20 parameters make 2^20 cube points; expected at most 1000000"
        " (a Box-Behnken, Sobol or D-optimal design needs fewer)"
    )


# --- Box-Behnken ------------------------------------------------------------------------------


def test_box_behnken_of_three_is_the_published_table() -> None:
    """Box and Behnken 1960, table 1: (+-1, +-1, 0), (+-1, 0, +-1), (0, +-1, +-1), the centre."""
    ends = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
    expected = [(a, b, 0.0) for a, b in ends] + [(a, 0.0, b) for a, b in ends]
    expected += [(0.0, a, b) for a, b in ends] + [(0.0, 0.0, 0.0)]
    assert box_behnken(unit(3)).rows == tuple(expected)


@pytest.mark.parametrize(
    ("k", "runs", "leaving"), [(3, 12, 2), (4, 24, 2), (5, 40, 2), (6, 48, 3), (7, 56, 3)]
)
def test_box_behnken_has_the_published_runs_and_one_centre(k: int, runs: int, leaving: int) -> None:
    design = points(box_behnken(unit(k)))
    assert len(design) == runs + 1
    assert np.abs(design).sum(axis=1).tolist() == [leaving] * runs + [0]


@pytest.mark.parametrize("k", [3, 4, 5, 6, 7])
def test_box_behnken_estimates_main_effects_and_products_apart(k: int) -> None:
    design = points(box_behnken(unit(k)))
    crossed = np.array([design[:, i] * design[:, j] for i, j in combinations(range(k), 2)])
    moments = np.vstack([design.T, crossed])
    gram = moments @ moments.T
    assert gram == pytest.approx(np.diag(np.diag(gram)), abs=1e-12)
    assert len(set(np.diag(gram)[:k])) == 1


@pytest.mark.parametrize("k", [4, 7])
def test_box_behnken_of_four_and_seven_is_rotatable(k: int) -> None:
    """Box and Behnken 1960: sum x_i^4 = 3 sum x_i^2 x_j^2."""
    squares = points(box_behnken(unit(k))) ** 2
    gram = squares.T @ squares
    off = gram[~np.eye(k, dtype=bool)]
    assert set(off) == {gram[0, 0] / 3}
    assert set(np.diag(gram)) == {gram[0, 0]}


def test_spl_conqueror_takes_pairs_of_six_parameters() -> None:
    design = box_behnken(unit(6), compatibility="spl-conqueror")
    assert len(design) == 15 * 4 + 1
    assert set(np.abs(points(design)).sum(axis=1)) == {0.0, 2.0}


def test_box_behnken_of_two_parameters_is_refused() -> None:
    with pytest.raises(InputError) as error:
        box_behnken([*unit(2), categorical("c", ["u", "v"])])
    assert str(error.value) == (
        "parameters: 2 numeric parameters of three values or more: x0, x1;"
        " expected at least three (take a central composite design)"
    )


def test_box_behnken_of_very_many_parameters_is_refused() -> None:
    with pytest.raises(InputError, match=r"^parameters: 708 parameters make 1001112 points; "):
        box_behnken(unit(708))


@pytest.mark.parametrize("make", [central_composite, box_behnken])
def test_another_compatibility_is_refused(make: Callable[..., Design]) -> None:
    with pytest.raises(InputError) as error:
        make(unit(3), compatibility="spl-conquerer")
    assert str(error.value) == (
        "compatibility: 'spl-conquerer'; expected one of spl-conqueror"
        " (did you mean spl-conqueror?)"
    )
