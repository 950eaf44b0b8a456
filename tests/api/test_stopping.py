"""Callbacks, stops from callbacks, threads and asyncio, and Ctrl-C: what was measured is kept."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tuned_functions import seconds, slow_seconds

import autotune as at

Tune = Callable[..., at.StudyResult]


def test_callbacks_get_the_study_and_each_trial_once(quick: Tune) -> None:
    seen: list[tuple[int, float | None, float]] = []

    def note(study: at.RunningStudy, trial: at.MeasuredTrial) -> None:
        seen.append((trial.params["n"], trial.value, study.best_value))

    study = quick(seconds, parameters={"n": [4, 3, 2]}, time=float, callbacks=[note])
    assert sorted(n for n, _, _ in seen) == sorted({t.params["n"] for t in study.trials})
    assert all(value == pytest.approx(1e-3 * n, rel=1e-2) for n, value, _ in seen)
    assert seen[-1][2] == pytest.approx(2e-3, rel=1e-2)


def test_a_callback_stops_the_study(quick: Tune) -> None:
    def enough(study: at.RunningStudy, trial: at.MeasuredTrial) -> None:
        assert study.best_params
        study.stop()

    study = quick(
        slow_seconds, parameters={"n": range(1, 500)}, time=float, callbacks=[enough], budget=None
    )
    assert study.result.record.runs[-1].state == "interrupted"
    assert study.best.value is not None


def test_what_a_callback_raises_ends_the_study_and_is_raised(quick: Tune) -> None:
    def broken(study: at.RunningStudy, trial: at.MeasuredTrial) -> None:
        raise LookupError("of the user's")

    with pytest.raises(LookupError, match="of the user's"):
        quick(
            slow_seconds,
            parameters={"n": range(1, 500)},
            time=float,
            callbacks=[broken],
            budget=None,
        )
    assert at.load_study("study.sqlite").trials, "what was measured is kept"


def test_an_event_of_another_thread_ends_what_runs(quick: Tune) -> None:
    stop = threading.Event()

    def hang(n: int) -> float:
        time.sleep(60 if n > 1 else 0)
        return 1e-3

    timer = threading.Timer(4.0, stop.set)
    timer.start()
    limits = {"run": "90 s", "factor": 1_000_000}
    try:
        study = quick(hang, parameters={"n": [1, 2]}, time=float, stop=stop, limits=limits)
    finally:
        timer.cancel()
    assert study.result.record.runs[-1].state == "interrupted"
    assert not [trial for trial in study.trials if trial.failed], "a stop is no failure"


def test_a_study_that_is_stopped_before_anything_ran_says_so(quick: Tune) -> None:
    stop = threading.Event()

    def hang(n: int) -> float:
        time.sleep(60)
        return float(n)

    timer = threading.Timer(1.0, stop.set)
    timer.start()
    try:
        with pytest.raises(at.WorkFailed, match="stopped before anything was measured"):
            quick(hang, parameters={"n": [1, 2]}, time=float, stop=stop, limits={"run": "90 s"})
    finally:
        timer.cancel()


def test_within_asyncio_a_cancelled_task_stops_its_study(quick: Tune) -> None:
    stop, ended = threading.Event(), threading.Event()
    started = asyncio.Event()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def note(study: at.RunningStudy, trial: at.MeasuredTrial) -> None:
            loop.call_soon_threadsafe(started.set)

        def tuned() -> None:
            quick(
                slow_seconds,
                parameters={"n": range(1, 500)},
                time=float,
                callbacks=[note],
                stop=stop,
                budget=None,
            )
            ended.set()

        async def study() -> None:
            try:
                await asyncio.to_thread(tuned)
            finally:
                stop.set()

        task = asyncio.create_task(study())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended.wait(30)
    assert at.load_study("study.sqlite").best.params["n"] >= 1


SCRIPT = """
import autotune as at, random, time

def seconds(n):
    time.sleep(0.05)
    return 1e-3 * n * (1 + 1e-3 * random.random())

def told(study, trial):
    print("trial", flush=True)

try:
    at.tune(seconds, parameters={"n": range(1, 500)}, time=float, store="kept.sqlite",
            callbacks=[told])
except KeyboardInterrupt as stop:
    print(stop, flush=True)
"""


def test_ctrl_c_keeps_everything(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "trial\n"
    os.kill(child.pid, signal.SIGINT)
    told = child.communicate(timeout=60)[0]
    assert "every finished sample is in kept.sqlite; go on with resume=True" in told
    study = at.load_study(tmp_path / "kept.sqlite")
    assert study.result.record.runs[-1].state == "interrupted"
    assert study.best.value is not None


def test_two_studies_of_one_process_take_turns(quick: Tune) -> None:
    results: list[at.StudyResult] = []

    def tuned(name: str) -> None:
        results.append(
            quick(seconds, parameters={"n": [2, 1]}, time=float, name=name,
                  store=f"{name}.sqlite", measuring={"rounds": 1, "samples": 1})
        )  # fmt: skip

    threads = [threading.Thread(target=tuned, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [study.best_params for study in results] == [{"n": 1}] * 2
