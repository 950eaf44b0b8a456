"""Two revisions of a user's repository, built and launched in turn in one run."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.commands.compare.revision_config import RevisionConfig, config_at
from autotune.commands.compare.side_builder import SideBuilder
from autotune.commands.tune.preflight import check_launchers
from autotune.errors import AutotuneError
from autotune.files.store import Store
from autotune.files.store.records import CandidateRecord
from autotune.files.store.store_rows import candidate_record
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    RatioRange,
    SideComparison,
    SideFacts,
    SideWinner,
    faster,
    same_settings,
)
from autotune.results.evaluate.problem_difference import comparable_with
from autotune.results.evaluate.study_evaluation import evaluate, varied
from autotune.statistics.drift import Contest, DriftFreeTimes, contest, levels
from autotune.statistics.launch_times import interval
from autotune.toolchain.git_worktrees import GitRepository, GitRevision
from autotune.tuning.race import most_rounds, settled
from autotune.tuning.result_checks import agree
from autotune.tuning.side_by_side import LaunchedProgram, SideLaunches
from autotune.units import counted

_LEAST_ROUNDS = 5
_CONTENDERS = 3
"""Candidates of a stored study that are measured in both revisions, at most."""
_SHOWN = 0.9


@dataclass(frozen=True, slots=True)
class RevisionSide:
    """A revision with its candidates, or why it has none."""

    config: RevisionConfig
    space: ListedSpace | None

    @classmethod
    def of(cls, config: RevisionConfig) -> "RevisionSide":
        """The candidates of the config of a revision; a config without any is a fault."""
        if config.workload is None:
            return cls(config, None)
        check_launchers(config.workload.setup)
        return cls(config, ListedSpace.of(config.workload))

    @property
    def name(self) -> str:
        """The revision as the user gave it."""
        return self.config.revision.name

    @property
    def facts(self) -> SideFacts:
        """What the side is."""
        builds = self.space.workload.setup.builds if self.space else ()
        return SideFacts(
            name=self.name,
            kind="revision",
            words=self.config.revision.words,
            machine=self.space.machine.title if self.space else "",
            compilers="; ".join(" ".join((b.compiler, *b.flags)) for b in builds),
            fault=self.config.fault,
        )


@dataclass(slots=True)
class RevisionRun:
    """The measurements of two revisions; its problems grow while it runs."""

    sides: tuple[RevisionSide, RevisionSide]
    stored: Sequence[CandidateRecord]
    """Winners of a study, which are measured beside the baseline."""
    progress: Progress
    deadline: float
    problems: list[ComparedProblem] = field(default_factory=list)
    interrupted: bool = False

    def compare(self) -> None:
        """Compare the problems of the first side one after the other, each in its part of the
        time.
        """
        first, second = (side.space for side in self.sides)
        if first is None or second is None:
            return
        baselines = [first.baseline(problem) for problem in first.workload.setup.problems]
        for place, safe in enumerate(baselines):
            left = self.deadline - time.monotonic()
            until = time.monotonic() + left / (len(baselines) - place)
            self.problems.append(self._problem(candidate_record(safe, baseline=True), until))
            if self.interrupted:
                return

    def _problem(self, safe: CandidateRecord, until: float) -> ComparedProblem:
        facts = safe.problem
        wanted = {varied_key(safe): safe}
        for record in self.stored:
            if comparable_with(facts, [record.problem])[0] is not None:
                wanted.setdefault(varied_key(record), record)
        records = list(wanted.values())[: _CONTENDERS + 1]
        programs: dict[str, LaunchedProgram] = {}
        faults: list[str] = []
        for side in self.sides:
            for record in records:
                program, fault = self._built(side, record, until)
                if program is not None:
                    programs[_key(side, record)] = program
                elif fault:
                    faults.append(f"{side.name}: {fault}")
        empty = [s for s in self.sides if not any(k.startswith(f"{s.name}: ") for k in programs)]
        if empty:
            return _without(facts.label, safe, faults)
        return self._launched(safe, programs, faults, until)

    def _built(
        self, side: RevisionSide, record: CandidateRecord, until: float
    ) -> tuple[LaunchedProgram | None, str]:
        assert side.space is not None
        candidate, why = side.space.candidate(record)
        if candidate is None:
            return None, why
        built = SideBuilder(side.space, self.progress, until).build(candidate)
        return built.program, f"{record.variant}: {built.fault}" if built.fault else ""

    def _launched(
        self,
        safe: CandidateRecord,
        programs: Mapping[str, LaunchedProgram],
        faults: Sequence[str],
        until: float,
    ) -> ComparedProblem:
        label = safe.problem.label
        if _alike(self.sides, programs):
            same = "both revisions build the same programs: there is nothing to measure"
            return replace(_without(label, safe, [*faults, same]), unchanged=True)
        setup = self.sides[0].config.workload
        assert setup is not None
        launches = SideLaunches(
            programs=programs,
            lock=HostLock(self.progress, self.deadline),
            progress=self.progress,
            words=f"launch {label} of both",
            seed=setup.setup.selection.seed,
        )
        usual = max(_LEAST_ROUNDS, setup.setup.measuring.rounds)
        try:
            while launches.rounds < most_rounds(usual):
                late = launches.rounds and time.monotonic() >= until
                if late or not launches.round(most_rounds(usual)):
                    break
                if launches.rounds >= usual and self._settled(launches, most_rounds(usual)):
                    break
            launches.finish()
        except KeyboardInterrupt:
            self.interrupted = True
        if launches.failed:
            return _without(label, safe, [*faults, f"{launches.failed}: {launches.detail}"])
        if not launches.rounds:
            return _without(label, safe, [*faults, "no round was finished"])
        return self._compared(safe, launches, faults)

    def _settled(self, launches: SideLaunches, most: int) -> bool:
        level = levels({name: launches.times(name) for name in launches.programs})
        first, second = (self._best(side, level) for side in self.sides)
        shared = contest(
            launches.times(first), launches.times(second), level.noise, level.pollution
        )
        return settled(shared, most)

    def _best(self, side: RevisionSide, level: DriftFreeTimes) -> str:
        """The key of the fastest candidate of a side."""
        names = [name for name in level.times if name.startswith(f"{side.name}: ")]
        return min(names, key=lambda name: (level.times[name], name))

    def _compared(
        self, safe: CandidateRecord, launches: SideLaunches, faults: Sequence[str]
    ) -> ComparedProblem:
        level = levels({name: launches.times(name) for name in launches.programs})
        keys = tuple(self._best(side, level) for side in self.sides)
        winners = [
            self._winner(side, key, launches, level, safe)
            for side, key in zip(self.sides, keys, strict=True)
        ]
        checksums = [launches.checksum(key) for key in keys]
        absent = list(faults)
        pairs: tuple[PairVerdict, ...] = ()
        if checksums[0] and checksums[1] and not agree(checksums[0], checksums[1]):
            absent.append(
                "another result, and so perhaps another amount of work:"
                f" {checksums[0][0]!r} and {checksums[1][0]!r}"
            )
        else:
            pairs = (self._pair(keys, winners, launches, level),)
        return ComparedProblem(
            label=safe.problem.label,
            objective=safe.problem.goal,
            winners=tuple(winners),
            pairs=pairs,
            not_compared=tuple(absent),
        )

    def _winner(
        self,
        side: RevisionSide,
        key: str,
        launches: SideLaunches,
        level: DriftFreeTimes,
        safe: CandidateRecord,
    ) -> SideWinner:
        record = candidate_record(launches.programs[key].prepared.candidate)
        reference = _key(side, safe)
        rivals = [
            name
            for name in level.times
            if name.startswith(f"{side.name}: ") and name != key
            if (c := _contest(launches, level, name, key)) is None or not c.slower
        ]
        return SideWinner(
            side=side.name,
            candidate=record.label,
            settings=varied(record),
            cost=level.times[key],
            interval=interval([*launches.times(key).values()]),
            measured=True,
            contenders=1 + len(rivals),
            speedup=level.times[reference] / level.times[key] if reference in level.times else None,
            prediction=None,
        )

    def _pair(
        self,
        keys: tuple[str, ...],
        winners: Sequence[SideWinner],
        launches: SideLaunches,
        level: DriftFreeTimes,
    ) -> PairVerdict:
        ratio = RatioRange.of(_contest(launches, level, keys[0], keys[1]))
        first, second = winners
        same = same_settings(first.settings, second.settings)
        decided = first.contenders == 1 and second.contenders == 1
        label = keys[0].removeprefix(f"{self.sides[0].name}: ")
        kept = f"{self.sides[1].name}: {label}"
        keeping = None
        if not same and kept in launches.programs:
            keeping = RatioRange.of(_contest(launches, level, kept, keys[1]))
        return PairVerdict(
            first=first.side,
            second=second.side,
            ratio=ratio,
            faster=faster(ratio),
            basis=f"built and launched in turn, in {counted(launches.rounds, 'round')} of one run:"
            " drift of the host is no part of it",
            winner="same" if same else "moved" if decided else "undecided",
            keeping=keeping,
        )


def compare_revisions(
    names: tuple[str, str], config: Path, budget: float | None, store: str, progress: Progress
) -> SideComparison:
    """Build a config in two revisions and compare them, problem by problem.

    The baseline is measured, and what the latest study of the config chose, where the store has
    one. After Ctrl-C the result has the rounds that were finished; worktrees are removed.
    """
    deadline = time.monotonic() + (budget or float("inf"))
    repository = GitRepository.of(config)
    revisions = [repository.revision(name, "--revisions") for name in names]
    with contextlib.ExitStack() as worktrees:
        sides = [
            RevisionSide.of(worktrees.enter_context(config_at(repository, revision, config)))
            for revision in revisions
        ]
        study = sides[1].config.workload.setup.name if sides[1].config.workload else ""
        run = RevisionRun(
            sides=(sides[0], sides[1]),
            stored=_stored_winners(study, store),
            progress=progress,
            deadline=deadline,
        )
        run.compare()
        return SideComparison(
            sides=tuple(side.facts for side in sides),
            problems=tuple(run.problems),
            notes=tuple(_notes(repository, revisions)),
            interrupted=run.interrupted,
        )


def _notes(repository: GitRepository, revisions: Sequence[GitRevision]) -> list[str]:
    """Uncommitted work is named where no side has it."""
    changed = repository.uncommitted()
    if not changed or any(not revision.commit for revision in revisions):
        return []
    names = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
    return [f"uncommitted work is in no revision: {names} (name . for the working tree)"]


def _stored_winners(config: str, store: str) -> list[CandidateRecord]:
    """What the latest study of a config chose between; empty where the store has none."""
    try:
        with Store.open(store, create=False) as results:
            name = results.latest_study(config) if config else None
            if name is None:
                return []
            problems = evaluate(results.load_study(name)).problems
    except AutotuneError:
        return []
    return [row.candidate for problem in problems for row in problem.contenders[:_CONTENDERS]]


def varied_key(record: CandidateRecord) -> tuple[object, ...]:
    """What tells the candidates of a problem apart, whatever their sources."""
    return (record.variant, record.build, record.layout)


def _key(side: RevisionSide, record: CandidateRecord) -> str:
    """The name of a candidate of a side, which its build and its layout tell from others."""
    return f"{side.name}: {record.variant} [{record.build.words}], {record.layout.words}"


def _alike(
    sides: tuple[RevisionSide, RevisionSide], programs: Mapping[str, LaunchedProgram]
) -> bool:
    """Whether both sides have the same programs."""
    builds = [
        {p.build for key, p in programs.items() if key.startswith(f"{side.name}: ")}
        for side in sides
    ]
    return builds[0] == builds[1]


def _contest(
    launches: SideLaunches, level: DriftFreeTimes, first: str, second: str
) -> Contest | None:
    return contest(
        launches.times(first), launches.times(second), level.noise, level.pollution, _SHOWN
    )


def _without(label: str, safe: CandidateRecord, why: Sequence[str]) -> ComparedProblem:
    return ComparedProblem(
        label=label,
        objective=safe.problem.goal,
        winners=(),
        pairs=(),
        not_compared=tuple(why),
    )
