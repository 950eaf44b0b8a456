"""Measures external programs on this host: builds, compares with the baseline, times them.

A launch repeats the program until it has the wanted number of times. A run counts if it ends within
its limits, prints a time, and its check value agrees with the reference run.
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autotune import paths
from autotune.domain.metric import TIME, Metric
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program
from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Candidate, Value
from autotune.errors import Fault, InputError
from autotune.measuring.candidates.base import CHECKSUM_TOLERANCE, Launch
from autotune.measuring.conditions import energy, quiet
from autotune.measuring.conditions.resource_use import ResourceUse
from autotune.statistics.launch_times import launch_time
from autotune.statistics.waiting import PART, SPREAD
from autotune.toolchain import child_process, launcher
from autotune.toolchain.child_process import ProcessOutcome
from autotune.toolchain.scratch_folder import remove_abandoned, scratch_folder
from autotune.units import Seconds
from autotune.workloads.program.measuring import printed_output
from autotune.workloads.program.measuring.check_answers import Answer, compare
from autotune.workloads.program.measuring.command_line import (
    ProgramBuilder,
    openmp,
    program_problem,
)
from autotune.workloads.program.measuring.contention import ContentionJudge
from autotune.workloads.program.measuring.plausible_output import impossible_time, rate_as_time
from autotune.workloads.program.measuring.printed_output import UnreadableOutput
from autotune.workloads.program.measuring.result_check import (
    JudgedResult,
    judged_by_command,
    result_of,
)

_LEAST_LIMIT = 2.0
"""Seconds that a verifying run may take, however short that of the baseline is."""
_TOO_LONG = 2.0
"""A run that is ended after so many times the seconds of the baseline, without those in which it
waited for a CPU, is clearly slower than it."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The result of one run of a program: times and check value, or why it does not count."""

    status: Status
    detail: str = ""
    values: tuple[Mapping[str, float], ...] = ()
    """The metrics of each sample."""
    answer: Answer | None = None
    """None: the program has no check value."""
    error: float | None = None
    """Relative to the value that is right; None where the baseline's decides."""
    outcome: ProcessOutcome | None = None


