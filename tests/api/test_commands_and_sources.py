"""Commands, C sources and configs as targets, with real programs and compilers."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import autotune as at

Tune = Callable[..., at.StudyResult]
ROOT = Path(__file__).parents[2]

SCRIPT = """\
import sys
n, scale = int(sys.argv[1]), float(sys.argv[2])
print("seconds", n * 1e-3 * scale)
print('{"rate": %g, "sum": 6}' % (1 / n))
"""

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1;
    volatile double sum = 0;
    for (int i = 0; i < n * 1000; i++)
        for (int k = 0; k < WORK; k++) sum += 1.0 / WORK;
    printf("sum %.6f\\nseconds %g\\n", (double)sum / n, 1e-5 * WORK);
    return 0;
}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_a_command_as_words_with_a_pattern_for_its_time(quick: Tune, script: Path) -> None:
    study = quick(
        [sys.executable, "program.py", "{n}", "{scale}"],
        parameters={"n": [3, 1]},
        arguments={"scale": 2.0},
        time="seconds (\\S+)",
        metrics={"rate": "rate"},
        objectives={"time": "less", "rate": "more"},
        check="sum",
    )
    assert study.best_params == {"n": 1}
    assert study.best_value == pytest.approx(2e-3)
    assert study.best.values == pytest.approx({"time": 2e-3, "rate": 1.0})
    assert len(study.best_trials) == 1


def test_a_command_as_text_is_timed_from_its_start_to_its_end(quick: Tune) -> None:
    study = quick("sleep {seconds}", parameters={"seconds": [0.2, 0.01]})
    assert study.best_params == {"seconds": 0.01}
    assert study.name == "sleep"


def test_macros_of_a_c_source_are_parameters(quick: Tune, tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text(SOURCE, encoding="utf-8")
    study = quick(
        "loop.c",
        parameters={"WORK": [4, 1], "options": at.Flags(["-funroll-loops"])},
        arguments={"n": 2},
        time="seconds (\\S+)",
        check="sum (\\S+)",
        tolerance=1e-6,
        builds=[{"compiler": "gcc", "flags": ["-O1"]}],
    )
    assert study.best_params["WORK"] == 1
    assert study.best.status == "ok"
    assert study.name == "loop"


def test_c_as_a_text_and_a_macro_that_does_not_compile(quick: Tune) -> None:
    study = quick(
        SOURCE, parameters={"WORK": [2, 1, "x y"]}, time="seconds (\\S+)", check="sum (\\S+)"
    )
    assert study.best_params == {"WORK": 1}
    (failed,) = [trial for trial in study.trials if trial.failed]
    assert failed.status == "build-failed"
    assert "error" in failed.detail


def test_a_dict_is_a_config(quick: Tune, script: Path) -> None:
    config = {
        "name": "stated",
        "program": {
            "title": "a script",
            "sources": ["program.py"],
            "run": ["{python}", "{source folder}/program.py", "{n}", 1],
            "parameters": {"n": [2, 1]},
            "time": {"pattern": "seconds (\\S+)"},
        },
    }
    assert at.load(config).name == "stated"
    study = at.tune({**config, "measuring": {"rounds": 2, "samples": 1}}, store="dict.sqlite")
    assert study.best_params == {"n": 1}
    assert at.load(config["program"]).problems[0].label == "study"


def test_a_config_file_may_hold_its_program(tmp_path: Path, script: Path) -> None:
    path = tmp_path / "inline.yaml"
    path.write_text(
        "schema: autotune.config/1\nmachine: host\nprogram:\n  title: a script\n"
        "  sources: [program.py]\n  run: ['{python}', '{source folder}/program.py', '{n}', 1]\n"
        "  parameters: {n: [1, 2]}\n",
        encoding="utf-8",
    )
    setup = at.load(path)
    assert setup.subject.name == "inline"
    path.write_text(path.read_text().replace("{n}", "{m}").replace("[1, 2]", "[1, 1]"))
    with pytest.raises(at.ConfigError) as seen:
        at.load(path)
    places = {fault.where.rpartition("/")[2] for fault in seen.value.faults}
    assert places == {"inline.yaml:6:51", "inline.yaml:7:16"}


def repeated(n: int) -> str:
    return n * "x"


def stated(**keywords: object) -> Callable[[], object]:
    return lambda: at.tune(**{"target": repeated, "parameters": {"n": [1, 2]}, **keywords})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "where", "found"),
    [
        (stated(parameters=None), "parameters", "nothing says what varies"),
        (stated(parameters=[1]), "parameters", "a value of type list"),
        (stated(parameters={"n": []}), "parameters.n", "no values"),
        (stated(parameters={"n": [1, True]}), "parameters.n", "1 and True look the same"),
        (stated(parameters={"n": at.Integer(1, 5000)}), "parameters.n", "more than 4096 values"),
        (stated(restrictions=[lambda n: n]), "restrictions.0", "a function"),
        (stated(restrictions=["m < 2"]), "restrictions.0", "unknown name 'm'"),
        (stated(restrictions=["n <"]), "restrictions.0", "invalid syntax"),
        (stated(baseline={"n": 3}), "baseline.n", "is not one of its values"),
        (stated(objectives={"n": "up"}), "objectives.n", "unknown direction 'up'"),
        (stated(objectives=["score"]), "objective", "score"),
        (stated(time=3), "time", "a value of type int"),
        (stated(budget=3), "budget", "the number 3 without a unit"),
        (stated(budget="3 apples"), "budget", "'apples' is not a unit of time"),
        (stated(budget={"trials": 3}), "budget", "trials"),
        (stated(limit={"run": 3}), "tune", "unknown keyword 'limit'"),
        (stated(limits={"runs": 3}), "limits.runs", "unknown key 'runs'"),
        (stated(target="nothing.c"), "target", "there is no file 'nothing.c'"),
        (stated(target="no-such-program {n}"), "target", "no program 'no-such-program'"),
        (stated(target="sleep {m}"), "target.1", "unknown"),
        (stated(target="sleep {n}", check=len), "check", "a function, and the target is a command"),
        (stated(target=5), "target", "a value of type int, and parameters"),
        (stated(target="quickstart", parameters=None, time=float), "time", "time without"),
        (stated(target="quickstrat", parameters=None), "quickstrat", "there is no such file"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    call: Callable[[], object], where: str, found: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(at.InputError) as seen:
        call()
    assert (seen.value.where, seen.value.found) == (where, seen.value.found)
    assert found in seen.value.found
    assert str(seen.value.faults[0]) in str(seen.value)
