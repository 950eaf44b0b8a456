"""What makes candidates fast, in words: a performance-influence model of those that were measured.

The model has a factor for each value, for each doubling of a number, and for pairs of these. What
is said of a parameter is what the model makes of all the candidates when it alone is changed
(partial dependence, Friedman 2001), as a geometric mean; of a pair of parameters, by how much more
one of them changes the time at one value of the other than at another.

Its error is that on candidates it had not seen (five folds). Where that is not clearly smaller than
the error of saying the same time of all, nothing is said. An effect is said where it is more than
chance with 99 %, by how it changes as each fold is left out (delete-a-group jackknife, Kott 2001);
values that are not clearly slower than the fastest are named with it.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from autotune.errors import InputError
from autotune.evaluate import ProblemResult, Row, varied
from autotune.learn.base import Floats
from autotune.learn.cleaning import Heading, Record, assemble
from autotune.learn.conformal import FOLDS, folds
from autotune.learn.influence import Influence, InfluencePredictor
from autotune.learn.parameter import Parameter, Value
from autotune.learn.table import Inputs, Table
from autotune.learn.terms import parameters

LEAST = 12
"""Fewer compared candidates have no model."""
_MOST_WORDS = 8
_PAIRS = 3
_ROWS = 200
"""So many candidates are enough to average over."""
_STUDENT = 4.604
"""99.5 % quantile of Student's t of four degrees of freedom: five folds."""
_NORMAL = 1.645
"""95 % quantile of the normal distribution."""
_WORTH, _APART = float(np.log2(1.02)), float(np.log2(1.05))
"""Smaller effects are not worth a sentence, of a parameter and of a pair."""
_LISTED = 5
"""Of more values the first ones and the last are given."""


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
            f" the same time for all would be off by {100 * self.same:.2g} %. Given is what a"
            " parameter changes over all of them, as far as it is more than chance (99 %). Which"
            " candidates were measured is no designed experiment: parameters that were varied"
            " together share what they do."
        )


