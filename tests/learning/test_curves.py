"""Splits are seeded, nested and paired; curves are medians of their trials."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.table import MeasurementTable, ParameterRows, categorical, numeric
from autotune.errors import InputError
from autotune.learning.comparison.curve_fits import STAGE, Scoring, learning_curve, scored
from autotune.learning.comparison.learning_curves import CurveTable, ModelScore, Trial
from autotune.learning.comparison.model_comparison import contenders
from autotune.learning.comparison.noise_floor import Halves, halves_of
from autotune.learning.comparison.payoff import best_analytical, earliest, payoff
from autotune.learning.comparison.splits import SplitPlan, learnable, usual_sizes
from autotune.learning.comparison.time_left import Pace
from autotune.learning.models import catalogue
from autotune.learning.models.base import Forecast


def planted(rows: int = 60, analytical: float | None = 2.0, seed: int = 1) -> MeasurementTable:
    """time = n^2 / p * 1.5^[order = jil]; the analytical model is wrong by a factor."""
    generator = np.random.default_rng(seed)
    n = generator.choice([16.0, 32.0, 64.0, 128.0, 256.0], rows)
    p = generator.choice([1.0, 2.0, 4.0, 8.0], rows)
    order = generator.choice(["ijl", "jil"], rows)
    time = n**2 / p * np.where(order == "jil", 1.5, 1.0) * generator.lognormal(0, 0.02, rows)
    return MeasurementTable(
        name="planted",
        inputs=ParameterRows(
            parameters=(
                numeric("n", sorted(set(n.tolist()))),
                numeric("p", sorted(set(p.tolist()))),
                categorical("order", ["ijl", "jil"]),
            ),
            rows=tuple(zip(n.tolist(), p.tolist(), map(str, order), strict=True)),
            analytical=None if analytical is None else analytical * n**2 / p,
        ),
        response=time,
    )


# --- splits ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(12, 60),
    largest=st.integers(4, 9),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 99),
    some=st.booleans(),
)
def test_nothing_is_scored_on_that_was_learned_from(
    rows: int, largest: int, repeats: int, seed: int, some: bool
) -> None:
    table = planted(rows)
    eligible = np.arange(rows) % 3 == 0 if some else None
    if some and rows - math.ceil(eligible.sum() / 2) < largest:
        return
    split_plan = SplitPlan(sizes=(2, largest), repeats=repeats, seed=seed)
    splits = split_plan.splits(table, eligible)
    assert len(splits) == 2 * repeats
    for small, large in zip(splits[::2], splits[1::2], strict=True):
        assert (small.size, large.size) == (2, largest)
        assert set(small.train) <= set(large.train)
        assert small.test.tolist() == large.test.tolist()
        assert not set(large.train) & set(large.test)
        assert eligible is None or eligible[large.test].all()
    again = split_plan.splits(table, eligible)
    assert [s.train.tolist() for s in again] == [s.train.tolist() for s in splits]


def test_a_group_that_is_left_out_is_never_learned_from() -> None:
    table = planted()
    splits = SplitPlan(sizes=(8, 16), repeats=2, leave_out="n").splits(table)
    n = table.inputs.numbers("n")
    assert {split.group for split in splits} == set(n.tolist())
    for split in splits:
        assert split.group not in set(n[split.train])
        assert set(n[split.test]) == {split.group}


@pytest.mark.parametrize("drawing", ["sobol", "d-optimal"])
def test_a_design_chooses_the_training_rows(drawing: str) -> None:
    unique = dict.fromkeys(planted(200).inputs.rows)
    base = planted(200)
    table = base.take([base.inputs.rows.index(row) for row in unique])
    (split,) = SplitPlan(sizes=(9,), repeats=1, drawing=drawing).splits(table)  # type: ignore[arg-type]
    assert len(set(split.train)) == 9
    assert not set(split.train) & set(split.test)


def test_what_cannot_be_split_is_refused() -> None:
    table = planted(20)
    for sizes in ((), (1, 4), (8, 4), (4, 4)):
        with pytest.raises(InputError, match="ascending"):
            SplitPlan(sizes=sizes)
    with pytest.raises(InputError, match="20 rows"):
        SplitPlan(sizes=(20,)).splits(table)
    with pytest.raises(InputError, match="unknown parameter 'm'"):
        SplitPlan(sizes=(4,), leave_out="m").splits(table)
    with pytest.raises(InputError, match="rows to learn from without n"):
        SplitPlan(sizes=(19,), leave_out="n").splits(table)
    with pytest.raises(InputError, match="repeats"):
        SplitPlan(sizes=(4,), repeats=0)


def test_the_usual_sizes_leave_rows_to_score_on() -> None:
    table = planted(60)
    assert usual_sizes(learnable(table)) == (8, 16, 32)
    for leave_out in ("", "n", "order"):
        sizes = usual_sizes(learnable(table, None, leave_out))
        assert SplitPlan(sizes=sizes, repeats=1, leave_out=leave_out).splits(table)


# --- scores ---------------------------------------------------------------------------------


def test_rows_without_an_answer_rank_last() -> None:
    forecast = Forecast(
        median=np.array([2.0, np.nan, 4.0, 1.0]),
        low=np.array([1.0, 0.0, 3.0, 0.5]),
        high=np.array([3.0, np.inf, 5.0, 1.5]),
        outside=np.zeros(4, dtype=bool),
    )
    score = scored(forecast, np.array([2.0, 1.0, 8.0, 2.0]), (1, 3, 10))
    assert (score.answered, score.outside) == (0.75, 0.0)
    assert score.error_rate == pytest.approx(1 / 3)
    assert score.mdape == pytest.approx(0.5)
    assert score.top_loss == {1: 1.0, 3: 1.0}
    assert score.coverage == pytest.approx(1 / 3)


def test_a_forecast_that_says_nothing_has_no_error() -> None:
    nothing = np.full(3, np.nan)
    forecast = Forecast(median=nothing, low=nothing, high=nothing, outside=np.ones(3, dtype=bool))
    score = scored(forecast, np.ones(3))
    assert (score.answered, score.error_rate, score.top_loss) == (0.0, None, {})


def _score(error: float) -> ModelScore:
    return ModelScore(
        rows=9,
        answered=1.0,
        error_rate=error,
        mdape=error,
        tau_b=None,
        top_loss={3: error},
        coverage=None,
        half_width=math.inf if error > 0.3 else 0.1,
    )


def _curve(errors: dict[str, list[list[float]]], groups: tuple[int | None, ...] = ()) -> CurveTable:
    """Errors by model, size and repeat; a repeat is a value left out where groups are given."""
    repeats = len(next(iter(errors.values()))[0])
    return CurveTable(
        models=tuple(errors),
        kinds=tuple("analytical" if m.startswith("analytical") else "learned" for m in errors),
        split_plan=SplitPlan(sizes=(4, 8, 16), repeats=repeats),
        trials=tuple(
            Trial(
                model=m,
                size=size,
                repeat=0 if groups else r,
                group=groups[r] if groups else None,
                score=_score(error),
            )
            for m, by_size in errors.items()
            for size, trials in zip((4, 8, 16), by_size, strict=True)
            for r, error in enumerate(trials)
        ),
    )


def test_points_are_medians_with_quartiles() -> None:
    found = _curve({"a": [[0.1, 0.2, 0.4], [0.2] * 3, [0.1] * 3]})
    point = found.point("a", 4, "error_rate")
    assert point is not None
    assert (point.median, point.low, point.high) == pytest.approx((0.2, 0.15, 0.3))
    width = found.point("a", 4, "half_width")
    assert width is not None
    assert (width.median, width.high) == (0.1, math.inf)
    assert found.point("a", 4, "tau_b") is None


def test_learning_pays_from_where_it_stays_better() -> None:
    flat = [[0.2, 0.25, 0.3, 0.2, 0.25]] * 3
    found = _curve(
        {
            "analytical": flat,
            "early": [[0.1] * 5, [0.4] * 5, [0.1] * 5],
            "soon": [[0.4] * 5, [0.1] * 5, [0.1] * 5],
            "never": [[0.1] * 5, [0.1] * 5, [0.3] * 5],
            "unsure": [[0.1, 0.1, 0.1, 0.9, 0.9]] * 2 + [[0.1] * 5],
        }
    )
    early, soon, never, unsure = (
        payoff(found, name, "analytical") for name in ("early", "soon", "never", "unsure")
    )
    assert (early.seems, early.sure) == (16, 16)
    assert (soon.seems, soon.sure) == (8, 8)
    assert (never.seems, never.sure) == (None, None)
    assert (unsure.seems, unsure.sure) == (4, 16)
    assert payoff(found, "analytical", "analytical").seems is None
    last = soon.gains[-1]
    assert (last.value, last.splits) == (pytest.approx(0.15), 5)
    assert last.low is not None
    assert last.high is not None
    assert 0.1 <= last.low <= last.value <= last.high <= 0.2
    first = earliest(found, "learned", 3)
    assert first is not None
    assert (first.model, first.sure) == ("soon", 8)
    assert earliest(found, "hybrid") is None


def test_few_splits_have_no_interval_and_values_left_out_count_once() -> None:
    errors = {"analytical": [[0.2, 0.3]] * 3, "model": [[0.1, 0.1]] * 3}
    gain = payoff(_curve(errors), "model", "analytical").gains[0]
    assert (gain.low, gain.high, gain.sure) == (None, None, False)
    apart = _curve(errors, groups=(1, 2))
    assert payoff(apart, "model", "analytical").gains[0].splits == 2


def test_the_rival_is_the_best_engine() -> None:
    found = _curve({"analytical (a)": [[0.3] * 3] * 3, "analytical (b)": [[0.2] * 3] * 3})
    assert best_analytical(found) == "analytical (b)"
    assert best_analytical(_curve({"ridge": [[0.1] * 3] * 3})) is None


def test_a_model_without_a_value_at_the_largest_size_does_not_pay() -> None:
    found = _curve({"analytical": [[0.2] * 3] * 3, "model": [[0.1] * 3] * 3})
    kept = tuple(t for t in found.trials if (t.model, t.size) != ("model", 16))
    assert payoff(replace(found, trials=kept), "model", "analytical").seems is None


# --- measuring again ------------------------------------------------------------------------


def test_the_floor_is_what_one_half_says_of_the_other() -> None:
    table = planted(40)
    halves = Halves(early=table.response * 1.1, late=table.response.copy())
    entered = contenders(table, ["analytical"])
    found = learning_curve(entered, SplitPlan(sizes=(8,), repeats=2), Scoring(halves=halves))
    error, loss = found.floor_point("error_rate"), found.floor_loss(1)
    assert error is not None
    assert error.median == pytest.approx((0.1 + 0.1 / 1.1) / 2)
    assert loss is not None
    assert (loss.mean, loss.trials) == (0.0, 2)
    assert learning_curve(entered, SplitPlan(sizes=(8,), repeats=1)).floor == ()


def test_halves_are_the_first_and_the_last_repetitions() -> None:
    table = planted(3)
    known = replace(table, repetitions=((1.0, 9.0, 3.0), (1.0, 3.0, 5.0, 7.0), (2.0,)))
    found = halves_of(known)
    assert found is not None
    assert found.early[:2].tolist() == [1.0, 2.0]
    assert found.late[:2].tolist() == [3.0, 6.0]
    assert found.pairs == 2
    assert halves_of(table) is None


# --- problems -------------------------------------------------------------------------------


def test_rankings_and_losses_are_within_a_problem() -> None:
    measured = np.array([1.0, 1.5, 2.0, 100.0, 150.0, 200.0])
    said = np.array([9.0, 1.0, 3.0, 300.0, 100.0, 200.0])
    forecast = Forecast(median=said, low=said / 2, high=said * 2, outside=np.zeros(6, dtype=bool))
    whole, apart = scored(forecast, measured), scored(forecast, measured, problems=tuple("aaabbb"))
    assert whole.top_loss[1] == 0.5
    assert apart.top_loss == {1: 0.5}
    assert (whole.tau_b or 0) > 0 > (apart.tau_b or 0)
    assert scored(forecast, measured, problems=tuple("abcdef")).top_loss == {}


def test_a_problem_is_left_out_like_a_value() -> None:
    table = planted(20)
    problems = ("small",) * 12 + ("large",) * 8
    splits = SplitPlan(sizes=(4,), repeats=1, leave_out="problem").splits(table, None, problems)
    assert {(s.group, len(s.test)) for s in splits} == {("small", 12), ("large", 8)}
    with pytest.raises(InputError, match="p: one value, 4, in all rows of planted"):
        SplitPlan(sizes=(4,), leave_out="p").splits(replace(table, constants=(("p", 4),)))


# --- interrupted ----------------------------------------------------------------------------


def test_an_interruption_keeps_what_says_something() -> None:
    entered = contenders(planted(), ["analytical", "ridge"])
    split_plan = SplitPlan(sizes=(8, 16), repeats=4)

    def stopping(at: int) -> Callable[..., None]:
        def progress(stage: str, done: int, total: int, detail: str = "") -> None:
            assert stage == STAGE
            if done == at and total == 16:
                raise KeyboardInterrupt

        return progress

    found = learning_curve(entered, split_plan, progress=stopping(6))
    assert (len(found.trials), found.planned, found.interrupted) == (6, 16, True)
    assert found.point("ridge", 16, "error_rate") is not None
    with pytest.raises(KeyboardInterrupt):
        learning_curve(entered, split_plan, progress=stopping(3))


def test_the_time_left_grows_with_the_rows() -> None:
    pace = Pace()
    assert pace.left([("a", 8)]) is None
    pace.add("a", 8, 1.0)
    pace.add("a", 16, 3.0)
    assert pace.left([("a", 8), ("a", 16), ("a", 64)]) == pytest.approx(1 + 3 + 12)
    assert pace.left([("b", 8)]) is None


# --- curves ---------------------------------------------------------------------------------


def test_a_planted_law_is_learned_and_the_analytical_error_stays() -> None:
    entered = contenders(planted(), ["analytical", "ridge", "am-scaled"])
    told: list[tuple[int, int]] = []
    found = learning_curve(
        entered,
        SplitPlan(sizes=(8, 32), repeats=3),
        progress=lambda stage, done, total, detail="": told.append((done, total)),
    )
    assert told[-1] == (18, 18)
    known = {m: found.point(m, 32, "error_rate") for m in found.models}
    assert known["analytical"].median > 0.3  # type: ignore[union-attr]
    assert known["ridge"].median < 0.06  # type: ignore[union-attr]
    assert payoff(found, "ridge", "analytical").seems in (8, 32)
    before, after = (found.point("analytical", size, "error_rate") for size in (8, 32))
    assert before == after


def test_equal_seeds_give_equal_curves() -> None:
    entered = contenders(planted(), ["ridge"])
    split_plan = SplitPlan(sizes=(8,), repeats=2, seed=3)
    assert learning_curve(entered, split_plan).trials == learning_curve(entered, split_plan).trials


def test_a_model_that_cannot_be_fitted_says_why() -> None:
    table = planted(analytical=None)
    entered = contenders(table, ["pmnf", "ridge"])
    found = learning_curve(entered, SplitPlan(sizes=(8,), repeats=2))
    ((model, reason), sizes), *rest = found.failures().items()
    assert (model, sizes, rest) == ("pmnf", (8,), [])
    assert reason
    assert found.point("pmnf", 8, "error_rate") is None
    assert found.point("ridge", 8, "error_rate") is not None


def test_models_are_known_and_have_what_they_need() -> None:
    with pytest.raises(InputError, match=r"unknown model 'poll'.*did you mean pool"):
        contenders(planted(), ["poll"])
    for name in ("analytical", *filter(catalogue.analytical, catalogue.MODELS)):
        with pytest.raises(InputError, match="predicted_s"):
            contenders(planted(analytical=None), [name])
    with pytest.raises(InputError, match="models: none"):
        learning_curve([], SplitPlan(sizes=(8,)))
