"""Guards start children and end all that is left of them, whoever is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autotune.toolchain import child_process, guard, recorded_sessions
from autotune.toolchain.guard_process import has_ended

SOON = 20.0
"""Seconds that no test comes near, unless something hangs."""
FAMILY = """
    sleep 300 & echo $! >> {pids}
    setsid sleep 300 & echo $! >> {pids}
    env -i sh -c 'setsid sleep 300 & echo $! >> {pids}'
    (trap '' TERM; setsid sleep 300 & echo $! >> {pids})
    echo $$ >> {pids}
    {then}
"""
"""A child, one in a session of its own, two orphans, one of them deaf to SIGTERM; the shell."""


def eventually(ready: Callable[[], bool]) -> bool:
    """Whether something holds within the time that no test comes near."""
    end = time.monotonic() + SOON
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def numbers(pids: Path) -> list[int]:
    return [int(word) for word in pids.read_text().split()] if pids.exists() else []


def running(pids: Path) -> list[int]:
    return [pid for pid in numbers(pids) if not has_ended(pid)]


def open_ends() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def idle() -> list[guard.Guard]:
    return guard._idle.get(os.getpid(), [])


def test_a_daemon_without_environment_and_session_is_a_stray(tmp_path: Path):
    pids = tmp_path / "pids"
    daemon = f"(env -i setsid sleep 300 < /dev/null > /dev/null 2>&1 & echo $! > {pids})"
    outcome = child_process.run(["sh", "-c", daemon], timeout=SOON)
    assert outcome.ok
    assert (outcome.strays, outcome.left) == (1, ())
    assert running(pids) == []


def test_nothing_outlives_a_killed_parent(tmp_path: Path):
    pids = tmp_path / "pids"
    code = (
        "import sys; from autotune.toolchain import child_process\n"
        "child_process.run(['sh', '-c', sys.argv[1]], timeout=300)"
    )
    script = FAMILY.format(pids=pids, then="sleep 300")
    parent = subprocess.Popen([sys.executable, "-c", code, script])
    assert eventually(lambda: len(numbers(pids)) == 5)
    assert len(running(pids)) == 5
    parent.kill()
    parent.wait()
    assert eventually(lambda: not running(pids)), running(pids)


def test_a_guard_ends_although_a_fork_of_its_parent_holds_its_socket(tmp_path: Path):
    pids = tmp_path / "pids"
    code = (
        "import os, sys, threading, time; from autotune.toolchain import child_process\n"
        "run = lambda: child_process.run(['sh', '-c', sys.argv[1]], timeout=300)\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        "while not os.path.exists(sys.argv[2]): time.sleep(0.01)\n"
        "if os.fork(): os._exit(0)\n"
        "time.sleep(10)"
    )
    script = f"echo $$ > {pids}.new; mv {pids}.new {pids}; sleep 300"
    subprocess.run([sys.executable, "-c", code, script, str(pids)], check=True)
    assert eventually(lambda: not running(pids))


def test_a_guard_that_is_killed_ends_its_child_and_the_next_child_has_another(tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"echo $$ > {pids}; sleep 0.5; kill -9 $PPID; exec sleep 300"
    outcome = child_process.run(["sh", "-c", script], timeout=SOON)
    assert (outcome.code, outcome.signal) == (None, "SIGKILL")
    assert not outcome.ok
    assert eventually(lambda: not running(pids))
    assert child_process.run(["echo", "more"], timeout=SOON).out == "more\n"


def test_what_a_killed_guard_left_is_ended_with_the_run(tmp_path: Path):
    pids = tmp_path / "pids"
    script = f"setsid sleep 300 & echo $! > {pids}; sleep 0.3; kill -9 $PPID; exec sleep 300"
    assert child_process.run(["sh", "-c", script], timeout=SOON).signal == "SIGKILL"
    assert running(pids) == []
    assert list(tmp_path.glob("cache/sessions/*/*")) == []


def test_a_parent_that_is_killed_alone_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    code = (
        "import os, sys; from autotune.toolchain import child_process\n"
        "kill = lambda line: os.kill(os.getpid(), 9)\n"
        "child_process.run(['sh', '-c', 'setsid sleep 300 & sleep 0.1; echo; sleep 300'],\n"
        "    timeout=300, listener=child_process.LineListener(kill))"
    )
    subprocess.run([sys.executable, "-c", code])
    assert eventually(lambda: not list(tmp_path.glob("cache/sessions/*/*")))


KILLED_WITH_ITS_GUARD = """
import os, signal, sys, threading
from autotune.toolchain import child_process, guard, recorded_sessions

def kill():
    for line in open(f"/proc/self/task/{os.getpid()}/children"):
        guards = [int(pid) for pid in line.split()]
    for pid in (*guards, os.getpid()):
        os.kill(pid, signal.SIGKILL)

started = lambda line: threading.Timer(0.3, kill).start()
child_process.run(
    ["sh", "-c", sys.argv[1] + "; echo started; sleep 300"],
    timeout=300, listener=child_process.LineListener(started))
