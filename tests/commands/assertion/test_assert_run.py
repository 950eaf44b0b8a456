"""``autotune assert run``: real programs, recorded and checked."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from json_schema_check import faults

from autotune.assertions.library import library_build
from autotune.commands.assertion.run.recorded_launch import (
    RunRecording,
    program_places,
    recorded,
    starts_ranks,
)
from autotune.commands.schema.flow import schema_of
from autotune.errors import InputError
from autotune.toolchain import mpi
from autotune.toolchain.launcher import expand as launcher_of_ranks

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "modeling_assertions.h"
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), more = atoi(argv[2]), code = atoi(argv[3]), i;
    ma_var("n", n);
    ma_sub_begin("work");
    ma_loop_begin("rows", "n");
    for (i = 0; i < n + more; i++)
        ;
    ma_loop_end("rows", i);
    ma_sub_end("work");
    printf("worked on %d rows\\n", i);
    fflush(stdout);
    if (code < 0)
        sleep(60);
    return code;
}
"""
SUM = """\
#include <stdlib.h>
#include "modeling_assertions.h"
int main(int argc, char **argv)
{
    int n = atoi(argv[argc - 1]);
    double sum = 0;
    ma_var("n", n);
    ma_flop_begin("sum", "n");
    for (int i = 0; i < n; i++)
        sum += i;
    ma_flop_end("sum");
    return sum < 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that asserts how often a loop turns: its arguments are n, what more, exit code."""
    folder = tmp_path_factory.mktemp("program")
    source, path = folder / "rows.c", folder / "rows"
    source.write_text(PROGRAM)
    command = ["gcc", "-O1", "-I", str(library_build.header_folder()), str(source), "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def test_a_program_that_does_what_it_says(autotune, program, tmp_path):
    done = autotune("assert", "run", "--", str(program), "12", "0", "0")
    lines = done.out.splitlines()
    assert lines[0] == "worked on 12 rows"
    assert "rows:ma_loop:12:12:0.0:PASS=1:FAIL=0" in lines
    assert "are in assertion-records" in done.err
    (record,) = (tmp_path / "assertion-records").glob("rows-*.0.json")
    autotune("assert", "check", str(record))


def test_line_counts_beside_records_are_read_by_studies_too(autotune, tmp_path):
    (tmp_path / "sum.c").write_text(SUM)
    build = ["gcc", *autotune("assert", "flags", "--gcov").out.split(), "sum.c", "-o", "sum"]
    subprocess.run(build, check=True, cwd=tmp_path)
    for n in ("8", "16"):
        autotune("assert", "run", "--only-record", "--", "./sum", n)
    runs = sorted((tmp_path / "assertion-records").glob("*.0.json"))
    autotune("assert", "model", str(runs[0]), "-o", "sum.json")
    fits = autotune("assert", "fit", "sum.json", *map(str, runs), "--json").json()["fits"]
    assert [(fit["kind"], fit["counter"], fit["exact"]) for fit in fits] == [
        ("flop", "source-operators", True)
    ]


def test_a_program_that_does_not(autotune, program):
    done = autotune("assert", "run", "--output", "r", "--", str(program), "12", "1", "0", check=1)
    assert "rows:ma_loop:12:13:-0.0769:PASS=0:FAIL=1" in done.out
    assert "counted is as asserted with n + 1 in place of n" in done.out
    autotune("assert", "run", "--tolerance", "10%", "--", str(program), "12", "1", "0")
    only = autotune("assert", "run", "--only-record", "--", str(program), "12", "1", "0")
    assert only.out == "worked on 13 rows\n"


def test_the_exit_code_of_the_program_is_told(autotune, program):
    done = autotune("assert", "run", "--json", "--", str(program), "3", "0", "7", check=1)
    assert faults(schema_of("assert.run"), json.loads(done.out)) == []
    document = done.json()
    assert document["program"]["code"] == 7
    assert document["checks"][0]["outcome"] == "pass"
    assert "worked on 3 rows" in done.err
    assert "the program ended with exit code 7" in done.err


def test_programs_of_a_script_are_checked_one_by_one(autotune, program):
    script = f"{program} 3 0 0; {program} 4 1 0"
    done = autotune("assert", "run", "--", "sh", "-c", script, check=1)
    assert "rows:ma_loop:3:3:0.0:PASS=1:FAIL=0" in done.out
    assert "rows:ma_loop:4:5:-0.2:PASS=0:FAIL=1" in done.out


def test_runs_in_one_folder_do_not_mix(autotune, program):
    for rows in ("3", "4"):
        autotune("assert", "run", "--output", "r", "--", str(program), rows, "0", "0")
    text = autotune("assert", "check", "r", check=2).err
    assert "records of 2 runs" in text
    run = text.rpartition("--run ")[2].split()[0]
    assert "rows:ma_loop:4:4" in autotune("assert", "check", "r", "--run", run).out


def test_a_program_without_assertions_is_no_pass(autotune):
    done = autotune("assert", "run", "--", "true", check=1)
    assert "no record was written" in done.err


def test_a_program_that_is_not_there(autotune):
    done = autotune("assert", "run", "--", "./gone", check=2)
    assert "'./gone' cannot be started" in done.err
    autotune("assert", "run", check=2)


def test_a_folder_that_cannot_be_written_is_named(autotune, tmp_path):
    (tmp_path / "file").write_text("")
    done = autotune("assert", "run", "--output", "file/records", "--", "true", check=2)
    assert "file/records: Not a directory; expected a folder that can be written" in done.err


def test_options_are_checked_before_the_program_runs(autotune, program):
    done = autotune(
        "assert", "run", "--fail-if", "failurs > 0", "--", str(program), "3", "0", "0", check=2
    )
    assert "did you mean failures?" in done.err
    assert "worked" not in done.out


def test_ctrl_c_ends_the_program_too(program, tmp_path):
    words = [sys.executable, "-m", "autotune", "assert", "run", "--", str(program), "3", "0", "-1"]
    child = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "worked on 3 rows\n"
    child.send_signal(signal.SIGINT)
    begun = time.monotonic()
    try:
        _, err = child.communicate(timeout=50)
    finally:
        child.kill()
    assert child.returncode == 130
    assert time.monotonic() - begun < 50
    assert "interrupted" in err


# --- launchers -----------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path):
    return RunRecording(library=Path("/lib/a.so"), folder=tmp_path, run="r1")


def launcher(folder, version):
    """A launcher of an MPI that only tells its version, beside a compiler wrapper."""
    for name, text in (("mpiexec", f"echo '{version}'"), ("mpicc", "exit 1")):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return str(folder / "mpiexec")


def test_ranks_of_open_mpi_get_the_library_and_their_launcher_does_not(tmp_path, recording):
    mpiexec = launcher(tmp_path, "mpiexec (Open MPI) 4.1.4")
    command, environment = recorded([mpiexec, "-n", "1", "a", ":", "-n", "1", "b"], recording)
    options = ["-x", f"AUTOTUNE_ASSERT={tmp_path}", "-x", "AUTOTUNE_ASSERT_RUN=r1", "-x",
               "LD_PRELOAD=/lib/a.so"]  # fmt: skip
    assert command == [mpiexec, *options, "-n", "1", "a", ":", *options, "-n", "1", "b"]
    assert "LD_PRELOAD" not in environment or environment == {**os.environ, **environment}


def test_ranks_of_mpich_get_it_by_its_options(tmp_path, recording):
    mpiexec = launcher(tmp_path, "HYDRA build details: Version: 4.2.0")
    command, _ = recorded([mpiexec, "-n", "2", "./a"], recording)
    assert command[-3:] == ["-n", "2", "./a"]
    assert command[1:4] == ["-genv", "AUTOTUNE_ASSERT", str(tmp_path)]


def test_other_commands_get_it_in_their_environment(monkeypatch, recording):
    monkeypatch.setenv("LD_PRELOAD", "/lib/other.so")
    command, environment = recorded(["srun", "-n", "2", "./a"], recording)
    assert command == ["srun", "-n", "2", "./a"]
    assert environment["LD_PRELOAD"] == "/lib/a.so /lib/other.so"


def test_what_starts_ranks(tmp_path):
    script = tmp_path / "a.py"
    script.write_text("from mpi4py import MPI\n")
    assert starts_ranks(["srun", "-n", "2", "./a"])
    assert starts_ranks(["env", "A=1", "mpirun", "./a"])
    assert starts_ranks([sys.executable, str(script)])
    assert not starts_ranks([sys.executable, "other.py"])
    assert not starts_ranks(["true"])


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("sh -c true", ["sh"]),
        ("mpiexec -n 2 --map-by env sh -c ls", ["sh"]),
        ("mpiexec -n 2 --oversubscribe env ls", ["env"]),
        ("mpiexec -n 1 sh : -n 2 --host localhost env A=1 sh", ["sh", "env"]),
        ("env A=1 mpiexec -n 2 sh", ["sh"]),
        ("srun --exclusive sh", ["sh"]),
    ],
)
def test_the_programs_that_a_launcher_starts(command, programs):
    words = command.split()
    assert [words[place] for place in program_places(words)] == programs


