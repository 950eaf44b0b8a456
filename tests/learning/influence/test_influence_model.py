"""Influence models: planted laws, held terms, and what is said of each in words."""

from itertools import product

import numpy as np
import pytest

from autotune.domain.tables.parameter import Parameter, categorical, numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.influence.forward_selection import StoppingRule
from autotune.learning.influence.influence_model import Influence, InfluencePredictor
from autotune.learning.models.base import Floats
from autotune.learning.models.terms import CONSTANT, indicator, log2, power

N = numeric("n", [1, 2, 4, 8, 16])
M = numeric("m", [1, 3, 9, 20])
ORDER = categorical("order", ["ijl", "jli", "lij"])
GRID = tuple(product(N.values, M.values, ORDER.values))


def columns(rows: ParameterRows) -> tuple[Floats, Floats, np.ndarray]:
    return rows.numbers("n"), rows.numbers("m"), np.array(rows.texts("order"))


def inputs(*rows: tuple[float, float, str]) -> ParameterRows:
    return ParameterRows(parameters=(N, M, ORDER), rows=rows)


def table(response: Floats, rows: ParameterRows | None = None) -> MeasurementTable:
    every = rows or ParameterRows(parameters=(N, M, ORDER), rows=GRID)
    return MeasurementTable(name="made", inputs=every, response=response)


def product_law() -> InfluencePredictor:
    """0.01 n^1.5, three times as long with jli; m has no influence."""
    n, _, order = columns(ParameterRows(parameters=(N, M, ORDER), rows=GRID))
    return Influence().train(table(0.01 * n**1.5 * np.where(order == "jli", 3.0, 1.0)))


def sum_law() -> InfluencePredictor:
    """5 + 2 m + 3 n^2 - 1 with lij."""
    n, m, order = columns(ParameterRows(parameters=(N, M, ORDER), rows=GRID))
    response = 5 + 2 * m + 3 * n**2 - 1.0 * (order == "lij")
    return Influence(target="raw", rule=StoppingRule(margin=0, threshold=1e-9)).train(
        table(response)
    )


def test_a_product_is_recovered_in_logarithms_to_base_2() -> None:
    assert product_law().terms == {
        CONSTANT: pytest.approx(np.log2(0.01)),
        frozenset({log2("n")}): pytest.approx(1.5),
        frozenset({indicator("order", "jli")}): pytest.approx(np.log2(3)),
    }


def test_a_sum_is_recovered_in_the_unit_of_the_response() -> None:
    assert sum_law().terms == {
        CONSTANT: pytest.approx(5),
        frozenset({power("n", 2)}): pytest.approx(3),
        frozenset({power("m")}): pytest.approx(2),
        frozenset({indicator("order", "lij")}): pytest.approx(-1),
    }


def test_the_formula_of_a_product_multiplies_and_that_of_a_sum_adds() -> None:
    assert product_law().formula == "time = 0.01 * n^1.5 * 3^[order = jli]"
    assert sum_law().formula == "time = 5 + 3 * n^2 + 2 * m - 1 * [order = lij]"


def test_predictions_within_the_rows_are_those_of_the_law() -> None:
    asked = inputs((4, 3, "jli"), (16, 20, "ijl"))
    assert product_law().predict(asked) == pytest.approx([0.01 * 8 * 3, 0.01 * 64])
    assert sum_law().predict(asked) == pytest.approx([5 + 6 + 48, 5 + 40 + 768])


def test_beyond_the_values_of_training_a_term_stays_at_its_last_one() -> None:
    beyond = inputs((64, 3, "ijl"), (0.25, 3, "ijl"))
    assert product_law().predict(beyond) == pytest.approx([0.01 * 64, 0.01])


def test_a_category_that_was_not_seen_is_none_of_those_with_a_term() -> None:
    rows = ParameterRows(
        parameters=(N, M, categorical("order", ["ijl", "jli", "lij", "new"])), rows=((4, 3, "new"),)
    )
    assert product_law().predict(rows) == pytest.approx([0.01 * 8])


def test_each_term_is_said_in_words_the_most_influential_first() -> None:
    assert product_law().words() == (
        "doubling n multiplies the time by 2.83",
        "order = jli multiplies the time by 3",
    )
    assert sum_law().words() == (
        "n^2, from 1 to 256, adds 765 s",
        "m, from 1 to 20, adds 38 s",
        "order = lij takes 1 s",
    )


def test_influences_are_shares_of_the_variance_and_the_constant_has_none() -> None:
    """On a balanced grid the terms are orthogonal: their shares are those of their variances."""
    n = np.log2(np.array(N.values, dtype=np.float64))
    parts = np.array([1.5**2 * np.var(n), np.log2(3) ** 2 * np.var([0, 1, 0])])
    shares = [term.influence for term in product_law().explain().terms]
    assert shares == pytest.approx([*(parts / parts.sum()), 0.0])


def test_a_parameter_that_follows_from_another_is_named() -> None:
    rows = tuple((n, 2 * n, "ijl") for n in (1, 2, 4, 8, 16, 32))
    given = ParameterRows(
        parameters=(numeric("n", [r[0] for r in rows]), numeric("m", [r[1] for r in rows]), ORDER),
        rows=rows,
    )
    model = Influence().train(table(given.numbers("n") ** 2, given))
    assert "order did not vary in training" in model.explain().notes
    taken, other = ("n", "m") if frozenset({log2("n")}) in model.terms else ("m", "n")
    assert model.explain().notes[1] == (
        f"log2({other}) follows from {taken} in these rows:"
        f" what is said of {taken} may be its doing"
    )
    assert model.words() == (
        f"doubling {taken} multiplies the time by 4 (log2({other}) cannot be told from it here)",
    )


def test_interactions_come_after_one_of_their_factors() -> None:
    n, m, _ = columns(ParameterRows(parameters=(N, M, ORDER), rows=GRID))
    model = Influence().train(table(np.exp2(0.05 * n * m + np.log2(n))))
    terms = [step.term for step in model.selection.rounds]
    together = frozenset({power("n"), power("m")})
    assert together in terms
    assert any(term < together for term in terms[: terms.index(together)])
    assert model.predict(inputs((8, 9, "ijl"))) == pytest.approx([np.exp2(0.05 * 72 + 3)], rel=0.02)


def test_the_published_settings_have_the_raw_target_and_no_leaving_out() -> None:
    model = Influence.published()
    assert (model.name, model.target, model.order) == ("influence-raw", "raw", 9)
    assert model.rule.criterion == "training"


@pytest.mark.parametrize(
    ("parameters", "rows", "message"),
    [
        ((N,), ((4,),), "made: 1 rows to learn from; expected at least 2"),
        (
            (N,),
            ((4,), (4,)),
            "made: no parameter varies: n; expected a parameter with two values at least",
        ),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(
    parameters: tuple[Parameter, ...], rows: tuple[tuple[int, ...], ...], message: str
) -> None:
    few = ParameterRows(parameters=parameters, rows=rows)
    with pytest.raises(InputError) as error:
        Influence().train(table(np.ones(len(rows)), few))
    assert str(error.value) == message


def test_a_common_factor_of_the_response_changes_the_constant_only() -> None:
    n, m, _ = columns(ParameterRows(parameters=(N, M, ORDER), rows=GRID))
    law = n**1.5 * m**0.3
    first, second = (Influence().train(table(factor * law)).terms for factor in (1.0, 1e-6))
    assert second.pop(CONSTANT) - first.pop(CONSTANT) == pytest.approx(np.log2(1e-6))
    assert second == {term: pytest.approx(slope) for term, slope in first.items()}
