"""Plackett-Burman designs of several levels: main effects from few runs.

Rows r = 0 .. n-2 are ``seed[(r + j) mod (n-1)]`` in column j; a row of zeros follows
(R. L. Plackett and J. P. Burman, "The design of optimum multifactorial experiments", Biometrika
33(4), 1946). Each column has all levels equally often. Any two of the first ``(n-1)/(l-1)`` columns
hold all pairs of levels; column j and column ``j + (n-1)/(l-1)`` do not: they are aliased.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import (
    COMPATIBILITIES,
    Compatibility,
    Design,
    Treatment,
    UnrepairedDesign,
    check_choice,
    finish,
)
from autotune.learning.designs.crossed import crossed
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.design_levels import at_levels, conqueror_levels, is_flag

SEEDS: Mapping[tuple[int, int], str] = {
    (9, 3): "01220211",
    (27, 3): "00101211201110020212210222",
    (81, 3): "01111201211212020221102011001222021002000222210212212101011220102200211101200100",
    (25, 5): "041121032242014434023313",
    (125, 5): "02221041141313412021102443140200444203223212132404220433123040033340144142421430344"
    "03112410300111302332343423101330122432010",
    (49, 7): "012622160532335204131143065155610245442503646634",
}
"""First columns by (n, l): rows and levels."""


def matrix(rows: int, levels: int, columns: int) -> NDArray[np.intp]:
    """The levels of a Plackett-Burman design, (rows, columns), from 0; InputError for a size that
    does not exist.

    >>> matrix(9, 3, 2)[:3].tolist()
    [[0, 1], [1, 2], [2, 2]]
    """
    _check(rows, levels, columns)
    seed = np.array([int(digit) for digit in SEEDS[rows, levels]])
    shifts = np.add.outer(np.arange(rows - 1), np.arange(columns)) % (rows - 1)
    return np.vstack([seed[shifts], np.zeros((1, columns), dtype=seed.dtype)])


def clear_columns(rows: int, levels: int) -> int:
    """How many of the first columns are free of aliasing: any two of them hold all pairs of levels.

    >>> [clear_columns(*key) for key in SEEDS]
    [4, 13, 40, 6, 31, 8]
    """
    return (rows - 1) // (levels - 1)


def aliases(rows: int, levels: int, names: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of parameters whose effects the design cannot tell apart."""
    period = clear_columns(rows, levels)
    numbered = list(enumerate(names))
    return [
        (first, second)
        for (i, first), (j, second) in combinations(numbered, 2)
        if (j - i) % period == 0
    ]


def plackett_burman(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    size: tuple[int | None, int | None] = (None, None),
    seed: int = 0,
    treatment: Treatment = "repair",
    compatibility: Compatibility | None = None,
) -> Design:
    """A Plackett-Burman design of ``size`` = (rows n, levels l), one of the six sizes that exist.

    Where n or l is None, the smallest design without aliased columns is taken, else the smallest
    with enough columns. Parameters of one value take no column. The values of a category are its
    levels, in their order. ``compatibility``: follow SPL Conqueror in the values of levels, keep
    equal rows of levels once, and cross the design with categories and with options that are 0 or
    1. ``seed`` is used only for the random values that SPL Conqueror adds.

    Raises InputError for a size that does not exist, and for more than n - 1 columns.
    """
    check_choice("compatibility", compatibility, COMPATIBILITIES)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints))
    there = compatibility is not None
    places = [i for i in domain.varied if not there or _numeric(domain.parameters[i])]
    designed = [domain.parameters[i] for i in places]
    if not designed:
        raise InputError(
            Fault(where="parameters", found="none has two values", expected="at least one")
        )
    rows, levels = _chosen(size, len(designed))
    design = matrix(rows, levels, len(designed))
    rng = np.random.default_rng(seed)
    notes = [*_alias_notes(rows, levels, designed), *_value_notes(designed, levels, padded=there)]
    values = [
        conqueror_levels(parameter, levels, rng) if there else at_levels(parameter, levels)
        for parameter in designed
    ]
    points = [tuple(v[i] for v, i in zip(values, row, strict=True)) for row in design.tolist()]
    if there:
        points = list(dict.fromkeys(points))
    made = UnrepairedDesign(
        kind="plackett-burman",
        points=crossed(domain, places, points),
        notes=tuple(notes),
        settings={
            "rows": rows, "levels": levels, "seed": seed, "compatibility": compatibility,
        },
    )  # fmt: skip
    return finish(domain, made, treatment)


