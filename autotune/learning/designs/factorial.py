"""The full factorial design: every allowed combination."""

from collections.abc import Sequence

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.allowed_listing import values_of
from autotune.learning.designs.base import (
    COMPATIBILITIES,
    LARGEST,
    Compatibility,
    Design,
    UnrepairedDesign,
    check_choice,
    finish,
)
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.design_levels import position
from autotune.progress import Progress


def full_factorial(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    compatibility: Compatibility | None = None,
    progress: Progress | None = None,
) -> Design:
    """Every allowed combination of values, the last parameter varying fastest.

    ``compatibility``: the first parameter varies fastest, as SPL Conqueror writes it. Raises
    InputError for an interval, which has no values to combine, and for more rows than a design may
    have.
    """
    check_choice("compatibility", compatibility, COMPATIBILITIES)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints), progress=progress)
    _check(domain)
    order = list(range(len(domain.parameters)))
    if compatibility is not None:
        order.reverse()
    places = [
        {value: position(parameter, value) for value in values_of(parameter)}
        for parameter in domain.parameters
    ]
    rows = sorted(domain, key=lambda row: [places[i][row[i]] for i in order])
    all_of_them = domain.combinations or len(rows)
    notes = []
    if len(rows) < all_of_them:
        notes = [f"{len(rows)} of {all_of_them} combinations are allowed"]
    made = UnrepairedDesign(
        kind="full-factorial",
        points=rows,
        notes=tuple(notes),
        settings={"compatibility": compatibility},
    )
    return finish(domain, made)


def _check(domain: Domain) -> None:
    for i in domain.varied:
        parameter = domain.parameters[i]
        if parameter.continuous:
            raise InputError(
                Fault(
                    where=f"parameter {parameter.name}",
                    found=f"any number from {parameter.low} to {parameter.high}",
                    expected="values: a full factorial design combines them",
                    hint="list its values, or take another design",
                )
            )
    count = domain.count
    if count is None or count > LARGEST:
        found = "too many combinations to look at" if count is None else f"{count} combinations"
        hint = "a random, Sobol or D-optimal design takes few of them"
        raise InputError(
            Fault(where="parameters", found=found, expected=f"at most {LARGEST}", hint=hint)
        )
