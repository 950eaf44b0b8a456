"""Output of children read while they run."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from autotune.toolchain.child_output import OutputReader

SOON = 20.0
"""Seconds that no test comes near, unless something hangs."""
Started = subprocess.Popen[bytes]


@contextmanager
def child(command: list[str], **more: object) -> Iterator[Started]:
    process = subprocess.Popen(  # type: ignore[call-overload]
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


@contextmanager
def reader(
    process: Started,
    limit: int = 1000,
    on_line: Callable[[str], bool | None] | None = None,
    **more: object,
) -> Iterator[OutputReader]:
    made = OutputReader(process, limit, on_line, **more)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.close()


def follow(made: OutputReader) -> bool:
    return made.follow(time.monotonic() + SOON)


# --- output -----------------------------------------------------------------------------------


def test_both_streams_are_read_to_the_end() -> None:
    with child(shell("echo one; echo two >&2; printf three")) as process, reader(process) as made:
        assert follow(made)
        assert (made.out(), made.err()) == ("one\nthree", "two\n")
        assert not made.exceeded


def test_every_line_is_heard_once_the_last_one_also_without_an_end() -> None:
    lines: list[str] = []
    command = shell("printf 'a\\nb'; printf 'c\\n\\n'; printf last")
    with child(command) as process, reader(process, on_line=lines.append) as made:
        assert follow(made)
    assert lines == ["a", "bc", "", "last"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    with child(shell("printf '\\377x'")) as process, reader(process) as made:
        assert follow(made)
        assert made.out() == "\ufffdx"


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_a_child_that_prints_too_much_is_flooded_and_its_output_cut(stream: str) -> None:
    command = shell(f"while :; do echo 0123456789 {stream}; done")
    with child(command) as process, reader(process, limit=100) as made:
        assert follow(made), "no deadline has come"
        assert made.flooded
        assert made.exceeded
        assert len(made.out() + made.err()) == 100


def test_output_of_exactly_the_limit_is_no_flood() -> None:
    with child(shell("printf 0123456789")) as process, reader(process, limit=10) as made:
        assert follow(made)
        assert (made.flooded, made.out()) == (False, "0123456789")


def test_a_deadline_ends_the_reading_not_the_child() -> None:
    with child(shell("echo begun; sleep 60")) as process, reader(process) as made:
        assert not made.follow(time.monotonic() + 0.05)
        assert process.poll() is None
        assert not made.exceeded


def test_a_child_that_hangs_on_to_more_memory_than_it_may_is_swollen() -> None:
    """Any process holds more than a single byte."""
    with child(shell("sleep 60")) as process, reader(process, memory=1) as made:
        assert follow(made)
        assert (made.swollen, made.exceeded, made.flooded) == (True, True, False)


def test_a_descendant_that_holds_the_pipe_open_does_not_keep_the_reader() -> None:
    begin = time.monotonic()
    with child(shell("sleep 60 & echo done")) as process, reader(process) as made:
        assert follow(made)
        assert made.out() == "done\n"
        assert time.monotonic() - begin < SOON / 2
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize(("answers", "last"), [(True, ["1", "2", "3"]), (False, ["1"])])
def test_a_paced_child_goes_on_when_its_line_is_taken(answers: bool, last: list[str]) -> None:
    lines: list[str] = []

    def hear(line: str) -> bool:
        lines.append(line)
        return answers

    command = shell("echo 1; read a; echo 2; read b; echo 3")
    with child(command, stdin=subprocess.PIPE, bufsize=0) as process:
        with reader(process, on_line=hear) as made:
            end = time.monotonic() + (SOON if answers else 0.1)
            assert made.follow(end) == answers
        assert lines == last[: len(lines)]
        assert len(lines) == 3 or not answers


class Looks:
    """Counts the looks at a running child."""

    def __init__(self) -> None:
        self.looks = 0

    def begin(self, pid: int) -> None: ...

    def look(self) -> None:
        self.looks += 1

    def end(self, reaped: int) -> None: ...


def test_a_watcher_looks_while_the_child_runs() -> None:
    looks = Looks()
    with child(shell("sleep 0.05")) as process, reader(process, watcher=looks) as made:
        assert follow(made)
    assert looks.looks >= 1
