"""Generated programs state what their ranks fetch: it is what MPI counts, and what is derived."""

from pathlib import Path

import pytest
from codegen_build import Workshop, common, launch, problem, variant

from autotune.assertions.checking import check_run
from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import mpi_library
from autotune.assertions.records import run_records
from autotune.codegen import communication
from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.assertion_record import AssertionRecord
from autotune.domain.variant import Candidate, Communication, ExecutionLayout, Interchange
from autotune.files import config
from autotune.toolchain import mpi

STEPS = 2
HEADER = library_build.header_folder() / "modeling_assertions.h"
CHOSEN = variant(Interchange("lc", ("l", "i", "j")))
SENDS = {"allgather": "MPI_Allgatherv", "neighbour": "MPI_Isend", "sparse": "MPI_Isend"}


@pytest.fixture(scope="module")
def library() -> Path:
    return mpi_library.mpi_library(mpi.find())


@pytest.mark.parametrize(("ivp", "size"), [("heat2d", 29), ("wave1d", 1201)])
def test_ranks_fetch_what_they_state_and_what_is_derived(
    ivp: str,
    size: int,
    library: Path,
    mpi_workshop: Workshop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = problem(ivp, size)
    step = variant_program.program(CHOSEN, config.skeleton("pirk"), at)
    units = harness.units(step, at, distributed=True)
    program = mpi_workshop.build({**units, HEADER.name: HEADER.read_text()})
    monkeypatch.setenv("LD_PRELOAD", str(library))
    ways: tuple[Communication, ...] = ("allgather", "neighbour", "sparse")
    for way in ways:
        records = tmp_path / way
        monkeypatch.setenv("AUTOTUNE_ASSERT", str(records))
        words = ["verify", *common(at, 1), "--ranks", "3", "--communication", way]
        done = launch(program, 3, 1, [*words, "--steps", str(STEPS), "--out", f"{tmp_path}/out"])
        assert done.returncode == 0, done.stderr
        run = run_records.read([records])
        check = check_run.check(run, partial=True)
        assert not [verdict for verdict in check.verdicts if verdict.outcome == "fail"]
        assert check.figures["missing"] == 0
        assert (way == "sparse") == any(u.path.endswith("communicate") for u in check.unasserted)
        layout = ExecutionLayout(threads=1, ranks=3, communication=way)
        phases = communication.phases(
            step, at, Candidate(variant=CHOSEN, problem=at, layout=layout)
        )
        for record in run.records:
            assert fetched(record, SENDS[way]) == derived(phases, record.rank), (way, record.rank)


def fetched(record: AssertionRecord, function: str) -> tuple[int, int]:
    """Messages that a rank sent to fetch remote components, and their bytes."""
    calls = [
        call
        for path in record.paths
        if path.name == "communicate"
        for call in path.calls
        if call.call == function
    ]
    return sum(call.messages for call in calls), sum(call.size for call in calls)


def derived(phases: list[communication.CommunicationPhase], rank: int) -> tuple[float, float]:
    """The same of all time steps, as the ranking of candidates has it."""
    sent = [(phase.times * STEPS, phase.sent[rank]) for phase in phases]
    return (
        sum(times * messages for times, (messages, _) in sent),
        sum(times * size for times, (_, size) in sent),
    )


def test_without_the_header_nothing_is_stated(mpi_workshop: Workshop) -> None:
    at = problem("wave1d", 1201)
    step: loop_tree.StepProgram = variant_program.program(CHOSEN, config.skeleton("pirk"), at)
    program = mpi_workshop.build(harness.units(step, at, distributed=True))
    assert b"8*(last - first)" not in program.read_bytes()