def _numeric(parameter: Parameter) -> bool:
    """Whether SPL Conqueror would call a parameter a numeric option."""
    return parameter.numeric and not is_flag(parameter)


def _check(rows: int, levels: int, columns: int) -> None:
    if (rows, levels) not in SEEDS:
        raise InputError(_unknown(rows, levels))
    if columns > rows - 1:
        fitting = [key for key in SEEDS if columns <= key[0] - 1]
        raise InputError(
            Fault(
                where="parameters",
                found=f"{columns} parameters in a Plackett-Burman design of {rows} rows",
                expected=f"at most {rows - 1}, one less than rows",
                hint=f"take (n, l) = {_shown(fitting)}" if fitting else "take a random design",
            )
        )


def _unknown(rows: int | None, levels: int | None) -> Fault:
    wishes = [f"n = {rows} rows"] * (rows is not None) + [f"l = {levels} levels"] * (
        levels is not None
    )
    return Fault(
        where="plackett-burman",
        found=f"there is no design of {' and '.join(wishes)}",
        expected=f"(n, l) = {_shown(SEEDS)}",
    )


def _shown(keys: Sequence[tuple[int, int]] | Mapping[tuple[int, int], str]) -> str:
    return ", ".join(f"({rows}, {levels})" for rows, levels in keys)


def _chosen(size: tuple[int | None, int | None], columns: int) -> tuple[int, int]:
    """The requested size, or the smallest size that fits the columns."""
    rows, levels = size
    if rows is not None and levels is not None:
        _check(rows, levels, columns)
        return rows, levels
    fitting = [key for key in SEEDS if rows in (None, key[0]) and levels in (None, key[1])]
    if not fitting:
        raise InputError(_unknown(rows, levels))
    fitting.sort()
    clear = [key for key in fitting if columns <= clear_columns(*key)]
    enough = [key for key in fitting if columns <= key[0] - 1]
    best = (clear or enough or fitting[-1:])[0]
    _check(*best, columns)
    return best


def _alias_notes(rows: int, levels: int, designed: Sequence[Parameter]) -> list[str]:
    pairs = aliases(rows, levels, [parameter.name for parameter in designed])
    if not pairs:
        return []
    clear = clear_columns(rows, levels)
    named = ", ".join(f"{first} with {second}" for first, second in pairs[:8])
    more = f" and {len(pairs) - 8} more" if len(pairs) > 8 else ""
    larger = [key for key in sorted(SEEDS) if len(designed) <= clear_columns(*key)]
    hint = f"; {_shown(larger[:1])} tells them apart" if larger else ""
    return [
        f"aliased, so that their effects cannot be told apart: {named}{more}. {rows} rows at"
        f" {levels} levels keep {clear} parameters apart, not {len(designed)}{hint}"
    ]


def _value_notes(designed: Sequence[Parameter], levels: int, *, padded: bool) -> list[str]:
    """Notes that name the parameters with fewer values than levels and the categories with more."""
    notes = []
    sizes = {p.name: len(p.values) for p in designed if not p.continuous}
    few = [f"{name} ({size})" for name, size in sizes.items() if size < levels]
    if few:
        how = "random ones fill the others" if padded else "some stand for several levels"
        notes.append(f"fewer values than {levels} levels: {', '.join(few)}; {how}")
    many = [p.name for p in designed if not p.numeric and sizes[p.name] > levels]
    if many:
        notes.append(f"only {levels} of the categories are in the design: {', '.join(many)}")
    return notes
