"""The benchmark's models have the error that they say, its bounds are what textbooks give."""

import importlib
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autotune.files.recorded.read_recorded import read

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def module(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return module


@pytest.mark.parametrize("kind", ["independent", "systematic"])
def test_an_emulated_model_is_as_wrong_as_it_says(kind, load) -> None:
    space = read(BENCHMARKS / "recorded" / "star3d-7pt.json.gz")
    models = load("replay_models")
    predicted = models.emulated(space, kind, 0.4, 1)
    error = np.log(predicted / space.seconds)
    assert error.std() == pytest.approx(0.4)
    assert abs(error.mean()) < 1e-9
    assert (predicted == models.emulated(space, kind, 0.4, 1)).all()
    assert (predicted != models.emulated(space, kind, 0.4, 2)).any()


def test_bounds_of_shares_are_wilsons(load) -> None:
    low, high = load("replay_score").wilson(94, 100)
    assert (low, high) == (pytest.approx(0.8752, abs=1e-4), pytest.approx(0.9722, abs=1e-4))
    assert load("replay_score").wilson(0, 0) == (0.0, 1.0)


def test_medians_count_runs_that_never_got_there(load) -> None:
    median = load("replay_score").median
    assert median([1, 2, math.inf])[0] == 2
    assert median([1, math.inf, math.inf])[0] == math.inf


def test_runs_that_would_have_ended_too_early_are_counted(load) -> None:
    score = load("replay_score")
    runs = [
        score.Run(
            space="a", method="model", model="cold", seed=1, budget=100,
            to5=to5, to1=to1, stop=stop, cpu=0.0, steps=100, performance=0.5,
            loss=0.1, launches=100,
        )
        for to5, to1, stop in ((3, 9, math.inf), (3, 9, 5), (7, math.inf, 5))
    ]  # fmt: skip
    (told,) = score.ended(runs)
    assert told == (
        "cold: 2 of 3 runs would have ended by themselves, 1 before they were within 5 %,"
        " 2 before they were within 1 %"
    )


def test_ours_is_behind_where_its_median_is_not_smaller(load) -> None:
    score = load("replay_score")
    both = [
        score.Run(
            space="a", method=method, model="cold", seed=1, budget=100,
            to5=to5, to1=math.inf, stop=math.inf, cpu=0.0, steps=100, performance=0.5,
            loss=0.1, launches=100,
        )
        for method, to5 in (("model", 9.0), ("random", 30.0))
    ]  # fmt: skip
    told = score.ahead(both)
    assert told[0] == "cold, to 5 %, against random: ahead on every space"
    assert told[1] == "cold, to 1 %, against random: behind or level on a"


def test_what_a_model_costs_is_counted_against_none_in_the_same_run(load) -> None:
    score, tables = load("replay_score"), load("replay_tables")
    runs = [
        score.Run(
            space=space, method="model", model=model, seed=seed, budget=50,
            to5=to5, to1=math.inf, stop=math.inf, cpu=0.0, steps=50, performance=0.5,
            loss=0.1, launches=50,
        )
        for space, model, seed, to5 in (
            ("a", "cold", 1, 9.0), ("a", "correlation 0", 1, 12.0), ("a", "correlation 0", 2, 3.0),
            ("b", "cold", 1, 20.0), ("b", "correlation 0", 1, math.inf),
        )
    ]  # fmt: skip
    title, line = tables.lost(runs)
    assert title.startswith("evaluations lost")
    assert line.startswith("  correlation 0, model (2 pairs): to 5 % +16.5 [")
    assert line.endswith("; to 1 % +0.0 [+0.0, +0.0], median +0")
    assert tables.lost(runs[:1]) == []