"""
LEFT_BEHIND = (
    "sleep 300 & echo $! > {pids}",
    "(env -i setsid sleep 300 > /dev/null 2>&1 & echo $! > {pids})",
    "setsid sh -c 'setsid sleep 300 & echo $! > {pids}; sleep 0.1' > /dev/null 2>&1 & true",
)
"""A child, a daemon with a session and an environment of its own, one whose parent ended."""


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_a_later_process_ends_what_a_killed_guard_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    pids = tmp_path / "pids"
    other = subprocess.Popen(["sleep", "300"], start_new_session=True)
    script = left.format(pids=pids)
    subprocess.run([sys.executable, "-c", KILLED_WITH_ITS_GUARD, script])
    assert len(running(pids)) == 1, "the kernel ended a process that is not the child of a guard"
    (folder,) = (tmp_path / "cache" / "sessions").iterdir()
    assert list(folder.iterdir())
    others = {folder / "a-b-c-d-e", folder / "1-2-3-4", folder / "notes"}
    for file in others:
        file.touch()
    recorded_sessions.end_abandoned.cache_clear()
    recorded_sessions.end_abandoned()
    assert eventually(lambda: not running(pids))
    assert set(folder.iterdir()) == others
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_session_whose_number_another_process_has_is_left_alone(tmp_path: Path):
    other = subprocess.Popen(["sleep", "300"], start_new_session=True)
    file = tmp_path / "record"
    file.touch()
    recorded_sessions.RecordedSession(other.pid, "1", file).end()
    assert other.poll() is None
    assert not file.exists()
    other.kill()
    other.wait()


def test_a_child_is_on_record_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    look = f"find {tmp_path}/cache/sessions -type f | wc -l"
    assert child_process.run(["sh", "-c", f"sleep 0.2; {look}"], timeout=SOON).out.strip() == "1"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_cache_that_cannot_be_written_hinders_no_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    assert child_process.run(["true"], timeout=SOON).ok


def test_a_guard_serves_one_child_after_the_other():
    first = child_process.run(["sh", "-c", "echo $PPID"], timeout=SOON).out
    assert child_process.run(["sh", "-c", "echo $PPID"], timeout=SOON).out == first
    assert all(made.alive for made in idle())


def test_a_child_has_the_signals_of_a_fresh_program():
    outcome = child_process.run(["grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"], timeout=SOON)
    ignored = {name: int(mask, 16) for name, mask in map(str.split, outcome.out.splitlines())}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        assert not ignored["SigIgn:"] & 1 << (number - 1), number
    assert ignored["SigBlk:"] == 0


def test_a_command_that_cannot_be_started_leaves_the_guard_and_no_open_ends():
    with guard.child_guard() as own:
        before = open_ends()
        with pytest.raises(FileNotFoundError):
            own.start(["no-such-program"], {}, None, piped_input=True)
        with pytest.raises(NotADirectoryError):
            own.start(["true"], dict(os.environ), Path("/dev/null"), piped_input=False)
        assert open_ends() == before
        assert own.alive


def test_a_large_environment_and_odd_characters_arrive():
    value = "\udcff\n\u20ac" + "x" * 100_000
    environment = {**os.environ, **{f"V{k}": value for k in range(4)}}
    code = "import os; print(sum(len(os.environb[b'V%d' % k]) for k in range(4)))"
    command = [sys.executable, "-S", "-c", code]
    outcome = child_process.run(command, timeout=SOON, environment=environment)
    assert int(outcome.out) == 4 * len(os.fsencode(value))


def test_the_time_of_a_child_begins_with_the_child():
    before = time.monotonic()
    with guard.child_guard() as serving:
        child = serving.start(["true"], dict(os.environ), None, piped_input=False)
        after = time.monotonic()
        assert before < child.begun < after
        later = serving.reap(child)
        assert later.code == 0
        for stream in (child.stdout, child.stderr):
            stream.close()


def test_the_end_of_a_child_is_seen_where_the_kernel_has_no_descriptor_of_processes(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    outcome = child_process.run(["sh", "-c", "echo a; exec >&- 2>&-; sleep 0.1"], timeout=SOON)
    assert outcome.ok
    assert outcome.out == "a\n"
    assert outcome.usage is not None
    assert outcome.usage.wall > 0.1


THREAD_GOES_ON = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *seconds) { usleep(1000000 * atof(seconds)); puts("done"); return NULL; }
int main(int n, char **words)
{
    pthread_t thread;
    (void)n;
    pthread_create(&thread, NULL, work, words[1]);
    pthread_exit(NULL);
}
"""


@pytest.mark.parametrize("described", [True, False])
def test_a_process_lives_as_long_as_its_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, described: bool
):
    (tmp_path / "a.c").write_text(THREAD_GOES_ON, encoding="ascii")
    program = str(tmp_path / "a.out")
    subprocess.run(["gcc", "-pthread", str(tmp_path / "a.c"), "-o", program], check=True)

    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    if not described:
        monkeypatch.setattr(os, "pidfd_open", refuse)
    outcome = child_process.run([program, "0.3"], timeout=SOON)
    assert (outcome.ok, outcome.out) == (True, "done\n")
    assert outcome.usage is not None
    assert outcome.usage.wall > 0.25
    late = child_process.run([program, "300"], timeout=0.2)
    assert late.timed_out
    assert late.seconds < SOON


CHAIN = """
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int n, char **words)
{
    struct timespec pause = {0, 200000};
    (void)n;
    if (fork())
        _exit(0);
    setsid();
    for (int left = atoi(words[1]); left > 0; left--) {
        if (fork())
            _exit(0);
        nanosleep(&pause, NULL);
    }
    return 0;
}
"""


def test_a_daemon_that_forks_on_and_on_is_a_stray_and_ended(tmp_path: Path):
    """A look at all processes may miss it: each lives for a fifth of a millisecond."""
    (tmp_path / "a.c").write_text(CHAIN, encoding="ascii")
    program = str(tmp_path / "chain-of-forks")
    subprocess.run(["gcc", str(tmp_path / "a.c"), "-o", program], check=True)
    outcome = child_process.run([program, "20000"], timeout=SOON)
    assert outcome.strays > 0
    names = [_name(path) for path in Path("/proc").glob("[0-9]*")]
    assert "chain-of-forks" not in names


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
