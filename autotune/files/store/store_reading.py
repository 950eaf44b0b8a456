"""Turns rows of the tables back into domain values, within one consistent snapshot of
the database.
"""

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from typing import TypeVar

import sqlalchemy as sa

from autotune.domain.candidate_names import in_order_of, is_shortened, matching, named
from autotune.domain.decision_map import DecisionMap
from autotune.domain.results import Measurement, Prediction, Sample, Status
from autotune.files import codec
from autotune.files.store import store_tables
from autotune.files.store.records import (
    CandidateRecord,
    ProblemSpace,
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
        "spaces": _spaces(connection, name),
    }
    return codec.read(StudyRecord, {**row, **parts})


def _maps(connection: sa.Connection, study_name: str) -> tuple[DecisionMap, ...]:
    """The maps of a study, by label."""
    table = store_tables.maps
    query = sa.select(table.c.record).where(table.c.study == study_name).order_by(table.c.label)
    texts = connection.execute(query).scalars()
    return tuple(codec.load(DecisionMap, text) for text in texts)


def _spaces(connection: sa.Connection, study_name: str) -> tuple[ProblemSpace, ...]:
    """The summaries of the problems of a study, by key."""
    table = store_tables.spaces
    query = sa.select(table).where(table.c.study == study_name).order_by(table.c.problem)
    rows = connection.execute(query).mappings()
    return tuple(codec.read(ProblemSpace, {**row}) for row in rows)


def _candidates(connection: sa.Connection, study_name: str) -> tuple[CandidateRecord, ...]:
    members = store_tables.members.c
    query = (
        sa.select(store_tables.candidates.c.record, members.baseline)
        .join_from(store_tables.members, store_tables.candidates)
        .where(members.study == study_name)
        .order_by(members.place, members.candidate)
    )
    return tuple(
        dataclasses.replace(_record(text), baseline=bool(baseline))
        for text, baseline in connection.execute(query)
    )


def candidates(connection: sa.Connection, identities: Sequence[str]) -> tuple[CandidateRecord, ...]:
    """The candidates of these identities; ValueError where a stored text does not follow the
    schema.
    """
    table, loaded = store_tables.candidates.c, []
    for part in _parts(identities):
        query = sa.select(table.record).where(table.identity.in_(part))
        texts = connection.execute(query).scalars()
        loaded += [_record(text) for text in texts]
    return tuple(loaded)


def named_candidates(connection: sa.Connection, name: str) -> tuple[CandidateRecord, ...]:
    """The candidates of a name (``candidate_names.matching``)."""
    table = store_tables.candidates.c
    _, colon, digits = name.rpartition(":")
    exact = candidates(connection, [digits])
    if exact:
        return exact
    fits = [
        table.record.contains(f'"{field}":{codec.dump(name)}', autoescape=True)
        for field in ("label", "variant")
    ]
    likely = table.identity.startswith(digits, autoescape=True) if colon else sa.or_(*fits)
    for query in (sa.select(table.record).where(likely), sa.select(table.record)):
        records = map(_record, connection.execute(query).scalars())
        fitting = matching(records, name)
        if fitting:
            return tuple(fitting)
    return ()


def _record(text: str) -> CandidateRecord:
    """A stored candidate, called as candidates are called now."""
    record = codec.load(CandidateRecord, text)
    parameters = in_order_of(record.variant, record.parameters)
    shortened = is_shortened(record.variant, record.parameters)
    variant = record.variant if shortened else named(parameters)
    label = variant + record.label.removeprefix(record.variant)
    return dataclasses.replace(record, variant=variant, label=label, parameters=parameters)


_AT_ONCE = 500
"""Identities in one query: databases limit how many values it may name."""


def _parts(identities: Sequence[str]) -> Iterator[Sequence[str]]:
    """The identities in parts of which one query may name all."""
    return (identities[k : k + _AT_ONCE] for k in range(0, len(identities), _AT_ONCE))


def _predictions(connection: sa.Connection, study_name: str) -> tuple[StoredPrediction, ...]:
    table = store_tables.predictions
    query = (
        sa.select(table)
        .where(table.c.study == study_name)
        .order_by(table.c.engine, table.c.candidate)
    )
    return tuple(
        StoredPrediction(
            candidate=row["candidate"],
            prediction=codec.read(Prediction, {**row}),
            rank=row["rank"],
        )
        for row in connection.execute(query).mappings()
    )


def members(connection: sa.Connection, study_name: str) -> frozenset[str]:
    """The identities of the stored candidates of a study."""
    table = store_tables.members.c
    query = sa.select(table.candidate).where(table.study == study_name)
    return frozenset(connection.execute(query).scalars())


