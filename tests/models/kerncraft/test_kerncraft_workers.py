"""Workers that hang, die or babble cost their kernel a reason, and nothing else."""

import os
import subprocess
import sys
import time
from pathlib import Path

import kerncraft_fake
import pytest

from autotune import paths
from autotune.models.kerncraft import EcmModel, KerncraftAnalyser

FAKE = (sys.executable, "-u", str(Path(kerncraft_fake.__file__)))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))


def fake(limit: float = 30.0, progress=None) -> KerncraftAnalyser:
    return KerncraftAnalyser("machine", command=FAKE, limit=limit, progress=progress)


def test_a_kernel_that_hangs_leaves_the_others_alone():
    with fake(limit=1.0) as analyser:
        found = analyser.analyse(["good 1", "hang", "good 2", "good 3"])
    assert found[1] == "kerncraft: no answer within 1 s"
    assert all(isinstance(found[k], EcmModel) for k in (0, 2, 3))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        ("die", "kerncraft: its worker ended: without a word"),
        ("complain", "kerncraft: its worker ended: no such thing as a kernel"),
        ("garbage", "kerncraft: its worker ended: its answer cannot be read"),
        ("half", "kerncraft: its worker ended: without a word"),
        ("odd", "kerncraft: the answer of its worker cannot be read"),
        ("refuse", "kerncraft: too clever"),
    ],
)
def test_a_kernel_without_an_answer_gets_a_reason(kernel, reason):
    with fake() as analyser:
        bad, good = analyser.analyse([kernel, "good"])
    assert bad == reason
    assert isinstance(good, EcmModel)


def test_what_may_go_better_next_time_is_not_kept():
    with fake() as analyser:
        analyser.analyse(["die", "refuse", "good", "odd"])
    with fake() as analyser:
        analyser.analyse(["refuse", "good"])
        assert analyser.starts == 0
        analyser.analyse(["die"])
        assert analyser.starts > 0


def test_workers_that_never_answer_are_not_started_for_ever():
    command = (sys.executable, "-c", "raise SystemExit('kerncraft is broken')")
    with KerncraftAnalyser("machine", command=command) as analyser:
        found = analyser.analyse([f"kernel {k}" for k in range(20)])
        assert analyser.starts < 6
    assert len(found) == 20
    assert found[0] == "kerncraft: its worker ended: kerncraft is broken"


def test_equal_kernels_are_asked_once_and_told_in_order():
    told = []
    with fake(progress=lambda done, total: told.append((done, total))) as analyser:
        found = analyser.analyse(["a", "b", "a", "refuse"])
    assert found[0] == found[2]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_damaged_cache_is_asked_again(tmp_path):
    with fake() as analyser:
        analyser.analyse(["a"])
    (kept,) = (paths.cache_dir() / "kerncraft").glob("*/*.json")
    whole = kept.read_text()
    kept.write_text(whole[: len(whole) // 2])
    with fake() as analyser:
        assert isinstance(analyser.analyse(["a"])[0], EcmModel)
    assert kept.read_text() == whole


def test_another_machine_file_or_worker_is_another_question():
    with fake() as analyser:
        analyser.analyse(["a"])
    with KerncraftAnalyser("machine 2", command=FAKE) as analyser:
        analyser.analyse(["a"])
        assert analyser.starts == 1
    with KerncraftAnalyser("machine", command=(*FAKE[:1], "-B", *FAKE[1:])) as analyser:
        analyser.analyse(["a"])
        assert analyser.starts == 1


def test_another_compiler_is_another_question(tmp_path, monkeypatch):
    compiler = tmp_path / "bin" / "icx"
    compiler.parent.mkdir()
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    machine = "clock: 1 GHz\ncompiler: !!omap\n  - icx: -O3\n  - none-such: -O3\nisa: x86\n"
    for version, starts in (("1.0", 1), ("1.0", 0), ("2.0", 1)):
        compiler.write_text(f"#!/bin/sh\necho icx {version}\n")
        compiler.chmod(0o755)
        with KerncraftAnalyser(machine, command=FAKE) as analyser:
            analyser.analyse(["a"])
            assert analyser.starts == starts


def test_a_program_that_is_no_compiler_is_not_run(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "mycc"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    machine = "clock: 1 GHz\ncompiler: !!omap\n  - mycc: -O3\nisa: x86\n"
    with KerncraftAnalyser(machine, command=FAKE) as analyser:
        assert isinstance(analyser.analyse(["a"])[0], EcmModel)
    assert not (tmp_path / "ran").exists()


def test_nothing_is_left_of_workers(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    others = set(children())
    with fake(limit=1.0) as analyser:
        analyser.analyse(["hang", "good"])
        assert set(children()) > others
        assert len(list(scratch.iterdir())) == 1
    assert list(scratch.iterdir()) == []
    assert set(children()) <= others


def test_a_worker_ends_with_its_parent(tmp_path):
    program = (
        "import os, sys; from autotune.models.kerncraft import KerncraftAnalyser as A;"
        "a = A('machine'); a._started()[1]._free(); print('ready', flush=True);"
        "import time; time.sleep(3); os._exit(0)"
    )
    started = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert started.stdout is not None
    started.stdout.readline()
    worker = next(iter(children(started.pid)))
    started.kill()
    started.wait()
    started.stdout.close()
    until = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()


def children(parent: int | None = None) -> list[int]:
    pid = os.getpid() if parent is None else parent
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(number) for number in text.split()]
