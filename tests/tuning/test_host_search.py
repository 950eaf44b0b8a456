"""The benchmark that records spaces of a host: recorded in sessions, packed, searched."""

import gzip
import importlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from autotune.domain.variant import Candidate
from autotune.files.recorded.read_recorded import read
from autotune.files.store import Store
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer
from autotune.progress import silent
from autotune.statistics.launch_times import LaunchTime
from autotune.workloads.program.program_workload import ProgramWorkload

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LEAST_CANDIDATES = 100
MOST_BYTES = 300_000
WIDTH = 0.02
"""The half width of the interval of the best that a recording is made for."""
WIDER = {"faces3d-7pt", "zstd-options"}
"""Spaces whose recording did not come so far."""
CONFIG = """\
schema: autotune.config/1
title: schedules
name: {name}
machine: generic-x86-64
program: openmp-schedule
problems: [{{arguments: {{n: 512}}}}]
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [1, 2]
measuring: {{rounds: 3, samples: 2, busy: 0}}
"""


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def times(candidate: Candidate) -> Recording:
    """Guided schedules crash, small tiles take long; launches differ by one per cent."""
    values = candidate.variant.parameters
    if values["schedule"] == "guided":
        return Recording(status="crashed", detail="a signal")
    seconds = (1.5 if values["schedule"] == "static" else 1.0) / candidate.threads
    seconds *= 1e-3 * math.exp(0.1 * abs(math.log2(float(str(values["tile"])) / 32)))
    return Recording(launches=[[seconds], [1.01 * seconds], [0.99 * seconds]])


@pytest.fixture
def space(part, monkeypatch: pytest.MonkeyPatch):
    class Schedules(part("host_spaces").HostSpace):
        def config(self) -> str:
            return CONFIG.format(name=self.study)

    monkeypatch.setattr(ProgramWorkload, "measurer", lambda *_: ReplayMeasurer(fallback=times))
    return Schedules(name="schedules", problem="", space="", siblings={})


def test_a_recording_goes_on_where_it_ended(part, space, tmp_path: Path) -> None:
    recorder = part("host_record")
    assert not recorder.record(space, tmp_path, math.inf, silent, launch=False)
    assert not recorder.record(space, tmp_path, 0.0, silent)
    assert recorder.record(space, tmp_path, math.inf, silent)
    launches = _launches(space, tmp_path)
    assert recorder.record(space, tmp_path, math.inf, silent)
    assert _launches(space, tmp_path) == launches, "nothing is launched again"


def _launches(space, folder: Path) -> int:
    with Store.open(space.store(folder)) as results:
        record = results.load_study(space.study)
    return sum(len(m.samples) for run in record.runs for m in run.measurements)


def test_what_was_recorded_is_packed_and_searched(part, space, tmp_path: Path) -> None:
    recorder, judge = part("host_record"), part("host_judge")
    recorder.record(space, tmp_path, math.inf, silent)
    host = judge.RecordedHost.read(space, tmp_path)
    made = host.recording
    assert made.failed
    assert set(made.failed.values()) == {"crashed"}
    assert made.least >= recorder.ROUNDS
    assert made.width < 0.02

    order = host.evaluated(judge.COLD, seed=1, budget=10)
    assert order[0] == host.safe
    assert len(set(order)) == 10
    losses = host.losses(order)
    assert losses == sorted(losses, reverse=True)
    assert len(host.losses(order, safe=False)) == 9

    with Store.open(space.store(tmp_path)) as results:
        record = results.load_study(space.study)
    path = tmp_path / "schedules.json.gz"
    part("host_pack").pack(record, path)
    packed = read(path)
    assert packed.best == pytest.approx(made.best)
    assert packed.failures == len(made.failed)
    assert len(packed) == len(made.seconds) + len(made.failed)


def test_the_spaces_were_recorded(part) -> None:
    for name, space in part("host_spaces").SPACES.items():
        path = BENCHMARKS / "recorded" / f"{name}.json.gz"
        packed = path.read_bytes()
        assert len(packed) < MOST_BYTES
        document = json.loads(gzip.decompress(packed))
        assert document["metadata"]["study"] == space.study
        width = document["metadata"]["half_width_95_of_best"]
        assert width > 0
        assert (width > WIDTH) == (name in WIDER)
        recorded = read(path)
        assert len(recorded) >= LEAST_CANDIDATES
        halves = json.loads(gzip.decompress((path.parent / "halves" / path.name).read_bytes()))
        assert len(halves["halves"]) == len(recorded) - recorded.failures


def test_the_precision_of_a_time(part) -> None:
    recorder = part("host_record")
    assert recorder.half_width([LaunchTime(1.0), LaunchTime(1.01)]) == math.inf
    assert recorder.half_width([LaunchTime(1.0)] * 3) == 0.0
    assert recorder.fastest({"a": 2.0, "b": 1.0, "c": 2.0}, 2) == ["b", "a"]


def test_how_soon_a_loss_is_reached(part) -> None:
    judge = part("host_judge")
    assert judge.so_far([]) == []
    assert judge.so_far([0.4, 0.5, math.inf, 0.1]) == [0.4, 0.4, 0.4, 0.1]
    assert judge.evaluations_to([0.4, 0.1], 0.05) == math.inf
    assert judge.evaluations_to([0.4, 0.05], 0.05) == 2
    assert judge.reaches(0.0, 0.9)
    assert not judge.reaches(math.inf, 0.9)
