"""What makes candidates fast, in words: a performance-influence model of measured candidates.

The model has a factor for each value, for each doubling of a number, and for pairs of these. The
effect of a parameter is its change of the geometric mean of the predicted times of all candidates
when it alone is changed (partial dependence, Friedman 2001). The effect of a pair is how much more
one parameter changes the time at one value of the other than at another value.

The error of the model is its error on unseen candidates (five folds). If it is not clearly smaller
than the error of one constant time, there are no sentences. An effect is reported if the model and
the measured times of candidates alike in everything else (``group_means``) agree in its direction,
and if it is more than chance by one of them: with 99 % for all parameters and pairs together, of
which each gets its share (Bonferroni), since of many that do nothing one or the other seems to do
something. For the model, chance is judged by its change as each fold is left out (delete-a-group
jackknife, Kott 2001). The reported size is the model's if it lies within the interval of the
measured times, else that of the times. A pair is reported only if both show its effect. Where no
candidates alike in another parameter show an effect, that parameter is named as a possible cause.

Values that neither method distinguishes from the fastest one are named as equal to it. A value that
only the measured times distinguish is left out. A value is called the fastest only if both methods
find it faster than every other value, and the times by more than chance.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.domain.metric import TIME, Metric
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.files.tables.cleaning import Heading, Record, assemble
from autotune.learning.influence import Influence, InfluencePredictor
from autotune.learning.models.base import Floats
from autotune.learning.models.conformal import FOLDS, folds
from autotune.learning.models.terms import parameters
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation, varied
from autotune.results.report import change_words
from autotune.results.report.group_means import LEVEL, GroupDifference, GroupMeans, confounded
from autotune.statistics.distributions import student
from autotune.units import rough_percent

LEAST = 12
"""Fewer compared candidates have no model."""
_MOST_WORDS = 8
_PAIRS = 3
_ROWS = 200
"""So many candidates are enough to average over."""
_FEW_VALUES = 8
"""So many values of a number show how its effect depends on another parameter."""
_NORMAL = 1.645
"""95 % quantile of the normal distribution."""
_WORTH, _APART = float(np.log2(1.02)), float(np.log2(1.05))
"""Smaller effects are not worth a sentence, of a parameter and of a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """Sentences about the effects of parameters, most influential first, and their reliability."""

    words: tuple[str, ...]
    formula: str
    candidates: int
    error: float
    """Mean |predicted / measured - 1| on candidates that the model had not seen."""
    same: float
    """The error of saying the middle of the others' times of every candidate."""
    metric: Metric = TIME
    """The objective; the model and its formula are of its cost."""

    @property
    def title(self) -> str:
        """What the sentences tell."""
        return f"What makes candidates {'fast' if self.metric.timed else 'good'}"

    @property
    def note(self) -> str:
        """How reliable the sentences are, in a sentence or two."""
        return (
            f"A performance-influence model of the {self.candidates} compared candidates. On"
            f" candidates that it had not seen it is off by {rough_percent(self.error)} on average;"
            f" the same {self.metric.name} for all would be off by {rough_percent(self.same)}."
            " Given is what a parameter changes over all of them, as far as it is more than chance"
            f" (99 %, all together) and the measured {'times' if self.metric.timed else 'values'}"
            " of candidates alike in all else agree. Which candidates were measured is no designed"
            " experiment:"
            " parameters that were varied together share what they do."
        )


def influences(result: ProblemEvaluation) -> Influences | None:
    """The influences among the compared candidates of a problem.

    None if there are too few candidates, or if the model is not better than a constant time.
    """
    rows = [row for row in result.rows if row.compared and row.measured]
    if len(rows) < LEAST:
        return None
    try:
        table = settings_table(rows, result.label)
        fitted = _Fitted.of(table, result.problem.goal)
    except InputError:  # all alike
        return None
    if len(table) < LEAST or not _better(fitted.held_out, _middle(table), table.response):
        return None
    sentences = fitted.words()
    if not sentences:
        return None
    return Influences(
        words=sentences,
        formula=fitted.whole.formula,
        candidates=len(table),
        error=float(_errors(fitted.held_out, table.response).mean()),
        same=float(_errors(_middle(table), table.response).mean()),
        metric=result.problem.goal,
    )


@dataclass(frozen=True, slots=True)
class _EffectSentence:
    """A sentence about one or two parameters; ``size``: the effect in log2 of the time."""

    size: float
    names: tuple[str, ...]
    text: str
    turns: bool = False
    """What is faster at one value of the other parameter is slower at another."""


