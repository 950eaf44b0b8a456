"""The old program of a check: of another revision, or of the study, from the build cache."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.commands.compare.revision_config import RevisionConfig
from autotune.domain.results import Prepared
from autotune.domain.variant import Candidate
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.toolchain import build_cache
from autotune.tuning.base import Bench, NoJournal
from autotune.tuning.building import prepare
from autotune.tuning.side_by_side import LaunchedProgram


@dataclass(frozen=True, slots=True)
class BuiltSide:
    """A program that may be launched, or why there is none."""

    program: LaunchedProgram | None
    fault: str = ""
    failed: bool = False
    """It is there and does not build, run or verify."""


@dataclass(frozen=True, slots=True)
class SideBuilder:
    """Builds and verifies candidates of one workload, with answers of their own to compare with."""

    space: ListedSpace
    progress: Progress
    deadline: float

    def build(self, candidate: Candidate) -> BuiltSide:
        """A candidate, built and verified."""
        measurer = self.space.workload.measurer(self.space.machine)
        bench = Bench(
            measurer=measurer,
            journal=NoJournal(),
            progress=self.progress,
            lock=HostLock(self.progress, self.deadline),
        )
        made: Sequence[Prepared] = prepare([candidate], bench, self.deadline)
        if not made:
            return BuiltSide(None, "no time was left to build it")
        if made[0].status != "ok":
            return BuiltSide(None, f"{made[0].status}: {made[0].detail}", failed=True)
        return BuiltSide(LaunchedProgram(prepared=made[0], measurer=measurer))


def of_revision(
    config: RevisionConfig, record: CandidateRecord, progress: Progress, deadline: float
) -> BuiltSide:
    """The candidate of a record as a revision builds it."""
    name = config.revision.name
    if config.workload is None:
        return BuiltSide(None, f"revision {name}: {config.fault}")
    space = ListedSpace.of(config.workload)
    candidate, why = space.candidate(record)
    if candidate is None:
        return BuiltSide(None, f"revision {name}: {why}")
    built = SideBuilder(space, progress, deadline).build(candidate)
    return replace(built, fault=built.fault and f"revision {name}: {built.fault}")


def kept(
    space: ListedSpace, study: StudyRecord, record: CandidateRecord, new: LaunchedProgram
) -> BuiltSide:
    """The program that a study measured, where the build cache still has it.

    It is run as the new one is: by the same command line.
    """
    key = stored_build(study, record)
    if not key or not any(build_cache.executable(key, kind) for kind in ("program", "command")):
        return BuiltSide(None, "the build cache does not have the program of the study any more")
    prepared = replace(new.prepared, build=key, executes="")
    # a measurer of its own: the results of the two are compared with one another afterwards
    measurer = space.workload.measurer(space.machine)
    return BuiltSide(LaunchedProgram(prepared=prepared, measurer=measurer))


def stored_build(study: StudyRecord, record: CandidateRecord) -> str:
    """Key of the last build of a candidate in a study; empty where there is none."""
    for run in reversed(study.runs):
        build = run.build(record.identity)
        if build is not None and build.build:
            return build.build
    return ""
