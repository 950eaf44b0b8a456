from dataclasses import replace

import numpy as np
import pytest
from model_conformance import inputs, planted

from autotune.errors import InputError
from autotune.learn.conformal import Conformal
from autotune.learn.parts import Sum, by_part
from autotune.learn.ridge import Ridge

RIDGE = Conformal(regressor=Ridge())


def parts(count: int, seed: int = 0) -> dict:
    """A part that grows with n and one that is nothing but order."""
    smooth = planted(count, seed)
    noise = np.random.default_rng([seed, 2]).normal(0, 0.02, count)
    costs = {"jil": 1e-3, "jli": 2e-3, "lij": 4e-3}
    fixed = np.array([costs[row[2]] for row in smooth.inputs.rows]) * np.exp(noise)
    return {"smooth": smooth, "fixed": replace(smooth, response=fixed, repetitions=())}


def test_the_sum_is_better_than_a_model_of_the_whole() -> None:
    train, fresh = parts(40), parts(60, 5)
    total = sum(table.response for table in train.values())
    truth = sum(table.response for table in fresh.values())
    whole = RIDGE.fit(replace(train["smooth"], response=total, repetitions=()))
    summed = Sum(model=RIDGE).fit(train)

    def error(median: np.ndarray) -> float:
        return float(np.mean(np.abs(median / truth - 1)))

    asked = fresh["smooth"].inputs
    assert error(summed.predict(asked).median) < 0.03 < error(whole.predict(asked).median)


def test_its_interval_covers_the_whole() -> None:
    fitted, fresh = Sum(model=RIDGE).fit(parts(60)), parts(200, 5)
    truth = sum(table.response for table in fresh.values())
    forecast = fitted.predict({name: table.inputs for name, table in fresh.items()}, 0.8)
    covered = ((forecast.low <= truth) & (truth <= forecast.high)).mean()
    assert 0.7 < covered < 0.95
    assert np.isinf(Sum(model=RIDGE).fit(parts(6)).predict(fresh["fixed"].inputs).high).all()


def test_parts_of_a_whole_that_was_measured_with_more_than_them() -> None:
    train = parts(40)
    alone = Sum(model=RIDGE).fit(train)
    total = 1.5 * sum(table.response for table in train.values())
    scaled = Sum(model=RIDGE).fit(train, whole=total)
    asked = train["smooth"].inputs
    assert scaled.scale == pytest.approx(1.5)
    assert scaled.predict(asked).median == pytest.approx(1.5 * alone.predict(asked).median)
    assert "the whole is 1.5 times its parts" in scaled.explain().notes


def test_outside_is_outside_of_any_part() -> None:
    found = Sum(model=RIDGE).fit(parts(40)).predict(inputs(((9999, 1, "jil"), (128, 1, "jil"))))
    assert found.outside.tolist() == [True, False]


def test_terms_are_named_by_part_and_formulas_add_up() -> None:
    fitted = Sum(model=RIDGE).fit(parts(40))
    assert fitted.explain().terms[0].text.split(": ")[0] in ("smooth", "fixed")
    assert sum(term.influence for term in fitted.explain().terms) == pytest.approx(1)
    assert fitted.formula is not None
    assert ") + (" in fitted.formula


def test_rows_must_be_the_same_in_all_parts() -> None:
    with pytest.raises(InputError, match="the rows of b are not those of a"):
        Sum(model=RIDGE).fit({"a": planted(10), "b": planted(10, 1)})
    with pytest.raises(InputError, match="at least one table"):
        Sum(model=RIDGE).fit({})
    fitted = Sum(model=RIDGE).fit(parts(20))
    with pytest.raises(InputError, match="nothing is given for fixed"):
        fitted.predict({"smooth": planted(3).inputs})


def test_tables_by_the_part_that_they_are_of() -> None:
    table = planted(5)
    named = by_part([replace(table, part="level 0"), replace(table, name="other")])
    assert list(named) == ["level 0", "other"]
