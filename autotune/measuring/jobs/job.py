"""A self-contained job for a machine on which autotune itself does not run.

``emit`` writes a folder: the C sources of every chosen candidate, ``job.sh`` and ``job.json``.
``job.sh`` builds, verifies and times the candidates in interleaved rounds. It needs a POSIX shell
and a C compiler; for programs of several ranks also mpicc, and mpiexec or another launcher.
``job.json`` describes the job. A run writes ``results.jsonl`` and ``states/``, the state of every
verification; ``job_results.collect`` reads them.
"""

import json
import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.measuring.candidates import protocol
from autotune.measuring.conditions.quiet import BINDINGS
from autotune.measuring.verification import verify
from autotune.toolchain.launcher import expand

SCHEMA = "autotune.job/1"
RESULTS = "results"
"""Stem of the results file; results of earlier runs are named results-1, results-2, ..."""
STATES = "states"
"""Folder of the states of the same run; folders of earlier runs are states-1, states-2, ..."""

OPENMP: Mapping[str, str] = {
    "OMP_DYNAMIC": "false",
    "OMP_PLACES": "cores",
    "OMP_PROC_BIND": "close",
    "OMP_WAIT_POLICY": "active",
}
"""OpenMP variables: one thread per core, waiting actively. The machine must have the cores."""
MPI: Mapping[str, str] = {
    "I_MPI_PIN": "0",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Variables that keep Intel MPI and Open MPI 4 and 5 from binding ranks to one core each: the
program binds its threads itself, and verification may have more ranks than cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTask:
    """One candidate of a job, with its program."""

    candidate: Candidate
    units: Mapping[str, str]
    """File name to C text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The content of a job folder."""

    study: str
    tasks: tuple[JobTask, ...]
    measuring: Measuring
    limits: Limits
    launcher: str
    environment: Mapping[str, str]
    """Variables set on top of ``OPENMP``; OMP_NUM_THREADS is set for each launch."""
    mpi_launcher: str = ""
    """Launcher of programs of several ranks; empty: mpiexec."""
    seed: int = 1


def state_name(identity: str, threads: int) -> str:
    """The name of the file with the state of a candidate's verification with
    ``threads`` threads.
    """
    return f"{identity}-{threads}.bin"


def verified_threads(candidate: Candidate) -> list[int]:
    """The numbers of threads with which a candidate is verified: 1 and its own number."""
    return sorted({1, candidate.threads})


def emit(job: Job, folder: Path) -> Path:
    """Write the job into ``folder`` (created; must be empty) and return the path of its script.

    Raises InputError if the folder is not empty, and for a path that cannot be written, naming it.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(
                Fault(where=str(folder), found="exists already", expected="a new or empty folder")
            )
        return _write(job, folder)
    except OSError as error:
        where = str(error.filename or folder)
        problem = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=where, found=problem)) from error


def _write(job: Job, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for task in job.tasks:
        sources = folder / "src" / task.candidate.identity
        sources.mkdir(parents=True)
        for name, text in task.units.items():
            (sources / name).write_text(text, encoding="utf-8")
    (folder / "job.json").write_text(json.dumps(_describe(job), indent=1), encoding="utf-8")
    script = folder / "job.sh"
    script.write_text("\n".join(_script(job)) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return script


def _describe(job: Job) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "study": job.study,
        "rounds": job.measuring.rounds,
        "verify_steps": job.measuring.verify_steps,
        "tasks": {
            task.candidate.identity: {
                "id": task.candidate.id,
                "candidate": task.candidate.canonical(),
            }
            for task in job.tasks
        },
    }


_PROLOGUE = """\
#!/bin/sh
# Builds, verifies and times the programs in src/. Writes results.jsonl and states/ beside this
# script; those of an earlier run become results-1.jsonl and states-1/, and so on.
# Set CC to use another compiler, LAUNCH to put a launcher in front (LAUNCH='srun -n 1'), MPICC and
# MPIEXEC to use another MPI (MPIEXEC=srun).
set -u
cd "$(dirname "$0")" || exit 1
results=results.jsonl
if [ -e "$results" ] || [ -e states ]; then
    run=1
    while [ -e "results-$run.jsonl" ] || [ -e "states-$run" ]; do run=$((run + 1)); done
    if [ -e "$results" ]; then mv "$results" "results-$run.jsonl" || exit 1; fi
    if [ -e states ]; then mv states "states-$run" || exit 1; fi
fi
mkdir -p bin log states && : >"$results" || exit 1
note() { printf '%s\\n' "$1" >>"$results"; }
limit() { if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$@"; else shift; "$@"; fi; }

build() { # identity, compiler, seconds, flags...
    id=$1 cc=$2 seconds=$3; shift 3
    rm -f "bin/$id"
    if limit "$seconds" "${CC:-$cc}" "$@" -fopenmp -o "bin/$id" src/"$id"/*.c -lm \\
        >"log/$id.build" 2>&1
    then note "{\\"kind\\":\\"build\\",\\"candidate\\":\\"$id\\",\\"code\\":0}"
    else note "{\\"kind\\":\\"build\\",\\"candidate\\":\\"$id\\",\\"code\\":1}"
    fi
}

build_ranks() { # as build, with MPI around the same compiler
    (
        OMPI_CC=${CC:-$2} MPICH_CC=${CC:-$2} I_MPI_CC=${CC:-$2} CC=${MPICC:-mpicc}
        export OMPI_CC MPICH_CC I_MPI_CC
        build "$@"
    )
}

launch() { # identity, row to begin with, threads, seconds, command...
    id=$1 row=$2 seconds=$4
    OMP_NUM_THREADS=$3; export OMP_NUM_THREADS
    shift 4
    [ -x "bin/$id" ] || return 0
    note "$row"
    limit "$seconds" "$@" >>"$results" 2>>"log/$id.err" </dev/null
    code=$?
    note "" # a program that was ended may have left half a line
    note "{\\"kind\\":\\"exit\\",\\"code\\":$code}"
}

verify() { # identity, threads, seconds, command...
    id=$1 threads=$2; shift 2
    launch "$id" "{\\"kind\\":\\"verify\\",\\"candidate\\":\\"$id\\",\\"threads\\":$threads}" \\
        "$threads" "$@"
}

measure() { # identity, threads, round, seconds, command...
    id=$1 threads=$2 round=$3; shift 3
    launch "$id" "{\\"kind\\":\\"launch\\",\\"candidate\\":\\"$id\\",\\"round\\":$round}" \\
        "$threads" "$@"
}

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1 | tr -d '"\\\\')
note "{\\"kind\\":\\"machine\\",\\"node\\":\\"$(uname -n)\\",\\"system\\":\\"$(uname -sr)\\",\\
\\"architecture\\":\\"$(uname -m)\\",\\"model\\":\\"${model:-unknown}\\"}"
"""

_ROOT = """\
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi"""

_WARNING = """\
cpus=$(unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc 2>/dev/null)
if [ "${{cpus:-{threads}}}" -lt {threads} ]; then
    echo "warning: {threads} threads on $cpus CPU(s): their times will mean little" >&2
fi"""


def _script(job: Job) -> Iterator[str]:
    yield _PROLOGUE
    yield _WARNING.format(threads=max((t.candidate.threads_per_node for t in job.tasks), default=1))
    several = any(task.candidate.ranks > 1 for task in job.tasks)
    if several:
        yield _ROOT
    for name, value in sorted({**OPENMP, **(MPI if several else {}), **job.environment}.items()):
        yield f"export {name}={shlex.quote(value)}"
    for task in job.tasks:
        yield _build_line(task.candidate, job.limits.compile)
    for task in job.tasks:
        yield from _verify_lines(job, task.candidate)
    generator = random.Random(job.seed)
    for number in range(job.measuring.rounds):
        order = [task.candidate for task in job.tasks]
        generator.shuffle(order)
        for candidate in order:
            arguments = protocol.time_arguments(candidate, job.measuring)
            command = _command(job, candidate, arguments)
            yield f"measure {candidate.identity} {candidate.threads} {number} {command}"
    yield 'note "{\\"kind\\":\\"done\\"}"'
    yield 'echo "done. Read it back: autotune tune CONFIG --collect $(pwd)/$results"'


def _build_line(candidate: Candidate, seconds: float) -> str:
    identity, build = candidate.identity, candidate.build
    flags = " ".join(shlex.quote(flag) for flag in build.flags)
    how = "build" if candidate.ranks == 1 else "build_ranks"
    return f"{how} {identity} {shlex.quote(build.compiler)} {seconds:g} {flags}"


def _verify_lines(job: Job, candidate: Candidate) -> Iterator[str]:
    small = verify.verification_problem(candidate)
    for threads in verified_threads(candidate):
        out = Path(STATES) / state_name(candidate.identity, threads)
        at_small = replace(
            candidate, problem=small, layout=replace(candidate.layout, threads=threads)
        )
        steps = verify.steps(candidate, job.measuring.verify_steps)
        arguments = protocol.verify_arguments(at_small, steps, out)
        command = _command(job, candidate, arguments)
        yield f"verify {candidate.identity} {threads} {command}"


def _command(job: Job, candidate: Candidate, arguments: Sequence[str]) -> str:
    """The time limit in seconds and the command line of one launch, as text of the script."""
    words = [f"./bin/{candidate.identity}", *arguments]
    seconds = f"{job.limits.run:g}"
    if candidate.ranks == 1:
        start = f"${{LAUNCH:-}} {shlex.join(expand(job.launcher, words))}"
        binding = BINDINGS[candidate.placement]
        if binding == OPENMP["OMP_PROC_BIND"] or "OMP_PROC_BIND" in job.environment:
            return f"{seconds} {start}"
        return f"{seconds} env OMP_PROC_BIND={binding} {start}"
    # OpenMP would bind the threads of all ranks to the same cores
    variables = {"AUTOTUNE_PIN": "1", "OMP_PROC_BIND": "false"}
    settings = [
        f"{name}={value}" for name, value in variables.items() if name not in job.environment
    ]
    if not job.mpi_launcher:
        start = f"${{MPIEXEC:-mpiexec}} -n {candidate.ranks}"
        return f"{seconds} env {shlex.join(settings)} {start} {shlex.join(words)}"
    numbers = {"nodes": candidate.nodes, "ranks": candidate.ranks, "threads": candidate.threads}
    command = expand(job.mpi_launcher, words, "mpi_launcher", numbers)
    return f"{seconds} env {shlex.join([*settings, *command])}"
