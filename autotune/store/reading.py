"""Rows of the tables back to domain values, in one consistent look at the database."""

import dataclasses
import json
from collections import defaultdict
from typing import cast

import sqlalchemy as sa

from autotune.machine import Machine
from autotune.results import Measurement, Part, Prediction, Sample, Status
from autotune.store import codec, schema
from autotune.store.records import (
    CandidateRecord,
    Choice,
    RunRecord,
    StoredBuild,
    StoredPrediction,
    StudyRecord,
    StudySummary,
)
from autotune.units import Seconds


def summaries(connection: sa.Connection) -> list[StudySummary]:
    """All studies with their number of runs, oldest first."""
    studies, runs = schema.studies.c, schema.runs.c
    query = (
        sa.select(studies.name, studies.config, studies.created, sa.func.count(runs.id))
        .select_from(schema.studies.outerjoin(schema.runs))
        .group_by(studies.name, studies.config, studies.created)
        .order_by(studies.created, studies.name)
    )
    return [
        StudySummary(name=name, config=config, created=created, runs=count)
        for name, config, created, count in connection.execute(query)
    ]


def study(connection: sa.Connection, name: str) -> StudyRecord | None:
    """A study with everything in it; None when there is none of that name.

    ValueError when a stored text is not what the schema says.
    """
    query = sa.select(schema.studies).where(schema.studies.c.name == name)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    runs = (
        sa.select(schema.runs)
        .where(schema.runs.c.study == name)
        .order_by(schema.runs.c.started, schema.runs.c.id)
    )
    return StudyRecord(
        name=name,
        config=row["config"],
        setup_text=row["setup"],
        created=row["created"],
        versions=codec.load_text_map(row["versions"]),
        candidates=_candidates(connection, name),
        predictions=_predictions(connection, name),
        runs=tuple(_run(connection, found) for found in connection.execute(runs).mappings().all()),
    )


def _candidates(connection: sa.Connection, study_name: str) -> tuple[CandidateRecord, ...]:
    members = schema.members.c
    query = (
        sa.select(schema.candidates.c.record, members.baseline)
        .join_from(schema.members, schema.candidates)
        .where(members.study == study_name)
        .order_by(members.place, members.candidate)
    )
    return tuple(
        dataclasses.replace(codec.load(CandidateRecord, text), baseline=bool(baseline))
        for text, baseline in connection.execute(query)
    )


def _predictions(connection: sa.Connection, study_name: str) -> tuple[StoredPrediction, ...]:
    table = schema.predictions
    query = (
        sa.select(table)
        .where(table.c.study == study_name)
        .order_by(table.c.engine, table.c.candidate)
    )
    return tuple(
        StoredPrediction(candidate=row["candidate"], prediction=_prediction(row))
        for row in connection.execute(query).mappings()
    )


def _prediction(row: sa.RowMapping) -> Prediction:
    interval = None if row["low"] is None else (Seconds(row["low"]), Seconds(row["high"]))
    return Prediction(
        seconds=row["seconds"],
        interval=interval,
        parts=codec.load_list(Part, row["parts"]),
        engine=row["engine"],
        reason=row["reason"],
        notes=tuple(str(note) for note in json.loads(row["notes"])),
    )


def _run(connection: sa.Connection, row: sa.RowMapping) -> RunRecord:
    run = str(row["id"])
    builds = {b.candidate: b for b in _builds(connection, run)}
    samples = _samples(connection, run)
    outcomes = {found["candidate"]: found for found in _of_run(connection, schema.outcomes, run)}
    choices = tuple(
        Choice(candidate=c["candidate"], place=c["place"], reason=c["reason"])
        for c in _of_run(connection, schema.choices, run)
    )
    order = dict.fromkeys(
        [c.candidate for c in sorted(choices, key=lambda c: c.place)]
        + sorted({*builds, *samples, *outcomes})
    )
    found = (
        _measurement(run, identity, builds.get(identity), samples[identity], outcomes.get(identity))
        for identity in order
    )
    return RunRecord(
        id=run,
        started=row["started"],
        ended=row["ended"],
        state=row["state"],
        machine=codec.load(Machine, row["machine"]),
        machine_identity=row["machine_identity"],
        versions=codec.load_text_map(row["versions"]),
        conditions=codec.load_conditions(row["conditions"]),
        timings=codec.load_number_map(row["timings"]),
        choices=tuple(sorted(choices, key=lambda c: c.place)),
        builds=tuple(builds.values()),
        measurements=tuple(m for m in found if m is not None),
        checksums={
            identity: (outcome["checksum"], outcome["magnitude"])
            for identity, outcome in outcomes.items()
            if outcome["checksum"] is not None
        },
        finished=frozenset(i for i, o in outcomes.items() if o["status"] != "contended")
        | {identity for identity, build in builds.items() if build.status != "ok"},
    )


def _of_run(connection: sa.Connection, table: sa.Table, run: str) -> list[sa.RowMapping]:
    query = sa.select(table).where(table.c.run == run).order_by(table.c.candidate)
    return list(connection.execute(query).mappings())


def _builds(connection: sa.Connection, run: str) -> list[StoredBuild]:
    return [
        StoredBuild(
            candidate=row["candidate"],
            status=row["status"],
            detail=row["detail"],
            error=row["error"],
            build=row["build"],
            provenance=codec.load_text_map(row["provenance"]),
        )
        for row in _of_run(connection, schema.prepared, run)
    ]


def _samples(connection: sa.Connection, run: str) -> defaultdict[str, list[Sample]]:
    table = schema.samples
    query = (
        sa.select(table)
        .where(table.c.run == run)
        .order_by(table.c.candidate, table.c.launch, table.c.number)
    )
    samples: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in connection.execute(query).mappings():
        samples[row["candidate"]].append(
            Sample(
                seconds=row["seconds"],
                steps=row["steps"],
                busy=row["busy"],
                accepted=row["accepted"],
                launch=row["launch"],
                round=row["round"],
                taken=row["taken"],
                warm_up=row["warm_up"],
                conditions=codec.load_conditions(row["conditions"]),
            )
        )
    return samples


def _measurement(
    run: str,
    identity: str,
    build: StoredBuild | None,
    samples: list[Sample],
    outcome: sa.RowMapping | None,
) -> Measurement | None:
    """What the rows of one candidate say; None when it was built but never launched.

    A run that was killed left samples without an outcome: they count for what they are.
    """
    status = _status(build, samples, outcome)
    if status is None:
        return None
    return Measurement(
        candidate=identity,
        run=run,
        status=status,
        samples=tuple(samples),
        detail=(outcome and outcome["detail"]) or (build.detail if build else ""),
        verified=build is not None and build.status == "ok",
        error=build.error if build else None,
        build=build.build if build else "",
    )


def _status(
    build: StoredBuild | None, samples: list[Sample], outcome: sa.RowMapping | None
) -> Status | None:
    if outcome is not None:
        return cast(Status, outcome["status"])
    if build is not None and build.status != "ok":
        return build.status
    timed = [s for s in samples if not s.warm_up]
    if not timed:
        return None
    return "ok" if any(s.accepted for s in timed) else "contended"
