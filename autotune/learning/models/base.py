"""The interfaces of every learned model: fit a table, forecast with an interval, explain itself.

A *model* is fitted and then forecasts with an interval. A *regressor* is simpler: it predicts one
number for each row, without an interval; ``conformal.Conformal(regressor)`` makes a model of it.
``autotune.learning.models.catalogue.MODELS`` holds all models by name.

    Regressor.train(table) -> Predictor      one number for each row
    Model.fit(table)       -> Fitted         a median and an interval for each row
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.units import Unbounded

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowForecast:
    """The forecast of one row, in the unit of the response."""

    median: Unbounded
    """Not a number where nothing can be said."""
    low: Unbounded
    high: Unbounded
    outside: bool
    """The row lies outside the training box, so that the interval is not warranted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """The forecast of rows that a model has not seen, (n,) each, in the unit of the response.

    ``low`` and ``high`` bound an interval that holds the response with at least the requested
    level, if the rows are drawn like the training rows. After too few training rows they are 0 and
    inf. ``outside``: the row lies outside the training box, so that the level of the interval is
    not warranted. ``median`` is nan where the model has no prediction. ``notes`` describe what was
    not seen in training.
    """

    median: Floats
    low: Floats
    high: Floats
    outside: Bools
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shapes = {self.median.shape, self.low.shape, self.high.shape, self.outside.shape}
        if len(shapes) != 1 or self.median.ndim != 1:
            raise ValueError("median, low, high and outside must have one entry for each row")
        if (self.low > self.median).any() or (self.median > self.high).any():
            raise ValueError("the median of a forecast must lie within its interval")

    def __len__(self) -> int:
        return len(self.median)

    @property
    def rows(self) -> tuple[RowForecast, ...]:
        """The forecast of each row, (n,)."""
        return tuple(
            RowForecast(
                median=float(self.median[i]),
                low=float(self.low[i]),
                high=float(self.high[i]),
                outside=bool(self.outside[i]),
            )
            for i in range(len(self))
        )

    @property
    def half_width(self) -> Floats:
        """Half of the width of the interval over the median, (n,); inf where the interval is
        infinite.
        """
        with np.errstate(over="ignore"):
            width: Floats = (self.high / self.median - self.low / self.median) / 2
        return width


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTerm:
    """One readable part of a fitted model.

    ``influence``: the share, in [0, 1], of the variation of the response over the training rows
    that is due to the term (of the logarithm of the response where the model works on it).
    ``coefficient`` is nan where the model has none, as with trees.
    """

    text: str
    coefficient: Unbounded
    influence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a model predicts what it predicts: ``terms``, the largest influence first, and ``notes``.

    The notes say how the data were treated and what was left out, such as terms that cannot be told
    apart.
    """

    terms: tuple[ModelTerm, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, terms: Sequence[ModelTerm], notes: Sequence[str] = ()) -> "Explanation":
        """The terms sorted by influence, the strongest first."""
        ordered = sorted(terms, key=lambda term: (-term.influence, term.text))
        return cls(terms=tuple(ordered), notes=tuple(notes))


class Predictor(Protocol):
    """A regressor after training: it predicts rows and explains itself."""

    @property
    def formula(self) -> str | None:
        """The model as one line of arithmetic, in units of the table; None if there is none."""
        ...

    def predict(self, inputs: ParameterRows) -> Floats:
        """The response of each row, (n,); nan where the predictor has no prediction.

        Never raises for values outside the training box or for unseen categories.
        """
        ...

    def explain(self) -> Explanation:
        """The terms of the model with their influence, the strongest first."""
        ...


class Regressor(Protocol):
    """Predicts one number for each row. Equal tables and seeds give equal predictors."""

    @property
    def name(self) -> str: ...

    @property
    def extrapolates(self) -> bool:
        """Whether the regressor may predict rows outside the training box."""
        ...

    def train(self, table: MeasurementTable, seed: int = 0) -> Predictor:
        """Train on a table; InputError where the table has nothing to learn from."""
        ...


@runtime_checkable
class Continuing(Protocol):
    """A regressor that trains faster when it was trained on nearly the same rows before."""

    def resume(self, table: MeasurementTable, seed: int, previous: Predictor) -> Predictor:
        """Train as ``train`` does, starting from a previous predictor."""
        ...


class Fitted(Protocol):
    """A model after training, with its errors on held-out rows."""

    @property
    def formula(self) -> str | None:
        """The model as one line of arithmetic; None if there is none."""
        ...

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:
        """The median and the interval of this level for each row."""
        ...

    def explain(self) -> Explanation:
        """The terms of the model with their influence, the strongest first."""
        ...


class LearnedModel(Protocol):
    """Learns a response from a table. Equal tables and seeds give equal forecasts."""

    @property
    def name(self) -> str: ...

    @property
    def extrapolates(self) -> bool:
        """Whether the model may forecast rows outside the training box."""
        ...

    def fit(self, table: MeasurementTable, seed: int = 0) -> Fitted:
        """Fit to a table; InputError where the table has nothing to learn from."""
        ...


def resume(
    regressor: Regressor, table: MeasurementTable, seed: int, previous: Predictor | None
) -> Predictor:
    """Train a regressor, starting from the previous predictor where there is one and the regressor
    supports that.
    """
    if previous is not None and isinstance(regressor, Continuing):
        return regressor.resume(table, seed, previous)
    return regressor.train(table, seed)
