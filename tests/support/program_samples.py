"""Programs with models, written to a folder, read back, and predicted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.domain.machine import Machine
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program
from autotune.domain.results import Prediction
from autotune.domain.setup import Layout, Setup
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Variant
from autotune.files.config.program.programs import read_program
from autotune.files.config.session import Session
from autotune.workloads.program.model_route import program_engine

MATMUL = """\
#include <stdio.h>

void multiply(long n, const double *restrict a, const double *restrict b, double *restrict c) {
    for (long jj = 0; jj < n; jj += BLOCK)
        for (long i = 0; i < n; ++i)
            for (long k = 0; k < n; ++k) {
                /* autotune: loop inner */
                for (long j = jj; j < (jj + BLOCK < n ? jj + BLOCK : n); ++j)
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
            }
}
"""

HEAD = """\
schema: autotune.program/1
title: A sample
sources: ["*.c"]
build: ["{compiler}", "{flags}", "-DBLOCK={block}", "{source folder}/mm.c", "-o", "{output}"]
run: ["{output}", "{n}", "{mode}"]
arguments: {n: 512}
size: n
parameters: {block: [8, 64, 512], mode: [fast, safe]}
baseline: {block: 64}
time: {pattern: "time (.*)"}
threads: openmp
"""

DAXPY = "double x[N], y[N]; double s;\nfor(int i=0; i<N; ++i) y[i] = y[i] + s*x[i];"

MARKED = """\
model:
  marked: mm.c
  loops:
    - name: inner
      iterations: n**3
      entries: n**3 / block
      flops: 2
      streams:
        - {array: B, bytes: 8, reuse: 8 * n * block}
        - {array: C, bytes: 8, reuse: 8 * block, access: update}
"""


def written(folder: Path, model: str, sources: Mapping[str, str] | None = None) -> Path:
    """The file of the sample program with a model, and its sources beside it."""
    for name, text in {"mm.c": MATMUL, **(sources or {})}.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")
    path = folder / "sample.yaml"
    path.write_text(HEAD + model, encoding="utf-8")
    return path


def read(path: Path) -> Program:
    """The program of a file; ConfigError with every fault."""
    session = Session()
    program = read_program(session, path)
    session.finish()
    assert program is not None
    return program


def candidates(
    program: Program, threads: int = 1, build: Build | None = None, **arguments: int
) -> list[Candidate]:
    """Every candidate of a program."""
    problem = ProgramProblem(program=program, arguments={**program.arguments, **arguments})
    return [
        Candidate(
            variant=Variant(
                skeleton=program.name,
                definition=program.definition,
                transformations=(),
                parameters=values,
            ),
            problem=problem,
            build=build or Build(),
            layout=ExecutionLayout(threads=threads),
        )
        for values in program.combinations()
    ]


def predicted(asked: Sequence[Candidate], machine: Machine) -> list[Prediction]:
    """By the engine as commands use it."""
    problem = asked[0].problem
    assert isinstance(problem, ProgramProblem)
    setup = Setup(
        name="sample",
        source="sample.yaml",
        machine=machine,
        problems=(problem,),
        subject=problem.program,
        builds=(asked[0].build,),
        layouts=(Layout(),),
        engine="program",
    )
    with program_engine(setup, machine, lambda *_: None) as engine:
        return engine.predict(asked)