def influences(result: ProblemResult) -> Influences | None:
    """Of the compared candidates of a problem; None where they are too few or say nothing."""
    rows = [row for row in result.rows if row.compared and row.measured]
    if len(rows) < LEAST:
        return None
    try:
        table = _table(rows, result.label)
        found = _Fitted.of(table)
    except InputError:  # all alike
        return None
    if len(table) < LEAST or not _better(found.held_out, _middle(table), table.response):
        return None
    words = found.words()
    if not words:
        return None
    return Influences(
        words=words,
        formula=found.whole.formula,
        candidates=len(table),
        error=float(_errors(found.held_out, table.response).mean()),
        same=float(_errors(_middle(table), table.response).mean()),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence about one parameter or two; ``size``: of its effect, log2 of the time."""

    size: float
    names: tuple[str, ...]
    text: str
    turns: bool = False
    """What is faster at one value of the other parameter is slower at another."""


# --- the model ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """The model of all candidates, those of the folds, and what these said of what they lacked."""

    table: Table
    whole: InfluencePredictor
    parts: tuple[InfluencePredictor, ...]
    held_out: Floats
    asked: Inputs
    """The candidates that effects are averaged over."""

    @classmethod
    def of(cls, table: Table) -> "_Fitted":
        model = Influence(shapes=("log2",), degree=1)
        fold, held = folds(len(table), 0), np.full(len(table), np.nan)
        parts = []
        for number in range(FOLDS):
            own = fold == number
            parts.append(model.train(table.take(~own)))
            held[own] = parts[-1].predict(table.inputs.take(own))
        some = np.linspace(0, len(table) - 1, min(_ROWS, len(table))).astype(np.intp)
        return cls(
            table=table,
            whole=model.train(table),
            parts=tuple(parts),
            held_out=held,
            asked=table.inputs.take(some),
        )

    def words(self) -> tuple[str, ...]:
        """Of parameters, then of pairs of them, the largest effects first."""
        named = [parameters(term) for term in self.whole.terms]
        used = [p for p in self.table.parameters if any(p.name in names for names in named)]
        single = [said for p in used if (said := self._single(p))]
        both = [
            said
            for one, other in itertools.combinations(used, 2)
            if {one.name, other.name} in named and (said := self._pair(one, other))
        ]
        both = sorted(both, key=lambda said: -said.size)[:_PAIRS]
        kept = sorted(single, key=lambda said: -said.size)[: _MOST_WORDS - len(both)]
        turned = {name for said in both if said.turns for name in said.names}
        means = ["on average " if turned.intersection(said.names) else "" for said in kept]
        mains = (mean + said.text for mean, said in zip(means, kept, strict=True))
        return (*mains, *(said.text for said in both))

    def _single(self, parameter: Parameter) -> "_Said | None":
        values = _values(self.table, parameter)
        effects = self._effects([{parameter.name: value} for value in values])
        order = np.argsort(effects[0], kind="stable")
        behind = effects[:, order] - effects[:, order[:1]]
        size = _clear(behind[:, -1], _WORTH)
        if size is None:
            return None
        if parameter.numeric and len(values) > 2:
            change = float(effects[0, -1] - effects[0, 0])
            return _Said(size, (parameter.name,), _trend(parameter.name, values, change))
        first: list[str] = []
        slower: dict[str, list[str]] = {}
        for place, one in zip(order, behind.T, strict=True):
            clear = _clear(one, _WORTH)
            among = first if clear is None else slower.setdefault(_change(clear), [])
            among.append(_shown(values[place]))
        text = f"{parameter.name} = {_few(first, 'or')} is fastest; {_listed(slower)}"
        return _Said(size, (parameter.name,), text)

    def _pair(self, one: Parameter, other: Parameter) -> "_Said | None":
        """The change of one parameter that differs most between two values of the other."""
        if other.numeric and not one.numeric:
            one, other = other, one
        first, second = _values(self.table, one), _values(self.table, other)
        asked = [{one.name: a, other.name: b} for a in first for b in second]
        effects = self._effects(asked).reshape(-1, len(first), len(second))
        changes = effects[0][:, None, :] - effects[0][None, :, :]
        apart = changes[:, :, :, None] - changes[:, :, None, :]
        if one.numeric:  # from the smallest to the largest
            apart[:-1] = 0.0
            apart[:, 1:] = 0.0
        to, start, slow, fast = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
        change = effects[:, to, :] - effects[:, start, :]
        size = _clear(change[:, slow] - change[:, fast], _APART)
        if size is None:
            return None
        said = [
            f"{_change(float(change[0, k]))} where {other.name} = {_shown(second[k])}"
            for k in (slow, fast)
        ]
        moved = f"{one.name} from {_shown(first[start])} to {_shown(first[to])}"
        turns = float(change[0, slow]) * float(change[0, fast]) < 0
        return _Said(size, (one.name, other.name), f"{moved}: {said[0]}, {said[1]}", turns)

    def _effects(self, settings: list[dict[str, Value]]) -> Floats:
        """(1 + folds, settings) mean log2 of the time where some parameters are set alike."""
        rows: list[tuple[Value, ...]] = []
        for one in settings:
            rows += [
                tuple(one.get(n, v) for n, v in zip(self.asked.names, row, strict=True))
                for row in self.asked.rows
            ]
        inputs = Inputs(parameters=self.asked.parameters, rows=tuple(rows))
        said = [np.log2(model.predict(inputs)) for model in (self.whole, *self.parts)]
        return np.array([each.reshape(len(settings), -1).mean(axis=1) for each in said])


def _clear(effects: Floats, worth: float) -> float | None:
    """The size of an effect, that of the whole first; None where it is chance or below worth."""
    size, parts = abs(float(effects[0])), effects[1:]
    error = np.sqrt((len(parts) - 1) / len(parts) * ((parts - parts.mean()) ** 2).sum())
    return size if size > max(worth, _STUDENT * float(error)) else None


# --- words ----------------------------------------------------------------------------------


def _values(table: Table, parameter: Parameter) -> list[Value]:
    """What occurs, numbers in order."""
    place = table.inputs.place(parameter.name)
    found = {row[place] for row in table.inputs.rows}
    return sorted(found, key=lambda v: (float(v), "") if isinstance(v, int | float) else (0.0, v))


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _trend(name: str, values: list[Value], change: float) -> str:
    """Of a number, from the smallest to the largest and for each doubling."""
    low, high = float(values[0]), float(values[-1])
    text = f"{name} from {low:g} to {high:g}: {_change(change)}"
    return f"{text}, {_change(change / float(np.log2(high / low)))} a doubling" if low > 0 else text


def _change(change: float) -> str:
    """Of a change of the logarithm of the time, base 2.

    >>> _change(-1.0), _change(0.5), _change(1.5), _change(0.001)
    ('50 % less time', '41 % more time', '2.8 times the time', 'no change')
    """
    share = 2.0**change - 1
    if abs(share) < 0.005:
        return "no change"
    if share > 0.99:
        return f"{share + 1:.2g} times the time"
    return f"{100 * abs(share):.0f} % {'more' if share > 0 else 'less'} time"


def _listed(slower: dict[str, list[str]]) -> str:
    """Changes of the time, the smallest first, with the values that have them.

    >>> _listed({"4 % more time": ["8", "16"], "2.1 times the time": ["none"]})
    '8 and 16 take 4 % more time, none takes 2.1 times the time'
    """
    said = [
        f"{_few(names, 'and')} {'takes' if len(names) == 1 else 'take'} {change}"
        for change, names in slower.items()
    ]
    if len(said) > _LISTED:
        said = [*said[: _LISTED - 2], "...", said[-1]]
    return ", ".join(said)


def _few(texts: list[str], word: str) -> str:
    """Joined by commas, the last by the word; of many the first.

    >>> _few(["a", "b", "c"], "or"), _few(list("abcdefgh"), "or")
    ('a, b or c', 'a, b, c, d or 4 others')
    """
    if len(texts) > _LISTED:
        texts = [*texts[: _LISTED - 1], f"{len(texts) - _LISTED + 1} others"]
    if len(texts) == 1:
        return texts[0]
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


# --- what it learns from --------------------------------------------------------------------


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


def _errors(said: Floats, response: Floats) -> Floats:
    """(n,) relative errors; a row of which nothing was said counts as wrong by all of it."""
    off = np.abs(said / response - 1.0)
    return np.where(np.isfinite(off), off, 1.0)


def _better(said: Floats, same: Floats, response: Floats) -> bool:
    """Whether the errors are smaller by more than chance, row by row."""
    gained = _errors(same, response) - _errors(said, response)
    error = float(gained.std(ddof=1)) / math.sqrt(len(gained))
    return float(gained.mean()) > _NORMAL * error
