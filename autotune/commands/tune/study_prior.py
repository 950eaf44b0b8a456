"""A model of one study as a prior for another: the relative slowness it expects of candidates.

A pool of models is trained on the timed candidates of the other study and their predictions. It
then estimates the candidates of this study from their predictions here. Only ratios within a
problem are used, and the weight of the prior is learned from times on this machine
(``search.basis``), so another machine, size, compiler or problem needs no common scale.

Parameters that were fixed in the other study are ignored. A parameter that a candidate lacks takes
its most frequent value there, a size outside the tried range the nearest tried one, another
compiler the usual one. There is no estimate for a candidate with any other value that was not
tried.
"""

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from autotune.commands.learn.study_tables import candidate_settings, study_table
from autotune.domain.results import Prediction
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.files.store import Store
from autotune.files.store.store_rows import candidate_record
from autotune.files.tables.cleaning import Cell
from autotune.learning.models.base import Fitted, Floats
from autotune.learning.models.catalogue import model
from autotune.results.evaluate.study_evaluation import StudyEvaluation, varied
from autotune.tuning.search.pool_residual import plain

_BUILT = ("compiler", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPrior:
    """The times that a model of another study expects for candidates.

    ``seconds``: the expected time by identity of a candidate; only ratios within a problem mean
    anything. ``note``: in words, how many of the first candidates have an estimate.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    note: str = ""
    study: "PriorStudy | None" = None
    fitted: Fitted | None = None
    """The model of the study; None for an empty prior."""
    free: frozenset[str] = frozenset()
    """Settings of which the nearest tried value counts where one was not tried."""

    def extend(self, candidates: Sequence[Candidate], predictions: Sequence[Prediction]) -> None:
        """Estimate further candidates; ``predictions``: in their order."""
        if self.study is None or self.fitted is None:
            return
        new = [
            (candidate, prediction)
            for candidate, prediction in zip(candidates, predictions, strict=True)
            if candidate.identity not in self.seconds
        ]
        if not new:
            return
        settings = candidate_settings([candidate_record(candidate) for candidate, _ in new])
        predicted = np.array([p.seconds or np.nan for _, p in new], dtype=np.float64)
        expectations = estimated(self.fitted, self.study.table, settings, predicted, self.free)
        for (candidate, _), seconds in zip(new, expectations, strict=True):
            if np.isfinite(seconds):
                self.seconds[candidate.identity] = float(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorStudy:
    """Another study, as a table to train a prior on."""

    name: str
    table: MeasurementTable

    def prior(
        self,
        candidates: Sequence[Candidate],
        predictions: Sequence[Prediction],
        seed: int = 0,
    ) -> StudyPrior:
        """The times that this study's model expects for candidates of another study.

        ``predictions``: in the order of the candidates.

        InputError if the table has none of the parameters in which the candidates differ.
        """
        settings = candidate_settings([candidate_record(candidate) for candidate in candidates])
        _check_common(self.table, settings)
        prior = StudyPrior(
            study=self, free=_free(candidates), fitted=model("pool").fit(self.table, seed)
        )
        prior.extend(candidates, predictions)
        note = f"prior: study {self.name}, a model of its {len(self.table)} candidates, orders"
        return dataclasses.replace(
            prior, note=f"{note} {len(prior.seconds)} of {len(candidates)} here"
        )


def _free(candidates: Sequence[Candidate]) -> frozenset[str]:
    """The settings that were not chosen by a study: of these the nearest tried value counts."""
    records = [candidate_record(candidate) for candidate in candidates]
    varied_here = {name for record in records for name in varied(record)}
    names = {name for setting in candidate_settings(records) for name in setting}
    return frozenset(names - varied_here | set(_BUILT))


def prior_study(reference: str | None, results: Store, resumed: str | None) -> PriorStudy | None:
    """The study that ``STUDY`` or ``STUDY@STORE`` names; None without a name.

    ``results``: the store to search if the name gives none. ``resumed``: the study that is being
    continued.

    InputError for a study that does not exist, that has no usable data, or that is ``resumed``
    itself.
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
    """How many pairs of measured candidates a prior ordered correctly, beside the predictions."""
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
    """The number of correctly ordered pairs within a problem, and the number of all pairs.

    ``timed``: (problem, expected, measured). A tie of expected times counts as half.
    """
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
    """(n,) the times that models of a table expect for candidates, nan without an estimate.

    ``predicted``: (n,) seconds, nan where unknown. ``free``: parameters whose untried values are
    replaced by the nearest tried value.

    InputError if no parameter varies both in the table and among the candidates.
    """
    _check_common(table, settings)
    return estimated(model("pool").fit(table, seed), table, settings, predicted, free)


def estimated(
    fitted: Fitted,
    table: MeasurementTable,
    settings: Sequence[Mapping[str, Cell]],
    predicted: Floats,
    free: Collection[str],
) -> Floats:
    """(n,) the times that a fitted model of a table expects; see ``expected``."""
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
    predictions = fitted.predict(inputs)
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
    """The values of a candidate as a row of the table; None if one of its values was not tried."""
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
    """A value that was tried: the value itself, else the nearest number or the usual text."""
    tried = parameter.values
    if not parameter.numeric or not isinstance(value, int | float):
        return value if value in tried else usual
    return min(max(value, min(tried)), max(tried))
