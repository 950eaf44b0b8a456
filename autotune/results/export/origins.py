"""The computation, machine and build of a stored candidate, as exports state them."""

from autotune.files.store.records import CandidateRecord, RunRecord, StudyRecord
from autotune.results.export.entries import (
    EntryMachine,
    EntryOrigin,
    ExportEntry,
    ExportSubject,
    SectionKey,
)


def subject(candidate: CandidateRecord) -> ExportSubject:
    """The computation of a candidate, whatever its size."""
    problem = candidate.problem
    return ExportSubject(
        id=problem.id,
        name=problem.name,
        family=problem.family,
        definition=problem.key.split()[0],
        size=problem.size_words,
        per=problem.per,
        goal=problem.goal,
        source="C source" if problem.stepped else "commands",
    )


def place(run: RunRecord) -> EntryMachine:
    """The machine of a run, as an export states it."""
    return EntryMachine(
        identity=run.machine_identity, name=run.machine.name, title=run.machine.title
    )


def origin(study: StudyRecord, run: RunRecord, identity: str) -> EntryOrigin:
    """The run that the times of a candidate come from, as an export states it."""
    build = run.build(identity)
    provenance = build.provenance if build else {}
    return EntryOrigin(
        study=study.name,
        run=run.id,
        taken=run.started,
        compiler=provenance.get("compiler", ""),
        flags=provenance.get("flags", ""),
    )


def entry(
    study: StudyRecord, run: RunRecord, record: CandidateRecord, cost: float | None
) -> tuple[SectionKey, ExportEntry]:
    """The entry of a candidate at its own size and threads, with its measurement in a run.

    ``cost``: its seconds, or the cost of another objective.
    """
    goal = record.problem.goal
    measurement = run.measurement(record.identity)
    export_entry = ExportEntry(
        size=record.problem.components,
        problem=record.problem.label,
        candidate=record.id,
        variant=record.variant,
        parameters=dict(record.parameters),
        build=record.build,
        layout=record.layout,
        seconds=cost if goal.timed else None,
        value=None if goal.timed or cost is None else goal.value(cost),
        interval=None,
        samples=len(measurement.timed) if measurement else 0,
        verified=measurement is not None and measurement.verified,
        error=measurement.error if measurement else None,
        origin=origin(study, run, record.identity),
    )
    key = SectionKey(place=place(run), subject=subject(record), ranks=record.layout.ranks)
    return key, export_entry