class ReferenceAnswers:
    """The reference run of each problem, and all check values seen; safe for threads."""

    def __init__(self) -> None:
        self._runs: dict[str, ProgramRun] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._seconds: dict[str, float] = {}
        self._drawn: Mapping[str, Value] | None = None
        self._lock = threading.RLock()

    def get(self, problem: ProgramProblem, make: Callable[[], ProgramRun]) -> ProgramRun:
        """The reference run of a problem; it is repeated while runs are disturbed."""
        with self._lock:
            run = self._runs.get(problem.key)
            if run is None or run.status == "contended":
                run = self._runs[problem.key] = make()
            return run

    def answer(self, problem: ProgramProblem) -> Answer | None:
        """The check value of the reference run of a problem; None if it is missing or failed."""
        run = self._runs.get(problem.key)
        return run.answer if run is not None and run.status == "ok" else None

    def took(self, problem: ProgramProblem, run: ProgramRun) -> None:
        """Note how long a verifying run of the baseline took, if it ended well."""
        if run.status == "ok" and run.outcome is not None:
            with self._lock:
                before = self._seconds.get(problem.key, 0.0)
                self._seconds[problem.key] = max(before, run.outcome.seconds)

    def seconds(self, problem: ProgramProblem) -> float | None:
        """Wall time of the baseline's verifying runs of a problem; None where there were none."""
        return self._seconds.get(problem.key)

    def drawn(self, program: Program) -> Mapping[str, Value]:
        """The arguments of verification runs: of each one of its values, the same for all
        candidates, and another one in another process.
        """
        with self._lock:
            if self._drawn is None:
                chance = random.SystemRandom()
                self._drawn = {name: chance.choice(v) for name, v in program.verify.items()}
            return self._drawn

    def alike(self, key: str, answer: Answer, tolerance: float) -> Answer:
        """The first check value under a key that agrees with ``answer``; else ``answer`` itself."""
        with self._lock:
            seen = self._answers.setdefault(key, [])
            for other in seen:
                if not compare(answer, other, tolerance).fault:
                    return other
            seen.append(answer)
            return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramMeasurer:
    """Builds, verifies and launches candidates of a user's program on this host.

    ``baseline`` gives the candidate whose answer is the reference of a problem. ``environment`` is
    set on top of OpenMP's settings, below what the program's own description sets.
    """

    measuring: Measuring
    limits: Limits
    workshop: ProgramBuilder
    baseline: Callable[[ProgramProblem], Candidate]
    launcher: str = launcher.PLACE
    environment: Mapping[str, str] = field(default_factory=dict)
    references: ReferenceAnswers = field(default_factory=ReferenceAnswers)
    shares: ContentionJudge = field(default_factory=ContentionJudge)
    alone: threading.Lock = field(default_factory=threading.Lock)
    """Held while a program of several threads is verified."""
    meter: energy.EnergyMeter | None = field(default_factory=lambda: energy.find()[0])
    """Reads the energy of the node; None where it cannot be read."""

    def prepare(self, candidate: Candidate) -> Prepared:
        """Build, run, and compare the answer with that of the baseline; safe for several threads.

        Never raises for a candidate that fails. Raises InputError for a compiler, launcher or
        command that cannot work for any candidate.
        """
        made = self.workshop.build(candidate)
        if made.detail:
            return Prepared(
                candidate=candidate,
                status="build-failed",
                detail=made.detail,
                build=made.key,
                provenance=made.provenance,
            )
        begun = time.monotonic()
        run, error = self._verify(candidate, made.key)
        verifying = Seconds(time.monotonic() - begun)
        return Prepared(
            candidate=candidate,
            status=run.status,
            detail=run.detail,
            error=error,
            build=made.key,
            provenance=made.provenance,
            verifying=verifying,
            executes=self.workshop.executed(candidate, made.key),
        )

    def interrupt(self) -> None:
        """End the commands and programs that other threads are running."""
        child_process.end_all()

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """Run the program until the wanted number of times is sure, or it was run too often.

        Disturbed times are sure where it is known how long they waited, as of a single thread that
        is timed from its start to its end. Where all the latest runs were disturbed, the program
        is not run again in the hope of a run that is not.

        ``on_sample`` receives the samples of a run after it has ended well. ``expected``: the
        cost that the program is expected to report, seconds unless it has another objective. The
        limit of a run is ``limits.run``, or ``limits.factor`` times that time if that is more.
        """
        candidate = prepared.candidate
        program = program_problem(candidate).program
        wanted, taken = self.measuring.samples, list[Sample]()
        agreed: Answer | None = None
        for number in range(self.measuring.attempts * wanted):
            resource_use = ResourceUse(meter=self.meter)
            watch = quiet.QuietWatch()
            seconds = expected if program.goal.timed else None
            run = self._run(candidate, prepared.build, seconds, resource_use=resource_use)
            agreed, fault = self._agreed(candidate, run)
            if run.status != "ok" or fault:
                status: Status = "wrong-result" if fault else run.status
                return Launch(status=status, samples=tuple(taken), detail=fault or run.detail)
            beyond = _out_of_bounds(candidate, run)
            if beyond:
                return Launch(status="out-of-bounds", samples=tuple(taken), detail=beyond)
            samples = self._samples(candidate, run, resource_use, watch)
            for sample in samples:
                placed = replace(sample, launch=launch, round=round_number)
                taken.append(placed)
                on_sample(placed)
            timed = [s for s in taken if not s.warm_up]
            self.shares.enter(undisturbed=all(s.undisturbed for s in samples))
            if sum(s.undisturbed for s in timed) >= wanted:
                break
            enough = len(timed) >= wanted
            if enough and (self.shares.hopeless or launch_time(timed).error < SPREAD):
                break
            tried = number + 1 >= self.measuring.attempts
            if tried and len(timed) >= self.measuring.attempts * wanted:
                break
        if all(sample.warm_up for sample in taken):
            text = "every value that the program tells is a warm-up: see warm_ups"
            return Launch(status="unreadable", samples=tuple(taken), detail=text)
        return Launch(
            status="ok",
            samples=tuple(taken),
            checksum=_checksum(agreed, program),
        )

    def time_limit(self, expected: float | None) -> float:
        """Time limit of a run in seconds, from the seconds that it is expected to print."""
        return max(self.limits.run, self.limits.factor * (expected or 0.0))

    def verifying_limit(self, problem: ProgramProblem) -> float:
        """Time limit of a verifying run in seconds: ``limits.factor`` times that of the baseline.

        It is ``limits.run`` where that is less, where the baseline has not run yet, and where the
        time is not the objective.
        """
        usual = self._usual(problem)
        if usual is None:
            return self.limits.run
        return min(self.limits.run, max(_LEAST_LIMIT, self.limits.factor * usual))

    def _usual(self, problem: ProgramProblem) -> float | None:
        """Seconds of a verifying run of the baseline; None where they are not known, or where a run
        that takes much longer may be the better one.
        """
        return self.references.seconds(problem) if problem.program.goal.timed else None

    # --- verifying ----------------------------------------------------------------------------

    def _verify(self, candidate: Candidate, key: str) -> tuple[ProgramRun, float | None]:
        """The run of a candidate with the verification's arguments, and its error."""
        problem = program_problem(candidate)
        at = problem.at(self.references.drawn(problem.program))
        candidate_run = self._run(replace(candidate, problem=at), key, None, verifying=True)
        safe = replace(self.baseline(problem), problem=at)
        itself = safe.identity == replace(candidate, problem=at).identity
        if itself:
            self.references.took(at, candidate_run)
        check = problem.program.check
        if candidate_run.status != "ok" or check is None or check.absolute:
            return candidate_run, candidate_run.error
        if candidate_run.answer is None:
            return candidate_run, None
        reference = self.references.get(
            at, lambda: candidate_run if itself else self._reference(safe, at)
        )
        if reference.status != "ok" or reference.answer is None:
            text = f"there is nothing to compare with, the baseline {safe.label} failed"
            return replace(
                candidate_run, status=reference.status, detail=f"{text}: {reference.detail}"
            ), None
        compared = compare(candidate_run.answer, reference.answer, check.tolerance)
        if compared.fault:
            detail = f"{at.size_name}: {compared.fault}"
            return replace(candidate_run, status="wrong-result", detail=detail), compared.error
        return candidate_run, compared.error

    def _reference(self, safe: Candidate, at: ProgramProblem) -> ProgramRun:
        made = self.workshop.build(safe)
        if made.detail:
            return ProgramRun("build-failed", made.detail)
        run = self._run(safe, made.key, None, verifying=True)
        self.references.took(at, run)
        return run

    def _agreed(self, candidate: Candidate, run: ProgramRun) -> tuple[Answer | None, str]:
        """The check value that a timed run agrees with; if it agrees with none, the error in words.

        It is the baseline's check value if the baseline was verified with these arguments.
        Otherwise it is the first equal check value of any candidate, and a candidate must not
        change from one value to another. Which of several values is right is then unknown.
        """
        problem = program_problem(candidate)
        check = problem.program.check
        if check is None or run.status != "ok" or run.answer is None:
            return None, ""
        if check.absolute:
            return run.answer, ""
        reference = self.references.answer(problem)
        if reference is not None:
            fault = compare(run.answer, reference, check.tolerance).fault
            return reference, fault and f"{problem.size_name}, in a timed run: {fault}"
        agreeing = self.references.alike(problem.key, run.answer, check.tolerance)
        first = self.references.alike(candidate.identity, agreeing, 0.0)
        if compare(agreeing, first, check.tolerance).fault:
            return None, (
                f"{problem.size_name}: its answer changes from run to run: the check value is"
                f" {run.answer!r}, it was {first!r}"
            )
        return agreeing, ""

    # --- running ------------------------------------------------------------------------------

    def _run(
        self,
        candidate: Candidate,
        key: str,
        expected: float | None,
        *,
        verifying: bool = False,
        resource_use: ResourceUse | None = None,
    ) -> ProgramRun:
        problem = program_problem(candidate)
        program = problem.program
        ready = self.workshop.ready(candidate, key)
        if ready is None:
            return ProgramRun("build-failed", "what was built is no longer in the cache")
        settings = {**openmp(candidate), **self.environment}
        environment = ready.environment(settings)
        limits = child_process.ChildLimits(
            memory=self.limits.memory,
            output=self.limits.output,
            largest_file=self.limits.file,
        )
        # threads that wait actively must not be verified beside one another
        alone = self.alone if verifying and candidate.threads > 1 else contextlib.nullcontext()
        with alone, _folder(program.folder) as folder:
            outcome = child_process.run(
                launcher.expand(self.launcher, ready.command),
                timeout=self.verifying_limit(problem) if verifying else self.time_limit(expected),
                environment=environment,
                limits=limits,
                niceness=quiet.VERIFYING if verifying else quiet.RAISED,
                folder=folder,
                watcher=resource_use,
            )
            if not outcome.ok:
                usual = self._usual(problem) if verifying else None
                detail = "\n".join((_beside(outcome, usual), *_misplaced(program)))
                return ProgramRun(_ended(outcome, usual), detail, outcome=outcome)
            if outcome.strays:
                text = f"it left {outcome.strays} processes behind, which were ended"
                return ProgramRun("crashed", text, outcome=outcome)

            def by_command() -> JudgedResult:
                return judged_by_command(
                    ready.check, environment, outcome, folder, limits, self.limits.run
                )

            return _read(program, outcome, folder, by_command)

    def _samples(
        self,
        candidate: Candidate,
        run: ProgramRun,
        resource_use: ResourceUse,
        watch: quiet.QuietWatch,
    ) -> list[Sample]:
        program = program_problem(candidate).program
        usage = run.outcome.usage if run.outcome else None
        busy = self.shares.busy(candidate, usage) if usage else 1.0
        conditions = {
            "priority": quiet.attainable_priority(),
            "threads": candidate.threads,
            "wait": openmp(candidate).get("OMP_WAIT_POLICY", "own"),
            **watch.conditions(),
        }
        if usage is not None:
            conditions |= {"wall_s": usage.wall, "cpu_s": usage.cpu}
            conditions |= {"voluntary": usage.voluntary, "involuntary": usage.involuntary}
            if usage.waited is not None:
                conditions["waited_s"] = usage.waited
        taken = datetime.now(UTC).isoformat(timespec="milliseconds")
        goal = program.goal
        return [
            Sample(
                seconds=Seconds(goal.cost(values[goal.name])),
                steps=1,
                busy=busy,
                undisturbed=busy >= self.measuring.busy,
                launch=0,
                round=0,
                taken=taken,
                warm_up=number < program.warm_ups,
                metrics=values if program.metrics else {},
                conditions={
                    **conditions,
                    **({PART: _part(goal, values[TIME.name], usage.wall)} if usage else {}),
                    **resource_use.of_launch(values[TIME.name]),
                },
            )
            for number, values in enumerate(run.values)
        ]


