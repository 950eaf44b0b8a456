import numpy as np
import pytest
from model_conformance import ModelConformance, inputs, planted

from autotune.errors import InputError
from autotune.learning.models.base import LearnedModel
from autotune.learning.models.catalogue import MODELS, analytical, model
from autotune.learning.models.conformal import Conformal
from autotune.learning.models.hybrid import Averaged, ResidualModel, ScaledAnalytical, Stacked
from autotune.learning.models.kriging import Kriging
from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.trees import Trees

FEW = Trees(count=8)


class TestRidge(ModelConformance):
    accuracy = 0.05

    def model(self) -> LearnedModel:
        return Conformal(regressor=Ridge())


class TestTrees(ModelConformance):
    def model(self) -> LearnedModel:
        return Conformal(regressor=FEW)


class TestTreesOnTheResponse(ModelConformance):
    def model(self) -> LearnedModel:
        return Conformal(regressor=Trees(name="trees-raw", log=False, count=8))


class TestProcess(ModelConformance):
    accuracy = 0.1

    def model(self) -> LearnedModel:
        return Conformal(regressor=Kriging())


class TestKriging(ModelConformance):
    accuracy = 0.05

    def model(self) -> LearnedModel:
        return Conformal(regressor=Kriging(name="kriging", trend=True))


class TestScaled(ModelConformance):
    needs_analytical = True

    def model(self) -> LearnedModel:
        return Conformal(regressor=ScaledAnalytical())


class TestStackedTrees(ModelConformance):
    needs_analytical = True

    def model(self) -> LearnedModel:
        return Conformal(regressor=Stacked(name="stack", base=FEW))


class TestStackedKriging(ModelConformance):
    needs_analytical = True
    accuracy = 0.1

    def model(self) -> LearnedModel:
        base = Kriging(name="kriging", trend=True)
        return Conformal(regressor=Stacked(name="stack", base=base))


class TestResidualProcess(ModelConformance):
    needs_analytical = True
    accuracy = 0.1

    def model(self) -> LearnedModel:
        return Conformal(regressor=ResidualModel(name="residual", base=Kriging()))


class TestAveraged(ModelConformance):
    needs_analytical = True

    def model(self) -> LearnedModel:
        stack = Stacked(name="stack", base=Trees(name="trees-raw", log=False, count=8))
        return Conformal(regressor=Averaged(name="bagged", members=(stack, ScaledAnalytical())))


class TestPool(ModelConformance):
    accuracy = 0.05

    def model(self) -> LearnedModel:
        residual = ResidualModel(name="residual", base=Kriging())
        return Pool(members=(Ridge(), FEW, ScaledAnalytical(), residual))


def test_every_model_has_its_name() -> None:
    assert {name: make().name for name, make in MODELS.items()} == {name: name for name in MODELS}


def test_an_unknown_model_has_a_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean kriging"):
        model("krigging")


def test_those_that_need_an_analytical_model_say_so() -> None:
    bare = planted(10)
    bare = type(bare)(
        name="bare",
        inputs=type(bare.inputs)(parameters=bare.parameters, rows=bare.inputs.rows),
        response=bare.response,
    )
    for name in MODELS:
        if analytical(name):
            with pytest.raises(InputError, match="no analytical model"):
                model(name).fit(bare)


def test_the_scale_is_the_median_ratio() -> None:
    table = planted(30)
    fitted = ScaledAnalytical().train(table)
    guess = table.inputs.analytical
    assert guess is not None
    assert fitted.scale == pytest.approx(np.median(table.response / guess))
    assert fitted.formula == f"time = {fitted.scale:.4g} * analytical model"


def test_a_process_follows_its_rows_and_is_unsure_away_from_them() -> None:
    table = planted(40)
    process = Kriging(name="kriging", trend=True).train(table)
    near = process.sd(table.inputs)
    far = process.sd(inputs(((1 << 20, 64, "lij"),)))
    assert far[0] > 3 * near.max()


def test_a_search_resumed_from_the_same_rows_stays_where_it_was() -> None:
    table = planted(40)
    process = Kriging()
    whole = process.train(table, seed=1)
    again = process.resume(table, 1, whole)
    assert again.predict(table.inputs) == pytest.approx(whole.predict(table.inputs), rel=1e-2)
