"""Children that hang, flood, crash, hide and outlive: none of them harms the parent."""

import dataclasses
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from autotune.errors import MissingTool
from autotune.toolchain import child_process
from autotune.toolchain.child_process import ChildLimits, LineListener
from autotune.units import Seconds


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_output_code_and_time_of_a_good_child():
    outcome = child_process.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=10)
    assert (outcome.code, outcome.signal, outcome.out, outcome.err) == (3, None, "out\n", "err\n")
    assert not outcome.ok
    assert outcome.seconds > 0
    assert "exit code 3" in outcome.describe()
    assert "err" in outcome.describe()


def test_input_is_closed():
    assert child_process.run(["cat"], timeout=10).ok


def test_only_the_given_environment():
    outcome = child_process.run(["/usr/bin/env"], timeout=10, environment={"A": "1"})
    assert sorted(line.split("=")[0] for line in outcome.out.split()) == ["A"]


def test_lines_arrive_while_the_child_runs(tmp_path: Path):
    """The child waits for a file that is only written when its first line has been heard."""
    gate = tmp_path / "gate"
    code = (
        f"import os, time; print('one', flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        f"print('two', flush=True); print('three', end='')"
    )
    heard: list[str] = []

    def hear(line: str) -> None:
        heard.append(line)
        gate.touch()

    assert child_process.run(python(code), timeout=20, listener=LineListener(hear)).ok
    assert heard == ["one", "two", "three"]


def test_a_line_in_pieces_arrives_whole():
    code = "import sys, time\nfor c in 'abc\\n': print(c, end='', flush=True); time.sleep(0.02)"
    heard: list[str] = []
    child_process.run(python(code), timeout=20, listener=LineListener(heard.append))
    assert heard == ["abc"]


def test_hanging_child_is_ended_with_all_its_children(tmp_path: Path):
    """One ignores SIGTERM, one left the session, one left it and was orphaned before."""
    script = f"""
        sleep 1000 & echo $! >> {tmp_path}/pids
        setsid sleep 1000 & echo $! >> {tmp_path}/pids
        (trap '' TERM; sleep 1000) & echo $! >> {tmp_path}/pids
        sh -c 'setsid sleep 1000 & echo $! >> {tmp_path}/pids'
        echo ready; sleep 1000
    """
    outcome = child_process.run(["bash", "-c", script], timeout=1.0)
    assert outcome.timed_out
    assert outcome.left == ()
    assert outcome.out == "ready\n"
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 4
    assert not any(alive(pid) for pid in pids)
    assert "time limit" in outcome.describe()


def test_children_that_outlive_a_good_child_are_ended(tmp_path: Path):
    script = f"sleep 1000 & echo $! > {tmp_path}/pid; echo done"
    started = time.monotonic()
    outcome = child_process.run(["sh", "-c", script], timeout=60)
    assert outcome.ok
    assert outcome.out == "done\n"
    assert not alive(int((tmp_path / "pid").read_text()))
    assert time.monotonic() - started < 30, "it must not wait for the pipe that the orphan holds"


def test_child_that_closes_its_output_and_hangs():
    outcome = child_process.run(["sh", "-c", "exec >&- 2>&-; sleep 1000"], timeout=0.5)
    assert outcome.timed_out


def test_flood_is_ended_in_bounded_memory():
    outcome = child_process.run(
        ["sh", "-c", "yes abcdefgh"], timeout=60, limits=ChildLimits(output=100_000)
    )
    assert outcome.flooded
    assert not outcome.timed_out
    assert len(outcome.out) <= 100_000
    assert "more than it may" in outcome.describe()


def test_flood_of_errors_without_line_ends():
    outcome = child_process.run(
        ["sh", "-c", "tr '\\0' x </dev/zero >&2"], timeout=60, limits=ChildLimits(output=5000)
    )
    assert outcome.flooded
    assert len(outcome.err) <= 5000
    assert len(outcome.describe()) < 2 * child_process.TAIL


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGFPE", "SIGKILL"])
def test_crash_names_the_signal(name: str):
    number = getattr(signal, name)
    outcome = child_process.run(
        python(f"import os; os.kill(os.getpid(), {int(number)})"), timeout=20
    )
    assert outcome.signal == name
    assert outcome.code is None
    assert name in outcome.describe()


def test_signal_behind_a_launcher_is_named():
    outcome = child_process.run(["sh", "-c", "sh -c 'kill -SEGV $$'; exit 139"], timeout=20)
    assert "SIGSEGV" in outcome.describe()


@pytest.mark.parametrize(("waited", "starved"), [(4.0, True), (1.0, False), (None, False)])
def test_who_had_no_cpu_until_the_limit_was_starved(waited: float | None, starved: bool):
    ended = child_process.run(["sleep", "9"], timeout=1)
    assert ended.timed_out
    assert not ended.starved  # it slept
    usage = child_process.ChildUsage(
        wall=Seconds(5.0), cpu=Seconds(0.5), waited=waited, voluntary=1, involuntary=9
    )
    assert dataclasses.replace(ended, usage=usage).starved == starved
    assert not dataclasses.replace(ended, usage=usage, timed_out=False).starved


