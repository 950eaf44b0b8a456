from dataclasses import dataclass, replace

import numpy as np
import pytest
from model_conformance import inputs, planted

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.models.base import Explanation, Floats
from autotune.learning.models.hybrid import ScaledAnalytical
from autotune.learning.models.pool import Pool, PoolPredictor
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.trees import Trees


@dataclass(frozen=True)
class Always:
    """Predicts the same for all rows."""

    seconds: float
    name: str = "always"
    extrapolates: bool = True
    formula: None = None

    def train(self, table: MeasurementTable, seed: int = 0) -> "Always":
        return self

    def predict(self, inputs: ParameterRows) -> Floats:
        return np.full(len(inputs), self.seconds)

    def explain(self) -> Explanation:
        return Explanation(terms=())


def predictor(fitted) -> PoolPredictor:
    assert isinstance(fitted.predictor, PoolPredictor)
    return fitted.predictor


def test_a_member_that_fails_does_no_harm() -> None:
    table, fresh = planted(40), planted(30, 9)
    alone = Pool(members=(Ridge(),)).fit(table).predict(fresh.inputs).median
    for wrong in (1e12, -1.0, np.nan):
        found = Pool(members=(Ridge(), Always(wrong))).fit(table).predict(fresh.inputs).median
        assert found == pytest.approx(alone, rel=1e-2)


def test_weights_are_inverse_fourth_powers_of_held_out_errors() -> None:
    fitted = Pool(members=(Ridge(), Trees(count=5), ScaledAnalytical())).fit(planted(40))
    members = predictor(fitted).members
    raw = np.array([member.error**-4 for member in members])
    assert list(predictor(fitted).weights().values()) == pytest.approx(raw / raw.sum())


def test_outside_the_box_only_those_answer_that_may() -> None:
    table = planted(40)
    fitted = Pool(members=(Ridge(), Trees(count=5))).fit(table)
    alone = Pool(members=(Ridge(),)).fit(table)
    asked = inputs(((1024, 8, "jil"), (128, 2, "jil")))
    pool, ridge = fitted.predict(asked).median, alone.predict(asked).median
    assert pool[0] == ridge[0]
    assert pool[1] != ridge[1]


def test_who_has_nobody_that_may_extrapolate_says_nothing_outside() -> None:
    fitted = Pool(members=(Trees(count=5),)).fit(planted(40))
    forecast = fitted.predict(inputs(((1024, 8, "jil"),)))
    assert np.isnan(forecast.median[0])
    assert np.isinf(forecast.high[0])


def test_members_without_what_they_need_are_named() -> None:
    table = planted(40)
    bare = replace(table, inputs=replace(table.inputs, analytical=None))
    notes = Pool(members=(Ridge(), ScaledAnalytical())).fit(bare).explain().notes
    assert notes[0] == "weights: ridge 100 %"
    assert notes[1] == "without am-scaled: no analytical model"


def test_a_pool_of_one_has_its_formula() -> None:
    fitted = Pool(members=(Ridge(),)).fit(planted(40))
    assert fitted.formula is not None
    assert fitted.formula.startswith("time = ")


def test_a_pool_that_cannot_learn_at_all_says_why() -> None:
    table = planted(1)
    bare = replace(table, inputs=replace(table.inputs, analytical=None))
    with pytest.raises(InputError, match="at least 2"):
        Pool().fit(bare)


def test_its_intervals_are_of_members_that_had_not_seen_the_rows() -> None:
    table = planted(40)
    fitted = Pool(members=(Trees(count=20),)).fit(table)
    seen = np.abs(np.log(table.response / fitted.predict(table.inputs).median))
    assert np.nanmedian(fitted.errors[np.isfinite(fitted.errors)]) > 2 * np.median(seen)


def test_what_did_not_vary_in_training_is_left_to_the_analytical_model() -> None:
    every = planted(200)
    sizes = every.inputs.numbers("n")
    train, other = every.take(sizes == 64), every.take(sizes == 512)
    found = Pool().fit(train).predict(other.inputs)
    assert np.median(np.abs(found.median / other.response - 1)) < 0.2
    assert found.outside.all()
    assert np.isinf(found.high).all()
    bare = replace(train, inputs=replace(train.inputs, analytical=None))
    alone = Pool().fit(bare).predict(replace(other.inputs, analytical=None))
    assert np.isfinite(alone.median).all()  # as at the size that was measured
    assert np.isinf(alone.high).all()
