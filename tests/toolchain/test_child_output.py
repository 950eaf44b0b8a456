"""Output of children read while they run; commands and processes that end with their parents."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autotune.toolchain import end_with_parent
from autotune.toolchain.child_output import OutputReader
from autotune.toolchain.process_tree import MARK, running_descendants

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


# --- descendants --------------------------------------------------------------------------------


def eventually(ready: Callable[[], bool]) -> bool:
    """Whether something holds within the time that no test comes near."""
    end = time.monotonic() + SOON
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def test_descendants_are_found_by_their_session() -> None:
    with child(shell("sleep 60 & sleep 60 & wait")) as process:
        assert eventually(lambda: len(running_descendants(process.pid, "none")) == 3)
        assert process.pid in running_descendants(process.pid, "none")
        os.killpg(process.pid, signal.SIGKILL)
        assert eventually(lambda: not running_descendants(process.pid, "none"))


def test_descendants_in_sessions_of_their_own_are_found_by_their_mark() -> None:
    mark = f"test-{os.getpid()}"
    code = "import subprocess as s; s.run(['sleep', '60'], start_new_session=True)"
    environment = {**os.environ, MARK: mark}
    with child([sys.executable, "-S", "-c", code], env=environment) as process:
        assert eventually(lambda: len(running_descendants(process.pid, mark)) == 2)
        without = running_descendants(process.pid, "another mark")
        assert without == {process.pid}
        for number in running_descendants(process.pid, mark) - {process.pid}:
            os.kill(number, signal.SIGKILL)


def test_a_session_that_never_was_has_no_processes() -> None:
    with child(shell("exit 0")) as process:
        process.wait()
        assert running_descendants(process.pid, "no such mark") == set()


# --- a command that ends with its parent --------------------------------------------------------


RUN = [sys.executable, "-S", str(Path(end_with_parent.__file__))]


def test_the_command_takes_the_place_of_the_process() -> None:
    done = subprocess.run([*RUN, str(os.getpid()), "echo", "a b"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a b\n", "")


def test_a_parent_that_has_ended_meanwhile_has_no_command() -> None:
    done = subprocess.run([*RUN, "1", "echo"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "the parent ended meanwhile\n"


def test_a_command_that_is_not_there_has_the_code_of_shells() -> None:
    done = subprocess.run(
        [*RUN, str(os.getpid()), "no-such-command"], capture_output=True, text=True
    )
    assert done.returncode == 127
    assert done.stderr == "cannot run 'no-such-command': No such file or directory\n"


def test_the_end_of_the_parent_is_a_sigterm_for_the_command(tmp_path: Path) -> None:
    """The parent ends as soon as the command, a shell that notes the signal, has begun."""
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    script = f"trap 'echo ended > {ended}; exit' TERM; echo > {begun}; while :; do sleep 0.02; done"
    code = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([*{RUN!r}, str(os.getpid()), 'sh', '-c', sys.argv[1]])\n"
        f"while not os.path.exists({str(begun)!r}): time.sleep(0.005)\n"
    )
    subprocess.run([sys.executable, "-S", "-c", code, script], check=True, timeout=SOON)
    assert eventually(ended.exists)