def test_a_launcher_without_a_program():
    with pytest.raises(InputError, match="no program that can be run in '-n 2 no-such-program'"):
        program_places(["mpiexec", "-n", "2", "no-such-program"])


# --- executed instructions -----------------------------------------------------------------------

ADDITIONS = """\
#include <stdio.h>
#include <stdlib.h>
#include "modeling_assertions.h"
int main(int argc, char **argv)
{
    volatile double values[1000] = {0};
    double sum = 0;
    int n = 1000, again = argc > 1 && !getenv("AUTOTUNE_ASSERT"), i;
    ma_var("n", n);
    ma_flop_begin("sum", "n");
    for (i = 0; i < n; i++)
        sum += values[i];
    ma_flop_count("sum_count", "n", n);
    ma_flop_end("sum");
    if (again)
        __builtin_trap();
    printf("%g %s\\n", sum, argv[0]);
    return 0;
}
"""


@pytest.fixture
def summing(tmp_path):
    """A program of 1,000 additions; with an argument it dies of SIGILL when nothing records it."""
    if shutil.which("valgrind") is None:
        pytest.skip("optional: valgrind is not installed")
    source, path = tmp_path / "sum.c", tmp_path / "sum"
    source.write_text(ADDITIONS)
    command = ["gcc", "-O1", "-I", str(library_build.header_folder()), str(source), "-o", str(path)]
    subprocess.run(command, check=True)
    return path


