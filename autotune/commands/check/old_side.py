"""The old program of a check: of another revision, or of the study, from the build cache."""

from dataclasses import replace

from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.commands.compare.revision_config import RevisionConfig
from autotune.commands.compare.side_builder import BuiltSide, SideBuilder
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.progress import Progress
from autotune.toolchain import build_cache
from autotune.tuning.side_by_side import LaunchedProgram


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
    return BuiltSide(replace(new, prepared=prepared, measurer=measurer))


def stored_build(study: StudyRecord, record: CandidateRecord) -> str:
    """Key of the last build of a candidate in a study; empty where there is none."""
    for run in reversed(study.runs):
        build = run.build(record.identity)
        if build is not None and build.build:
            return build.build
    return ""
