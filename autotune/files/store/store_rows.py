"""Converts values to rows of the tables, and writes rows that may exist already."""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from autotune.domain.variant import Candidate
from autotune.files import codec
from autotune.files.store.records import CandidateRecord

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = Mapping[str, str | int | float | bool | None]


_AT_ONCE = 1000
"""Rows of one statement to the driver, so that a long list takes no second copy in memory."""


def upsert(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Row], *, replace: bool
) -> int:
    """Write rows, all with the same columns; the number of those that were added or replaced.

    Rows that exist already are replaced where ``replace`` is True, else kept. No two may have the
    same key.
    """
    if not rows:
        return 0
    keys = table.primary_key
    # in one order, lest two writers wait for each other's rows on a database server
    rows = sorted(rows, key=lambda row: [row[column.name] for column in keys])
    statement = _statement(connection.dialect.name, table, tuple(rows[0]), replace)
    counted = connection.execution_options(preserve_rowcount=True)
    return sum(counted.execute(statement, part).rowcount for part in _parts(rows))


@functools.cache
def _statement(
    dialect_name: str, table: sa.Table, names: tuple[str, ...], replace: bool
) -> postgresql.Insert | sqlite.Insert:
    """The statement that writes these columns of a row, which may exist already."""
    keys = table.primary_key
    dialect = postgresql if dialect_name == "postgresql" else sqlite
    new: postgresql.Insert | sqlite.Insert = dialect.insert(table)
    if not replace:
        return new.on_conflict_do_nothing(keys)
    rest = {name: new.excluded[name] for name in names if name not in keys.columns}
    return new.on_conflict_do_update(keys, set_=rest)


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in parts that are written at once."""
    return (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))


def row_of(value: "DataclassInstance", **keys: str | int | bool | None) -> Row:
    """A value as a row: the given keys, then the fields of the value."""
    return {
        name: _clean(item) if isinstance(item, str) else item
        for name, item in (keys | codec.columns(value)).items()
    }


def _clean(text: str) -> str:
    """The text without characters that some database refuses; compiler output may hold any."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def candidate_record(value: Candidate, *, baseline: bool = False) -> CandidateRecord:
    """A candidate in the form in which the store returns it."""
    return CandidateRecord(
        identity=value.identity,
        label=value.label,
        variant=value.variant.label,
        parameters=dict(value.variant.parameters),
        problem=value.problem.facts(),
        build=value.build,
        layout=value.layout,
        canonical=json.dumps(value.canonical(), sort_keys=True, separators=(",", ":")),
        baseline=baseline,
    )


def candidate_row(value: Candidate) -> Row:
    """The row of table candidates; parameters stay in their order, of which labels are made."""
    record = codec.dump(candidate_record(value), ordered=False)
    return {"identity": value.identity, "record": record}
