"""The map of a program from its config to the store, with recorded times and no compiler."""

import dataclasses
import math
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.map import flow as maps
from autotune.commands.map import map_grid
from autotune.commands.map.map_request import MapRequest
from autotune.commands.rank import ranked_space
from autotune.commands.tune import flow as tune_flow
from autotune.domain.decision_map import DecisionMap
from autotune.domain.variant import Candidate
from autotune.errors import InputError, WorkFailed
from autotune.files.store import Store
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer
from autotune.tuning import NoOtherTuner
from autotune.workloads.base import Workload
from autotune.workloads.program.program_workload import ProgramWorkload

CONFIG = """\
schema: autotune.config/1
title: schedules
machine: generic-x86-64
program: openmp-schedule
problems: [{arguments: {n: 768}}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1, 2]
measuring: {rounds: 3, samples: 2, busy: 0}
"""
SIZES = "128,512"


def times(candidate: Candidate) -> Recording:
    """Dynamic schedules win above n = 256, static ones below; guided ones crash with 2 threads."""
    values = candidate.variant.parameters
    octaves = math.log2(candidate.problem.n / 256)
    slope = {"static": 0.3, "dynamic": -0.3, "guided": 0.6}[str(values["schedule"])]
    extra = 0.05 * abs(math.log2(float(str(values["tile"])) / 32))
    seconds = 1e-3 * 4**octaves * math.exp(slope * octaves + extra) / candidate.threads
    if values["schedule"] == "guided" and candidate.threads == 2:
        return Recording(status="crashed", detail="a signal")
    return Recording(launches=[[seconds, 1.01 * seconds]])


@dataclasses.dataclass
class Ways:
    workload: Workload
    store: str
    launches: list[str]

    def make(self, **options: object) -> DecisionMap:
        values: dict[str, object] = {"sizes": SIZES, "budget_evaluations": 10} | options
        made = maps.make(self.workload, MapRequest(**values), self.store, silent)  # type: ignore[arg-type]
        return made.maps[0]

    def studies(self) -> int:
        with Store.open(self.store) as store:
            return len(store.studies())


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


@pytest.fixture
def ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ways:
    config = tmp_path / "map.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    launches: list[str] = []

    def recorded(candidate: Candidate) -> Recording:
        launches.append(candidate.identity)
        return times(candidate)

    monkeypatch.setattr(ProgramWorkload, "measurer", lambda *_: ReplayMeasurer(fallback=recorded))
    return Ways(ranked_space.load(config), str(tmp_path / "r.sqlite"), launches)


def test_a_map_is_made_kept_and_gone_on_with(ways: Ways) -> None:
    first = ways.make()
    assert first.evaluations <= 10
    assert first.stopped == "the budget of evaluations is spent"
    crashed = {k for cell in first.cells for k in cell.failed}
    assert {cell.threads for cell in first.cells if cell.failed} <= {2}
    assert all(first.contenders[k].parameters["schedule"] == "guided" for k in crashed)
    assert not {c.winner.contender for c in first.cells if c.threads == 2} & crashed
    with Store.open(ways.store) as store:
        record = store.load_study("map")
    assert record.maps == (first,)
    assert record.runs[-1].state == "done"
    before = set(ways.launches)

    again = ways.make(resume=True)
    assert again.evaluations > first.evaluations, "the earlier times are used"
    assert ways.studies() == 1
    assert before <= set(ways.launches)


def test_what_is_interrupted_is_kept(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, count = maps._VisitLoop._measure, []

    def stop_in_the_second(*given: object) -> None:
        count.append(1)
        if len(count) == 2:
            raise KeyboardInterrupt
        measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(maps._VisitLoop, "_measure", stop_in_the_second)
    with pytest.raises(KeyboardInterrupt, match="map"):
        ways.make()
    with Store.open(ways.store) as store:
        record = store.load_study("map")
    assert record.runs[-1].state == "interrupted"
    assert record.maps[0].stopped == "it was interrupted"
    kept = record.maps[0].evaluations
    assert kept
    assert ways.make(resume=True, budget_evaluations=2).evaluations in (kept + 1, kept + 2)


def test_a_map_does_not_end_the_search_of_its_study(ways: Ways) -> None:
    ways.make(sizes="128,768")  # of which the study has the second
    options = tune_flow.StudyOptions(resume=True, budget_evaluations=3)
    result = tune_flow.tune(ways.workload, options, ways.store, silent)
    mapped, tuned = result.record.runs
    assert (mapped.for_map, mapped.state) == (True, "done")
    assert (tuned.for_map, tuned.state) == (False, "budget")
    assert result.record.tunings == (tuned,)


def test_visits_hold_the_lock_against_other_tuners(
    ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    class Lock(NoOtherTuner):
        def building(self) -> AbstractContextManager[None]:
            taken.append("building")
            return super().building()

        def timing(self) -> AbstractContextManager[None]:
            taken.append("timing")
            return super().timing()

    monkeypatch.setattr(maps, "HostLock", lambda *_: Lock())
    ways.make(budget_evaluations=2)
    assert set(taken) == {"building", "timing"}


def test_where_nothing_runs_the_work_failed(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    crash = ReplayMeasurer(fallback=lambda _: Recording(status="build-failed", detail="no"))
    monkeypatch.setattr(ProgramWorkload, "measurer", lambda *_: crash)
    made = maps.make(
        ways.workload, MapRequest(sizes="128,256", threads="1", budget_evaluations=8),
        ways.store, silent,
    )  # fmt: skip
    with pytest.raises(WorkFailed, match="nothing ran: build-failed"):
        maps.require_success(made)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sizes": None}, "one size only, 768"),
        ({"threads": "999"}, "--threads"),
        ({"tolerance": "200%"}, "--tolerance"),
        ({"resume": True}, "--resume"),
        ({"problem": "openmp"}, "--problem"),
    ],
)
def test_wrong_input_says_where(ways: Ways, options: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        ways.make(**options)


def test_a_grid_that_does_not_fit_is_refused(ways: Ways) -> None:
    del ways
    setup = ranked_space.load(Path("configs/stencil7.yaml")).setup
    cube, flat = map_grid.kinds(setup, (24, 20000))
    map_grid.check_memory(dataclasses.replace(cube, sizes=(24,)))
    with pytest.raises(InputError, match="fits into memory"):
        map_grid.check_memory(flat)


@pytest.mark.parametrize(
    "arguments",
    [["--sizes", "64..32"], ["--sizes", "a"], ["--tolerance", "x"], ["--tolerance", "2.0"]],
)
def test_the_command_line_is_checked(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["map", "configs/openmp-schedule.yaml", *arguments])
    assert done.exit_code != 0
    assert arguments[0] in done.output + str(done.exception)
