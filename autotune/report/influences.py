"""What makes candidates fast, in words: a performance-influence model of those that were measured.

Its error is that on candidates it had not seen (five folds). Where that is no smaller than the
error of saying the same time of all, the model has nothing to say and nothing is shown.
"""

from dataclasses import dataclass

import numpy as np

from autotune.errors import InputError
from autotune.evaluate import ProblemResult, Row, varied
from autotune.learn.base import Floats
from autotune.learn.cleaning import Heading, Record, assemble
from autotune.learn.conformal import Conformal
from autotune.learn.influence import Influence, InfluencePredictor
from autotune.learn.table import Table

LEAST = 12
"""Fewer compared candidates have no model."""
_MOST_WORDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """Sentences, the most influential first, and how far to believe them."""

    words: tuple[str, ...]
    formula: str
    candidates: int
    error: float
    """Mean |predicted / measured - 1| on candidates that the model had not seen."""
    same: float
    """The error of saying the middle of the others' times of every candidate."""

    @property
    def note(self) -> str:
        """How far to believe them, in a sentence or two."""
        return (
            f"A performance-influence model of the {self.candidates} compared candidates. On"
            f" candidates that it had not seen it is off by {100 * self.error:.2g} % on average;"
            f" the same time for all would be off by {100 * self.same:.2g} %. Factors are beside"
            " those of the other lines; which candidates were measured is no designed experiment,"
            " and parameters that were varied together share what they do."
        )


def influences(result: ProblemResult) -> Influences | None:
    """Of the compared candidates of a problem; None where they are too few or say nothing.

    The model: one factor for each value, for each doubling of a number, and for pairs of these.
    """
    rows = [row for row in result.rows if row.compared and row.measured]
    if len(rows) < LEAST:
        return None
    try:
        table = _table(rows, result.label)
        fitted = Conformal(regressor=Influence(shapes=("log2",), degree=1)).fit(table)
    except InputError:  # all alike
        return None
    if len(table) < LEAST or not isinstance(fitted.predictor, InfluencePredictor):
        return None
    error, same = _error(fitted.held_out, table.response), _error(_middle(table), table.response)
    words = fitted.predictor.words()[:_MOST_WORDS]
    if not words or not error < same:
        return None
    return Influences(
        words=words,
        formula=fitted.predictor.formula,
        candidates=len(table),
        error=error,
        same=same,
    )


def _table(rows: list[Row], label: str) -> Table:
    settings = [varied(row.candidate) for row in rows]
    names = list(dict.fromkeys(name for one in settings for name in one))
    records = [
        Record(
            place=row.candidate.id,
            settings={n: "none" if one.get(n) is None else one[n] for n in names},
            times=(float(row.measured or 0.0),),
        )
        for row, one in zip(rows, settings, strict=True)
    ]
    heading = Heading(name=label, where=label, source=label, unit="s")
    return assemble(records, heading)


def _middle(table: Table) -> Floats:
    """(n,) the geometric mean of the other responses."""
    logs = np.log(table.response)
    others: Floats = np.exp((logs.sum() - logs) / (len(logs) - 1))
    return others


def _error(said: Floats, response: Floats) -> float:
    """Mean relative error; a row of which nothing was said counts as wrong by all of it."""
    off = np.abs(said / response - 1.0)
    return float(np.where(np.isfinite(off), off, 1.0).mean())
