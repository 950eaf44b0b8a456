"""The Python surface: what is loaded, ranked and tuned, as frames; clocks and the version."""

import re
import time
from pathlib import Path

import fabricated as made
import pytest

import autotune
from autotune import api
from autotune.api import PredictionResult, RankResult, StudyResult
from autotune.commands.rank.ranked_space import RankedSpace, load
from autotune.commands.tune import flow as tune_flow
from autotune.domain.ranking import rank
from autotune.errors import ConfigError
from autotune.files.store import Store
from autotune.progress import Clock
from autotune.version import VERSION
from autotune.workloads.base import EnumeratedSpace, IllegalCombinations

CONFIG = """\
schema: autotune.config/1
title: heat
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems: [{ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "heat.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def space(config: Path) -> RankedSpace:
    """Three candidates of which the last cannot be predicted."""
    candidates = [made.candidate(order) for order in ("jli", "ijl", "lij")]
    predictions = [made.prediction(2e-3), made.prediction(1e-3), made.prediction(None, reason="no")]
    return RankedSpace(
        workload=load(config),
        machine=made.machine(),
        enumerated=EnumeratedSpace(legal=candidates, illegal=IllegalCombinations([])),
        rankings=tuple(rank(candidates, predictions)),
    )


def test_a_setup_is_what_a_config_says(config: Path) -> None:
    setup = api.load(config)
    assert (setup.name, setup.problems[0].label) == ("heat", "heat2d-N40")
    assert api.load(str(config)) == setup


def test_every_mistake_of_a_config_is_told_at_once(config: Path) -> None:
    config.write_text(CONFIG.replace("heat2d", "heat4d").replace("[1]", "[0]"), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        autotune.load(config)
    assert len(caught.value.faults) == 2


def test_predictions_are_in_the_order_of_the_space(config: Path) -> None:
    frame = PredictionResult(space(config)).frame()
    assert [name.partition("-")[0] for name in frame["candidate"]] == ["jli", "ijl", "lij"]
    assert frame["predicted_s"].tolist()[:2] == [2e-3, 1e-3]
    assert frame["predicted_s"].isna().tolist() == [False, False, True]


def test_a_ranking_has_the_fastest_first(config: Path) -> None:
    frame = RankResult(space(config)).frame()
    assert [name.partition("-")[0] for name in frame["candidate"]] == ["ijl", "jli", "lij"]
    assert frame["rank"].tolist()[:2] == [1, 2]
    assert frame["reason"].tolist()[2] == "no"


def test_a_study_has_a_row_for_each_candidate_that_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store.open(path) as results:
        made.fill(results, sizes=(256,), rounds=1)
    result = tune_flow.study("quick", str(path))
    frame = StudyResult(result).frame()
    (problem,) = result.evaluation.problems
    assert frame["problem"].tolist() == ["heat2d-N256"] * len(problem.evaluated)
    assert {"ok", "build-failed", "timed-out"} <= set(frame["status"])
    assert (frame[frame["status"] == "ok"]["measured_s"] > 0).all()


def test_the_package_offers_its_surface_and_nothing_else() -> None:
    assert {"__version__", "load", "predict", "rank", "tune", "Integer"} <= set(dir(autotune))
    for name in dir(autotune):
        assert name == "__version__" or getattr(autotune, name) is getattr(api, name)
    assert set(api.__all__) >= {"load", "predict", "rank", "tune", "StudyResult"}
    with pytest.raises(AttributeError, match="module 'autotune' has no attribute 'tnue'"):
        autotune.tnue  # noqa: B018


def test_the_version_is_one_number_of_three_parts() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert autotune.__version__ == VERSION


def test_a_clock_adds_up_the_time_of_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = Clock()
    assert clock.stages == {}
    now[0] = 103.5
    clock.timed("build", 100.0)
    clock.timed("run", 103.0)
    now[0] = 104.0
    clock.timed("build", 103.5)
    assert clock.stages == {"build": 4.0, "run": 0.5}
    assert Clock().stages == {}, "each clock has stages of its own"
