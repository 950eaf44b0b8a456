"""Ask and tell: searches, batches, noise, hints, models, resuming, and wrong calls."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

import autotune as at
from autotune.api import AskedTrial, NothingLeft
from autotune.errors import ConfigError, InputError
from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import evaluate

PARAMETERS = {"tile": [16, 32, 64, 128], "unroll": range(1, 9)}
RESTRICTION = "tile * unroll <= 512"


def seconds(tile, unroll):
    """A landscape with its least time, 1 ms, at tile 64 and unroll 4."""
    return 1e-3 * (1 + abs(math.log2(tile / 64)) + abs(unroll - 4) / 10)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "results.sqlite"


def study(store, **more):
    settings = {"restrictions": [RESTRICTION], "name": "mm", "store": store} | more
    return at.Study(PARAMETERS, **settings)


def best(opened, problem=0):
    return opened.result.result.evaluation.problems[problem].best


def run(opened, count=None):
    """Ask and tell until the study is finished, or so many times; the trials."""
    trials = []
    while not opened.finished and (count is None or len(trials) < count):
        trial = opened.ask()
        opened.tell(trial, time=seconds(**trial.params))
        trials.append(trial)
    return trials


# --- one after the other --------------------------------------------------------------------


def test_it_finds_the_best_and_stops_before_all_are_tried(store):
    with study(store) as opened:
        trials = run(opened)
        assert best(opened).candidate.parameters == {"tile": 64, "unroll": 4}
        assert len(trials) < 28  # legal combinations
        assert "expected improvement" in opened.finished
    assert [trial.number for trial in trials] == list(range(len(trials)))
    assert all(trial.params["tile"] * trial.params["unroll"] <= 512 for trial in trials)
    assert len({trial.candidate for trial in trials}) == len(trials)
    assert trials[0].why == "the baseline"


def test_the_search_is_that_of_a_seed(store, tmp_path):
    with study(store, seed=5) as first, study(tmp_path / "other.sqlite", seed=5) as second:
        assert [t.params for t in run(first, 8)] == [t.params for t in run(second, 8)]


def test_a_budget_ends_it(store):
    with study(store, evaluations=4) as opened:
        assert len(run(opened)) == 4
        assert "budget of 4" in opened.finished
        assert isinstance(opened.ask(), AskedTrial)  # more may still be asked


def test_nothing_left_is_an_error_of_its_own(store):
    with at.Study({"tile": [1, 2]}, name="two", store=store) as opened:
        assert len(opened.ask_several(5)) == 2
        with pytest.raises(NothingLeft, match="every candidate was asked for"):
            opened.ask()


def test_a_value_alone_is_that_of_the_objective(store):
    with study(store) as opened:
        opened.tell(opened.ask(), 0.25)
        assert best(opened).measured == 0.25


def test_numpy_values_are_taken(store):
    with study(store) as opened:
        opened.tell({"tile": np.int64(64), "unroll": 4.0}, time=np.array([0.5, 0.5]))
        assert best(opened).candidate.parameters == {"tile": 64, "unroll": 4}


# --- many at once, and noise ----------------------------------------------------------------


def test_several_are_outstanding_and_told_in_any_order(store):
    with study(store) as opened:
        batch = opened.ask_several(6)
        assert len({trial.candidate for trial in batch}) == 6
        assert opened.outstanding == batch
        for trial in reversed(batch):
            opened.tell(trial.number, time=seconds(**trial.params))
        assert opened.outstanding == []
        assert opened.ask().candidate not in {trial.candidate for trial in batch}


def test_threads_ask_and_tell_side_by_side(store):
    trials = []

    def work():
        for _ in range(4):
            trial = opened.ask()
            opened.tell(trial, time=seconds(**trial.params))
            trials.append(trial)

    with study(store) as opened:
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len({trial.candidate for trial in trials}) == 16
        (stored,) = opened.record.runs
        assert len(stored.measurements) == 16


def test_repeated_tells_are_kept_and_narrow_the_interval(store):
    chance = np.random.default_rng(3)
    with study(store) as opened:
        for _ in range(2):
            trial = opened.ask()
            for _ in range(12):
                opened.tell(trial, time=seconds(**trial.params) * chance.normal(1, 0.02))
        rows = opened.result.result.evaluation.problems[0].rows
        measured = [row for row in rows if row.measured is not None]
        assert [len(row.measurement.samples) for row in measured] == [12, 12]
        low, high = best(opened).interval
        assert high / low < 1.1


def test_a_failure_is_kept_and_shown(store):
    with study(store) as opened:
        wrong = opened.ask()
        opened.tell(wrong, failed="max deviation 0.3", status="wrong-result")
        good = opened.ask()
        opened.tell(good, time=1.0)
        (stored,) = opened.record.runs
        found = stored.measurement(wrong.candidate.rpartition(":")[2])
        assert (found.status, found.detail) == ("wrong-result", "max deviation 0.3")
        assert best(opened).candidate.id == good.candidate


# --- objectives, problems, threads ----------------------------------------------------------


def test_of_a_rate_more_is_better(store):
    with study(store, objectives={"speed": "more"}) as opened:
        while not opened.finished:
            trial = opened.ask()
            opened.tell(trial, speed=1 / seconds(**trial.params), time=0.5)
        assert best(opened).candidate.parameters == {"tile": 64, "unroll": 4}
        assert opened.result.result.evaluation.problems[0].problem.goal.better == "more"


def test_energy_beside_time(store):
    with study(store, objectives=["time", "energy"]) as opened:
        for _ in range(6):
            trial = opened.ask()
            opened.tell(trial, time=seconds(**trial.params), energy=30.0)
        (stored,) = opened.record.runs
        assert stored.measurements[0].samples[0].conditions["energy_j"] == 30.0


def test_several_problems_take_turns_and_have_winners_of_their_own(store):
    problems = [{"n": 256}, {"n": 4096}]
    with study(store, problems=problems, size="n", threads=[1, 2]) as opened:
        for _ in range(30):
            trial = opened.ask()
            wanted = 16 if trial.problem["n"] == 256 else 128
            took = (1 + abs(math.log2(trial.params["tile"] / wanted))) / trial.threads
            opened.tell(trial, time=took)
        numbers = {trial["n"] for trial in (dict(t.problem) for t in opened._trials.values())}
        assert numbers == {256, 4096}
        assert [best(opened, k).candidate.parameters["tile"] for k in (0, 1)] == [16, 128]
        assert opened.ask(n=4096).problem == {"n": 4096}
        assert best(opened).candidate.layout.threads == 2


def test_what_was_told_is_served_by_the_decorator(store):
    with study(store, problems=[{"n": 256}, {"n": 4096}], size="n") as opened:
        opened.tell({"tile": 16, "unroll": 1, "n": 256}, time=1.0)
        opened.tell({"tile": 128, "unroll": 2, "n": 4096}, time=1.0)

    @at.tuned(store, study="mm", size="n", threads=1)
    def tile_of(n, *, tile, unroll):
        return tile, unroll

    assert [tile_of(n) for n in (1, 300, 10**6)] == [(16, 1), (16, 1), (128, 2)]


# --- what is known before -------------------------------------------------------------------


def test_a_model_leads_to_its_best_at_once_and_is_compared(store):
    def model(settings):
        return seconds(settings["tile"], settings["unroll"])

    with study(store, model=model) as opened:
        second = [opened.ask() for _ in range(3)]
        assert {"tile": 64, "unroll": 4} in [trial.params for trial in second]
        for trial in second:
            opened.tell(trial, time=1.1 * trial.predicted)
        row = best(opened)
        assert row.prediction.seconds == pytest.approx(row.measured / 1.1)


def test_hints_lead_the_search_and_are_no_results(store):
    with study(store) as opened:
        for tile in (16, 32, 64, 128):
            for unroll in (1, 2, 4):
                opened.hint({"tile": tile, "unroll": unroll}, 7 * seconds(tile, unroll))
        early = opened.ask_several(6)
        assert {"tile": 64, "unroll": 4} in [trial.params for trial in early]
        opened.hint({"tile": 16, "unroll": 1}, 1.0)  # also later
        assert opened.record.runs[0].measurements == ()
        assert opened.ask().candidate not in {trial.candidate for trial in early}


# --- large spaces ---------------------------------------------------------------------------


def test_a_space_that_cannot_be_listed_is_searched(store):
    parameters = {f"p{k}": range(16) for k in range(6)}
    with at.Study(parameters, name="large", store=store, restrictions=["p0 <= p1"]) as opened:
        for _ in range(12):
            trial = opened.ask()
            assert trial.params["p0"] <= trial.params["p1"]
            opened.tell(trial, time=1.0 + sum(trial.params.values()))
        told = {f"p{k}": 0 for k in range(6)}
        opened.tell(told, time=1.0)
        assert best(opened).candidate.parameters == told
        assert opened.ask().params != told


def test_optunas_samplers_search_too(store):
    with study(store, sampler="random") as opened:
        assert len({trial.candidate for trial in run(opened, 10)}) == 10


# --- going on -------------------------------------------------------------------------------


def test_it_goes_on_after_a_crash_and_asks_again_for_what_was_lost(store):
    code = f"""
