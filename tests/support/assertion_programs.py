"""The example programs of modeling assertions: built once, run on several ranks."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from autotune.assertions.library import library_build
from autotune.toolchain import launcher, mpi
from autotune.toolchain.mpi import Mpi

EXAMPLES = Path(__file__).parents[2] / "examples" / "assertions"


@functools.cache
def installation(language: str) -> tuple[Mpi, str]:
    """The MPI for programs of a language, and the compiler to call (Python: the interpreter).

    Fortran needs an MPI that was built with it: the one on PATH, for the wheel has none.
    ``system``: C with that MPI.
    """
    if language == "python":
        pytest.importorskip("mpi4py", reason="optional: mpi4py is not installed")
        return mpi.find(), sys.executable
    if language == "c":
        compiler = mpi.find().mpicc
        if compiler is None:
            pytest.skip("optional: this MPI has no mpicc")
        return mpi.find(), compiler
    wrapper = shutil.which("mpifort")
    if wrapper is None or shutil.which("gfortran") is None:
        pytest.skip("optional: no mpifort")
    folder = Path(wrapper).parent
    starter, c_wrapper = (shutil.which(name, path=str(folder)) for name in ("mpiexec", "mpicc"))
    found = Mpi(flavour=mpi.find().flavour, version="4.1", mpiexec=starter, mpicc=c_wrapper)
    return found, wrapper if language == "fortran" else c_wrapper or ""


def build(language: str, source: Path, program: Path, *flags: str) -> list[str]:
    """The command that starts a program, which is built in its folder."""
    _, compiler = installation(language)
    if language == "python":
        return [compiler, str(source)]
    needed = (
        [str(library_build.fortran_source())]
        if language == "fortran"
        else [f"-I{library_build.header_folder()}"]
    )
    command = [
        compiler, "-Wall", *needed, str(source), *flags, "-o", program.name, "-lm"
    ]  # fmt: skip
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return [str(program)]


def launch(
    language: str,
    command: Sequence[str],
    ranks: int,
    variables: Mapping[str, str] | None = None,
    status: int | None = 0,
) -> str:
    """What a program on several ranks prints; it must end with an exit code (None: any)."""
    found, _ = installation(language)
    line = launcher.expand(mpi.launch_template(found, ranks), command)
    if ranks == 1:
        line = list(command)
    with mpi.scratch(found) as places:
        done = subprocess.run(
            line,
            env=os.environ
            | mpi.environment(found, ranks, alone=False)
            | places
            | (variables or {}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert status is None or done.returncode == status, done.stderr + done.stdout
    return done.stdout + done.stderr
