"""Messages counted by the wrappers around MPI equal those that programs state, call by call."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import assertion_programs
import counted_messages
import pytest
from counted_messages import by_function, path_named, recorded, stated

import autotune.assertions as ma
from autotune.assertions.library.mpi import message_calls, mpi_library, wrapper_source
from autotune.domain.assertion_record import AssertionRecord

SUPPORT = Path(counted_messages.__file__).parent
FORTRAN = {"mpif.h": (), "mpi": ("-DUSE_MPI",), "mpi_f08": ("-DUSE_F08",)}
NEW = {"Isendrecv", "Allreduce_init", "Psend_init"}
"""Functions of MPI 4 that an MPI may lack."""

Build = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds a C program from its text."""

    def built(name: str, text: str) -> list[str]:
        folder = tmp_path_factory.mktemp(name)
        (folder / f"{name}.c").write_text(text)
        return assertion_programs.build("c", folder / f"{name}.c", folder / name, "-pthread")

    return built


@pytest.fixture(scope="module")
def every_call(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    installation, _ = assertion_programs.installation("c")
    declared = mpi_library.declared_functions(installation)
    new = ("-DNEW_CALLS",) if declared >= NEW else ()
    wide = ("-DWIDE_COUNTS",) if "Bcast_c" in declared else ()
    program = tmp_path_factory.mktemp("c") / "calls"
    source = SUPPORT / "mpi_all_calls.c"
    return assertion_programs.build("c", source, program, "-Wno-stringop-overread", *new, *wide)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_call_of_c_is_counted_exactly(ranks: int, every_call: list[str], tmp_path: Path):
    records = recorded("c", [*every_call, str(tmp_path)], ranks, tmp_path)
    check_all(records, ranks, tmp_path)
    calls = {call.call for call in records[0].calls}
    assert len(calls) > 70
    large = by_function(records[0].calls)["coll", "MPI_Bcast"]
    assert large.sizes[3 << 33] == 1


@pytest.mark.parametrize(
    ("module", "ranks"), [("mpif.h", 2), ("mpi", 2), ("mpi_f08", 1), ("mpi_f08", 3)]
)
def test_calls_of_fortran_are_counted_exactly(module: str, ranks: int, tmp_path: Path):
    command = assertion_programs.build(
        "fortran",
        SUPPORT / "mpi_all_calls.F90",
        tmp_path / "calls",
        "-fallow-argument-mismatch",
        "-w",
        *FORTRAN[module],
    )
    check_all(recorded("fortran", [*command, str(tmp_path)], ranks, tmp_path), ranks, tmp_path)


def check_all(records: list[AssertionRecord], ranks: int, folder: Path) -> None:
    assert [record.rank for record in records] == list(range(ranks))
    for record in records:
        assert record.complete
        # Open MPI 4 starts its daemon where a program runs without mpiexec
        losses = {loss.what for loss in record.losses} - {"child processes, which record nothing"}
        assert not losses
        assert by_function(record.calls) == stated(folder / f"expected.{record.rank}", record.rank)


# --- paths and assertions -----------------------------------------------------------------------

MATCHED = r"""
#include <mpi.h>
#include "modeling_assertions.h"
int main(int argc, char **argv)
{
    static double out[64], in[64], more[64];
    int rank, ranks;
    MPI_Request request[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int other = ranks - 1 - rank;
    ma_var("n", 5);
    ma_region_begin("post");
    ma_recv("first", "8*n");
    ma_recv("second", "8*n + 8");
    MPI_Irecv(in, 64, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &request[0]); /* more room than comes */
    MPI_Irecv(more, 64, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &request[1]);
    ma_region_end("post");
    ma_region_begin("send");
    ma_send_n("both", "8*n", "2");
    MPI_Send(out, 7, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); /* not what is asserted, twice */
    MPI_Send(out, 5, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    MPI_Send(out, 3, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    ma_region_end("send");
    ma_region_begin("wait");
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    ma_region_end("wait");
    ma_region_begin("norm");
    ma_coll("sum", "allreduce", "8");
    ma_coll("none", "barrier", "0");
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ma_region_end("norm");
    MPI_Finalize();
    return 0;
}
"""


def test_a_message_is_compared_where_it_was_posted(build: Build, tmp_path: Path):
    for record in recorded("c", build("matched", MATCHED), 2, tmp_path):
        first, second = path_named(record, "first"), path_named(record, "second")
        assert (first.passes, first.failures, first.missing) == (1, 0, 0)
        assert (second.passes, second.failures, second.measured) == (0, 1, 56)
        both = path_named(record, "both")
        assert (both.passes, both.failures, both.measured) == (1, 1, 96)
        posted = by_function(path_named(record, "post").calls)["recv", "MPI_Irecv"]
        assert posted.sizes == {40: 1, 56: 1}
        assert not path_named(record, "wait").calls
        (summed,) = path_named(record, "norm").calls
        assert (summed.messages, summed.unasserted) == (2, 1)
        assert path_named(record, "sum").passes == 1
        assert path_named(record, "none").missing == 1


# --- Python -------------------------------------------------------------------------------------

PYTHON = """
import sys
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
other = ranks - 1 - rank
out, room = numpy.zeros(10), numpy.zeros(40)
comm.Sendrecv(out, other, 1, room, other, 1)
request = comm.Irecv(room, other, 2)
comm.Send(out[:4], other, 2)
request.Wait()
comm.Allreduce(MPI.IN_PLACE, room[:3])
comm.Bcast(room[:5], 0)
persistent = comm.Recv_init(room, other, 3), comm.Send_init(out, other, 3)
for _ in range(3):
    MPI.Prequest.Startall(list(persistent))
    MPI.Request.Waitall(list(persistent))
if sys.argv[1:] == ["pickled"]:
    received = comm.sendrecv({"a": 1}, other, 4, None, other, 4)
    assert received == {"a": 1}
    if rank == 0:
        comm.send([1, 2], other, 5)
    else:
        assert comm.recv(source=other, tag=5) == [1, 2]
    assert comm.bcast("text" if rank == 0 else None) == "text"
    assert comm.allreduce(2) == 4
"""


def test_upper_case_calls_of_mpi4py_are_those_of_c(tmp_path: Path):
    (tmp_path / "program.py").write_text(PYTHON)
    program = [sys.executable, str(tmp_path / "program.py")]
    for record in recorded("python", program, 2, tmp_path):
        other = 1 - record.rank
        counted = by_function(record.calls)
        assert counted["send", "MPI_Sendrecv"].sizes == {80: 1}
        assert counted["recv", "MPI_Sendrecv"].peers == {other: (1, 80)}
        assert counted["recv", "MPI_Irecv"].sizes == {32: 1}
        assert counted["send", "MPI_Send"].sizes == {32: 1}
        assert counted["coll", "MPI_Allreduce"].sizes == {24: 1}
        assert counted["coll", "MPI_Bcast"].sizes == {40: 1}
        assert counted["send", "MPI_Send_init"].sizes == {80: 3}
        assert counted["recv", "MPI_Recv_init"].sizes == {80: 3}
        assert not record.losses
        assert record.complete


def test_pickled_calls_of_mpi4py_are_counted_by_the_functions_that_they_use(tmp_path: Path):
    (tmp_path / "program.py").write_text(PYTHON)
    program = [sys.executable, str(tmp_path / "program.py"), "pickled"]
    for record in recorded("python", program, 2, tmp_path):
        counted = by_function(record.calls)
        plain = 3 if record.rank == 0 else 2
        assert counted["coll", "MPI_Allreduce"].messages == 1, "allreduce of an object is no other"
        assert sum(c.messages for (kind, _), c in counted.items() if kind == "send") > plain + 3
        received = "MPI_Mrecv" if record.rank == 1 else "MPI_Sendrecv"
        assert ("recv", received) in counted
        assert counted["coll", "MPI_Bcast"].messages > 1, "its length, and then it"


WATCHED = """
from mpi4py import MPI
import autotune.assertions as ma

world = ma.communicator(MPI.COMM_WORLD)
assert world == MPI.COMM_WORLD
for comm in (world, world.Dup()):
    other = comm.size - 1 - comm.rank
    request = comm.irecv(source=other)
    comm.send({"a": 1}, other)
    assert request.wait() == {"a": 1}
    assert comm.sendrecv(comm.rank, other, 1, None, other, 1) == other
    assert comm.bcast("text" if comm.rank == 0 else None) == "text"
    comm.Send(bytearray(9), MPI.PROC_NULL)
    comm.Sendrecv(bytearray(9), other, 2, bytearray(9), other, 2)
    try:
        comm.send(lambda: 0, other)
    except Exception:
        comm.Barrier()
"""


def test_pickled_calls_are_named_where_the_communicator_is_watched(tmp_path: Path):
    (tmp_path / "program.py").write_text(WATCHED)
    program = [sys.executable, str(tmp_path / "program.py")]
    for record in recorded("python", program, 2, tmp_path):
        counted = by_function(record.calls)
        assert counted["send", "MPI_Send (pickled)"].messages == 2
        assert counted["recv", "MPI_Irecv (pickled)"].messages == 2
        pickled = dict.fromkeys(("send", "recv", "coll"), 0)
        for (kind, name), calls in counted.items():
            pickled[kind] += calls.messages * name.endswith(" (pickled)")
        assert pickled["send"] == pickled["recv"] == 4
        assert counted["coll", "MPI_Bcast (pickled)"].messages >= 2
        assert counted["send", "MPI_Sendrecv"].sizes == {9: 2}
        assert counted["coll", "MPI_Barrier"].messages == 2
        assert ("send", "MPI_Send") not in counted


def test_without_the_library_a_communicator_is_not_changed():
    communicator = object()
    assert ma.communicator(communicator) is communicator


# --- the process --------------------------------------------------------------------------------

SIMPLE = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static char out[1 << 20], in[1 << 20];
    int rank, ranks;
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "hidden")) PMPI_Init(&argc, &argv);
    else MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    int times = !strcmp(what, "sizes") ? 100000 : 1;
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(out, i + 1, MPI_BYTE, next, 0, in, sizeof in, MPI_BYTE, previous, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(what, "left")) {
        MPI_Request left, freed;
        MPI_Irecv(in, 1, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &left);
        MPI_Irecv(in + 1, 1, MPI_BYTE, previous, 6, MPI_COMM_WORLD, &freed);
        MPI_Request_free(&freed);
    }
    if (!strcmp(what, "abort")) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 3);
        sleep(20);
    }
    MPI_Finalize();
    if (!strcmp(what, "leave")) _exit(0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def simple(build: Build) -> list[str]:
    return build("simple", SIMPLE)


def test_a_hundred_thousand_sizes_are_bounded_and_named(simple: list[str], tmp_path: Path):
    (record,) = recorded("c", [*simple, "sizes"], 1, tmp_path)
    for call in record.calls:
        assert call.messages == call.to_self == 100_000
        assert call.size == 100_000 * 100_001 // 2
        assert len(call.sizes) == 256
        assert sum(number for _, number in call.sizes) + call.other_sizes == call.messages
    assert (tmp_path / f"{record.run}.0.json").stat().st_size < 40_000


def test_ranks_share_the_name_of_their_run(simple: list[str], tmp_path: Path):
    records = recorded("c", simple, 2, tmp_path)
    assert len({record.run for record in records}) == 1
    assert [record.ranks for record in records] == [2, 2]
    records = recorded("c", simple, 2, tmp_path / "b", {"AUTOTUNE_ASSERT_RUN": "mine"})
    assert [record.run for record in records] == ["mine", "mine"]


def test_the_record_of_a_rank_that_aborts_is_incomplete(simple: list[str], tmp_path: Path):
    records = recorded("c", [*simple, "abort"], 2, tmp_path, status=None)
    assert records
    assert not any(record.complete for record in records)
    last = next(record for record in records if record.rank == 1)
    assert by_function(last.calls)["coll", "MPI_Barrier"].messages == 1


def test_a_rank_that_leaves_by_exit_of_the_system_is_incomplete(simple: list[str], tmp_path: Path):
    """It may have stated more after MPI_Finalize."""
    (left,) = recorded("c", [*simple, "leave"], 1, tmp_path)
    assert not left.complete
    (ended,) = recorded("c", simple, 1, tmp_path / "ended")
    assert ended.complete


def test_receives_that_never_complete_are_a_loss(simple: list[str], tmp_path: Path):
    (record,) = recorded("c", [*simple, "left"], 1, tmp_path)
    assert {(loss.what, loss.number) for loss in record.losses} == {
        ("receives that were freed before they were complete", 1),
        ("receives that were not complete at the end", 1),
    }
    assert ("recv", "MPI_Irecv") not in by_function(record.calls)


def test_an_unseen_start_of_mpi_is_a_loss(simple: list[str], tmp_path: Path):
    records = recorded("c", [*simple, "hidden"], 2, tmp_path)
    assert [record.rank for record in records] == [0, 1]
    for record in records:
        assert not record.calls
        (loss,) = record.losses
        assert loss.what == "MPI was started by a function that is not seen: no message is counted"


def test_nothing_is_written_where_the_library_is_off(simple: list[str], tmp_path: Path):
    assert recorded("c", simple, 2, tmp_path, {"AUTOTUNE_ASSERT": ""}) == []


THREADS = r"""
#include <mpi.h>
#include <pthread.h>
static double in[16];
static MPI_Request late;
static void *other_thread(void *unused)
{
    static double out[8], room[8];
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(out, 8, MPI_DOUBLE, 0, 1, room, 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    return unused;
}
int main(int argc, char **argv)
{
    static double out[8], room[8];
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) return 77;
    MPI_Irecv(in, 16, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &late);
    pthread_create(&thread, NULL, other_thread, NULL);
    for (int i = 0; i < 1000; i++) {
        MPI_Request request[2];
        MPI_Irecv(room, 8, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, 3, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Send(out, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
"""


def test_messages_of_other_threads_are_a_loss(build: Build, tmp_path: Path):
    (record,) = recorded("c", build("threads", THREADS), 1, tmp_path)
    counted = by_function(record.calls)
    assert counted["recv", "MPI_Irecv"].sizes == {24: 1000}
    assert counted["send", "MPI_Isend"].sizes == {24: 1000}
    assert ("send", "MPI_Sendrecv") not in counted
    assert sum(loss.number for loss in record.losses) >= 101


PHASES = r"""
#include <mpi.h>
#include <string.h>
static void ring(int count)
{
    static double a[64], b[64];
    MPI_Sendrecv(a, count, MPI_DOUBLE, 0, 0, b, 64, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    ring(1);
    if (argc > 1) {
        MPI_Pcontrol(1, "setup"), ring(2), MPI_Pcontrol(-1, "setup");
        MPI_Pcontrol(1, "solve"), ring(3), MPI_Pcontrol(-1, "solve");
    } else {
        MPI_Pcontrol(1), ring(2);
        MPI_Pcontrol(2), ring(3), MPI_Pcontrol(0);
        MPI_Pcontrol(1), ring(2), MPI_Pcontrol(0);
    }
    ring(4);
    MPI_Finalize();
    return 0;
}
"""


def test_levels_of_pcontrol_are_regions(build: Build, tmp_path: Path):
    program = build("phases", PHASES)
    (record,) = recorded("c", program, 1, tmp_path)
    sizes = {
        path.name: (path.visits, by_function(path.calls)["send", "MPI_Sendrecv"].sizes)
        for path in record.paths
    }
    assert sizes == {"pcontrol 1": (2, {16: 2}), "pcontrol 2": (1, {24: 1})}
    assert by_function(record.calls)["send", "MPI_Sendrecv"].sizes == {8: 1, 32: 1}
    assert not record.losses
    variables = {"AUTOTUNE_ASSERT_PCONTROL": "named"}
    (record,) = recorded("c", [*program, "named"], 1, tmp_path / "named", variables)
    assert [path.name for path in record.paths] == ["setup", "solve"]
    assert not record.losses


# --- the generated source -----------------------------------------------------------------------


def test_only_declared_functions_are_wrapped():
    text = wrapper_source.c_source({"Send", "Send_c", "Ssend"})
    assert re.findall(r"int (MPI_\w+)\(", text) == ["MPI_Send", "MPI_Send_c", "MPI_Ssend"]
    assert '"MPI_Send_c"' in text
    assert "MPI_Count count" in text


def test_the_table_names_each_function_once():
    names = [call.name for call in message_calls.message_calls()]
    assert len(names) == len(set(names)) > 90
    operations = {call.name: call.operation for call in message_calls.message_calls()}
    assert operations["Ireduce_scatter_block"] == "reduce_scatter_block"
    assert operations["Neighbor_alltoallw_init"] == "neighbor_alltoallw"
    assert operations["Isend"] == ""


def test_an_mpi_without_the_profiling_interface_is_refused(tmp_path: Path):
    installation, _ = assertion_programs.installation("c")
    wrapper = tmp_path / "mpicc"
    wrapper.write_text("#!/bin/sh\n[ \"$1\" = -show ] && echo 'gcc -lmpi' || true\n")
    wrapper.chmod(0o755)
    with pytest.raises(Exception, match="shows no PMPI_Send"):
        mpi_library.units(type(installation)(
            flavour="unknown", version="0", mpiexec=None, mpicc=str(wrapper)
        ))  # fmt: skip
