"""What every learned model keeps to, whatever its algorithm; each one inherits the suite.

The table is planted: seconds that are a product of powers and of factors of the categories, times a
little noise, with an analytical model beside it that is off by a factor and by a wave.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from autotune.domain.tables.table import (
    MeasurementTable,
    Parameter,
    ParameterRows,
    Value,
    categorical,
    numeric,
)
from autotune.errors import InputError
from autotune.learning.models.base import Fitted, Forecast, LearnedModel

SIZES, THREADS, ORDERS = (64, 128, 256, 512), (1, 2, 4), ("jil", "jli", "lij")
PARAMETERS = (numeric("n", SIZES), numeric("threads", THREADS), categorical("order", ORDERS))
Row = tuple[Value, ...]


def seconds(row: Row) -> float:
    """The planted law."""
    n, threads, order = row[:3]
    factor = {"jil": 1.0, "jli": 1.3, "lij": 0.8}.get(str(order), 1.0)
    return 1e-6 * float(n) ** 1.1 * float(threads) ** -0.8 * factor


def inputs(rows: tuple[Row, ...], parameters: tuple[Parameter, ...] = PARAMETERS) -> ParameterRows:
    """Rows with what the analytical model says of them."""
    guess = [0.5 * seconds(row) * math.exp(0.1 * math.sin(float(row[0]))) for row in rows]
    return ParameterRows(parameters=parameters, rows=rows, analytical=np.array(guess))


def draw(count: int, seed: int) -> tuple[Row, ...]:
    """Random rows of the planted space, repeated or not."""
    chance = np.random.default_rng(seed)
    return tuple(
        tuple(column[int(chance.integers(len(column)))] for column in (SIZES, THREADS, ORDERS))
        for _ in range(count)
    )


def planted(
    count: int, seed: int = 0, parameters: tuple[Parameter, ...] = PARAMETERS
) -> MeasurementTable:
    """A table of the planted law with 2 % noise."""
    rows = draw(count, seed)
    noise = np.random.default_rng([seed, 1]).normal(0, 0.02, count)
    times = np.array([seconds(row) for row in rows]) * np.exp(noise)
    return MeasurementTable(name="planted", inputs=inputs(rows, parameters), response=times)


_FITTED: dict[tuple[type, int], Fitted] = {}
"""Fitted once for all tests of a suite."""


class ModelConformance:
    """Inherit, and say how a model is made."""

    needs_analytical = False
    accuracy = 0.25
    """Median of |predicted / true - 1| on fresh rows that is reached with 40 rows."""

    def model(self) -> LearnedModel:
        raise NotImplementedError

    def table(self, count: int, seed: int = 0) -> MeasurementTable:
        """What it learns from; override for a model of fewer parameters."""
        return planted(count, seed)

    def fitted(self, count: int) -> Fitted:
        key = (type(self), count)
        if key not in _FITTED:
            _FITTED[key] = self.model().fit(self.table(count), seed=1)
        return _FITTED[key]

    def forecast(self, count: int = 40, level: float = 0.9) -> Forecast:
        return self.fitted(count).predict(self.table(25, 7).inputs, level)

    def test_it_learns_the_planted_law(self) -> None:
        table = self.table(25, 7)
        deviation = np.abs(self.forecast().median / table.response - 1)
        assert np.nanmedian(deviation) < self.accuracy

    def test_equal_tables_and_seeds_give_equal_forecasts(self) -> None:
        again = self.model().fit(self.table(40), seed=1).predict(self.table(25, 7).inputs)
        assert again.median.tolist() == self.forecast().median.tolist()
        assert again.high.tolist() == self.forecast().high.tolist()

    def test_a_common_factor_of_the_response_is_one_of_the_forecast(self) -> None:
        table = self.table(40)
        scaled = replace(table, response=8 * table.response, repetitions=())
        found = self.model().fit(scaled, seed=1).predict(self.table(25, 7).inputs)
        deviation = np.abs(found.median / (8 * self.forecast().median) - 1)
        assert np.nanmedian(deviation) < 0.01  # equal splits of a tree may go another way

    def test_the_interval_grows_with_its_level(self) -> None:
        wide, narrow = self.forecast(level=0.9), self.forecast(level=0.5)
        assert (wide.low <= narrow.low).all()
        assert (narrow.high <= wide.high).all()

    def test_few_rows_have_an_infinite_interval(self) -> None:
        found = self.forecast(8, 0.9)
        assert np.isinf(found.high).all()
        assert (found.low == 0).all()
        assert not np.isnan(found.median).all()

    @pytest.mark.parametrize("level", [0.0, 1.0, -0.5])
    def test_a_level_is_a_share(self, level: float) -> None:
        with pytest.raises(InputError, match="between 0 and 1"):
            self.forecast(level=level)

    def test_rows_outside_the_training_box_are_flagged(self) -> None:
        table = self.table(40)
        inside = table.inputs.rows[0]
        beyond = inputs((inside, (4096, *inside[1:])), table.parameters)
        found = self.fitted(40).predict(beyond)
        assert found.outside.tolist() == [False, True]
        assert any(note.startswith("n was 64 to 512") for note in found.notes)
        if not self.model().extrapolates:
            assert np.isinf(found.high).tolist() == [False, True]

    def test_an_unseen_category_is_stated(self) -> None:
        table = self.table(40)
        texts = [p.name for p in table.parameters if not p.numeric]
        if not texts:
            return
        place = table.inputs.place(texts[0])
        row = tuple("new" if i == place else v for i, v in enumerate(table.inputs.rows[0]))
        found = self.fitted(40).predict(inputs((row,), table.parameters))
        assert found.outside.tolist() == [True]
        assert f"{texts[0]} = new was not seen in training (1 rows)" in found.notes

    def test_a_constant_parameter_changes_nothing(self) -> None:
        table = self.table(40)
        wider = _widened(table, numeric("constant", [3]), lambda _: 3)
        asked = _widened(self.table(25, 7), numeric("constant", [3]), lambda _: 3)
        found = self.model().fit(wider, seed=1).predict(asked.inputs)
        assert found.median == pytest.approx(self.forecast().median, rel=1e-6, nan_ok=True)

    def test_a_parameter_twice_does_no_harm(self) -> None:
        twice = numeric("twice", [2 * n for n in SIZES])
        table = _widened(self.table(40), twice, lambda row: 2 * row[0])
        asked = _widened(self.table(25, 7), twice, lambda row: 2 * row[0])
        found = self.model().fit(table, seed=1).predict(asked.inputs)
        deviation = np.abs(found.median / asked.response - 1)
        assert np.nanmedian(deviation) < self.accuracy

    def test_fewer_rows_than_terms_are_no_failure(self) -> None:
        found = self.forecast(4)
        assert (found.median[~np.isnan(found.median)] > 0).all()

    def test_one_row_is_refused_or_answered_without_warrant(self) -> None:
        try:
            fitted = self.model().fit(self.table(1), seed=1)
        except InputError:
            return
        assert np.isinf(fitted.predict(self.table(5, 7).inputs).high).all()

    def test_the_explanation_is_in_order_of_influence(self) -> None:
        explanation = self.fitted(40).explain()
        influences = [term.influence for term in explanation.terms]
        assert influences == sorted(influences, reverse=True)
        assert all(0 <= influence <= 1 + 1e-9 for influence in influences)
        assert explanation.terms[0].text

    def test_without_an_analytical_model(self) -> None:
        table = self.table(40)
        bare = replace(table, inputs=replace(table.inputs, analytical=None))
        if self.needs_analytical:
            with pytest.raises(InputError, match="analytical"):
                self.model().fit(bare)
        else:
            found = self.model().fit(bare, seed=1).predict(bare.inputs)
            assert np.isfinite(found.median).all()

    def test_where_the_analytical_model_is_silent(self) -> None:
        table = self.table(40)
        guess = table.inputs.analytical
        assert guess is not None
        gaps = np.where(np.arange(40) % 4 == 0, np.nan, guess)
        gapped = replace(table, inputs=replace(table.inputs, analytical=gaps))
        median = self.model().fit(gapped, seed=1).predict(gapped.inputs).median
        assert (
            np.isnan(median).tolist()
            == (np.isnan(gaps) if self.needs_analytical else np.zeros(40, bool)).tolist()
        )


def _widened(table: MeasurementTable, parameter: Parameter, value) -> MeasurementTable:
    rows = tuple((*row, value(row)) for row in table.inputs.rows)
    wider = replace(table.inputs, parameters=(*table.parameters, parameter), rows=rows)
    return replace(table, inputs=wider)