def _ended(outcome: ProcessOutcome, usual: float | None) -> Status:
    """The status of a run that did not end well; ``usual``: seconds of the baseline, if known."""
    stopped = outcome.timed_out or outcome.interrupted
    waited = (outcome.usage.waited or 0.0) if outcome.usage else 0.0
    if stopped and usual is not None and outcome.seconds - waited > _TOO_LONG * usual:
        return "timed-out"
    if outcome.starved:
        return "contended"
    return "timed-out" if outcome.timed_out else "crashed"


def _beside(outcome: ProcessOutcome, usual: float | None) -> str:
    """How a run ended in words; one that took too long beside the baseline's seconds."""
    first, *more = outcome.describe().split("\n")
    if usual is not None and (outcome.timed_out or outcome.interrupted):
        first += f"; the baseline takes {usual:.3g} s"
    return "\n".join((first, *more))


def _misplaced(program: Program) -> list[str]:
    """What to write for each source that the command line names without its folder."""
    if program.folder:
        return []
    return [
        f"{word.text} is a source, and runs begin in a fresh folder:"
        f" write {{source folder}}/{word.text}"
        for word in program.run
        if word.text in program.sources
    ]


def _read(
    program: Program, outcome: ProcessOutcome, folder: Path, by_command: Callable[[], JudgedResult]
) -> ProgramRun:
    """What a run that ended well printed and wrote; ``by_command`` asks the command of its check.

    Raises InputError where the program's time is a rate.
    """
    check, result = program.check, None
    try:
        values = printed_output.values(program, outcome)
        if check is not None:
            result = by_command() if check.command else result_of(check, outcome, folder)
    except UnreadableOutput as error:
        return ProgramRun("unreadable", str(error), outcome=outcome)
    rate = rate_as_time(program, outcome)
    if rate:
        raise InputError(_rate_fault(program, rate))
    impossible = impossible_time(values, outcome)
    if impossible:
        return ProgramRun("implausible", impossible, outcome=outcome)
    if result is None:
        return ProgramRun("ok", values=values, outcome=outcome)
    return ProgramRun(
        "wrong-result" if result.fault else "ok",
        result.fault,
        values=values,
        answer=result.answer,
        error=result.error,
        outcome=outcome,
    )


