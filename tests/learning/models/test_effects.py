"""Total effects against functions whose effects are published or follow by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from autotune.domain.tables.parameter import interval
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Floats
from autotune.learning.models.effects import ANALYTICAL, total_effects

CHANCE = np.random.default_rng(17)


def table(columns: Floats, analytical: Floats | None = None) -> MeasurementTable:
    """A row for each row of numbers; nothing depends on the response."""
    low, high = float(columns.min()), float(columns.max())
    parameters = tuple(interval(f"x{k}", low, high) for k in range(columns.shape[1]))
    rows = tuple(tuple(row) for row in columns.tolist())
    inputs = ParameterRows(parameters=parameters, rows=rows, analytical=analytical)
    return MeasurementTable(name="made", inputs=inputs, response=np.ones(len(rows)))


def powers(law: Callable[[Floats], Floats]) -> Callable[[ParameterRows], Floats]:
    """A model whose log2 is the law of the columns."""
    return lambda inputs: np.exp2(law(np.array(inputs.rows, dtype=np.float64)))


def effects(law: Callable[[Floats], Floats], columns: Floats) -> dict[str, float]:
    terms = total_effects(powers(law), table(columns)).terms
    return {term.text: term.influence for term in terms}


def test_effects_of_a_sum_are_the_shares_of_the_variances() -> None:
    """2 x0 + x1 + 0 x2 of independent parameters alike: 4/5, 1/5, nothing."""
    shares = effects(lambda x: 2 * x[:, 0] + x[:, 1], CHANCE.uniform(-1, 1, (500, 3)))
    assert shares == {"x0": pytest.approx(0.8, abs=0.03), "x1": pytest.approx(0.2, abs=0.03)}


def test_effects_of_the_function_of_ishigami_are_the_published_ones() -> None:
    """sin x0 + 7 sin^2 x1 + 0.1 x2^4 sin x0: 0.558, 0.442, 0.244 (Ishigami and Homma 1990)."""

    def law(x: Floats) -> Floats:
        first = np.sin(x[:, 0])
        return np.asarray(first + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * first)

    shares = effects(law, CHANCE.uniform(-np.pi, np.pi, (500, 3)))
    published = np.array([0.5576, 0.4424, 0.2437])
    assert [shares[f"x{k}"] for k in range(3)] == pytest.approx(
        published / published.sum(), abs=0.06
    )


def test_what_a_parameter_does_together_with_another_is_its_effect_too() -> None:
    """Of x0 x1 alone neither has an effect by itself, and both have half of the total."""
    shares = effects(lambda x: x[:, 0] * x[:, 1], CHANCE.choice([-1.0, 1.0], (500, 2)))
    assert shares == {"x0": pytest.approx(0.5, abs=0.05), "x1": pytest.approx(0.5, abs=0.05)}


def test_shares_add_up_to_one_and_the_strongest_comes_first() -> None:
    explained = total_effects(
        powers(lambda x: x[:, 0] + 3 * x[:, 2] + x[:, 1] * x[:, 2]),
        table(CHANCE.uniform(0, 1, (200, 3))),
        notes=("a note",),
    )
    shares = [term.influence for term in explained.terms]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert all(np.isnan(term.coefficient) for term in explained.terms)
    assert explained.notes == ("a note",)


def test_the_analytical_model_is_one_more_parameter() -> None:
    columns = CHANCE.uniform(0, 1, (300, 1))
    guess = np.exp2(CHANCE.uniform(0, 2, 300))

    def predict(inputs: ParameterRows) -> Floats:
        assert inputs.analytical is not None
        return np.asarray(inputs.analytical * np.exp2(inputs.numbers("x0")))

    terms = total_effects(predict, table(columns, guess)).terms
    shares = {term.text: term.influence for term in terms}
    assert shares == {
        ANALYTICAL: pytest.approx(0.8, abs=0.04), "x0": pytest.approx(0.2, abs=0.04),
    }  # fmt: skip


def test_a_model_that_says_the_same_of_all_rows_has_no_terms() -> None:
    assert effects(lambda x: np.zeros(len(x)), CHANCE.uniform(0, 1, (20, 2))) == {}


def test_rows_of_which_nothing_positive_is_said_are_left_out() -> None:
    """Half of the predictions are 0 or nan: the effects of the others stay."""
    columns = CHANCE.uniform(0, 1, (400, 2))
    columns[::4, 1] = -1.0

    def predict(inputs: ParameterRows) -> Floats:
        x = np.array(inputs.rows, dtype=np.float64)
        return np.where(x[:, 1] < 0, np.nan, np.exp2(x[:, 0]))

    (term,) = total_effects(predict, table(columns)).terms
    assert (term.text, term.influence) == ("x0", 1.0)


def test_equal_tables_give_equal_effects() -> None:
    columns = CHANCE.uniform(0, 1, (50, 2))
    law = powers(lambda x: x[:, 0] * x[:, 1])
    first, second = (
        [(t.text, t.influence) for t in total_effects(law, table(columns)).terms] for _ in "ab"
    )
    assert first == second


def test_only_the_first_500_rows_are_predicted() -> None:
    sizes = []

    def predict(inputs: ParameterRows) -> Floats:
        sizes.append(len(inputs))
        return np.ones(len(inputs))

    total_effects(predict, table(CHANCE.uniform(0, 1, (700, 2))))
    assert sizes == [500, 500, 500]
