"""Functions as targets: called in worker processes, timed, checked, and failing in every way."""

import functools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tuned_functions import hard, seconds, work

import autotune as at
from autotune.api.calling.accepted_names import require_accepted
from autotune.commands.tune import flow

Tune = Callable[..., at.StudyResult]


def test_a_function_is_timed_and_the_fastest_wins(quick: Tune) -> None:
    study = quick(work, parameters={"n": [4, 2], "fast": [False, True]})
    assert study.best_params == {"n": 2, "fast": True}
    assert study.best_value == study.best.value
    assert 0.004 < study.best_value < 0.1
    assert study.best.params["fast"] is True, "values keep their types"
    assert study.name == "work"
    assert study.speedup is not None
    assert study.speedup > 1


@pytest.mark.parametrize("way", ["float", "name", "function"])
def test_a_function_may_say_its_time(quick: Tune, way: str) -> None:
    def told(n: int) -> object:
        time = seconds(n)
        return time if way == "float" else {"ms": 1e3 * time, "seconds": time}

    ways = {"float": float, "name": "seconds", "function": lambda result: result["ms"] / 1e3}
    study = quick(told, parameters={"n": range(2, 5)}, time=ways[way])
    assert study.best_params == {"n": 2}
    assert study.best_value == pytest.approx(2e-3, rel=1e-2)


def test_lambdas_closures_arrays_and_local_classes_go_to_workers(quick: Tune) -> None:
    matrix = np.arange(4.0)

    class Model:
        offset = 1

        def __init__(self, factor: int) -> None:
            self.factor = factor

        @property
        def total(self) -> float:
            return self.factor * float(matrix.sum()) + self.offset

        @staticmethod
        def half(x: float) -> float:
            return x / 2

    def halved(n: int) -> float:
        return seconds(Model.half(Model(n).total))

    best = quick(lambda n: halved(n), parameters={"n": [3, 1]}, time=float)
    assert best.best_value == pytest.approx(1e-3 * (6 + 1) / 2, rel=1e-2)


def test_what_a_worker_dies_of_is_a_result(quick: Tune) -> None:
    cases = ["well", "exit", "segfault", "hang", "raise", "nonsense", "nan"]
    study = quick(
        hard, parameters={"case": cases}, time=float, budget="7 evaluations", limits={"run": "8 s"}
    )
    assert study.best_params == {"case": "well"}
    ended = {trial.params["case"]: trial for trial in study.trials}
    assert {case: trial.status for case, trial in ended.items()} == {
        "well": "ok",
        "exit": "crashed",
        "segfault": "crashed",
        "hang": "timed-out",
        "raise": "crashed",
        "nonsense": "unreadable",
        "nan": "unreadable",
    }
    assert "7 of 7 candidates tried, 3 crashed, 2 unreadable output, 1 timed out" in str(study)
    assert "SIGSEGV" in ended["segfault"].detail
    assert "ValueError: no luck" in ended["raise"].detail
    assert "worker.py" not in ended["raise"].detail, "a traceback begins in the user's code"
    assert "'fast' of type str is not a number" in ended["nonsense"].detail
    assert all(trial.failed == (trial.value is None) for trial in study.trials)


def test_nothing_that_ran_is_an_error_with_the_reasons(quick: Tune) -> None:
    with pytest.raises(at.WorkFailed, match="crashed: exit code 3") as seen:
        quick(hard, parameters={"case": ["exit", "raise"]}, time=float)
    assert seen.value.found == str(seen.value)
    study = at.load_study("study.sqlite")
    with pytest.raises(at.WorkFailed, match="none of 1 candidates ran: crashed: exit code"):
        _ = study.best
    assert "none of 1" in str(study)


