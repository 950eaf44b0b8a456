"""The memory of running processes: threads that outlive the first, pages that forks share."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autotune.toolchain.memory_footprint import Footprint, holds_more

MIB = 1 << 20
GOES_ON = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_t first;
static void *work(void *none)
{
    char *kept = malloc(64 << 20);
    memset(kept, 1, 64 << 20);
    pthread_join(first, NULL);
    write(1, "ready\\n", 6);
    sleep(60);
    free(kept);
    return none;
}
int main(void)
{
    pthread_t thread;
    first = pthread_self();
    pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}
"""
FORKS = """
import os, time
kept = bytearray(b"x") * (64 << 20)
for _ in range(3):
    if not os.fork():
        time.sleep(60)
        os._exit(0)
print("ready", flush=True)
time.sleep(60)
"""


@contextmanager
def running(*command: str) -> Iterator[int]:
    """The number of a process that has said that it is ready."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_process_whose_first_thread_has_ended(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(GOES_ON, encoding="ascii")
    program = str(tmp_path / "a.out")
    subprocess.run(["gcc", "-pthread", str(tmp_path / "a.c"), "-o", program], check=True)
    with running(program) as pid:
        assert holds_more(pid, 60 * MIB)
        assert not holds_more(pid, 80 * MIB)
        for counted in (None, Path(program)):
            footprint = Footprint(counted=counted)
            footprint.begin(pid)
            footprint.look()
            assert footprint.peak == pytest.approx(64 * MIB, rel=0.2)


def test_pages_that_forks_share_count_once() -> None:
    with running(sys.executable, "-c", FORKS) as pid:
        assert holds_more(pid, 64 * MIB)
        assert not holds_more(pid, 150 * MIB)


def test_a_process_that_has_ended_holds_nothing() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert not holds_more(process.pid, 0)
