"""Results of a job from another machine: reads them, and replays them as a measurer.

A results file has one JSON object per line. First comes the machine, then ``build`` of every
candidate. Each process is a line ``verify`` or ``launch``, the lines that the program printed, and
a line ``exit``. The last line is ``done``.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.measuring.candidates.base import Launch
from autotune.measuring.candidates.host_measurer import ReferenceStates
from autotune.measuring.candidates.launch_output import LaunchListener
from autotune.measuring.jobs.job import RESULTS, SCHEMA, STATES, state_name, verified_threads
from autotune.measuring.verification import verify
from autotune.measuring.verification.verify import Verification

Facts = Mapping[str, object]
_NUMBER = {"verify": "threads", "launch": "round"}
_MACHINE = ("node", "system", "architecture", "model")
_TIME_LIMIT = 124
"""Exit code of coreutils' timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """One process of a job: a verification or a launch."""

    identity: str
    kind: str
    """``verify`` or ``launch``."""
    number: int
    """Threads of a verification, or the round of a launch."""
    lines: tuple[str, ...]
    """Lines that the program and its launcher printed."""
    code: int | None
    """Exit code; None if the job ended in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResults:
    """The results file of a job, after reading and checking it."""

    study: str
    candidates: tuple[str, ...]
    """Identities of all candidates of the job."""
    verify_steps: int
    machine: Mapping[str, str]
    """Node, system, architecture and processor model."""
    failed_builds: tuple[str, ...]
    processes: tuple[ProcessRecord, ...]
    states: Path
    """Folder of the verified states."""

    @property
    def machine_identity(self) -> str:
        """``job:`` and a hash of processor model, architecture and system; it is equal on equal
        nodes.
        """
        facts = [self.machine[name] for name in ("model", "architecture", "system")]
        return "job:" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]

    def find(self, candidate: Candidate, kind: str, number: int) -> ProcessRecord | None:
        """The process of a candidate; None where the job did not get that far."""
        key = (candidate.identity, kind, number)
        matching = (p for p in self.processes if (p.identity, p.kind, p.number) == key)
        return next(matching, None)


# --- reading --------------------------------------------------------------------------------


def collect(path: Path) -> JobResults:
    """Read a results file; ``job.json`` and the states are in the same folder.

    Raises InputError naming file and line for lines that no job writes, and for lines of two
    machines. Other lines among a program's output are kept with it. Of a file that ends in the
    middle of a launch, the launches before are read.
    """
    description = _Row(str(path.with_name("job.json")), _description(path.with_name("job.json")))
    tasks = description.facts.get("tasks")
    if not isinstance(tasks, dict):
        raise description.wrong("tasks", "the candidates of the job")
    reading = _Reading(frozenset(tasks))
    for where, line in _lines(path):
        reading.take(where, line)
    machine = reading.machine
    if machine is None:
        raise InputError(
            Fault(where=str(path), found="no line about the machine", expected="a job's results")
        )
    states = path.with_name(_states_name(path))
    processes = reading.finish()
    if not states.is_dir() and any(p.kind == "verify" and p.code == 0 for p in processes):
        raise InputError(
            Fault(
                where=str(states),
                found="no such folder",
                expected="the states that the job verified, beside its results",
                hint="bring back the whole folder of the job",
            )
        )
    return JobResults(
        study=description.text("study"),
        candidates=tuple(tasks),
        verify_steps=description.count("verify_steps"),
        machine=machine,
        failed_builds=tuple(reading.failed),
        processes=processes,
        states=states,
    )


def _states_name(path: Path) -> str:
    """The name of the folder with states: ``states-1`` for ``results-1.jsonl``; ``states`` for a
    file of another name.
    """
    return STATES + path.stem.removeprefix(RESULTS) if path.stem.startswith(RESULTS) else STATES


def _description(path: Path) -> Facts:
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"cannot be read: {getattr(error, 'strerror', None) or error}",
                expected="the job.json of the emitted job, beside the results file",
            )
        ) from error
    if not isinstance(description, dict) or description.get("schema") != SCHEMA:
        raise InputError(Fault(where=str(path), found="not a job", expected=f"schema {SCHEMA}"))
    return description


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The place and the text of every line, without empty lines and an incomplete last line."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        found = f"cannot be read: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if lines and _parsed(lines[-1][1]) is None:
        lines.pop()
    for number, line in lines:
        yield f"{path}:{number}", line


def _parsed(line: str) -> Facts | None:
    """The JSON object in a line; None for a line of other text."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


@dataclass(frozen=True, slots=True)
class _Row:
    """A JSON object of the file with its place; reading a field of a wrong type raises
    InputError.
    """

    where: str
    facts: Facts

    def text(self, name: str) -> str:
        value = self.facts.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return value

    def count(self, name: str) -> int:
        value = self.facts.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(name, "a whole number, 0 or more")
        return value

    def wrong(self, name: str, expected: str) -> InputError:
        value = self.facts.get(name)
        got = f"{name} is {value!r:.80}" if name in self.facts else f"no {name}"
        return InputError(Fault(where=self.where, found=got, expected=expected))


