"""The D-optimal design: the allowed rows that determine the terms of a linear model best."""

from collections.abc import Sequence

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value, numeric
from autotune.domain.tables.parameter_space import RowRule
from autotune.domain.tables.table import Floats
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import (
    Design,
    UnrepairedDesign,
    check_choice,
    check_rows,
    finish,
)
from autotune.learning.designs.design_columns import TERMS, ModelColumns, Terms, model_columns
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.design_levels import at_levels
from autotune.learning.designs.exchange import FRESH, GAIN, exchanged
from autotune.learning.designs.row_rules import Row
from autotune.learning.designs.uniform import drawn
from autotune.progress import Progress

_CANDIDATES = 3000
"""Rows that the design chooses among."""
_MOST_ROWS = 3000
"""Rows of the largest design: each is compared with each candidate at every exchange."""
_STARTS = 3
_LARGE = 300_000
"""Pairs of a row and a candidate beyond which one start has to do."""


def d_optimal(
    parameters: Sequence[Parameter],
    constraints: Sequence[RowRule] = (),
    *,
    rows: int,
    terms: Terms = "interactions",
    seed: int = 0,
    progress: Progress | None = None,
) -> Design:
    """``rows`` allowed rows that nearly maximise det(X'X) of a linear model with these terms.

    Rows are exchanged for candidates while that raises the determinant (V. V. Fedorov, Theory of
    Optimal Experiments, 1972), from three random starts; no row is taken twice. Candidates are all
    allowed rows, or 3000 of them: half with values at the ends and the middle. Numbers are coded
    from -1 to 1, positive ones over a factor of 8 by their logarithm; categories by their
    difference from the mean. Terms that the allowed rows cannot tell apart are left out.

    Raises InputError for fewer rows than terms.
    """
    check_rows("rows", rows, _MOST_ROWS)
    check_choice("terms", terms, TERMS)
    domain = Domain(parameters=tuple(parameters), rules=tuple(constraints), progress=progress)
    rng = np.random.default_rng(seed)
    candidates = _candidates(domain, rows, rng)
    model = model_columns(domain.parameters, candidates, terms)
    count = len(model.names)
    if rows < count:
        raise InputError(
            Fault(
                where="rows",
                found=f"{rows} rows for the {count} terms of a model with terms={terms}",
                expected=f"at least {count}",
                hint="take more rows" + ("" if terms == "linear" else " or terms=linear"),
            )
        )
    chosen, started = _best(model.matrix, min(rows, len(candidates)), rng, progress)
    notes = _notes(model, efficiency(model.matrix[chosen]), started)
    if len(candidates) < rows:
        notes.append(f"{len(candidates)} of {rows} rows: no more are allowed")
    made = UnrepairedDesign(
        kind="d-optimal",
        points=[candidates[i] for i in chosen],
        notes=tuple(notes),
        settings={
            "rows": rows, "terms": terms, "seed": seed, "candidates": len(candidates),
            "efficiency": efficiency(model.matrix[chosen]), "efficiency_random": started,
        },
    )  # fmt: skip
    return finish(domain, made)


def efficiency(matrix: Floats) -> float:
    """The D-efficiency det(X'X)^(1/p) / n of a model matrix X (n, p) coded from -1 to 1; 1 for an
    orthogonal design.
    """
    sign, logarithm = np.linalg.slogdet(matrix.T @ matrix)
    n, p = matrix.shape
    return float(np.exp(logarithm / p) / n) if sign > 0 else 0.0


def _candidates(domain: Domain, rows: int, rng: np.random.Generator) -> list[Row]:
    """The candidate rows: all allowed rows, or a random part of them and rows at the ends and the
    middle of values.
    """
    wanted = max(_CANDIDATES, 2 * rows)
    count = domain.count
    if count is not None and count <= wanted:
        return sorted(drawn(domain, wanted, rng), key=lambda row: [str(value) for value in row])
    candidates = dict.fromkeys(drawn(domain, wanted // 2, rng))
    try:
        few = Domain(parameters=tuple(map(_few, domain.parameters)), rules=domain.rules)
        candidates |= dict.fromkeys(drawn(few, wanted // 2, rng))
    except InputError:
        pass  # no row of extreme values is allowed
    return list(candidates)


def _few(parameter: Parameter) -> Parameter:
    """The parameter restricted to its ends and its middle; a category is returned unchanged."""
    if not parameter.numeric or parameter.constant:
        return parameter
    if not parameter.continuous and len(parameter.values) <= 3:
        return parameter
    return numeric(parameter.name, [float(v) if parameter.continuous else _whole(v)
                                    for v in at_levels(parameter, 3)])  # fmt: skip


def _whole(value: Value) -> int | float:
    assert not isinstance(value, str), "a numeric parameter has numbers"
    return value


def _best(
    matrix: Floats, count: int, rng: np.random.Generator, progress: Progress | None
) -> tuple[list[int], float]:
    """The rows of the best of several exchanged random starts, and the mean efficiency of these
    starts before exchange.
    """
    if count == len(matrix):
        return list(range(count)), efficiency(matrix)
    best: list[int] = []
    random_ones = []
    starts = _STARTS if count * len(matrix) <= _LARGE else 1
    for number in range(starts):
        start = np.sort(rng.permutation(len(matrix))[:count])
        random_ones.append(efficiency(matrix[start]))

        def report(step: int, number: int = number) -> None:
            if progress is not None and step % FRESH == FRESH - 1:
                progress("D-optimal design", number, starts, f"{step} exchanges")

        design = exchanged(matrix, start, report)
        if not best or efficiency(matrix[design]) > efficiency(matrix[best]) * (1 + GAIN):
            best = design
    return best, float(np.mean(random_ones))


def _notes(model: ModelColumns, reached: float, started: float) -> list[str]:
    notes = [
        f"D-efficiency {reached:.3g} for {len(model.names)} terms; random rows reach {started:.3g}"
    ]
    if model.dependent:
        named = ", ".join(model.dependent[:6]) + (", ..." if len(model.dependent) > 6 else "")
        notes.append(f"the allowed rows cannot tell apart, so that they are left out: {named}")
    return notes
