"""The random design: allowed rows drawn without replacement, all equally likely."""

from collections.abc import Sequence

import numpy as np

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import Design, UnrepairedDesign, check_rows, finish
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.row_rules import Row
from autotune.progress import Progress

_DENSE = 4
"""With at most this many allowed rows per wanted row, all allowed rows are shuffled; with more,
rows are drawn one after the other."""
_TRIES = 100_000
"""Draws at least, and ten for each row, where repeats and forbidden rows are drawn too."""


def random(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    rows: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> Design:
    """``rows`` allowed rows drawn without replacement; every subset of this size is equally likely.

    Rows are drawn by index and never listed: a space of 1e12 combinations is as easy as one of a
    hundred. Where there are no more than ``rows`` allowed rows, all are returned in random order.
    Equal seeds give equal designs.
    """
    check_rows("rows", rows)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints), progress=progress)
    rows_drawn = drawn(domain, rows, np.random.default_rng(seed))
    notes = []
    if len(rows_drawn) < rows:
        why = "no more are allowed" if domain.count == len(rows_drawn) else "no more were found"
        notes = [f"{len(rows_drawn)} of {rows} rows: {why}"]
    made = UnrepairedDesign(
        kind="random",
        points=rows_drawn,
        notes=tuple(notes),
        settings={"rows": rows, "seed": seed},
    )
    return finish(domain, made)


def drawn(domain: Domain, count: int, rng: np.random.Generator) -> list[Row]:
    """``count`` different allowed rows in random order; fewer where no more exist or none is found.

    Raises InputError where not one allowed row is found.
    """
    allowed = domain.count
    if allowed is not None and allowed <= _DENSE * count:
        order = rng.permutation(allowed)[:count]
        return [_at(domain, int(index)) for index in order]
    rows: dict[Row, None] = {}
    tries = max(_TRIES, 10 * count)
    while len(rows) < count and tries > 0:
        row, used = domain.draw(rng, tries)
        tries -= used
        if row is not None:
            rows[row] = None
    if not rows:
        raise InputError(
            Fault(
                where="constraints",
                found=f"no allowed combination in {_TRIES} random ones",
                expected="at least one",
                hint="; ".join(str(rule) for rule in domain.rules[:3]),
            )
        )
    return list(rows)


def _at(domain: Domain, index: int) -> Row:
    """The allowed row of this index, which is below the number of allowed rows."""
    parts: list[Row] = []
    for component in reversed(domain.components):
        assert component.rows is not None, "counted rows are listed"
        index, place = divmod(index, len(component.rows))
        parts.append(component.rows[place])
    return domain.join(parts[::-1])