def test_executed_instructions_stand_beside_the_totals(autotune, summing):
    done = autotune("assert", "run", "--lackey", "--fail-if", "failures > 0", "--", str(summing))
    assert done.out.count(f"0 {summing}\n") == 1  # the second run is silent
    rows = [line.split("  ") for line in done.out.partition("no verdict:")[2].splitlines()]
    table = [tuple(cell.strip() for cell in row if cell.strip()) for row in rows if any(row)]
    assert table[0] == ("quantity", "counter", "count", "which")
    flops = {counter: int(count) for what, counter, count, _ in table if what.startswith("float")}
    assert flops["program"] == 1000
    assert flops["assertions"] >= 1000
    (read,) = (int(count) for what, _, count, _ in table if what == "bytes read")
    assert read > 8000
    assert "PASS" not in done.out.partition("no verdict:")[2]


def test_a_program_that_dies_under_valgrind(autotune, summing):
    done = autotune("assert", "run", "--lackey", "--", str(summing), "x", check=1)
    assert "sum:ma_flop:" in done.out
    assert "SIGILL" in done.err
    assert "-march=x86-64-v2" in done.err
    assert "no verdict" not in done.out


def test_lackey_needs_valgrind_and_a_check(autotune, monkeypatch, tmp_path):
    done = autotune("assert", "run", "--lackey", "--only-record", "--", "true", check=2)
    assert "--only-record is given too" in done.err
    monkeypatch.setenv("PATH", str(tmp_path))
    done = autotune("assert", "run", "--lackey", "--", "/bin/true", check=2)
    assert "apt install valgrind" in done.err