@pytest.mark.parametrize(
    "check",
    [
        "baseline",
        [6.0, 0.5],
        lambda result: abs(result[0] - 6.0) < 1e-9,
        lambda result, n: result == [n * (6 // n), 0.5],
    ],
    ids=["baseline", "value", "function", "with-parameters"],
)
def test_wrong_results_are_refused(quick: Tune, check: object) -> None:
    def product(n: int) -> list[float]:
        time.sleep(1e-3 * (4 - n))
        return [n * (6 // n), 0.5] if n < 3 else [5.9, 0.5]

    study = quick(product, parameters={"n": [1, 2, 3]}, check=check)
    assert study.best_params == {"n": 2}
    (wrong,) = [trial for trial in study.trials if trial.failed]
    assert (wrong.params, wrong.status) == ({"n": 3}, "wrong-result")


def test_a_check_may_assert(quick: Tune) -> None:
    def check(result: int) -> None:
        assert result != 2, "two is wrong"

    study = quick(lambda n: n, parameters={"n": [1, 2]}, check=check)
    (wrong,) = [trial for trial in study.trials if trial.failed]
    assert "two is wrong" in wrong.detail


def test_two_objectives_give_a_front(quick: Tune) -> None:
    study = quick(
        lambda n: {"seconds": seconds(n), "error": 1.0 / n, "rate": 7.0},
        parameters={"n": [1, 2, 4]},
        time="seconds",
        metrics={"error": "error", "rate": {"read": lambda r: 2 * r["rate"], "better": "more"}},
        objectives={"time": "minimize", "error": "less"},
    )
    assert [trial.params["n"] for trial in study.best_trials] == [1, 2, 4]
    values = {"time": 1e-3, "error": 1.0, "rate": 14.0}
    assert study.best_trials[0].values == pytest.approx(values, rel=1e-2)
    assert study.plot_front().axes[0].get_ylabel() == "error"


def test_a_study_inside_a_function_that_is_tuned_is_refused_with_the_reason(quick: Tune) -> None:
    def outer(n: int) -> None:
        at.tune(outer, parameters={"n": [n]}, budget="2 s")

    with pytest.raises(at.WorkFailed, match="it is called in a function that is being tuned"):
        quick(outer, parameters={"n": [1, 2]})


def test_a_dict_that_is_read_as_a_number_says_how_a_key_is_read(quick: Tune) -> None:
    with pytest.raises(at.WorkFailed, match=r'which is no number \(metrics=\["loss"\] reads a key'):
        quick(
            lambda n: {"loss": 1.0 / n},
            parameters={"n": [1, 2]},
            metrics={"loss": float},
            objectives={"loss": "minimize"},
        )


def test_another_objective_than_the_time(quick: Tune) -> None:
    study = quick(
        lambda n: {"score": 10.0 * n},
        parameters={"n": [1, 2, 3]},
        metrics=["score"],
        objectives={"score": "maximize"},
    )
    assert study.best_params == {"n": 3}
    assert study.best_value == pytest.approx(30.0)
    assert "score 30" in str(study)


def test_problems_have_winners_of_their_own(quick: Tune) -> None:
    study = quick(
        lambda size, block: seconds(1 + abs(size - block)),
        parameters={"block": [1, 2, 3]},
        problems=[{"size": 1}, {"size": 3}],
        time=float,
        size="size",
    )
    assert len(study.problems) == 2
    best = [study.best_of(label).params["block"] for label in study.problems]
    assert best == [1, 3]
    with pytest.raises(at.InputError) as seen:
        _ = study.best
    assert seen.value.found == "2 problems"
    assert study.problems[0] in seen.value.expected
    assert set(study.frame()["problem"]) == set(study.problems)


def test_conditional_and_ordered_parameters_and_restrictions(quick: Tune) -> None:
    seen = quick(
        lambda mode, depth, order: seconds((3 if depth is None else depth) + 0.1 * len(order)),
        parameters={
            "mode": ["flat", "deep"],
            "depth": at.Integer(1, 4, times=2, when="mode == 'deep'"),
            "order": at.Permutation(["i", "j"]),
        },
        restrictions=[("depth != 1", "one is too shallow")],
        time=float,
        budget="20 evaluations",
    )
    assert seen.best_params["depth"] == 2
    assert {trial.params["order"] for trial in seen.trials} <= {"i,j", "j,i"}
    assert not any(trial.params["depth"] == 1 for trial in seen.trials)


def test_a_study_goes_on_in_the_same_store(quick: Tune) -> None:
    calls = {"parameters": {"n": [5, 4, 3, 2, 1]}, "time": float}
    first = quick(seconds, budget="2 evaluations", resume=True, **calls)
    assert len(first.trials) == 2
    again = quick(seconds, budget="5 evaluations", resume=True, **calls)
    assert again.name == first.name
    assert len(again.trials) == 5
    assert again.best_params == {"n": 1}
    loaded = at.load_study("study.sqlite")
    assert loaded.best_params == again.best_params


def test_a_changed_function_is_another_program(quick: Tune) -> None:
    def scaled(factor: int) -> Callable[[int], float]:
        return lambda n: seconds(factor * n)

    for factor in (1, 2):
        study = quick(scaled(factor), parameters={"n": [2, 1]}, time=float, name="scaled")
        assert study.best_value == pytest.approx(factor * 1e-3, rel=1e-2), (
            "no result of the other one"
        )


SCRIPT = """
import random
import autotune as at
from autotune.api.calling.accepted_names import require_accepted
from autotune.commands.tune import flow

LEAST = 2

def helper(n):
    return 1e-3 * max(n, LEAST) * (1 + 1e-3 * random.random())

def seconds(n):
    return helper(n)

study = at.tune(seconds, parameters={"n": [5, 2]}, time=float, store="script.sqlite",
                budget="2 evaluations", measuring={"rounds": 2, "samples": 1}, resume=True)
print(study.best_params, len(study.trials))
"""


def test_functions_of_main_work_without_a_guard(tmp_path: Path) -> None:
    """As in a notebook or at a prompt there need not be a file that could be imported; and a
    function has the same digest in another process.
    """
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    for command, text in (([sys.executable, str(path)], None), ([sys.executable, "-"], SCRIPT)):
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.stdout == "{'n': 2} 2\n", done.stderr
    assert len(at.load_study(tmp_path / "script.sqlite").result.record.runs) == 2


def test_what_no_process_can_be_given_is_refused(quick: Tune) -> None:
    file = Path("x.txt").open("w")  # noqa: SIM115 - closed below
    with file, pytest.raises(at.InputError) as seen:
        quick(lambda n: file.write(str(n)), parameters={"n": [1, 2]})
    assert seen.value.where == "target"
    assert "cannot be given to another process" in seen.value.found
    assert seen.value.hint


def test_the_budget_in_seconds_ends_a_study(quick: Tune) -> None:
    study = quick(seconds, parameters={"n": range(1, 2000)}, time=float, budget="4 s")
    assert study.result.record.runs[-1].state == "budget"
    assert study.trials
    (problem,) = study.result.evaluation.problems
    assert problem.cut is not None
    assert problem.cut.why == "the time is used up"


def test_figures_frames_pages_and_displays(quick: Tune, tmp_path: Path) -> None:
    study = quick(
        lambda n, m: seconds(n + m),
        parameters={"n": [1, 2, 3], "m": [1, 2]},
        time=float,
    )
    frame = study.frame()
    assert list(frame["value"].dropna()) == sorted(frame["value"].dropna())
    first = frame.iloc[0]
    assert {"n": first["params_n"], "m": first["params_m"]} == study.best_params
    for figure in (study.plot_history(), study.plot_samples(), study.plot_importance()):
        figure.savefig(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 5000
    with pytest.raises(at.InputError) as seen:
        study.plot_predicted()
    assert seen.value.hint == "plot_history shows the search"
    assert study.report(tmp_path / "page.html").read_text().startswith("<!")
    assert "| n | m | time [s] |" in study._repr_markdown_()
    assert study._repr_html_().count("<tr>") == 1 + len(study.trials)
    assert study.__rich__().row_count == len(study.trials)


async def _coroutine(n: int) -> int:
    return n


def _generator(n: int) -> Iterator[int]:
    yield n


@pytest.mark.parametrize("target", [_coroutine, _generator, functools.partial(_coroutine, n=1)])
def test_a_call_that_returns_before_its_work_is_done_is_no_target(
    quick: Tune, target: Callable[..., object]
) -> None:
    with pytest.raises(at.InputError, match="before its work is done"):
        quick(target, parameters={"n": [1, 2]})


def _blocked(block: int, n: int = 3) -> float:
    return 1e-3 * block * n


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"parameters": {"blok": [1, 2]}}, r"parameters\.blok: .*did you mean block\?"),
        ({"parameters": {"n": [1, 2]}}, "_blocked needs an argument 'block'"),
        (
            {"parameters": {"block": [1]}, "arguments": {"m": 2}},
            r"arguments\.m: _blocked has no argument 'm'",
        ),
        ({"paramters": {"block": [1]}}, r"unknown keyword 'paramters' \(did you mean parameters"),
        ({"parameters": {"block": [1]}, "chekc": 1}, r"unknown keyword 'chekc' \(did you mean ch"),
    ],
)
def test_names_that_nothing_takes_are_refused_before_a_launch(
    quick: Tune, tmp_path: Path, keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(at.InputError, match=message):
        quick(_blocked, **keywords)
    assert not (tmp_path / "study.sqlite").exists()


def test_functions_that_take_any_keyword_or_show_none_are_not_compared() -> None:
    require_accepted(lambda **settings: settings, {"any": "parameters"})
    require_accepted(lambda block, n=1: block * n, {"block": "parameters"})
    with pytest.raises(at.InputError, match="by its position only"):
        require_accepted(lambda n, /, block: n * block, {"block": "parameters"})


def test_one_number_is_one_value_and_has_no_importance(quick: Tune) -> None:
    study = quick(_blocked, parameters={"block": 3}, time=float)
    assert study.best_params == {"block": 3}
    with pytest.raises(at.InputError, match=r"only one candidate of \S+ was measured"):
        study.plot_importance()


def test_a_study_in_which_nothing_was_measured_fails(
    quick: Tune, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "measuring_deadline", lambda *_: time.monotonic() - 1)
    with pytest.raises(at.WorkFailed, match="nothing was measured"):
        quick(_blocked, parameters={"block": [3, 4]}, time=float)