@dataclass(slots=True)
class _Reading:
    """The state of the reader of a results file."""

    tasks: frozenset[str]
    machine: Mapping[str, str] | None = None
    failed: list[str] = field(default_factory=list)
    processes: list[ProcessRecord] = field(default_factory=list)
    current: tuple[str, str, int] | None = None
    """Identity, kind and number of the process whose output is being read."""
    printed: list[str] = field(default_factory=list)

    def take(self, where: str, line: str) -> None:
        facts = _parsed(line)
        row = _Row(where, facts or {})
        match row.facts.get("kind"):
            case "machine":
                self._meet(row)
            case "build":
                identity = self._identity(row)
                if row.count("code"):
                    self.failed.append(identity)
            case "verify" | "launch" as kind:
                self._end(None)
                self.current = (self._identity(row), str(kind), row.count(_NUMBER[str(kind)]))
            case "exit" if self.current:
                self._end(row.count("code"))
            case "done":
                self._end(None)
            case _ if self.current:
                self.printed.append(line)
            case _:
                raise InputError(
                    Fault(where=where, found=line[:80], expected="a line that a job writes")
                )

    def finish(self) -> tuple[ProcessRecord, ...]:
        self._end(None)
        return tuple(self.processes)

    def _meet(self, row: _Row) -> None:
        machine = {name: row.text(name) for name in _MACHINE}
        if self.machine not in (None, machine):
            raise InputError(
                Fault(
                    where=row.where,
                    found=f"another machine, {machine}",
                    expected=f"results of one machine, {self.machine}",
                    hint="collect the results of each machine by themselves",
                )
            )
        self.machine = machine

    def _identity(self, row: _Row) -> str:
        identity = row.text("candidate")
        if identity not in self.tasks:
            got = f"candidate {identity!r:.80} is not in the job"
            raise InputError(Fault(where=row.where, found=got))
        return identity

    def _end(self, code: int | None) -> None:
        if self.current:
            identity, kind, number = self.current
            self.processes.append(
                ProcessRecord(
                    identity=identity,
                    kind=kind,
                    number=number,
                    lines=tuple(self.printed),
                    code=code,
                )
            )
        self.current = None
        self.printed.clear()


# --- replaying ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CollectedMeasurer:
    """A measurer that replays the builds, verifications and launches recorded in the results of a
    job.
    """

    results: JobResults
    measuring: Measuring
    references: ReferenceStates = field(default_factory=ReferenceStates)

    def prepare(self, candidate: Candidate) -> Prepared:
        """The recorded build, and the comparison of the recorded states with the reference."""
        verdict = self._verify(candidate)
        return Prepared(
            candidate=candidate,
            status=verdict.status,
            detail=verdict.detail,
            error=verdict.error,
            build="job",
        )

    def interrupt(self) -> None:
        """Do nothing: a replay runs no process."""

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,  # noqa: ARG002 - of the protocol: nothing is run here
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """The recorded launch of a round; with status ``contended`` where the job has none."""
        candidate = prepared.candidate
        recorded = self.results.find(candidate, "launch", round_number)
        if recorded is None:
            return Launch(status="contended", detail="the job has no launch of this round")
        listener = LaunchListener(
            threads=candidate.threads,
            ranks=candidate.ranks,
            busy=self.measuring.busy,
            launch=launch,
            round=round_number,
            on_sample=on_sample,
            conditions={
                "threads": candidate.threads,
                "priority": "unknown",
                "wait": "unknown",
                **({"ranks": candidate.ranks} if candidate.ranks > 1 else {}),
            },
        )
        for line in recorded.lines:
            listener.hear(line)
        return listener.finish(*_ended(recorded), "\n".join(recorded.lines))

    def _verify(self, candidate: Candidate) -> Verification:
        if candidate.identity in self.results.failed_builds:
            detail = f"see log/{candidate.identity}.build of the job"
            return Verification("build-failed", None, detail)
        worst = 0.0
        for threads in verified_threads(candidate):
            verdict = self._judge(candidate, threads)
            if verdict.status != "ok":
                text = f"{threads} thread(s): {verdict.detail}"
                return Verification(verdict.status, verdict.error, text)
            worst = max(worst, verdict.error or 0.0)
        return Verification("ok", worst)

    def _judge(self, candidate: Candidate, threads: int) -> Verification:
        recorded = self.results.find(candidate, "verify", threads)
        if recorded is None:
            return Verification("crashed", None, "the job ended before its verification")
        status, detail = _ended(recorded)
        if status != "ok":
            return Verification(status, None, detail)
        file = self.results.states / state_name(candidate.identity, threads)
        try:
            data = file.read_bytes()
        except OSError as error:
            text = f"exit code {recorded.code}, but no state: {file}: {error.strerror}"
            return Verification("crashed", None, text)
        if len(data) % 8:
            return Verification("wrong-result", None, f"the state is {len(data)} B long")
        small = verify.verification_problem(candidate)
        steps = verify.steps(candidate, self.results.verify_steps)
        reference = self.references.state(small, steps)
        state = np.frombuffer(data, dtype="<f8").astype(np.float64)
        return verify.judge(state, reference, verify.fields_of(small))


def _ended(recorded: ProcessRecord) -> tuple[Status, str]:
    if recorded.code == 0:
        return "ok", ""
    if recorded.code is None:
        return "crashed", "the job ended in the middle of it"
    if recorded.code == _TIME_LIMIT:
        return "timed-out", "ended at the time limit"
    return "crashed", f"exit code {recorded.code}"
