"""The pool of learned models as the explanation of prediction errors.

The pool is trained on the reported candidates: on their parameters, with the prediction as the
analytical model, so that hybrids may scale, correct or ignore it. What a prior expects is a further
parameter. The pool is trained again when the surface asks for it and the number of observations has
grown by a quarter. In between, a new observation affects only its own candidate. For a candidate
with time y (variance v) for which the pool expects m (variance s^2), the mean is (m/s^2 + y/v) /
(1/s^2 + 1/v).

The variance s^2 is that of the pool's held-out errors (its 68 % interval) plus the variance among
its members: where they disagree, nothing was measured nearby.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value, categorical, is_number, numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.models.base import Fitted
from autotune.learning.models.conformal import Calibrated
from autotune.learning.models.pool import Pool, PoolPredictor
from autotune.tuning.search.gaussian_process import Observations
from autotune.tuning.search.points import Floats, Indices, Points, Setting

_LEAST = 5
"""So many observations are needed before anything is learned."""
_LEVEL = 0.68
"""The interval whose half-width is one standard deviation."""
_UNSURE = 0.5
"""Standard deviation of log(measured / predicted) where nothing was learned."""
_NOISE = 0.02
"""Of a time beside what is stated."""
_FARTHEST = 3.0
"""The largest |log(measured / predicted)| that is believed."""
_ELSEWHERE = "measured"
"""The parameter that says where a time is of: ``here`` or ``elsewhere``."""
_PRIOR = "prior"
"""The parameter that says how much slower than others a prior expects a candidate to be."""
_AFRESH = 1.25
"""Growth of the observations after which the pool learns again: it takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """The candidates as rows of a table; parameters with a single value are left out.

    ``base``: (n,) log seconds, the reference of the residuals. ``predicted``: (n,) log seconds, nan
    where the engine has no prediction.
    """

    parameters: tuple[Parameter, ...]
    rows: tuple[tuple[Value, ...], ...]
    base: Floats
    predicted: Floats

    @classmethod
    def of(cls, points: Points, base: Floats, prior: Floats | None = None) -> "Candidates":
        """The candidates from points; a parameter is numeric if all its values are numbers.

        Others are categorical. ``prior``: (n,) log times that a prior expects, centred; see
        ``residual_basis.centred``.
        """
        names, columns = list(points.names), list(zip(*points.rows, strict=True))
        if prior is not None:
            names.append(_PRIOR)
            columns.append(tuple(np.exp(prior).tolist()))
        parameters = [_parameter(n, c) for n, c in zip(names, columns, strict=True)]
        kept = [place for place, parameter in enumerate(parameters) if not parameter.constant]
        values = [[plain(v, parameters[p]) for v in columns[p]] for p in kept]
        rows = tuple(zip(*values, strict=True)) if values else ((),) * len(points)
        return cls(
            parameters=tuple(parameters[place] for place in kept),
            rows=rows,
            base=base,
            predicted=np.log(points.predicted),
        )

    def inputs(self, rows: Indices, foreign: Floats | None) -> ParameterRows:
        """Rows for training or prediction.

        ``foreign``: (len(rows),) whether a row is from another machine; None if all observations
        are from this one.
        """
        chosen = [self.rows[row] for row in rows.tolist()]
        parameters = self.parameters
        if foreign is not None:
            parameters = (*parameters, categorical(_ELSEWHERE, ["elsewhere", "here"]))
            places = ["elsewhere" if far else "here" for far in foreign.tolist()]
            chosen = [(*values, place) for values, place in zip(chosen, places, strict=True)]
        predicted = self.predicted[rows]
        analytical = None if np.isnan(self.predicted).all() else np.exp(predicted)
        return ParameterRows(parameters=parameters, rows=tuple(chosen), analytical=analytical)


