"""Second-order designs around a centre: inscribed central composite designs and Box-Behnken
designs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import (
    COMPATIBILITIES,
    LARGEST,
    Compatibility,
    Design,
    Treatment,
    UnrepairedDesign,
    check_choice,
    finish,
)
from autotune.learning.designs.crossed import crossed
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.design_levels import centre, extremes, is_flag, nearest, snapped_up
from autotune.learning.designs.row_rules import Row

_BLOCKS = {
    6: ("013", "124", "235", "034", "145", "025"),
    7: ("345", "056", "146", "013", "236", "024", "125"),
}
"""Parameters that leave the centre together, by how many there are (Box and Behnken 1960); every
pair of them for the other numbers."""


@dataclass(frozen=True, slots=True)
class _Cube:
    """The values that one parameter takes in a design: the centre, the ends, and a value between
    centre and each end.
    """

    centre: Value
    low: Value
    high: Value
    lower: Value
    upper: Value


def central_composite(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    treatment: Treatment = "repair",
    compatibility: Compatibility | None = None,
) -> Design:
    """Centre, 2k axial points at the ends, 2^k cube points: a central composite design, inscribed.

    The cube lies at centre -+ (centre - minimum)/sqrt(k), so that all points but the centre are
    as far from it (G. E. P. Box and K. B. Wilson 1951; Kaltenecker 2016, section 2.2.2), each at
    the nearest value of the domain. Numeric parameters of three values and more are designed; each
    combination of the others has such a design. ``compatibility``: k^2 cube points instead of 2^k,
    and cube values snapped up, as SPL Conqueror has it.
    """
    domain, places, designed = _designed(parameters, constraints, compatibility)
    there = compatibility is not None
    k = len(designed)
    if not there and 2**k > LARGEST:
        found = f"{k} parameters make 2^{k} cube points"
        hint = "a Box-Behnken, Sobol or D-optimal design needs fewer"
        raise InputError(
            Fault(where="parameters", found=found, expected=f"at most {LARGEST}", hint=hint)
        )
    cubes = [_cube(parameter, k, up=there) for parameter in designed]
    points = [tuple(cube.centre for cube in cubes)]
    for i, cube in enumerate(cubes):
        points += [(*points[0][:i], end, *points[0][i + 1 :]) for end in (cube.low, cube.high)]
    for corner in range(k * k if there else 2**k):
        points.append(tuple(c.lower if corner >> i & 1 else c.upper for i, c in enumerate(cubes)))
    notes = _cube_notes(designed, cubes)
    if there and k * k != 2**k:
        notes.append(f"{k * k} cube points, as SPL Conqueror makes; a full cube has {2**k}")
    made = UnrepairedDesign(
        kind="central-composite",
        points=crossed(domain, places, points),
        notes=(*notes, *_crossed_notes(domain, places)),
        settings={"compatibility": compatibility},
    )
    return finish(domain, made, treatment)


def box_behnken(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    treatment: Treatment = "repair",
    compatibility: Compatibility | None = None,
) -> Design:
    """A Box-Behnken design: some parameters at their ends, the others at the centre, and the centre
    itself.

    Pairs of parameters leave the centre together. With six and seven parameters it is the published
    triples (G. E. P. Box and D. W. Behnken, "Some new three level designs for the study of
    quantitative variables", Technometrics 2(4), 1960), with ``compatibility`` pairs here too. Only
    numeric parameters of three values and more are designed; at least three are needed. Each
    combination of the other parameters has such a design.
    """
    domain, places, designed = _designed(parameters, constraints, compatibility)
    k = len(designed)
    if k < 3:
        names = ", ".join(parameter.name for parameter in designed)
        found = f"{k} numeric parameters of three values or more: {names}"
        hint = "take a central composite design"
        raise InputError(
            Fault(where="parameters", found=found, expected="at least three", hint=hint)
        )
    pairs = [tuple(pair) for pair in combinations(range(k), 2)]
    if k in _BLOCKS and compatibility is None:
        blocks = [tuple(int(i) for i in block) for block in _BLOCKS[k]]
    else:
        blocks = pairs
    if 4 * len(blocks) > LARGEST:
        found = f"{k} parameters make {4 * len(blocks)} points"
        hint = "a Sobol, random or D-optimal design needs fewer"
        raise InputError(
            Fault(where="parameters", found=found, expected=f"at most {LARGEST}", hint=hint)
        )
    middle = tuple(centre(parameter) for parameter in designed)
    points: list[Row] = []
    for block in blocks:
        for ends in product(*(extremes(designed[i]) for i in block)):
            moved = dict(zip(block, ends, strict=True))
            points.append(tuple(moved.get(i, value) for i, value in enumerate(middle)))
    points.append(middle)
    made = UnrepairedDesign(
        kind="box-behnken",
        points=crossed(domain, places, points),
        notes=tuple(_crossed_notes(domain, places)),
        settings={"compatibility": compatibility},
    )
    return finish(domain, made, treatment)


def _designed(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule],
    compatibility: Compatibility | None,
) -> tuple[Domain, list[int], list[Parameter]]:
    """The domain, the places of the parameters that have a centre, and these parameters."""
    check_choice("compatibility", compatibility, COMPATIBILITIES)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints))
    least = 3 if compatibility is None else 2
    places = [i for i in domain.varied if _has_centre(domain.parameters[i], least)]
    if not places:
        raise InputError(
            Fault(
                where="parameters",
                found=f"none is numeric with {least} values or more",
                expected="at least one: the design has a centre between its ends",
            )
        )
    return domain, places, [domain.parameters[i] for i in places]


def _has_centre(parameter: Parameter, least: int) -> bool:
    if parameter.continuous:
        return True
    return parameter.numeric and len(parameter.values) >= least and not is_flag(parameter)


def _cube(parameter: Parameter, count: int, *, up: bool) -> _Cube:
    middle, (low, high) = centre(parameter), extremes(parameter)
    reach = (float(middle) - float(low)) / math.sqrt(count)
    snap = snapped_up if up else nearest
    return _Cube(
        centre=middle,
        low=low,
        high=high,
        lower=snap(parameter, float(middle) - reach),
        upper=snap(parameter, float(middle) + reach),
    )


def _cube_notes(designed: Sequence[Parameter], cubes: Sequence[_Cube]) -> list[str]:
    """A note that names the parameters with too few values for five different levels; empty where
    none has.
    """
    short = [
        f"{parameter.name} ({len({c.centre, c.low, c.high, c.lower, c.upper})})"
        for parameter, c in zip(designed, cubes, strict=True)
        if len(designed) > 1 and len({c.centre, c.low, c.high, c.lower, c.upper}) < 5
    ]
    return [f"fewer than five different values: {', '.join(short)}"] if short else []


def _crossed_notes(domain: Domain, places: Sequence[int]) -> list[str]:
    others = [domain.parameters[i].name for i in domain.varied if i not in places]
    if not others:
        return []
    return [f"repeated for each combination of {', '.join(others)}, which have no centre"]
