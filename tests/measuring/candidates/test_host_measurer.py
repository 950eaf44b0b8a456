"""Real programs on this host: good ones, and ones that crash, hang, flood and lie."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from fake_program import make_candidate, make_measurer
from measurer_conformance import MeasurerConformance

from autotune.domain.results import Sample
from autotune.domain.variant import Candidate
from autotune.errors import MissingTool
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.conditions import quiet

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FATES = {
    "ok": "good", "build-failed": "build", "wrong-result": "wrong", "crashed": "crash",
    "timed-out": "hang", "contended": "contended",
}  # fmt: skip


class TestHost(MeasurerConformance):
    @pytest.fixture
    def measurer(self) -> HostMeasurer:
        return make_measurer(run=2.0)

    def candidate(self, status: str) -> Candidate:
        return make_candidate(FATES[status])


def launched(mode: str, measurer: HostMeasurer | None = None, threads: int = 1):
    measurer = measurer or make_measurer()
    prepared = measurer.prepare(make_candidate(mode, threads))
    assert prepared.status == "ok", prepared.detail
    heard: list[Sample] = []
    return measurer.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=heard.append
    )


@pytest.mark.parametrize(
    ("mode", "status", "words"),
    [
        ("build", "build-failed", "error"),
        ("wrong", "wrong-result", "deviates"),
        ("nan", "wrong-result", "nan"),
        ("denormal", "wrong-result", "denormal"),
        ("short", "wrong-result", "components"),
        ("no_state", "crashed", "no state"),
        ("crash_verify", "crashed", "SIGABRT"),
        ("hang_verify", "timed-out", "time limit"),
    ],
)
def test_failures_when_prepared(mode: str, status: str, words: str):
    prepared = make_measurer(run=1.0 if mode == "hang_verify" else 20.0).prepare(
        make_candidate(mode)
    )
    assert prepared.status == status
    assert words in prepared.detail


@pytest.mark.parametrize(
    ("mode", "status", "words"),
    [
        ("crash", "crashed", "SIGSEGV"),
        ("crash", "crashed", "last words"),
        ("hang", "timed-out", "time limit"),
        ("flood", "crashed", "more than it may"),
        ("garbage", "crashed", "not a JSON object"),
        ("no_samples", "crashed", "no samples"),
        ("no_end", "crashed", "no end"),
        ("silent", "crashed", "no start"),
        ("lie_threads", "crashed", "threads"),
        ("lie_negative", "crashed", "positive"),
        ("lie_nan", "crashed", "positive"),
        ("contended", "ok", ""),
        ("not_finite", "wrong-result", "finite"),
        ("final_nan", "wrong-result", "not finite in the state at the timed size after the last"),
        ("final_denormal", "wrong-result", "denormal"),
        ("no_final", "ok", ""),
        ("exit3", "crashed", "exit code 3"),
        ("banner", "ok", ""),
        ("orphan", "ok", ""),
    ],
)
def test_fates_of_a_launch(mode: str, status: str, words: str):
    launch = launched(mode, make_measurer(run=1.0) if mode == "hang" else None)
    assert launch.status == status, launch.detail
    assert words in launch.detail


def test_samples_carry_their_conditions():
    launch = launched("good", threads=1)
    assert [s.warm_up for s in launch.samples] == [True, False, False, False]
    assert [s.seconds for s in launch.samples] == [0.5, 0.125, 0.125, 0.125]
    conditions = launch.samples[-1].conditions
    assert conditions["threads"] == 1
    assert conditions["cpus"] == "0"
    assert conditions["involuntary"] == 2
    assert conditions["priority"] in ("autogroup", "nice", "none")
    assert {"load", "stolen_s", "wait", "leading", "voluntary"} <= conditions.keys()
    assert launch.checksum == (1.25, 2.5)


def test_samples_before_a_crash_are_kept():
    assert len(launched("crash").samples) == 4


def test_the_launcher_and_the_environment_are_used(tmp_path: Path):
    log = tmp_path / "log"
    template = (
        f"sh -c 'echo $OMP_NUM_THREADS $COLOUR $AUTOTUNE_PDEATHSIG >> {log}; exec {{command}}'"
    )
    launch = launched("good", make_measurer(launcher=template, environment={"COLOUR": "red"}), 2)
    assert launch.status == "ok", launch.detail
    assert set(log.read_text().splitlines()) == {"1 red 1", "2 red 1"}


def test_a_missing_launcher_is_the_users_mistake():
    with pytest.raises(MissingTool, match="no-such-launcher"):
        make_measurer(launcher="no-such-launcher {command}").prepare(make_candidate())


def test_the_time_limit_follows_the_expectation():
    measurer = make_measurer()
    assert measurer.time_limit(None) == 20.0
    assert measurer.time_limit(1e-9) == 20.0
    # 2 check steps, and at most 1 + 3 x 3 + 2 samples of one step each
    assert measurer.time_limit(100.0) == pytest.approx(1400.0)
    assert measurer.time_limit(float("inf")) == 20.0


def test_a_program_that_vanished_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    measurer = make_measurer()
    prepared = measurer.prepare(make_candidate("banner"))
    (entry,) = (tmp_path / "build" / "program").glob(f"*/{prepared.build}")
    entry.unlink()
    launch = measurer.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )
    assert launch.status == "build-failed"
    assert measurer.prepare(make_candidate("banner")).status == "ok"


def test_phases():
    phases = make_measurer().phases(make_candidate())
    assert phases.status == "ok", phases.detail
    assert phases.seconds == {"rhs": 0.5, "barrier": 0.25}
    assert make_measurer().phases(make_candidate("build")).status == "build-failed"
    assert make_measurer().phases(make_candidate("crash")).status == "crashed"


def test_nothing_of_a_verification_stays(home: Path):
    make_measurer().prepare(make_candidate())
    assert list((home / "cache" / "verify").iterdir()) == []


def test_openmp_settings():
    active = quiet.openmp(1)
    assert active["OMP_WAIT_POLICY"] == "active"
    assert active["OMP_PROC_BIND"] == "close"
    assert quiet.openmp(quiet.cpus() + 1)["OMP_WAIT_POLICY"] == "passive"
    assert quiet.openmp(1, timed=False)["OMP_WAIT_POLICY"] == "passive"


def test_others_are_noticed_and_own_children_are_not():
    pid = os.fork()
    if pid == 0:
        while True:
            pass
    try:
        own = quiet.other_processes(0.3)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert own.cpus >= 0
    assert quiet.OtherProcesses(0.0, ()).note == ""
    assert "python3" in quiet.OtherProcesses(1.5, ("python3",)).note
