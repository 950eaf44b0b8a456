"""What models do with tables at the edge of what can be learned from, and questions far away."""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from autotune.domain.tables.table import MeasurementTable, ParameterRows, categorical, numeric
from autotune.errors import InputError
from autotune.learning.influence import Influence
from autotune.learning.models.base import Fitted, Forecast
from autotune.learning.models.conformal import Conformal
from autotune.learning.models.hybrid import ResidualModel, ScaledAnalytical, Stacked
from autotune.learning.models.kriging import Kriging
from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.trees import Trees

N = 24
CHANCE = np.random.default_rng(0)
NUMBERS = [float(x) for x in CHANCE.integers(1, 9, N)]
OTHERS = [float(x) for x in CHANCE.integers(1, 9, N)]
TEXTS = [str(x) for x in CHANCE.choice(["jil", "jli"], N)]
TIMES = np.sqrt(NUMBERS) * (1 + 0.05 * CHANCE.random(N))
Column = list[float] | list[str]


def table(columns: dict[str, Column], times=TIMES, analytical=None) -> MeasurementTable:
    parameters = tuple(
        categorical(name, [str(v) for v in values])
        if isinstance(values[0], str)
        else numeric(name, [float(v) for v in values])
        for name, values in columns.items()
    )
    rows = tuple(zip(*columns.values(), strict=True))
    inputs = ParameterRows(parameters=parameters, rows=rows, analytical=analytical)
    return MeasurementTable(name="limit", inputs=inputs, response=np.asarray(times, float))


def usual() -> dict[str, Column]:
    return {"n": NUMBERS, "t": OTHERS, "order": TEXTS}


def decades(low: float, high: float):
    return 10.0 ** np.random.default_rng(1).uniform(low, high, N)


CASES: dict[str, Callable[[], MeasurementTable]] = {
    "a constant column": lambda: table({**usual(), "c": [3.0] * N}),
    "collinear columns": lambda: table({**usual(), "m": [2 * x for x in NUMBERS]}),
    "one parameter": lambda: table({"n": NUMBERS}),
    "one category": lambda: table({"order": TEXTS}),
    "a category of its own for each row": lambda: table(
        {"n": NUMBERS, "id": [str(i) for i in range(N)]}
    ),
    "more parameters than rows": lambda: table(
        {f"p{i}": [float(x) for x in np.random.default_rng(i).random(N)] for i in range(N + 6)}
    ),
    "equal responses": lambda: table(usual(), np.full(N, 2.0), np.ones(N)),
    "12 decades": lambda: table(usual(), decades(-9, 3)),
    "600 decades": lambda: table(usual(), decades(-300, 300), decades(-300, 300)),
    "every other prediction missing": lambda: table(
        usual(), analytical=np.where(np.arange(N) % 2, TIMES, np.nan)
    ),
    "no prediction at all": lambda: table(usual(), analytical=np.full(N, np.nan)),
    "one prediction": lambda: table(usual(), analytical=np.where(np.arange(N), np.nan, 1.0)),
    "predictions of nothing": lambda: table(usual(), analytical=np.zeros(N)),
    "smallest predictions": lambda: table(usual(), analytical=np.full(N, 5e-324)),
    "largest values": lambda: table({**usual(), "x": [1e307 * x for x in OTHERS]}),
    "largest negative values": lambda: table({**usual(), "x": [-1e300 * x for x in OTHERS]}),
    "smallest values": lambda: table({**usual(), "x": [1e-320 * x for x in OTHERS]}),
    "two rows": lambda: table({"n": [1.0, 2.0]}, [1.0, 2.0], np.ones(2)),
    "three rows": lambda: table({"n": [1.0, 2.0, 4.0]}, [1.0, 2.0, 3.0]),
}


def models():
    residual = ResidualModel(name="residual", base=Kriging())
    stacked = Stacked(name="stacked", base=Kriging(name="kriging", trend=True))
    raw = Trees(name="raw", log=False, count=4)
    single = (Ridge(), Kriging(name="kriging", trend=True), raw, Influence.published())
    return [
        *(Conformal(regressor=one) for one in single),
        Pool(members=(Ridge(), Trees(count=4), ScaledAnalytical(), stacked, residual)),
    ]


def far(of: MeasurementTable) -> ParameterRows:
    """Rows that no training has seen."""
    columns = [
        [1e300, -1e300, 0.0, 1e-300] if parameter.numeric else ["never", "", "1e400", "nan"]
        for parameter in of.parameters
    ]
    guess = None if of.inputs.analytical is None else np.array([np.nan, 1e308, 0.0, -1.0])
    return ParameterRows(
        parameters=of.parameters, rows=tuple(zip(*columns, strict=True)), analytical=guess
    )


def forecasts(fitted: Fitted, of: MeasurementTable) -> Iterator[Forecast]:
    for asked in (of.inputs, far(of), of.inputs.take([])):
        yield fitted.predict(asked)


@pytest.mark.parametrize("case", CASES)
def test_every_answer_is_a_time_or_none_and_nothing_warns(case: str) -> None:
    of = CASES[case]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in models():
            fitted = model.fit(of, 1)
            for found in forecasts(fitted, of):
                silent = np.isnan(found.median)
                assert (silent | (found.median > 0) & np.isfinite(found.median)).all()
                assert (found.low >= 0).all()
                assert not np.isnan(found.high).any()
                assert np.isinf(found.high[silent]).all()
                assert found.half_width.shape == found.median.shape
            shares = [term.influence for term in fitted.explain().terms]
            assert all(0 <= share <= 1 + 1e-9 for share in shares)


def test_far_away_is_outside_and_said_so() -> None:
    of = table(usual())
    found = Pool(members=(Ridge(), Trees(count=4))).fit(of).predict(far(of))
    assert found.outside.all()
    assert any("order = never was not seen" in note for note in found.notes)


def test_one_row_and_no_varying_column_are_refused() -> None:
    with pytest.raises(InputError, match="at least 2"):
        Pool().fit(table({"n": [1.0]}, [1.0]))
    with pytest.raises(InputError, match="no parameter varies: n"):
        Pool().fit(table({"n": [1.0, 1.0, 1.0]}, [1.0, 2.0, 3.0]))


def test_equal_seeds_give_equal_forecasts_in_threads_too() -> None:
    of = table(usual(), analytical=TIMES)
    pool = Pool(members=(Trees(count=4), Kriging(), ScaledAnalytical()))
    alone = pool.fit(of, 3).predict(of.inputs)
    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(lambda _: pool.fit(of, 3).predict(of.inputs), range(3)):
            assert found.median.tolist() == alone.median.tolist()
            assert found.high.tolist() == alone.high.tolist()


def test_a_scaled_response_scales_raw_trees_exactly() -> None:
    raw = Trees(name="raw", log=False, count=4)
    one, large = table(usual()), table(usual(), TIMES * 2.0**900)
    found = raw.train(large).predict(large.inputs)
    assert found.tolist() == (raw.train(one).predict(one.inputs) * 2.0**900).tolist()
