"""Turns rows of the tables back into domain values, within one consistent snapshot of
the database.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import sqlalchemy as sa

from autotune.domain.decision_map import DecisionMap
from autotune.domain.results import Measurement, Prediction, Sample, Status
from autotune.files import codec
from autotune.files.store import store_tables
from autotune.files.store.records import (
    CandidateRecord,
    RunRecord,
    StoredBuild,
    StoredChoice,
    StoredOutcome,
    StoredPrediction,
    StudyRecord,
    StudySummary,
)

T = TypeVar("T")


def summaries(connection: sa.Connection) -> list[StudySummary]:
    """All studies with their number of runs, oldest first."""
    studies, runs = store_tables.studies.c, store_tables.runs.c
    query = (
        sa.select(
            studies.name, studies.config, studies.created, sa.func.count(runs.id).label("runs")
        )
        .select_from(store_tables.studies.outerjoin(store_tables.runs))
        .group_by(studies.name, studies.config, studies.created)
        .order_by(studies.created, studies.name)
    )
    return [StudySummary(**row) for row in connection.execute(query).mappings()]


def study(connection: sa.Connection, name: str) -> StudyRecord | None:
    """A study with everything that belongs to it; None where there is none of that name.

    Raises ValueError where a stored text does not follow the schema.
    """
    query = sa.select(store_tables.studies).where(store_tables.studies.c.name == name)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    runs = (
        sa.select(store_tables.runs)
        .where(store_tables.runs.c.study == name)
        .order_by(store_tables.runs.c.started, store_tables.runs.c.id)
    )
    parts: dict[str, object] = {
        "candidates": _candidates(connection, name),
        "predictions": _predictions(connection, name),
        "runs": tuple(_run(connection, run) for run in connection.execute(runs).mappings().all()),
        "maps": _maps(connection, name),
    }
    return codec.read(StudyRecord, {**row, **parts})


def _maps(connection: sa.Connection, study_name: str) -> tuple[DecisionMap, ...]:
    """The maps of a study, by label."""
    table = store_tables.maps
    query = sa.select(table.c.record).where(table.c.study == study_name).order_by(table.c.label)
    texts = connection.execute(query).scalars()
    return tuple(codec.load(DecisionMap, text) for text in texts)


def _candidates(connection: sa.Connection, study_name: str) -> tuple[CandidateRecord, ...]:
    members = store_tables.members.c
    query = (
        sa.select(store_tables.candidates.c.record, members.baseline)
        .join_from(store_tables.members, store_tables.candidates)
        .where(members.study == study_name)
        .order_by(members.place, members.candidate)
    )
    return tuple(
        dataclasses.replace(codec.load(CandidateRecord, text), baseline=bool(baseline))
        for text, baseline in connection.execute(query)
    )


def candidates(connection: sa.Connection, identities: Sequence[str]) -> tuple[CandidateRecord, ...]:
    """The candidates of these identities; ValueError where a stored text does not follow the
    schema.
    """
    table, loaded = store_tables.candidates.c, []
    for start in range(0, len(identities), _AT_ONCE):
        part = identities[start : start + _AT_ONCE]
        query = sa.select(table.record).where(table.identity.in_(part))
        texts = connection.execute(query).scalars()
        loaded += [codec.load(CandidateRecord, text) for text in texts]
    return tuple(loaded)


_AT_ONCE = 500
"""Identities in one query: databases limit how many values it may name."""


def _predictions(connection: sa.Connection, study_name: str) -> tuple[StoredPrediction, ...]:
    table = store_tables.predictions
    query = (
        sa.select(table)
        .where(table.c.study == study_name)
        .order_by(table.c.engine, table.c.candidate)
    )
    return tuple(
        StoredPrediction(candidate=row["candidate"], prediction=codec.read(Prediction, {**row}))
        for row in connection.execute(query).mappings()
    )


Members = sa.Select[tuple[str]]
"""A query of identities of candidates."""


def finished(connection: sa.Connection, study_name: str) -> dict[str, int]:
    """The number of candidates of a study that each run has finished, by run; runs may be of any
    study.
    """
    members = _members(study_name)
    launches: dict[str, int] = {}
    for table, wanted in (
        (store_tables.outcomes, store_tables.outcomes.c.status != "contended"),
        (store_tables.prepared, store_tables.prepared.c.status != "ok"),
    ):
        query = (
            sa.select(table.c.run, sa.func.count())
            .where(wanted, table.c.candidate.in_(members))
            .group_by(table.c.run)
        )
        for run, count in connection.execute(query):
            launches[run] = launches.get(run, 0) + count
    return dict(sorted(launches.items()))


def runs_elsewhere(
    connection: sa.Connection, study_name: str, runs: Sequence[str]
) -> tuple[RunRecord, ...]:
    """The given runs restricted to the candidates of a study, oldest first.

    Raises ValueError where a stored text does not follow the schema.
    """
    table = store_tables.runs
    query = sa.select(table).where(table.c.id.in_(runs)).order_by(table.c.started, table.c.id)
    members = _members(study_name)
    rows = connection.execute(query).mappings().all()
    return tuple(_run(connection, row, members) for row in rows)


def other_candidates(
    connection: sa.Connection, study_name: str
) -> tuple[tuple[CandidateRecord, Measurement], ...]:
    """Candidates that the study does not choose from, each with its latest good result, newest
    first.

    Only the newest ones are returned where there are very many. Raises ValueError where a stored
    text does not follow the schema.
    """
    outcomes, members = store_tables.outcomes, _members(study_name)
    query = (
        sa.select(outcomes.c.candidate, sa.func.max(outcomes.c.run).label("run"))
        .where(outcomes.c.status == "ok", outcomes.c.candidate.not_in(members))
        .group_by(outcomes.c.candidate)
        .order_by(sa.desc("run"), outcomes.c.candidate)
        .limit(_STRANGERS)
    )
    runs: dict[str, list[str]] = {}
    for candidate, run in connection.execute(query):
        runs.setdefault(run, []).append(candidate)
    others = []
    for run, identities in runs.items():
        for start in range(0, len(identities), _AT_ONCE):
            part = identities[start : start + _AT_ONCE]
            wanted = sa.select(store_tables.candidates.c.identity).where(
                store_tables.candidates.c.identity.in_(part)
            )
            samples = _samples(connection, run, wanted)
            others += [
                (record, Measurement(candidate=i, run=run, status="ok", samples=tuple(samples[i])))
                for record in candidates(connection, part)
                if samples[i := record.identity]
            ]
    return tuple(others)


_STRANGERS = 2000


def _members(study_name: str) -> Members:
    members = store_tables.members.c
    return sa.select(members.candidate).where(members.study == study_name)


def _run(
    connection: sa.Connection, row: sa.RowMapping, members: Members | None = None
) -> RunRecord:
    """A run with everything that belongs to it; where ``members`` are given, restricted to these
    candidates.
    """
    run = str(row["id"])
    builds = _of_run(connection, store_tables.prepared, StoredBuild, run, members)
    outcomes = _of_run(connection, store_tables.outcomes, StoredOutcome, run, members)
    choices = _of_run(connection, store_tables.choices, StoredChoice, run, members)
    choices = dict(sorted(choices.items(), key=lambda item: item[1].place))
    samples = _samples(connection, run, members)
    order = dict.fromkeys([*choices, *sorted({*builds, *samples, *outcomes})])
    measurements = (
        _measurement(run, identity, builds.get(identity), samples[identity], outcomes.get(identity))
        for identity in order
    )
    parts: dict[str, object] = {
        "choices": tuple(choices.values()),
        "builds": tuple(builds.values()),
        "measurements": tuple(m for m in measurements if m is not None),
        "checksums": {i: o.checksum for i, o in outcomes.items() if o.checksum is not None},
        "finished": frozenset(i for i, o in outcomes.items() if o.status != "contended")
        | {i for i, build in builds.items() if build.status != "ok"},
    }
    return codec.read(RunRecord, {**row, **parts})


def _of_run(
    connection: sa.Connection, table: sa.Table, kind: type[T], run: str, members: Members | None
) -> dict[str, T]:
    """The rows of a table for one run as values, by candidate."""
    query = sa.select(table).where(table.c.run == run).order_by(table.c.candidate)
    if members is not None:
        query = query.where(table.c.candidate.in_(members))
    rows = connection.execute(query).mappings()
    return {str(row["candidate"]): codec.read(kind, {**row}) for row in rows}


def _samples(
    connection: sa.Connection, run: str, members: Members | None
) -> defaultdict[str, list[Sample]]:
    table = store_tables.samples
    query = (
        sa.select(table)
        .where(table.c.run == run)
        .order_by(table.c.candidate, table.c.launch, table.c.number)
    )
    if members is not None:
        query = query.where(table.c.candidate.in_(members))
    samples: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in connection.execute(query).mappings():
        samples[row["candidate"]].append(codec.read(Sample, {**row}))
    return samples


def _measurement(
    run: str,
    identity: str,
    build: StoredBuild | None,
    samples: list[Sample],
    outcome: StoredOutcome | None,
) -> Measurement | None:
    """The measurement of one candidate from its rows; None where it was built but never launched.

    A run that was killed leaves samples without an outcome: these count as an unfinished
    measurement.
    """
    status = _status(build, samples, outcome)
    if status is None:
        return None
    return Measurement(
        candidate=identity,
        run=run,
        status=status,
        samples=tuple(samples),
        detail=(outcome and outcome.detail) or (build.detail if build else ""),
        error=build.error if build else None,
        build=build.build if build else "",
    )


def _status(
    build: StoredBuild | None, samples: list[Sample], outcome: StoredOutcome | None
) -> Status | None:
    if outcome is not None:
        return outcome.status
    if build is not None and build.status != "ok":
        return build.status
    return "ok" if any(not s.warm_up for s in samples) else None
