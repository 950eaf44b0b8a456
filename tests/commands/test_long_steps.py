"""A build or a run that takes long says for how long it has been running."""

import contextlib
import gc
import io
import threading
from collections.abc import Callable

import pytest
from rich.console import Console
from terminal import Terminal

from autotune.commands import live, long_steps, output
from autotune.commands.long_steps import LongSteps


class Told:
    """Waits for the seconds of a step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.told = threading.Semaphore(0)

    def show(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.told.release()


def test_a_step_is_told_again_after_twice_its_time() -> None:
    told = Told()
    steps = LongSteps(told.show, first=0.05)
    steps.begin("build", "x")
    for _ in range(3):
        assert told.told.acquire(timeout=20)
    steps.end()
    first, second, third = told.seconds[:3]
    assert first >= 0.05
    assert first + 0.05 <= second
    assert 2 * second <= third


def test_a_step_that_is_reported_again_goes_on_and_another_one_begins_anew() -> None:
    told = Told()
    steps = LongSteps(told.show, first=0.2)
    steps.begin("build 0/2", "x")
    assert told.told.acquire(timeout=20)
    steps.begin("build 0/2", "x")
    assert told.told.acquire(timeout=20)
    assert told.seconds[-1] > 0.4
    steps.begin("build 0/2", "y")
    assert told.told.acquire(timeout=20)
    assert told.seconds[-1] < told.seconds[-2]
    steps.end()
    assert not told.told.acquire(timeout=0.5)


def test_the_thread_ends_with_its_object() -> None:
    told = Told()
    steps = LongSteps(told.show, first=0.05)
    steps.begin("build", "x")
    thread = steps._thread
    assert thread is not None
    assert told.told.acquire(timeout=20)
    del told
    gc.collect()
    steps.begin("build", "y")
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(show: Callable[[float], None]) -> LongSteps:
        return LongSteps(show, first=1.0)

    monkeypatch.setattr(output, "LongSteps", steps)
    monkeypatch.setattr(live, "LongSteps", steps)


class Written(io.StringIO):
    """Text in which a piece is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.changed = threading.Condition()

    def write(self, text: str) -> int:
        with self.changed:
            self.changed.notify_all()
            return super().write(text)

    def awaits(self, piece: str) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: piece in self.getvalue(), timeout=30)


@pytest.mark.usefixtures("soon")
def test_lines_say_for_how_long_a_run_has_been_running() -> None:
    written = Written()
    with contextlib.redirect_stderr(written):
        lines = live.LineScreen()
        lines("begin study x", 0, 1)
        lines("build and verify", 0, 2, "pad1")
        assert written.awaits("build and verify 0/2  pad1, running for 1 s\n")
        lines("build and verify", 2, 2)
        lines.close()
    assert "begin study x 0/1, running" not in written.getvalue()


@pytest.mark.usefixtures("soon")
def test_the_table_says_for_how_long_a_run_has_been_running() -> None:
    written = Written()
    console = Console(file=written, force_terminal=True, width=100, height=20)
    with contextlib.closing(live.TableScreen(console)) as screen:
        screen("measure, round 2", 3, 9, "pad1")
        assert written.awaits("running for 1 s")
        assert "measure, round 2 3/9, running for 1 s  pad1" in Terminal(written.getvalue()).text
        screen("measure, round 2", 4, 9, "pad2")
    assert long_steps.running(0.0) == ""
