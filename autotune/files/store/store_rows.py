"""Domain values as rows of the tables, and writing a row that may be there already."""

import json
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from autotune.domain.results import Prediction, Prepared, Sample, Status
from autotune.domain.variant import Candidate
from autotune.files import codec
from autotune.files.store.records import CandidateRecord, Choice

Row = Mapping[str, str | int | float | bool | None]


def upsert(connection: sa.Connection, table: sa.Table, row: Row, *, replace: bool) -> int:
    """Enter a row; 1 when it was entered or replaced, 0 when it was there and is kept."""
    keys = table.primary_key
    rest = {name: value for name, value in row.items() if name not in keys.columns}
    statement: postgresql.Insert | sqlite.Insert
    if connection.dialect.name == "postgresql":
        server = postgresql.insert(table).values(**row)
        statement = (
            server.on_conflict_do_update(keys, set_=rest)
            if replace
            else server.on_conflict_do_nothing(keys)
        )
    else:
        local = sqlite.insert(table).values(**row)
        statement = (
            local.on_conflict_do_update(keys, set_=rest)
            if replace
            else local.on_conflict_do_nothing(keys)
        )
    counted = connection.execution_options(preserve_rowcount=True)
    return counted.execute(statement).rowcount


def clean(text: str) -> str:
    """Text that any database takes: compiler output may hold anything."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def candidate_record(value: Candidate, *, baseline: bool = False) -> CandidateRecord:
    """A candidate as it is stored."""
    return CandidateRecord(
        identity=value.identity,
        label=value.label,
        variant=value.variant.label,
        parameters=dict(value.variant.parameters),
        problem=value.problem.facts(),
        compiler=value.build.compiler,
        flags=value.build.flags,
        threads=value.threads,
        ranks=value.ranks,
        communication=value.communication,
        canonical=json.dumps(value.canonical(), sort_keys=True, separators=(",", ":")),
        baseline=baseline,
    )


def candidate(value: Candidate) -> Row:
    """The row of table candidates."""
    record = candidate_record(value)
    return {"identity": record.identity, "label": record.label, "record": codec.dump(record)}


def members(study: str, candidates: Sequence[Candidate], baselines: frozenset[str]) -> list[Row]:
    """Rows of table members, in the order of the candidates."""
    return [
        {
            "study": study,
            "candidate": value.identity,
            "place": place,
            "baseline": value.identity in baselines,
        }
        for place, value in enumerate(candidates)
    ]


def prediction(study: str, identity: str, value: Prediction) -> Row:
    """The row of table predictions."""
    low, high = value.interval or (None, None)
    return {
        "study": study,
        "candidate": identity,
        "engine": value.engine,
        "seconds": value.seconds,
        "low": low,
        "high": high,
        "reason": clean(value.reason),
        "parts": codec.dump(value.parts),
        "notes": codec.dump(value.notes),
    }


def choice(run: str, value: Choice) -> Row:
    """The row of table choices."""
    return {
        "run": run,
        "candidate": value.candidate,
        "place": value.place,
        "reason": clean(value.reason),
    }


def prepared(run: str, value: Prepared) -> Row:
    """The row of table prepared."""
    return {
        "run": run,
        "candidate": value.candidate.identity,
        "status": value.status,
        "detail": clean(value.detail),
        "error": value.error,
        "build": value.build,
        "provenance": codec.dump(value.provenance),
    }


def sample(run: str, identity: str, number: int, value: Sample) -> Row:
    """The row of table samples."""
    return {
        "run": run,
        "candidate": identity,
        "launch": value.launch,
        "number": number,
        "round": value.round,
        "seconds": value.seconds,
        "steps": value.steps,
        "busy": value.busy,
        "accepted": value.accepted,
        "warm_up": value.warm_up,
        "taken": value.taken,
        "conditions": codec.dump(value.conditions),
    }


def outcome(
    run: str, identity: str, status: Status, detail: str, checksum: tuple[float, float] | None
) -> Row:
    """The row of table outcomes."""
    total, magnitude = checksum or (None, None)
    return {
        "run": run,
        "candidate": identity,
        "status": status,
        "detail": clean(detail),
        "checksum": total,
        "magnitude": magnitude,
    }
