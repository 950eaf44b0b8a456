"""From a config and what it was to a verdict: what can be compared fairly is measured."""

import contextlib
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.commands.check import old_side, stored_side
from autotune.commands.check.check_request import CheckRequest
from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.commands.compare.revision_config import RevisionConfig, config_at
from autotune.commands.compare.side_builder import BuiltSide, SideBuilder
from autotune.commands.compare.study_reference import stored_study
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune.preflight import check_launchers
from autotune.domain.metric import Metric
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.files.store.store_rows import candidate_record
from autotune.measuring.conditions import host_load
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import ProblemEvaluation, evaluate
from autotune.results.gate.gate_verdict import (
    BaselineRatio,
    GateCheck,
    GateOutcome,
    GateWay,
    ProblemGate,
)
from autotune.statistics.launch_times import candidate_time
from autotune.statistics.slowdown_test import SlowdownTest
from autotune.toolchain.git_worktrees import WORKING_TREE, GitRepository
from autotune.tuning.result_checks import agree
from autotune.tuning.side_by_side import LaunchedProgram, SideLaunches

_STORED_ROUNDS = 10
"""Rounds beside stored times: what a host differs from run to run is more than what is left."""
NEW, OLD, BASELINE = "new", "old", "baseline"


@dataclass(frozen=True, slots=True)
class CheckedCandidate:
    """The candidate of a problem that is checked, as it was."""

    label: str
    """Of its problem."""
    record: CandidateRecord
    evaluation: ProblemEvaluation | None = None
    """Of the problem in the study; None without a study."""


