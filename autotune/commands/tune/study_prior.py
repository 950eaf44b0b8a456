"""A model of one study as a prior on another: how much slower it expects each candidate to be.

The pool is trained on the timed candidates of the other study, with what was predicted for them,
and asked about the candidates of this one, with what is predicted for them here. Only ratios within
a problem are used, and how far they are believed is learned from the times of this machine
(``search.basis``): another machine, size, compiler or problem needs no common scale.

A candidate is asked of as the other study can answer: what was fixed there is left aside, what it
lacks is as it was most often there, a size beyond those tried there is the nearest of them, another
compiler the usual one. Of a candidate whose other values were not tried there nothing is said.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from autotune.commands.learn.study_tables import candidate_settings, study_table
from autotune.domain.results import Prediction
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.files.store import Store
from autotune.files.store.records import CandidateRecord
from autotune.files.tables.cleaning import Cell
from autotune.learning.models.base import Floats
from autotune.learning.models.catalogue import model
from autotune.results.evaluate.study_evaluation import StudyEvaluation, varied
from autotune.tuning.search.pool_residual import plain

_BUILT = ("compiler", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPrior:
    """What a model of another study expects of candidates.

    ``seconds``: identity of a candidate to what is expected of it; only ratios within a problem
    mean anything. ``note``: of how many, in words.
    """

    seconds: Mapping[str, float]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorStudy:
    """Another study, as a table to learn from."""

    name: str
    table: MeasurementTable

    def prior(
        self,
        candidates: Sequence[Candidate],
        predictions: Sequence[Prediction],
        records: Mapping[str, CandidateRecord],
        seed: int = 0,
    ) -> StudyPrior:
        """What the study expects of candidates.

        ``predictions``: in the order of the candidates. ``records``: of them, by identity.

        InputError where it knows none of the parameters that differ here.
        """
        chosen = [records[c.identity] for c in candidates]
        settings = candidate_settings(chosen)
        varied_here = {name for record in chosen for name in varied(record)}
        free = {name for setting in settings for name in setting} - varied_here | set(_BUILT)
        predicted = np.array([p.seconds or np.nan for p in predictions], dtype=np.float64)
        expectations = expected(self.table, settings, predicted, free=free, seed=seed)
        seconds_by_identity = {
            candidate.identity: float(seconds)
            for candidate, seconds in zip(candidates, expectations, strict=True)
            if np.isfinite(seconds)
        }
        note = f"prior: study {self.name}, a model of its {len(self.table)} candidates, orders"
        return StudyPrior(
            seconds=seconds_by_identity,
            note=f"{note} {len(seconds_by_identity)} of {len(candidates)} here",
        )


def prior_study(reference: str | None, results: Store, resumed: str | None) -> PriorStudy | None:
    """The study that ``STUDY`` or ``STUDY@STORE`` names; None where none is wanted.

    ``results``: the store of a name without one. ``own``: the study that is continued.

    InputError for a study that is not there, that has nothing to learn from, or that is ``own``.
    """
    if reference is None:
        return None
    name, _, place = reference.partition("@")
    if place:
        with Store.open(place, create=False) as others:
            record = others.load_study(name)
    else:
        record = results.load_study(name)
    if record.name == resumed and record.created == results.load_study(resumed).created:
        raise InputError(
            Fault(
                where="--prior",
                found=f"study {resumed}, the one that is continued",
                expected="another study",
                hint="what it measured is known to the search anyway",
            )
        )
    return PriorStudy(name=record.name, table=study_table(record).table)


def proved(prior: StudyPrior, result: StudyEvaluation) -> str:
    """How well a prior ordered what was measured, beside how well the predictions did."""
    rows = [
        (problem.label, row) for problem in result.problems for row in problem.rows if row.compared
    ]
    expected_rows = [(label, row) for label, row in rows if row.candidate.identity in prior.seconds]
    right, pairs = _ordered(
        [(n, prior.seconds[r.candidate.identity], r.measured) for n, r in expected_rows]
    )
    if not pairs:
        return "no two of these were measured"
    share = f"{100 * right / pairs:.0f} %"
    text = f"of {pairs} pairs of measured candidates it put {share} in the right order"
    predicted = [(n, r.predicted, r.measured) for n, r in expected_rows if r.predicted is not None]
    right, pairs = _ordered(predicted)
    return f"{text}, the predictions {100 * right / pairs:.0f} %" if pairs else text


def _ordered(timed: Sequence[tuple[str, float, float | None]]) -> tuple[float, int]:
    """Pairs of one problem in the right order, and all; problem, expected, measured. Ties: half."""
    right, pairs = 0.0, 0
    for (where, expects, took), (there, other, longer) in combinations(timed, 2):
        if where == there and took and longer and took != longer:
            pairs += 1
            right += 0.5 if expects == other else float((expects < other) == (took < longer))
    return right, pairs


def expected(
    table: MeasurementTable,
    settings: Sequence[Mapping[str, Cell]],
    predicted: Floats,
    *,
    free: Collection[str] = (),
    seed: int = 0,
) -> Floats:
    """(n,) what the pool of a table expects of candidates, nan where it says nothing.

    ``predicted``: (n,) seconds, nan where unknown. ``free``: parameters of which
    the nearest value that was tried there will do.

    InputError where no parameter that varies there varies here.
    """
    _check_common(table, settings)
    usual = {
        p.name: _most_common(table.inputs, number) for number, p in enumerate(table.parameters)
    }
    rows = [_row(setting, table, usual, free) for setting in settings]
    places = [place for place, row in enumerate(rows) if row is not None]
    seconds = np.full(len(settings), np.nan)
    if not places:
        return seconds
    inputs = ParameterRows(
        parameters=table.parameters,
        rows=tuple(row for row in rows if row is not None),
        analytical=None if table.inputs.analytical is None else predicted[places],
    )
    predictions = model("pool").fit(table, seed).predict(inputs)
    seconds[places] = np.where(predictions.outside, np.nan, predictions.median)
    return seconds


def _check_common(table: MeasurementTable, settings: Sequence[Mapping[str, Cell]]) -> None:
    here = {name for setting in settings for name in setting}
    varied = [name for name in sorted(here) if len({setting.get(name) for setting in settings}) > 1]
    there = [parameter.name for parameter in table.parameters]
    if not set(varied) & set(there):
        raise InputError(
            Fault(
                where=table.source,
                found=f"as a prior it knows {', '.join(there)}",
                expected=f"one of {', '.join(varied) or 'nothing'}, which differ here",
                hint="name a study of a space like this one",
            )
        )


def _most_common(inputs: ParameterRows, column: int) -> Value:
    counts = Counter(row[column] for row in inputs.rows)
    return max(counts, key=lambda value: (counts[value], str(value)))


def _row(
    values: Mapping[str, Cell],
    table: MeasurementTable,
    usual: Mapping[str, Value],
    free: Collection[str],
) -> tuple[Value, ...] | None:
    """The values of a candidate as the table has them; None where one of them was not tried."""
    row: list[Value] = []
    for parameter in table.parameters:
        name = parameter.name
        if name not in values:
            row.append(usual[name])
            continue
        value = _plain(values[name], parameter)
        if name in free:
            value = _nearest(value, parameter, usual[name])
        if value is None or not (parameter.numeric or value in parameter.values):
            return None
        row.append(value)
    return tuple(row)


def _plain(cell: Cell, parameter: Parameter) -> Value | None:
    try:
        return plain(cell, parameter)
    except ValueError:  # a text where there are numbers
        return None


def _nearest(value: Value | None, parameter: Parameter, usual: Value) -> Value:
    """Itself where it was tried, else the nearest number or the usual text."""
    tried = parameter.values
    if not parameter.numeric or not isinstance(value, int | float):
        return value if value in tried else usual
    return min(max(value, min(tried)), max(tried))