def finished(connection: sa.Connection) -> dict[str, int]:
    """The number of candidates that each run has finished, by run."""
    launches: dict[str, int] = {}
    for table, wanted in (
        (store_tables.outcomes, store_tables.outcomes.c.status != "contended"),
        (store_tables.prepared, store_tables.prepared.c.status != "ok"),
    ):
        query = sa.select(table.c.run, sa.func.count()).where(wanted).group_by(table.c.run)
        for run, count in connection.execute(query):
            launches[run] = launches.get(run, 0) + count
    return dict(sorted(launches.items()))


def runs_of(
    connection: sa.Connection, runs: Sequence[str], identities: Container[str]
) -> tuple[RunRecord, ...]:
    """The given runs restricted to candidates with the given identities, oldest first; without
    those that have none of them.

    There may be very many identities: they are compared with the few candidates of each run.
    Raises ValueError where a stored text does not follow the schema.
    """
    table = store_tables.runs
    shared = {run: _candidates_of(connection, run) for run in runs}
    shared = {run: {i for i in few if i in identities} for run, few in shared.items()}
    shared = {run: few for run, few in shared.items() if few}
    query = sa.select(table).where(table.c.id.in_(shared)).order_by(table.c.started, table.c.id)
    rows = connection.execute(query).mappings().all()
    return tuple(_run(connection, row, shared[str(row["id"])]) for row in rows)


def _candidates_of(connection: sa.Connection, run: str) -> set[str]:
    """The candidates of which a run stored anything."""
    tables = store_tables.choices, store_tables.prepared, store_tables.outcomes
    samples = store_tables.samples
    queries = [
        sa.select(table.c.candidate).where(table.c.run == run) for table in (*tables, samples)
    ]
    return set(connection.execute(sa.union(*queries)).scalars())


def other_candidates(
    connection: sa.Connection, identities: Container[str]
) -> tuple[tuple[CandidateRecord, Measurement], ...]:
    """Candidates with none of the given identities, each with its latest good result, newest
    first.

    Only the newest ones are returned where there are very many. Raises ValueError where a stored
    text does not follow the schema.
    """
    outcomes = store_tables.outcomes
    query = (
        sa.select(outcomes.c.candidate, sa.func.max(outcomes.c.run).label("run"))
        .where(outcomes.c.status == "ok")
        .group_by(outcomes.c.candidate)
        .order_by(sa.desc("run"), outcomes.c.candidate)
    )
    others = (row for row in connection.execute(query) if row.candidate not in identities)
    runs: dict[str, list[str]] = {}
    for candidate, run in itertools.islice(others, _STRANGERS):
        runs.setdefault(run, []).append(candidate)
    return tuple(
        (record, Measurement(candidate=i, run=run, status="ok", samples=tuple(samples[i])))
        for run, few in runs.items()
        for samples in [_samples(connection, run, few)]
        for record in candidates(connection, few)
        if samples[i := record.identity]
    )


_STRANGERS = 2000


def _run(
    connection: sa.Connection, row: sa.RowMapping, few: Collection[str] | None = None
) -> RunRecord:
    """A run with everything that belongs to it; where a ``few`` candidates are given, restricted to
    these.
    """
    run = str(row["id"])
    builds = _of_run(connection, store_tables.prepared, StoredBuild, run, few)
    outcomes = _of_run(connection, store_tables.outcomes, StoredOutcome, run, few)
    choices = _of_run(connection, store_tables.choices, StoredChoice, run, few)
    choices = dict(sorted(choices.items(), key=lambda item: item[1].place))
    samples = _samples(connection, run, few)
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
    connection: sa.Connection, table: sa.Table, kind: type[T], run: str, few: Collection[str] | None
) -> dict[str, T]:
    """The rows of a table for one run as values, by candidate."""
    query = sa.select(table).where(table.c.run == run).order_by(table.c.candidate)
    rows = _rows(connection, query, table, few)
    return {str(row["candidate"]): codec.read(kind, {**row}) for row in rows}


def _samples(
    connection: sa.Connection, run: str, few: Collection[str] | None
) -> defaultdict[str, list[Sample]]:
    table = store_tables.samples
    query = (
        sa.select(table)
        .where(table.c.run == run)
        .order_by(table.c.candidate, table.c.launch, table.c.number)
    )
    samples: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in _rows(connection, query, table, few):
        samples[row["candidate"]].append(codec.read(Sample, {**row}))
    return samples


def _rows(
    connection: sa.Connection,
    query: sa.Select[tuple[object, ...]],
    table: sa.Table,
    few: Collection[str] | None,
) -> Iterator[sa.RowMapping]:
    """The rows of a query on a table; where a ``few`` candidates are given, those of these."""
    if few is None:
        yield from connection.execute(query).mappings()
        return
    for part in _parts(sorted(few)):
        yield from connection.execute(query.where(table.c.candidate.in_(part))).mappings()


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
