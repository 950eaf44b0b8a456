"""The Sobol design: a scrambled low-discrepancy sequence, at the values of the domains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import qmc

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import (
    TREATMENTS,
    Design,
    Treatment,
    UnrepairedDesign,
    check_choice,
    check_rows,
    finish,
)
from autotune.learning.designs.design_domain import Domain, drawn_value
from autotune.learning.designs.repair import Repair
from autotune.learning.designs.row_rules import Row, only_listed
from autotune.progress import Progress

_FARTHEST = 1 << 16
"""Points of the sequence that are looked at."""
_PROGRESS_EVERY = 500
"""Points between two words of progress: to move one may take milliseconds."""
_PATIENCE = 1000
"""Forbidden points, and 16 for each row, after which they are moved."""


def sobol(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    rows: int,
    seed: int = 0,
    treatment: Treatment | None = None,
    progress: Progress | None = None,
) -> Design:
    """The first ``rows`` different allowed points of a scrambled Sobol sequence.

    Points that fall on a row taken before are skipped (I. M. Sobol 1967; scrambled as in
    ``scipy.stats.qmc``, Owen 1998). ``treatment``: a forbidden point is moved to the nearest
    allowed row (repair) or skipped too (drop). With None the design skips up to 1000 forbidden
    points and 16 more for each row, and then moves them: that suits few allowed rows among many
    combinations. The notes say how many points were moved and skipped. A power of two as ``rows``
    keeps the balance of the sequence. Equal seeds give equal designs.
    """
    check_rows("rows", rows)
    check_choice("illegal", treatment, TREATMENTS)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints), progress=progress)
    if len(domain.varied) > qmc.Sobol.MAXDIM:
        found = f"{len(domain.varied)} parameters"
        raise InputError(Fault(where="parameters", found=found, expected=f"{qmc.Sobol.MAXDIM}"))
    taken = _taken(domain, rows, seed, treatment)
    if not taken.rows:
        raise InputError(
            Fault(
                where="constraints",
                found=f"they forbid the first {taken.forbidden} points of the sequence",
                expected="at least one allowed point",
                hint="take a random design: it draws from the allowed ones only",
            )
        )
    made = UnrepairedDesign(
        kind="sobol",
        points=list(taken.rows),
        notes=tuple(_notes(rows, taken, domain)),
        settings={"rows": rows, "seed": seed},
        moved=taken.moved,
    )
    return finish(domain, made)


@dataclass(slots=True)
class _TakenPoints:
    """The rows taken so far, in order, with the numbers of points moved, forbidden and repeated."""

    rows: dict[Row, None] = field(default_factory=dict)
    moved: int = 0
    forbidden: int = 0
    again: int = 0


def _taken(domain: Domain, rows: int, seed: int, treatment: Treatment | None) -> _TakenPoints:
    taken, repair, allowed = _TakenPoints(), Repair(domain), domain.count
    wanted = rows if allowed is None else min(rows, allowed)
    patience = {"repair": 0, "drop": _FARTHEST, None: _PATIENCE + 16 * rows}[treatment]
    for number, point in enumerate(_sequence(domain, rows, seed)):
        if domain.progress is not None and number % _PROGRESS_EVERY == _PROGRESS_EVERY - 1:
            domain.progress("sobol design", len(taken.rows), wanted, f"{number + 1} points")
        row: Row | None = point
        if not domain.allows(point):
            row = repair.nearest(point) if taken.forbidden >= patience else None
        if row is None:
            taken.forbidden += 1
        elif row in taken.rows:
            taken.again += 1
        else:
            taken.rows[row] = None
            taken.moved += row != point
        if len(taken.rows) == wanted:
            break
    return taken


def _sequence(domain: Domain, rows: int, seed: int) -> Iterator[Row]:
    """The points of the Sobol sequence as values of the domains, allowed or not."""
    if not domain.varied:
        yield tuple(drawn_value(parameter, 0.0) for parameter in domain.parameters)
        return
    sequence = qmc.Sobol(d=len(domain.varied), scramble=True, seed=np.random.default_rng(seed))
    looked = 0
    while looked < max(_FARTHEST, rows):
        block = sequence.random_base2(_power(rows)) if looked == 0 else sequence.random(looked)
        looked += len(block)
        for unit in block.tolist():
            at = dict(zip(domain.varied, unit, strict=True))
            yield tuple(drawn_value(p, at.get(i, 0.0)) for i, p in enumerate(domain.parameters))


def _power(rows: int) -> int:
    """The smallest exponent e with 2^e >= rows."""
    return (rows - 1).bit_length()


def _notes(rows: int, taken: _TakenPoints, domain: Domain) -> list[str]:
    listed = only_listed(domain.rules)
    notes, count = [], len(taken.rows)
    if taken.forbidden or taken.again:
        why = "that are not among the given rows" if listed else "forbidden by constraints"
        passed = [f"{taken.forbidden} {why}"] * bool(taken.forbidden)
        passed += [f"{taken.again} that repeat a row"] * bool(taken.again)
        notes.append(f"points of the sequence passed over: {' and '.join(passed)}")
    if taken.moved:
        notes.append(
            f"{'the given rows lack' if listed else 'constraints forbid'} {taken.moved} more:"
            " moved to the nearest allowed row each"
        )
    if count < rows:
        notes.append(f"{count} of {rows} rows: no more different ones were found")
    elif rows & (rows - 1):
        notes.append(
            f"{rows} is no power of two: {1 << _power(rows)} rows would keep the sequence balanced"
        )
    return notes
