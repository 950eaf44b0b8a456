"""Generated programs of several ranks that state their messages, and runs that show that these
hold.
"""

import functools
import subprocess
import tempfile
from pathlib import Path

import codegen_build

from autotune.assertions.checking import check_run
from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import mpi_library
from autotune.assertions.records import run_records
from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import AnyProblem
from autotune.toolchain import mpi

HEADER = library_build.header_folder() / "modeling_assertions.h"


@functools.cache
def library() -> Path:
    """The library that records messages, built once."""
    return mpi_library.mpi_library(mpi.find())


def units(program: loop_tree.StepProgram, problem: AnyProblem) -> dict[str, str]:
    """The source files of a program of several ranks, with the header by which it states them."""
    texts = harness.units(program, problem, distributed=True)
    return {**texts, HEADER.name: HEADER.read_text(encoding="utf-8")}


def launch(
    path: Path, ranks: int, threads: int, arguments: list[str]
) -> subprocess.CompletedProcess[str]:
    """A run of such a program; where it succeeds, every message that it states was sent."""
    with tempfile.TemporaryDirectory() as folder:
        done = codegen_build.launch(
            path, ranks, threads, arguments, LD_PRELOAD=str(library()), AUTOTUNE_ASSERT=folder
        )
        if done.returncode == 0:
            _check(Path(folder), ranks)
    return done


def _check(folder: Path, ranks: int) -> None:
    run = run_records.read([folder])
    assert len(run.records) == ranks
    for record in run.records:
        assert any(path.name == "communicate" for path in record.paths)
    check = check_run.check(run, partial=True)  # of sparse communication no formula is known
    assert not [verdict for verdict in check.verdicts if verdict.outcome == "fail"]
    assert check.figures["missing"] == check.figures["no_value"] == 0