# --- ranks ---------------------------------------------------------------------------------------

RANKS = """\
#include <stdlib.h>
#include <mpi.h>
#include "modeling_assertions.h"
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), dies = atoi(argv[2]), rank, ranks, k;
    double sent[100] = {0}, received[100], sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ma_var("n", 50);
    ma_loop_begin("steps", "4");
    for (k = 0; k < 4; k++) {
        ma_send("halo_out", "8*n");
        ma_recv("halo_in", "8*n");
        MPI_Sendrecv(sent, n, MPI_DOUBLE, (rank + 1) % ranks, 0, received, 100, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ma_coll("norm", "allreduce", "8");
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    ma_loop_end("steps", k);
    if (dies && rank == 1)
        abort();
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """How two ranks of a program are launched that exchange halos; its MPI has a launcher."""
    library = mpi.find()
    if library.mpicc is None or library.mpiexec is None:
        pytest.skip("optional: this MPI has no mpicc or no mpiexec")
    folder = tmp_path_factory.mktemp("exchange")
    source = folder / "exchange.c"
    source.write_text(RANKS)
    include = f"-I{library_build.header_folder()}"
    program = str(folder / "exchange")
    subprocess.run([library.mpicc, include, str(source), "-o", program], check=True)
    with mpi.scratch(library) as places, pytest.MonkeyPatch.context() as patch:
        for name, value in (mpi.environment(library, 2, alone=False) | places).items():
            patch.setenv(name, value)
        yield launcher_of_ranks(mpi.launch_template(library, 2), [program])


def test_messages_of_two_ranks_are_as_asserted(autotune, exchange, tmp_path):
    done = autotune("assert", "run", "--output", "r", "--", *exchange, "50", "0")
    lines = done.out.splitlines()
    assert "halo_out:ma_mpi_sendrecv:400:400:0.0:PASS=8:FAIL=0" in lines
    assert "norm:ma_mpi_allreduce:8:8:0.0:PASS=8:FAIL=0" in lines
    assert len(list((tmp_path / "r").glob("*.json"))) == 2, "the launcher writes no record"
    assert "MPI_Sendrecv: 4 messages received (4 x 400 B)" in autotune("assert", "show", "r").out


def test_instructions_of_all_ranks_are_counted(autotune, exchange):
    if shutil.which("valgrind") is None:
        pytest.skip("optional: valgrind is not installed")
    done = autotune("assert", "run", "--lackey", "--json", "--", *exchange, "50", "0")
    quantities = [total["quantity"] for total in done.json()["totals"]]
    assert "bytes read" in quantities
    assert {total["counter"] for total in done.json()["totals"]} == {"lackey"}


def test_messages_of_another_size_fail_and_the_size_is_named(autotune, exchange):
    done = autotune("assert", "run", "--", *exchange, "51", "0", check=1)
    assert "halo_in:ma_mpi_sendrecv:400:408:-0.0196:PASS=0:FAIL=8" in done.out
    assert "counted is as asserted with n + 1 in place of n" in done.out
    assert "408 B: asserted 0, counted 4" in done.out


def test_a_rank_that_dies_keeps_a_run_from_passing(autotune, exchange):
    done = autotune("assert", "run", "--json", "--", *exchange, "50", "1", check=1)
    document = done.json()
    (check,) = document["checks"]
    assert document["program"]["code"] != 0
    assert 1 in check["missing_ranks"]
    assert check["outcome"] == "fail"