def test_the_memory_of_all_processes_together_is_limited():
    code = """
import os, time
for _ in range(3):
    if not os.fork():
        kept = bytearray(os.urandom(1 << 20) * 120)
        time.sleep(30)
        os._exit(0)
time.sleep(30)
"""
    outcome = child_process.run(python(code), timeout=25, limits=ChildLimits(memory=300 << 20))
    assert outcome.swollen
    assert not outcome.ok
    assert not outcome.timed_out
    assert outcome.left == ()
    assert "together" in outcome.describe()


def test_memory_limit():
    code = (
        "import time; time.sleep(0.3)\ntry: b = bytearray(1 << 30)\nexcept MemoryError: print('no')"
    )
    outcome = child_process.run(python(code), timeout=20, limits=ChildLimits(memory=512 << 20))
    assert outcome.out == "no\n"


def test_unknown_program_is_a_missing_tool():
    with pytest.raises(MissingTool, match="no-such-program"):
        child_process.run(["no-such-program"], timeout=1)


def test_the_limit_of_files_holds_from_the_first_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # as when the parent has no CPU until the child has written a lot
    monkeypatch.setattr(child_process.resource, "prlimit", lambda *_: None)
    command = ["dd", "if=/dev/zero", "of=big", "bs=65536", "count=160"]
    outcome = child_process.run(
        command, timeout=20, folder=tmp_path, limits=ChildLimits(largest_file=(1 << 20) - 512)
    )
    assert outcome.signal == "SIGXFSZ"
    assert (tmp_path / "big").stat().st_size == (1 << 20) - 512


def test_the_limit_of_files_is_exact(tmp_path: Path):
    code = "import resource, time\ntime.sleep(1)\nprint(resource.getrlimit(resource.RLIMIT_FSIZE))"
    outcome = child_process.run(
        python(code), timeout=20, folder=tmp_path, limits=ChildLimits(largest_file=1000)
    )
    assert outcome.out == "(1000, 1000)\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-such-program", "No such file"),
        ("./no-such-program", "No such file"),
        ("./no-program", "Permission denied"),
    ],
)
def test_a_limit_of_files_hides_no_missing_tool(tmp_path: Path, name: str, why: str):
    (tmp_path / "no-program").write_text("text")
    with pytest.raises(MissingTool, match=f"{name}.*{why}"):
        child_process.run(
            [name], timeout=1, folder=tmp_path, limits=ChildLimits(largest_file=1 << 20)
        )


def test_a_path_is_relative_to_the_folder(tmp_path: Path):
    (tmp_path / "program").symlink_to("/bin/echo")
    outcome = child_process.run(
        ["./program", "a b"], timeout=9, folder=tmp_path, limits=ChildLimits(largest_file=1 << 20)
    )
    assert outcome.out == "a b\n"


def test_an_exception_of_the_listener_ends_the_children(tmp_path: Path):
    def hear(line: str) -> None:
        raise KeyboardInterrupt

    script = f"echo $$ > {tmp_path}/pid; echo x; sleep 1000"
    with pytest.raises(KeyboardInterrupt):
        child_process.run(["sh", "-c", script], timeout=60, listener=LineListener(hear))
    assert not alive(int((tmp_path / "pid").read_text()))


def test_ctrl_c_ends_the_children(tmp_path: Path):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        child_process.run(["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 1000"], timeout=60)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_undecodable_output_is_kept():
    outcome = child_process.run(["printf", "\\377\\376ok\\n"], timeout=10)
    assert outcome.out.endswith("ok\n")


def test_low_priority_works_for_everyone():
    outcome = child_process.run(["nice"], timeout=10, niceness=19)
    assert outcome.priority in ("autogroup", "nice")


def test_several_threads_at_once():
    results: list[child_process.ProcessOutcome] = []
    threads = [
        threading.Thread(
            target=lambda n=n: results.append(child_process.run(["echo", str(n)], timeout=20))
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(r.out) for r in results) == list(range(8))


def test_a_paced_child_goes_on_only_when_it_was_answered() -> None:
    script = "for i in 1 2 3; do echo line $i; read answer; echo got; done"
    heard: list[str] = []

    def hear(line: str) -> bool:
        heard.append(line)
        return line.startswith("line")

    outcome = child_process.run(
        ["sh", "-c", script], timeout=20, listener=LineListener(hear, paced=True)
    )
    assert outcome.ok
    assert heard == ["line 1", "got", "line 2", "got", "line 3", "got"]


def test_an_unanswered_paced_child_ends_at_its_limit() -> None:
    outcome = child_process.run(
        ["sh", "-c", "echo x; read a"],
        timeout=0.5,
        listener=LineListener(lambda _: False, paced=True),
    )
    assert outcome.timed_out
