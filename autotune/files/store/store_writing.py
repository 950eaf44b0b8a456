"""Writes candidates of a study with their predictions, within a transaction of the caller."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import sqlalchemy as sa

from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.files.store import store_tables
from autotune.files.store.records import LOST
from autotune.files.store.store_rows import Row, candidate_row, row_of, upsert


def study_of(connection: sa.Connection, run: str) -> str:
    """The name of the study that a run belongs to."""
    runs = store_tables.runs.c
    return str(connection.execute(sa.select(runs.study).where(runs.id == run)).scalar_one())


def add_members(
    connection: sa.Connection,
    study: str,
    candidates: Sequence[Candidate],
    baselines: Collection[str] = (),
) -> None:
    """Add candidates to a study, behind those that it has; these keep their places.

    ``baselines``: identities of candidates. A baseline stays one.
    """
    unique = {candidate.identity: candidate for candidate in candidates}
    rows = [candidate_row(candidate) for candidate in unique.values()]
    upsert(connection, store_tables.candidates, rows, replace=False)
    members = store_tables.members
    last = sa.select(sa.func.max(members.c.place)).where(members.c.study == study)
    begin = connection.execute(last).scalar()
    first = 0 if begin is None else begin + 1
    new: list[Row] = [
        {"study": study, "candidate": identity, "place": first + k, "baseline": False}
        for k, identity in enumerate(unique)
    ]
    upsert(connection, members, new, replace=False)
    _mark_baselines(connection, study, [i for i in unique if i in baselines])


def _mark_baselines(connection: sa.Connection, study: str, baselines: Sequence[str]) -> None:
    members = store_tables.members
    if baselines:
        chosen = (members.c.study == study) & members.c.candidate.in_(baselines)
        connection.execute(sa.update(members).where(chosen).values(baseline=True))


def add_baselines(connection: sa.Connection, study: str, entries: Sequence[Ranked]) -> None:
    """Add the baselines of a study with their predictions; it has no others any more."""
    members = store_tables.members
    former = (members.c.study == study) & members.c.baseline
    connection.execute(sa.update(members).where(former).values(baseline=False))
    candidates = [entry.candidate for entry in entries]
    add_members(connection, study, candidates, {c.identity for c in candidates})
    add_predictions(connection, study, entries)


def add_predictions(connection: sa.Connection, study: str, entries: Sequence[Ranked]) -> None:
    """Add predictions of members of a study with their places, in place of earlier ones."""
    # what an interval is made of belongs to the ranking, not to the study
    rows = [
        row_of(
            replace(entry.prediction, uncertainty=None),
            study=study,
            candidate=entry.candidate.identity,
            rank=entry.rank,
        )
        for entry in entries
    ]
    upsert(connection, store_tables.predictions, rows, replace=True)


def mark_lost(connection: sa.Connection, study: str, identities: Collection[str]) -> None:
    """Replace the predictions of members of a study by the reason that they have none any more."""
    table = store_tables.predictions
    none = Prediction(seconds=None, interval=None, parts=(), engine="", reason=LOST)
    values = {k: v for k, v in row_of(none, rank=None).items() if k != "engine"}
    theirs = (table.c.study == study) & (table.c.candidate == sa.bindparam("lost"))
    rows = [{"lost": identity} for identity in sorted(identities)]
    if rows:
        connection.execute(sa.update(table).where(theirs).values(**values), rows)
