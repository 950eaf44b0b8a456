"""A design of some parameters, repeated for every combination of the others."""

import math
from collections.abc import Iterable, Sequence
from itertools import product

from autotune.errors import Fault, InputError
from autotune.learning.designs.allowed_listing import values_of
from autotune.learning.designs.base import LARGEST
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.row_rules import Row


def crossed(domain: Domain, places: Sequence[int], points: Sequence[Row]) -> list[Row]:
    """Every point of the parameters at ``places`` combined with every combination of the other
    parameters.

    Combinations of the others that no allowed row has are left out where the allowed combinations
    are listed. Raises InputError where there would be more rows than a design may have.
    """
    others, choices = [], []
    for component in domain.components:
        rest = [i for i in component.places if i not in places]
        if not rest:
            continue
        combinations: Iterable[Row]
        if component.rows is None:
            combinations = product(*(values_of(domain.parameters[i]) for i in rest))
        else:
            at = [component.places.index(i) for i in rest]
            combinations = dict.fromkeys(tuple(row[i] for i in at) for row in component.rows)
        others += rest
        choices.append(list(combinations))
    total = len(points) * math.prod(len(choice) for choice in choices)
    if total > LARGEST:
        raise _too_many(domain, others, len(points), total)
    rows = []
    for choice in product(*choices):
        fixed = dict(zip(others, (value for part in choice for value in part), strict=True))
        for point in points:
            chosen = fixed | dict(zip(places, point, strict=True))
            rows.append(tuple(chosen[i] for i in range(len(domain.parameters))))
    return rows


def _too_many(domain: Domain, others: Sequence[int], points: int, total: int) -> InputError:
    named = ", ".join(domain.parameters[i].name for i in others if i in domain.varied)
    return InputError(
        Fault(
            where="parameters",
            found=f"{points} points for each combination of {named} are {total} rows",
            expected=f"at most {LARGEST}",
            hint="a Plackett-Burman, Sobol, random or D-optimal design needs fewer",
        )
    )