def _part(goal: Metric, seconds: float, wall: float) -> float:
    """What part of the wall time of a run its time is; 0 for a value that is not the time, such as
    a rate, because nothing says how it depends on what the run lost.
    """
    return min(1.0, seconds / wall) if goal.timed else 0.0


def _rate_fault(program: Program, rate: str) -> Fault:
    return Fault(
        where=program.places.get("time", program.source),
        found=f"time: {rate!r} is a rate, of which more is better, and is read as the time",
        expected="a metric with better: more that is the objective: see metrics",
    )


def _out_of_bounds(candidate: Candidate, run: ProgramRun) -> str:
    """The first bound that a sample of a run violates, in words; empty if there is none."""
    problem = program_problem(candidate)
    chosen = candidate.variant.parameters
    given = {**problem.arguments, **chosen, **problem.program.sizes_of_sets(chosen)}
    for values in run.values[problem.program.warm_ups :]:
        beyond = printed_output.out_of_bounds(problem.program, {**given, **values})
        if beyond:
            return beyond
    return ""


def _checksum(agreed: Answer | None, program: Program) -> tuple[float, float] | None:
    """The check value as a checksum; values within the tolerance have checksums that agree."""
    if program.check is None or not isinstance(agreed, float):
        return None
    return agreed, (abs(agreed) or 1.0) * program.check.tolerance / CHECKSUM_TOLERANCE


@contextlib.contextmanager
def _folder(named: str) -> Iterator[Path]:
    """The working folder of a run: the named one, else a new temporary one."""
    if named:
        yield Path(named)
        return
    # beside the builds, not in /tmp: a launcher may run the program on another node
    scratch = paths.cache_dir() / "run"
    remove_abandoned(scratch, "*")
    with scratch_folder(scratch) as folder:
        yield folder