# --- the model ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """The model of all candidates, the models without one fold, and their held-out predictions."""

    table: MeasurementTable
    goal: Metric
    whole: InfluencePredictor
    parts: tuple[InfluencePredictor, ...]
    held_out: Floats
    inputs: ParameterRows
    """The candidates that effects are averaged over."""

    @classmethod
    def of(cls, table: MeasurementTable, goal: Metric = TIME) -> "_Fitted":
        model = Influence(shapes=("log2",), degree=1)
        fold, held = folds(len(table), 0), np.full(len(table), np.nan)
        parts = []
        for number in range(FOLDS):
            members = fold == number
            parts.append(model.train(table.take(~members)))
            held[members] = parts[-1].predict(table.inputs.take(members))
        some = np.linspace(0, len(table) - 1, min(_ROWS, len(table))).astype(np.intp)
        return cls(
            table=table,
            goal=goal,
            whole=model.train(table),
            parts=tuple(parts),
            held_out=held,
            inputs=table.inputs.take(some),
        )

    def words(self) -> tuple[str, ...]:
        """Sentences about single parameters, then about pairs, the largest effects first."""
        named = [parameters(term) for term in self.whole.terms]
        used = self._used
        single = [said for p in used if (said := self._single(p))]
        both = [
            said
            for first, other in itertools.combinations(used, 2)
            if {first.name, other.name} in named and (said := self._pair(first, other))
        ]
        both = sorted(both, key=lambda said: -said.size)[:_PAIRS]
        kept = sorted(single, key=lambda said: -said.size)[: _MOST_WORDS - len(both)]
        turned = {name for said in both if said.turns for name in said.names}
        means = ["on average " if turned.intersection(said.names) else "" for said in kept]
        mains = (mean + said.text for mean, said in zip(means, kept, strict=True))
        return (*mains, *(said.text for said in both))

    @property
    def _used(self) -> list[Parameter]:
        names = {name for term in self.whole.terms for name in parameters(term)}
        return [p for p in self.table.parameters if p.name in names]

    def _measured(self, parameter: Parameter, where: tuple[str, Value] | None = None) -> GroupMeans:
        used = [p.name for p in self._used]
        return GroupMeans.of(self.table, parameter.name, used, where, self._level)

    @property
    def _level(self) -> float:
        """The probability of the interval of one parameter or pair: the model chose among all."""
        count = len(self.table.parameters)
        return 1 - (1 - LEVEL) / (count * (count + 1) / 2)

    def _single(self, parameter: Parameter) -> "_EffectSentence | None":
        values, measured = _values(self.table, parameter), self._measured(parameter)
        effects = self._effects([{parameter.name: value} for value in values])
        option = _option(values)
        if option or (parameter.numeric and len(values) > 2):
            change = measured.change(values[0], values[-1])
            size = _agreed(effects[:, -1] - effects[:, 0], change, self._level)
            if size is None:
                return None
            name = parameter.name
            text = (
                f"{name} = 1: {change_words.change(size, self.goal)}"
                if option
                else change_words.trend(name, values, size, self.goal)
            )
            text += self._together(name, [(values[0], values[-1])])
            return _EffectSentence(abs(size), (name,), text)
        return self._ordered(parameter, dict(zip(values, effects.T, strict=True)), measured)

    def _ordered(
        self, parameter: Parameter, effects: dict[Value, Floats], measured: GroupMeans
    ) -> "_EffectSentence | None":
        """A sentence on a categorical parameter: how much slower than the fastest its values
        are.
        """
        first = measured.fastest()
        behind: dict[Value, float] = {}
        alike: list[str] = []
        sure = True
        for value, effect in effects.items():
            if value == first:
                continue
            change = measured.change(first, value)
            size = _agreed(effect - effects[first], change, self._level)
            credible = change is not None and change.clear and change.mean > _WORTH
            sure = sure and credible and size is not None
            if size is not None and size > 0:
                behind[value] = size
            elif not credible:
                alike.append(change_words.shown(value))
        if not behind:
            return None
        slower: dict[str, list[str]] = {}
        for value in sorted(behind, key=lambda v: behind[v]):
            slower.setdefault(change_words.change(behind[value], self.goal), []).append(
                change_words.shown(value)
            )
        name, size = parameter.name, max(behind.values())
        together = self._together(name, [(first, value) for value in behind])
        best = "fastest" if self.goal.timed else "best"
        if sure:
            return _EffectSentence(
                size,
                (name,),
                f"{name} = {change_words.shown(first)} is {best};"
                f" {change_words.listed(slower, self.goal)}{together}",
            )
        others = change_words.listed(slower, self.goal) + together
        text = f"{name}: compared with {change_words.shown(first)}, {others}"
        if alike:
            verb = "is" if len(alike) == 1 else "are"
            text += f"; {change_words.few(alike, 'and')} {verb} not told apart"
        return _EffectSentence(size, (name,), text)

    def _together(self, name: str, changes: Sequence[tuple[Value, Value]]) -> str:
        """What else may cause changes of a parameter between two values; empty for nothing."""
        causes = {c for start, to in changes for c in confounded(self.table, name, start, to)}
        if not causes:
            return ""
        listed = change_words.few([n for n in self.table.inputs.names if n in causes], "and")
        return f" (not told apart from {listed}: changed together)"

    def _pair(self, left: Parameter, other: Parameter) -> "_EffectSentence | None":
        """A sentence on two parameters: how one's effect depends on the value of the other.

        It names the change and the two values of the other parameter between which that effect
        differs most.
        """
        if other.numeric and not left.numeric:
            left, other = other, left
        first, second = (_some(_values(self.table, p), p.numeric) for p in (left, other))
        settings = [{left.name: a, other.name: b} for a in first for b in second]
        effects = self._effects(settings).reshape(-1, len(first), len(second))
        present = self._present((left, first), (other, second))
        to, start, slow, fast = _most_apart(effects[0], present, left.numeric)
        if _option(first):
            start, to = 0, 1
        change = effects[:, to, :] - effects[:, start, :]
        if _clear(change[:, slow] - change[:, fast], _APART, LEVEL) is None:
            return None
        agreed = []
        for place in (slow, fast):
            times = self._measured(left, (other.name, second[place]))
            agreed.append(_same(float(change[0, place]), times.change(first[start], first[to])))
        pairs = [pair for pair in agreed if pair is not None]
        if len(pairs) < 2 or not _differ(*pairs):
            return None
        (here, _), (there, _) = pairs
        phrases = [
            f"{change_words.change(size, self.goal)}"
            f" where {other.name} = {change_words.shown(second[place])}"
            for size, place in ((here, slow), (there, fast))
        ]
        old, new = change_words.shown(first[start]), change_words.shown(first[to])
        moved = f"{left.name} from {old} to {new}"
        text = f"{f'{left.name} = 1' if _option(first) else moved}: {phrases[0]}, {phrases[1]}"
        return _EffectSentence(abs(here - there), (left.name, other.name), text, here * there < 0)

    def _present(
        self, left: tuple[Parameter, list[Value]], other: tuple[Parameter, list[Value]]
    ) -> NDArray[np.bool_]:
        """(values of one, values of the other) which combinations were measured."""
        places = [self.table.inputs.place(parameter.name) for parameter, _ in (left, other)]
        combinations = {tuple(row[place] for place in places) for row in self.table.inputs.rows}
        return np.array([[(a, b) in combinations for b in other[1]] for a in left[1]])

    def _effects(self, settings: list[dict[str, Value]]) -> Floats:
        """(1 + folds, settings) mean log2 time of all candidates with some parameters set.

        The first row is that of the model of all candidates.
        """
        rows: list[tuple[Value, ...]] = []
        for setting in settings:
            rows += [
                tuple(setting.get(n, v) for n, v in zip(self.inputs.names, row, strict=True))
                for row in self.inputs.rows
            ]
        inputs = ParameterRows(parameters=self.inputs.parameters, rows=tuple(rows))
        logarithms = [np.log2(model.predict(inputs)) for model in (self.whole, *self.parts)]
        return np.array(
            [predicted.reshape(len(settings), -1).mean(axis=1) for predicted in logarithms]
        )