import os, autotune as at
study = at.Study({{"tile": [16, 32, 64, 128], "unroll": range(1, 9)}},
                 restrictions=[{RESTRICTION!r}], name="mm", store={str(store)!r})
for _ in range(3):
    trial = study.ask()
    study.tell(trial, time=0.001 * trial.params["tile"])
print(study.ask().candidate, flush=True)
os._exit(1)
"""
    crashed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert crashed.returncode == 1, crashed.stderr
    with study(store) as opened:
        assert len(opened.record.runs[0].measurements) == 3
        again = opened.ask()
        assert again.candidate == crashed.stdout.strip()
        assert "never told" in again.why
        opened.tell(again, time=0.5)
        others = [opened.ask() for _ in range(3)]
        told = {m.candidate for run in opened.record.runs for m in run.measurements}
        assert told.isdisjoint(trial.candidate.rpartition(":")[2] for trial in others)


def test_two_that_work_on_one_study_share_it(store):
    with study(store) as first, study(store) as second:
        ours, theirs = run(first, 3), run(second, 3)
        assert {t.candidate for t in ours}.isdisjoint(t.candidate for t in theirs)
        assert len(first.result.result.evaluation.problems[0].rows) == 6
        second.tell(ours[0].settings, time=1.0)  # a result that another process brings


def test_a_study_of_another_space_needs_another_name(store):
    study(store).close()
    with pytest.raises(InputError, match=r"other parameters.*'mm-2' is free"):
        at.Study({"tile": [16, 32]}, name="mm", store=store)


def test_the_machine_and_conditions_are_kept(store):
    conditions = {"clock": "1410 MHz", "device": "A100"}
    with study(store, machine="A100 of node 7", conditions=conditions) as opened:
        opened.tell(opened.ask(), time=1.0, conditions={"temperature": 61})
        (stored,) = opened.record.runs
    assert stored.machine.title == "A100 of node 7"
    assert stored.conditions["clock"] == "1410 MHz"
    assert stored.measurements[0].samples[0].conditions["temperature"] == 61
    with study(store) as here:  # on this host: the other machine's times are hints
        assert here.outstanding == []
        assert len({trial.candidate for trial in here.ask_several(28)}) == 28


def test_the_store_serves_the_commands(store):
    with study(store) as opened:
        run(opened, 5)
    with Store.open(store) as results:
        result = evaluate(results.load_study("mm"))
    assert result.problems[0].space.candidates == 28
    assert result.problems[0].speedup is not None


# --- wrong calls ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, r"nothing of time; expected time=\.\.\."),
        ({"time": -1.0}, r"tell: time: the number -1; expected seconds, more than 0"),
        (
            {"time": 1e308},
            r"tell: time: the number 1e\+308; expected .* between 1e-100 and 1e\+100",
        ),
        ({"time": math.nan}, r"tell: time: nan; expected a finite number"),
        ({"time": "fast"}, r"tell: time: text 'fast'"),
        ({"time": None}, r"nothing|nan|finite"),
        ({"time": []}, r"empty list"),
        ({"tme": 1.0}, r"unknown objective 'tme'.*did you mean time"),
        ({"time": [1.0, 2.0], "energy": [1.0, 2.0, 3.0]}, r"energy: 3 values; expected one, or 2"),
        ({"time": 1.0, "failed": "no"}, r"failed='no' and time.*expected failed with a text"),
        ({"failed": True}, r"failed=True"),
        ({"failed": "no", "status": "crashd"}, r"unknown status 'crashd'.*crashed"),
        ({"value": 1.0, "time": 1.0}, r"time twice"),
    ],
)
def test_wrong_tells_are_refused_before_anything_is_stored(store, told, message):
    with study(store) as opened:
        trial = opened.ask()
        with pytest.raises(InputError, match=message):
            opened.tell(trial, **told)
        assert opened.record.runs[0].measurements == ()
        opened.tell(trial, time=1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tile": 65, "unroll": 4}, r"tile: the number 65 is not one of.*did you mean 64"),
        ({"tile": 64}, r"no value of unroll; expected one of 1, 2"),
        ({"tile": 128, "unroll": 8}, r"tile \* unroll <= 512"),
        ({"tile": 64, "unroll": 4, "unrol": 2}, r"unknown parameter 'unrol'.*did you mean unroll"),
        (7, r"trial 7; expected a number below 0"),
        ("tile=64", r"type str; expected a trial"),
        ({"tile": 64, "unroll": 4, "threads": 3}, r"threads=3; expected threads: one of 1"),
    ],
)
def test_wrong_trials_are_refused(store, settings, message):
    with study(store) as opened, pytest.raises(InputError, match=message):
        opened.tell(settings, time=1.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"restrictions": ["tile * unrol <= 512"]}, r"unrol.*did you mean unroll"),
        ({"restrictions": ["tile <="]}, r"restrictions\.0"),
        ({"restrictions": ["tile > 1000"]}, r"leave nothing|never true"),
        ({"objectives": {"speed": "maximize"}}, r"objectives\.speed.*one of less, more"),
        ({"objectives": []}, r"no objective"),
        ({"objectives": ["energy", "time"]}, r"time behind another"),
        ({"problems": []}, r"no problem"),
        ({"problems": [{"n": 1}, {"m": 2}]}, r"problems\.1: m; expected.*n"),
        ({"problems": [{"n": 1}], "size": "m"}, r"size.*unknown argument 'm'"),
        ({"threads": [0]}, r"threads: the number 0"),
        ({"baseline": {"tile": 17}}, r"tile: the number 17.*did you mean 16"),
        ({"sampler": "tep"}, r"unknown sampler 'tep'.*did you mean tpe"),
        ({"name": " "}, r"empty name"),
        ({"name": 5}, r"name: the number 5"),
        ({"problems": {"n": 5}}, r"problems: a value of type dict; expected a list of dicts"),
        ({"problems": [5]}, r"problems\.0: a value of type int; expected a dict"),
        ({"threads": "two"}, r"threads: a value of type str"),
        ({"evaluations": "many"}, r"evaluations: a value of type str; expected a whole number"),
        ({"model": 5}, r"model: a value of type int; expected a function"),
        ({"treads": [1]}, r"unknown keyword 'treads'.*did you mean threads"),
        ({"model": lambda _: -1.0}, r"model: -1.0 for .*expected predicted seconds"),
    ],
)
def test_wrong_studies_are_refused(store, more, message):
    with pytest.raises((InputError, ConfigError), match=message):
        study(store, **more)


def test_without_parameters_there_is_no_study(store):
    with pytest.raises(InputError, match="parameters: nothing says what varies"):
        at.Study({}, name="none", store=store)


def test_wrong_hints_and_problems_are_refused(store):
    with study(store) as opened:
        with pytest.raises(InputError, match="seconds above 0"):
            opened.hint({"tile": 64, "unroll": 4}, -1.0)
        with pytest.raises(InputError, match="unknown argument 'n'"):
            opened.ask(n=1)
