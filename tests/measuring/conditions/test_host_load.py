"""How busy the host is, in words, and what that means for measuring."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.measuring.conditions import host_load
from autotune.measuring.conditions.host_load import HostLoad, large_pages, observe
from autotune.measuring.conditions.quiet import OtherProcesses


def load(used: float, *names: str, cores: int = 4, pressure: float | None = 0.0) -> HostLoad:
    others = OtherProcesses(cpus=used, names=names)
    return HostLoad(cores=cores, others=others, load=2.25, pressure=pressure)


def test_the_words_name_the_processes_the_load_and_the_waiting() -> None:
    assert str(load(1.5, "cc1", "ld", pressure=0.731)) == (
        "other processes use 1.5 of 4 CPUs (cc1, ld), load average 2.2,"
        " something waited for a CPU in 73 % of the last 10 s"
    )
    assert str(load(0.0, cores=1, pressure=None)) == (
        "other processes use 0.0 of 1 CPU, load average 2.2"
    )


@pytest.mark.parametrize(
    ("used", "pressure", "free", "meaning"),
    [
        (0.01, None, 4, "quiet: times repeat"),
        (0.01, 0.1, 4, "quiet: times repeat"),
        (0.01, 0.9, 4, "processes that have just ended, or are not visible here"),
        (1.0, 0.0, 3, "candidates of up to 3 threads find free CPUs"),
        (1.02, 0.0, 3, "candidates of up to 3 threads find free CPUs"),
        (2.5, 0.5, 1, "candidates of up to 1 thread find free CPUs"),
        (3.5, 0.9, 0, "no CPU is free"),
        (9.0, 0.9, 0, "no CPU is free"),
    ],
)
def test_what_a_load_means(used: float, pressure: float | None, free: int, meaning: str) -> None:
    of = load(used, pressure=pressure)
    assert of.free == free
    assert of.meaning.startswith(meaning)


def test_work_of_others_on_this_host_is_observed() -> None:
    """The busy process is a child of a child that has ended, so that it is nobody's of ours."""
    code = "import time\nend = time.time() + 20\nwhile time.time() < end: pass"
    starter = (
        "import subprocess, sys; quiet = dict.fromkeys(('stdout', 'stderr'), subprocess.DEVNULL);"
        f"print(subprocess.Popen([sys.executable, '-c', {code!r}], **quiet).pid)"
    )
    pid = subprocess.run(
        [sys.executable, "-c", starter], capture_output=True, text=True, check=True
    ).stdout
    try:
        of = observe(1.0)
    finally:
        os.kill(int(pid), signal.SIGKILL)
    assert of.others.cpus > 0.05
    assert of.cores >= 1
    assert of.load >= 0
    assert of.pressure is None or 0 <= of.pressure <= 1


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("always [madvise] never\n", "madvise"),
        ("[always] madvise never", "always"),
        ("?", "unknown"),
    ],
)
def test_who_gets_large_pages_is_what_the_system_marks(
    text: str, who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "enabled"
    monkeypatch.setattr(host_load, "_LARGE_PAGES", place)
    assert large_pages() == "unknown"
    place.write_text(text, encoding="ascii")
    assert large_pages() == who