def _clear(effects: Floats, worth: float, level: float) -> float | None:
    """The size of an effect in the whole model; None if it may be chance, by an interval of a
    ``level``, or is below ``worth``.

    ``effects``: first in the whole model, then in each of the models without one fold.
    """
    size, parts = abs(float(effects[0])), effects[1:]
    error = np.sqrt((len(parts) - 1) / len(parts) * ((parts - effects[0]) ** 2).sum())
    half = student(len(parts) - 1, level) * float(error)
    return size if size > max(worth, half) else None


def _most_apart(
    effects: Floats, present: NDArray[np.bool_], ends: bool
) -> tuple[int, int, int, int]:
    """Indices of the change whose size differs most between two values of another parameter.

    Given as (to, from, one value of the other, its second value). Only measured combinations count.
    ``ends``: only changes from the smallest to the largest value.
    """
    changes = effects[:, None, :] - effects[None, :, :]
    shared = present[:, None, :] & present[None, :, :]
    apart = np.abs(changes[:, :, :, None] - changes[:, :, None, :])
    apart *= shared[:, :, :, None] & shared[:, :, None, :]
    if ends:
        apart[:-1] = 0.0
        apart[:, 1:] = 0.0
    to, start, slow, fast = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return int(to), int(start), int(slow), int(fast)