class PoolResidual:
    """The pool as a residual explainer at ``columns``, the candidates that may be suggested."""

    def __init__(self, candidates: Candidates, columns: Indices, seed: int) -> None:
        self._candidates = candidates
        self._columns = columns
        self._seed = seed
        self._place = np.full(len(candidates.rows), -1, dtype=np.intp)
        self._place[columns] = np.arange(len(columns))
        self._observed: Observations | None = None
        self._expected: Floats = np.zeros(len(columns))
        self._variance: Floats = np.full(len(columns), _UNSURE**2)
        self._learned = 0

    def fit(self, observed: Observations, iterations: int) -> None:  # noqa: ARG002
        """Train the pool again; with few or equal observations it has no prediction yet."""
        self._observed = observed
        if len(observed) < _AFRESH * self._learned:
            return
        try:
            self._learn(observed)
        except InputError:
            return
        self._learned = len(observed)

    def rebuild(self, observed: Observations) -> None:
        """Use all observations at once, with the pool as it was trained before."""
        self._observed = observed

    def append(self, observed: Observations) -> bool:
        """Use the last of the observations, with the pool as it was trained before."""
        self._observed = observed
        return True

    def mean(self, values: Floats) -> Floats:
        """(m,) posterior mean at the columns if the observations have these values, (n,)."""
        expected, variance = self._expected.copy(), self._variance
        places, noise = self._measured()
        share = variance[places] / (variance[places] + noise)
        expected[places] += share * (values[self._from_here()] - expected[places])
        return expected

    def sd(self, running: Indices) -> Floats:
        """(m,) posterior standard deviation; ``running`` rows count as measured at their mean."""
        variance = self._variance.copy()
        places, noise = self._measured()
        variance[places] *= noise / (variance[places] + noise)
        places = self._place[running]
        variance[places] = np.minimum(variance[places], _NOISE**2)
        return np.sqrt(variance)

    # --- learning ---------------------------------------------------------------------------

    def _learn(self, observed: Observations) -> None:
        if len(observed) < _LEAST:
            return
        rows = observed.rows[observed.foreign == 0]
        kept = (observed.foreign == 0) | ~np.isin(observed.rows, rows)
        part = observed.pick(np.flatnonzero(kept))
        foreign = bool(part.foreign.any()) and len(rows) > 0
        base = self._candidates.base
        table = MeasurementTable(
            name="told",
            inputs=self._candidates.inputs(part.rows, part.foreign if foreign else None),
            response=np.exp(base[part.rows] + np.clip(part.values, -_FARTHEST, _FARTHEST)),
            unit="s",
            source="the candidates measured so far",
            statistic="as given",
        )
        here = np.zeros(len(self._columns)) if foreign else None
        inputs = self._candidates.inputs(self._columns, here)
        self._take(Pool().fit(table, self._seed), inputs)

    def _take(self, fitted: Calibrated, inputs: ParameterRows) -> None:
        base = self._candidates.base[self._columns]
        said, variance = forecast(fitted, inputs)
        left = np.clip(said - base, -_FARTHEST, _FARTHEST)
        self._expected = np.where(np.isnan(left), 0.0, left)
        self._variance = np.where(np.isnan(left), _UNSURE**2, variance)

    # --- what was measured ------------------------------------------------------------------

    def _from_here(self) -> Indices:
        """The indices of the observations from this machine whose candidate is a column."""
        if self._observed is None:
            return np.empty(0, dtype=np.intp)
        here = (self._observed.foreign == 0) & (self._place[self._observed.rows] >= 0)
        return np.flatnonzero(here)

    def _measured(self) -> tuple[Indices, Floats]:
        """The columns with an observation from this machine, and the variances of their times."""
        rows = self._from_here()
        if self._observed is None:
            return rows, np.empty(0)
        return self._place[self._observed.rows[rows]], self._observed.noise[rows] + _NOISE**2


def forecast(fitted: Fitted, inputs: ParameterRows) -> tuple[Floats, Floats]:
    """(n,) logarithm of the time that a pool expects, and its variance; nan without a prediction.

    The variance is that of its held-out errors plus that among its members.
    """
    predicted = fitted.predict(inputs, _LEVEL)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(predicted.median)
        half = np.minimum(np.log(predicted.high / predicted.median), _UNSURE)
    half = np.where(np.isnan(half), _UNSURE, half)
    spread = np.zeros(len(inputs))
    predictor = fitted.predictor if isinstance(fitted, Calibrated) else None
    if isinstance(predictor, PoolPredictor):
        spread = _disagreement(predictor, inputs, middle)
    return middle, np.maximum(half**2 + spread, _NOISE**2)


def _disagreement(pool: PoolPredictor, inputs: ParameterRows, middle: Floats) -> Floats:
    """(n,) the weighted variance of the members' log predictions around the pool's."""
    weights = pool.weights()
    total = np.zeros(len(inputs))
    for member in pool.members:
        weight = weights[member.name]
        if weight < 0.01:  # it would cost time and change nothing
            continue
        said = member.predictor.predict(inputs)
        usable = (said > 0) & np.isfinite(said) & np.isfinite(middle)
        off = np.log(np.where(usable, said, 1.0)) - np.where(usable, middle, 0.0)
        total += np.where(usable, weight * np.clip(off, -_UNSURE, _UNSURE) ** 2, 0.0)
    return total


def _parameter(name: str, column: Sequence[Setting]) -> Parameter:
    numbers = [_number(value) for value in column]
    present = [number for number in numbers if number is not None]
    if len(present) == len(numbers):
        return numeric(name, present)
    return categorical(name, [_text(value) for value in column])


def plain(value: Setting, parameter: Parameter) -> Value:
    """A value as tables of learned models hold it; ValueError for a text among numbers."""
    if not parameter.numeric:
        return _text(value)
    number = _number(value)
    if number is None:
        raise ValueError(f"{parameter.name} is a number, not {value!r}")
    return number


def _number(value: Setting) -> int | float | None:
    if isinstance(value, bool):
        return int(value)
    if not is_number(value):
        return None
    return int(value) if float(value).is_integer() else value


def _text(value: Setting) -> str:
    if value is None:
        return "none"
    number = _number(value)
    return str(value) if number is None else str(number)
