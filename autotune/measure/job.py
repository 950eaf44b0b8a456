"""A self-contained job for a machine where autotune itself does not run.

``emit`` writes a folder: the C sources of every chosen candidate, ``job.sh`` (builds, verifies and
times them in interleaved rounds; needs a POSIX shell and a C compiler, nothing else) and
``job.json`` (what the job is). The job appends to ``results.jsonl``; ``collect`` reads it back.
"""

import json
import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Fault, InputError
from autotune.toolchain.launcher import expand
from autotune.variant import Build, Candidate

SCHEMA = "autotune.job/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTask:
    """One candidate of a job: its sources, its command lines, its expected checksum."""

    candidate: Candidate
    units: Mapping[str, str]
    """File name to C text."""
    timing: tuple[str, ...]
    """Arguments of a timed launch."""
    check: tuple[str, ...]
    """Arguments of a launch at the verification size."""
    expected: tuple[float, float]
    """Checksum of the reference at the verification size: weighted sum, sum of magnitudes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything that a job folder says."""

    study: str
    tasks: tuple[JobTask, ...]
    rounds: int
    launcher: str
    environment: Mapping[str, str]
    compile_seconds: float
    run_seconds: float
    seed: int = 1


def emit(job: Job, folder: Path) -> Path:
    """Write the job into ``folder`` (created; must be empty) and return the path of its script.

    Raises InputError if the folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            Fault(where=str(folder), found="exists already", expected="a new or empty folder")
        )
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
        "rounds": job.rounds,
        "tasks": {
            task.candidate.identity: {
                "id": task.candidate.id,
                "candidate": task.candidate.canonical(),
                "expected": list(task.expected),
            }
            for task in job.tasks
        },
    }


_PROLOGUE = """\
#!/bin/sh
# Builds, verifies and times the programs in src/. Appends to results.jsonl beside this script.
# Set CC to use another compiler, LAUNCH to put a launcher in front (LAUNCH='srun -n 1').
set -u
cd "$(dirname "$0")" || exit 1
mkdir -p bin log
results=results.jsonl
note() { printf '%s\\n' "$1" >>"$results"; }
limit() { if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$@"; else shift; "$@"; fi; }

build() { # identity, compiler, seconds, flags...
    id=$1 cc=$2 seconds=$3; shift 3
    if limit "$seconds" "${CC:-$cc}" "$@" -fopenmp -o "bin/$id" src/"$id"/*.c -lm \\
        >"log/$id.build" 2>&1
    then note "{\\"kind\\":\\"build\\",\\"candidate\\":\\"$id\\",\\"code\\":0}"
    else note "{\\"kind\\":\\"build\\",\\"candidate\\":\\"$id\\",\\"code\\":1}"
    fi
}

launch() { # kind, identity, round, seconds, command...
    kind=$1 id=$2 round=$3 seconds=$4; shift 4
    [ -x "bin/$id" ] || return 0
    note "{\\"kind\\":\\"$kind\\",\\"candidate\\":\\"$id\\",\\"round\\":$round}"
    limit "$seconds" "$@" >>"$results" 2>>"log/$id.err" </dev/null
    note "{\\"kind\\":\\"exit\\",\\"code\\":$?}"
}

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1 | tr -d '"\\\\')
note "{\\"kind\\":\\"machine\\",\\"node\\":\\"$(uname -n)\\",\\"system\\":\\"$(uname -sr)\\",\\
\\"architecture\\":\\"$(uname -m)\\",\\"model\\":\\"${model:-unknown}\\"}"
"""


def _script(job: Job) -> Iterator[str]:
    yield _PROLOGUE
    for name, value in sorted(job.environment.items()):
        yield f"export {name}={shlex.quote(value)}"
    for task in job.tasks:
        yield _build_line(task.candidate.identity, task.candidate.build, job.compile_seconds)
    for task in job.tasks:
        yield _launch_line(job, task, "verify", 0, task.check)
    generator = random.Random(job.seed)
    for number in range(job.rounds):
        order = list(job.tasks)
        generator.shuffle(order)
        for task in order:
            yield _launch_line(job, task, "launch", number, task.timing)
    yield 'note "{\\"kind\\":\\"done\\"}"'
    yield 'echo "done. Read it back: autotune tune CONFIG --collect results.jsonl"'


def _build_line(identity: str, build: Build, seconds: float) -> str:
    flags = " ".join(shlex.quote(flag) for flag in build.flags)
    return f"build {identity} {shlex.quote(build.compiler)} {seconds:g} {flags}"


def _launch_line(job: Job, task: JobTask, kind: str, number: int, arguments: Sequence[str]) -> str:
    identity = task.candidate.identity
    program = [f"./bin/{identity}", *arguments]
    command = shlex.join(expand(job.launcher, program))
    threads = task.candidate.threads
    return (
        f"OMP_NUM_THREADS={threads} launch {kind} {identity} {number} {job.run_seconds:g}"
        f" ${{LAUNCH:-}} {command}"
    )


@dataclass(frozen=True, slots=True)
class Collected:
    """One launch as the job recorded it."""

    identity: str
    kind: str
    """``verify`` or ``launch``."""
    round: int
    lines: tuple[str, ...]
    """What the program printed."""
    code: int | None
    """Exit code; None if the job ended in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A job's results file, read and checked."""

    study: str
    machine: Mapping[str, object]
    failed_builds: tuple[str, ...]
    launches: tuple[Collected, ...]
    expected: Mapping[str, tuple[float, float]]


def collect(path: Path) -> Results:
    """Read ``results.jsonl`` (``job.json`` lies beside it).

    Raises InputError naming file and line for anything that a job does not write. A file that ends
    in the middle of a launch is read up to there.
    """
    description = _read_description(path.with_name("job.json"))
    tasks = description["tasks"]
    if not isinstance(tasks, dict):
        raise InputError(Fault(where=str(path), found="job.json without tasks"))
    machine: Mapping[str, object] = {}
    failed: list[str] = []
    launches: list[Collected] = []
    current: tuple[str, str, int, list[str]] | None = None
    for number, line, row in _rows(path):
        kind = row.get("kind")
        identity = str(row.get("candidate", ""))
        if kind in ("build", "verify", "launch") and identity not in tasks:
            where = f"{path}:{number}"
            raise InputError(Fault(where=where, found=f"candidate {identity!r} is not in the job"))
        if kind == "machine":
            machine = row
        elif kind == "build" and row.get("code"):
            failed.append(identity)
        elif kind in ("verify", "launch"):
            current = (identity, str(kind), _whole(row, "round", f"{path}:{number}"), [])
        elif kind == "exit" and current:
            code = _whole(row, "code", f"{path}:{number}")
            launches.append(Collected(current[0], current[1], current[2], tuple(current[3]), code))
            current = None
        elif current:
            current[3].append(line)
    if current:
        launches.append(Collected(current[0], current[1], current[2], tuple(current[3]), None))
    return Results(
        study=str(description["study"]),
        machine=machine,
        failed_builds=tuple(failed),
        launches=tuple(launches),
        expected={key: _pair(task) for key, task in tasks.items()},
    )


def _read_description(path: Path) -> dict[str, object]:
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"cannot be read: {error}",
                expected="the job.json of the emitted job, beside the results file",
            )
        ) from error
    if not isinstance(description, dict) or description.get("schema") != SCHEMA:
        raise InputError(Fault(where=str(path), found="not a job", expected=f"schema {SCHEMA}"))
    return description


def _rows(path: Path) -> Iterator[tuple[int, str, Mapping[str, object]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Fault(where=str(path), found=f"cannot be read: {error}")) from error
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = {}  # what a launcher printed, or a line that was cut off
        yield number, line, row if isinstance(row, dict) else {}


def _whole(row: Mapping[str, object], name: str, where: str) -> int:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(Fault(where=where, found=f"{name} is {value!r}", expected="a whole number"))


def _pair(task: object) -> tuple[float, float]:
    match task:
        case {"expected": [int() | float() as first, int() | float() as second]}:
            return float(first), float(second)
    raise InputError(Fault(where="job.json", found="a task without its expected checksum"))