@dataclass(slots=True)
class GateRun:
    """The measurements of a check; its verdicts grow while it runs."""

    request: CheckRequest
    space: ListedSpace
    study: StudyRecord | None
    progress: Progress
    deadline: float
    problems: list[ProblemGate]
    interrupted: bool = False

    def check(self, wanted: Sequence[CheckedCandidate], old: RevisionConfig | None) -> None:
        """Check the candidates one after the other, each in its part of the time."""
        test = SlowdownTest(
            limit=self.request.limit,
            most=self.request.rounds,
            error=self.request.error / max(1, len(wanted)),
        )
        for place, item in enumerate(wanted):
            left = self.deadline - time.monotonic()
            until = time.monotonic() + left / (len(wanted) - place)
            self.problems.append(self._checked(item, old, test, until))
            if self.interrupted:
                return

    def _checked(
        self,
        item: CheckedCandidate,
        old: RevisionConfig | None,
        test: SlowdownTest,
        until: float,
    ) -> ProblemGate:
        builder = SideBuilder(self.space, self.progress, until)
        candidate, why = self.space.candidate(item.record)
        if candidate is None:
            return _nothing(item, item.record.id, why)
        new = builder.build(candidate)
        if new.program is None:
            if new.failed:
                return _verdict(item, candidate.id, "failed", new.fault)
            return _nothing(item, candidate.id, new.fault)
        if old is not None:
            before = old_side.of_revision(old, item.record, self.progress, until)
            if before.program is None:
                return _nothing(item, candidate.id, before.fault)
            return self._in_turn(item, "revision", new.program, before.program, test, until)
        return self._against_study(item, builder, new.program, test, until)

    def _against_study(
        self,
        item: CheckedCandidate,
        builder: SideBuilder,
        new: LaunchedProgram,
        test: SlowdownTest,
        until: float,
    ) -> ProblemGate:
        """The new program against the one that the study built, else against its times."""
        study, evaluation = self.study, item.evaluation
        candidate = new.prepared.candidate
        if study is None or evaluation is None:
            return _nothing(item, candidate.id, "the study does not have it")
        run = stored_side.deciding(study, evaluation)
        if run is None:
            return _nothing(item, candidate.id, "the study has no times of it")
        elsewhere = stored_side.other_machine(run, self.space.machine, platform.node())
        if elsewhere:
            hint = "measure the old code here: --against-revision REV"
            return _nothing(item, candidate.id, f"{elsewhere} ({hint})")
        same = old_side.stored_build(study, item.record) == new.prepared.build
        if same and new.prepared.executes and candidate.identity == item.record.identity:
            return _verdict(
                item, candidate.id, "same program", "the study measured this program, byte for byte"
            )
        kept = BuiltSide(None) if same else old_side.kept(self.space, study, item.record, new)
        if kept.program is not None:
            return self._in_turn(item, "kept build", new, kept.program, test, until)
        return self._beside_stored(item, builder, new, test, until)

    def _in_turn(
        self,
        item: CheckedCandidate,
        way: GateWay,
        new: LaunchedProgram,
        old: LaunchedProgram,
        test: SlowdownTest,
        until: float,
    ) -> ProblemGate:
        candidate = new.prepared.candidate
        if new.build == old.build:
            return _verdict(
                item,
                candidate.id,
                "same program",
                "both are one program: nothing that it is built of changed",
            )
        launches = self._launches({NEW: new, OLD: old}, f"launch {item.label}, new and old")
        reading = None
        try:
            reading = launches.until_decided(test, NEW, OLD, until)
        except KeyboardInterrupt:
            self.interrupted = True
            reading = launches.reading(test, NEW, OLD)
        if launches.failed:
            return _of_launches(item, candidate.id, launches)
        if reading is None:
            return _nothing(item, candidate.id, "no round was finished")
        first, second = launches.checksum(NEW), launches.checksum(OLD)
        if first is not None and second is not None and not agree(first, second):
            return _nothing(
                item,
                candidate.id,
                f"another result, and so perhaps another amount of work: {second[0]!r} then,"
                f" {first[0]!r} now",
            )
        goal = item.record.problem.goal
        return ProblemGate(
            problem=item.label,
            objective=goal,
            candidate=candidate.id,
            way=way,
            outcome=reading.outcome,
            reading=reading,
            then=_value(launches, OLD, goal),
            now=_value(launches, NEW, goal),
            samples=_samples(launches, goal),
        )

    def _beside_stored(
        self,
        item: CheckedCandidate,
        builder: SideBuilder,
        new: LaunchedProgram,
        test: SlowdownTest,
        until: float,
    ) -> ProblemGate:
        """The new program, launched in turn with the baseline, beside its times in the study."""
        study, evaluation = self.study, item.evaluation
        assert study is not None
        assert evaluation is not None
        candidate, goal = new.prepared.candidate, item.record.problem.goal
        programs = {NEW: new}
        safe = builder.build(self.space.baseline(candidate.problem))
        if safe.program is not None and safe.program.build != new.build:
            programs[BASELINE] = safe.program
        launches = self._launches(programs, f"launch {item.label}")
        most = min(test.most, _STORED_ROUNDS)
        try:
            while launches.rounds < most and (not launches.rounds or time.monotonic() < until):
                if not launches.round(most):
                    break
            launches.finish()
        except KeyboardInterrupt:
            self.interrupted = True
        if launches.failed == NEW:
            return _of_launches(item, candidate.id, launches)
        reading = stored_side.reading(study, evaluation, launches, NEW, test)
        if reading is None:
            return _nothing(item, candidate.id, "no round was finished")
        best, reference = evaluation.best, evaluation.baseline
        ratio = None
        if BASELINE in programs and best and reference and best.measured and reference.measured:
            now = candidate_time([*launches.times(BASELINE).values()])
            now /= candidate_time([*launches.times(NEW).values()])
            ratio = BaselineRatio(then=reference.measured / best.measured, now=now)
        return ProblemGate(
            problem=item.label,
            objective=goal,
            candidate=candidate.id,
            way="stored times",
            outcome=reading.outcome,
            reading=reading,
            then=goal.value(best.measured) if best and best.measured else None,
            now=_value(launches, NEW, goal),
            baseline=ratio,
            detail="the host may differ from run to run, which is part of the interval; old and new"
            " in turn tell more apart: --against-revision REV",
            samples=_samples(launches, goal),
        )

    def _launches(self, programs: dict[str, LaunchedProgram], words: str) -> SideLaunches:
        return SideLaunches(
            programs=programs,
            lock=HostLock(self.progress, self.deadline),
            progress=self.progress,
            words=words,
            seed=self.space.workload.setup.selection.seed,
        )