# --- what the measured times say of it ------------------------------------------------------


def _agreed(effects: Floats, measured: GroupDifference | None, level: float) -> float | None:
    """The change on which model and measured times agree; None if they contradict each other.

    None also if the change may be chance by both. ``effects``: the whole model first.
    """
    effect = float(effects[0])
    if measured is None or effect * measured.mean <= 0:
        return None
    if min(abs(effect), abs(measured.mean)) <= _WORTH:
        return None
    if _clear(effects, _WORTH, level) is None and not measured.clear:
        return None
    if measured.holds(effect):
        return effect
    return measured.mean if measured.balanced else None


def _same(effect: float, measured: GroupDifference | None) -> tuple[float, GroupDifference] | None:
    """The change that model and times agree on, possibly zero, with the measured one.

    None if they contradict each other.
    """
    if measured is None:
        return None
    if effect * measured.mean <= 0 and max(abs(effect), abs(measured.mean)) > _WORTH:
        return None
    return (effect if measured.holds(effect) else measured.mean), measured


def _differ(effect: tuple[float, GroupDifference], other: tuple[float, GroupDifference]) -> bool:
    """Whether two changes differ in the same direction as the measured ones, beyond chance."""
    predicted, measured = effect[0] - other[0], effect[1].mean - other[1].mean
    chance = math.hypot(effect[1].half, other[1].half)
    return predicted * measured > 0 and abs(predicted) > _APART and abs(measured) > chance


# --- values ------------------------------------------------------------------------------


def _values(table: MeasurementTable, parameter: Parameter) -> list[Value]:
    """The values of a parameter that occur, numbers in ascending order."""
    place = table.inputs.place(parameter.name)
    values = {row[place] for row in table.inputs.rows}
    return sorted(values, key=lambda v: (float(v), "") if isinstance(v, int | float) else (0.0, v))


def _some(values: list[Value], numeric: bool) -> list[Value]:
    """The values, of many numbers a few from the smallest to the largest."""
    if not numeric or len(values) <= _FEW_VALUES:
        return values
    places = np.linspace(0, len(values) - 1, _FEW_VALUES).round().astype(int)
    return [values[place] for place in places.tolist()]


def _option(values: list[Value]) -> bool:
    """Whether the values are off and on; such a parameter is treated as a category."""
    return values == ["0", "1"]


# --- what it learns from --------------------------------------------------------------------


def settings_table(rows: Sequence[EvaluatedCandidate], label: str) -> MeasurementTable:
    """Measured candidates as a table of their settings and times, for a model to learn from.

    InputError where they are all alike.
    """
    settings = [varied(row.candidate) for row in rows]
    names = list(dict.fromkeys(name for values in settings for name in values))
    options = {n for n in names if all(values.get(n) in (0, 1) for values in settings)}
    records = [
        Record(
            place=row.candidate.id,
            settings={n: _setting(values.get(n), n in options) for n in names},
            times=(float(row.measured or 0.0),),
        )
        for row, values in zip(rows, settings, strict=True)
    ]
    heading = Heading(name=label, where=label, source=label, unit="s")
    return assemble(records, heading)


def _setting(value: Value | None, option: bool) -> Value:
    """A value for the model: off or on as the text 0 or 1, a missing value as ``none``."""
    if value is None:
        return "none"
    return str(int(value)) if option else value


def _middle(table: MeasurementTable) -> Floats:
    """(n,) the geometric mean of the other rows' responses, as a constant prediction."""
    logs = np.log(table.response)
    others: Floats = np.exp((logs.sum() - logs) / (len(logs) - 1))
    return others


def _errors(predicted: Floats, response: Floats) -> Floats:
    """(n,) relative errors; a missing prediction counts as an error of 100 %."""
    off = np.abs(predicted / response - 1.0)
    return np.where(np.isfinite(off), off, 1.0)


def _better(predicted: Floats, same: Floats, response: Floats) -> bool:
    """Whether the errors are smaller than those of a constant time by more than chance."""
    gained = _errors(same, response) - _errors(predicted, response)
    error = float(gained.std(ddof=1)) / math.sqrt(len(gained))
    return float(gained.mean()) > _NORMAL * error