def check(request: CheckRequest, store: str, progress: Progress) -> GateCheck:
    """Whether the chosen candidates of a config are slower than they were.

    After Ctrl-C the result has the rounds that were finished. InputError for a study, a revision or
    a config that does not exist.
    """
    deadline = time.monotonic() + (request.budget_seconds or float("inf"))
    workload = load(request.config)
    study = None if request.against is None else stored_study(request.against, store, "--against")
    with _old_config(request) as (old, notes):
        workload.check()
        check_launchers(workload.setup)
        space = ListedSpace.of(workload)
        load_now = host_load.observe()
        run = GateRun(request, space, study, progress, deadline, [])
        run.check(_wanted(space, study), old)
        return GateCheck(
            config=workload.setup.name,
            old=_old_words(study, old),
            new=str(request.config) if old is None else f"{request.config}, the working tree",
            limit=request.limit,
            error=request.error,
            problems=tuple(run.problems),
            notes=(*notes, f"before the run the host was: {load_now}"),
            interrupted=run.interrupted,
        )


@contextlib.contextmanager
def _old_config(request: CheckRequest) -> Iterator[tuple[RevisionConfig | None, tuple[str, ...]]]:
    """The config in the old revision, if one is named, and what is to be said of the new one."""
    if request.against_revision is None:
        yield None, ()
        return
    repository = GitRepository.of(request.config)
    revision = repository.revision(request.against_revision, "--against-revision")
    current = repository.revision(WORKING_TREE, "--against-revision")
    with config_at(repository, revision, request.config) as old:
        yield old, (f"new is {current.words}",)


def _wanted(space: ListedSpace, study: StudyRecord | None) -> list[CheckedCandidate]:
    """The winners of a study; without one, the baselines."""
    if study is None:
        made = [space.baseline(problem) for problem in space.workload.setup.problems]
        return [CheckedCandidate(c.problem.label, candidate_record(c)) for c in made]
    return [
        CheckedCandidate(problem.label, chosen.candidate, problem)
        for problem in evaluate(study).problems
        if (chosen := problem.best or problem.baseline) is not None
    ]


def _old_words(study: StudyRecord | None, old: RevisionConfig | None) -> str:
    words = [] if old is None else [f"revision {old.revision.words}"]
    if study is not None:
        words.append(f"study {study.name} of {study.created[:10]}")
    return ", with the winners of ".join(words)


# --- verdicts -----------------------------------------------------------------------------------


def _verdict(
    item: CheckedCandidate, candidate: str, outcome: GateOutcome, detail: str
) -> ProblemGate:
    """A verdict for which nothing was compared."""
    return ProblemGate(
        problem=item.label,
        objective=item.record.problem.goal,
        candidate=candidate,
        way="none",
        outcome=outcome,
        detail=detail,
    )


def _nothing(item: CheckedCandidate, candidate: str, why: str) -> ProblemGate:
    return _verdict(item, candidate, "not compared", f"not compared: {why}")


def _of_launches(item: CheckedCandidate, candidate: str, launches: SideLaunches) -> ProblemGate:
    """The verdict where a launch failed: that of the new program counts as a failure."""
    words = f"{launches.failed}: {launches.status}: {launches.detail}"
    if launches.failed == NEW:
        return _verdict(item, candidate, "failed", words)
    return _nothing(item, candidate, words)


def _value(launches: SideLaunches, side: str, goal: Metric) -> float:
    return goal.value(candidate_time([*launches.times(side).values()]))


def _samples(launches: SideLaunches, goal: Metric) -> dict[str, tuple[float, ...]]:
    return {
        side: tuple(goal.value(time.seconds) for time in launches.times(side).values())
        for side in launches.programs
    }
