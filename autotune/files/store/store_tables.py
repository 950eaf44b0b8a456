r"""The tables of a results store: keys, and the fields of the values that the tables hold.

    studies --< members >-- candidates        what a study proposed, and its baselines
       | |--< spaces                          how many candidates a problem has, stored or not
       | |--< maps                            which candidate wins where, over size and threads
       |  \--< predictions                    what each engine said of the members
       \--< runs --< choices                  what a run took for measuring, and why
                 --< prepared                 how build and verification ended
                 --< samples                  every sample, its conditions beside it
                 --< outcomes                 how measuring ended

The primary keys say what must not be doubled. Numbers and texts are columns; every other field is
JSON text. A change of any table, or of the JSON in one, is a new schema number.
"""

import typing
from collections.abc import Iterator

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect

from autotune.domain.results import Prediction, Sample
from autotune.files import codec
from autotune.files.store.records import (
    ProblemSpace,
    RunEntry,
    StoredBuild,
    StoredChoice,
    StoredOutcome,
    StudyEntry,
)

SCHEMA = 4
APPLICATION = "autotune"
APPLICATION_ID = 0x41755431
"""Of the SQLite file header: ``AuT1``."""

metadata = MetaData()
_MOST_SQLITE, _MOST = 2**63 - 1, 2**31 - 1
"""The largest whole numbers of columns of SQLite and of other databases."""


class _LargeNumber(TypeDecorator[int]):
    """A whole number of any size: of a larger one than its columns hold SQLite keeps 15 digits,
    another database the largest that it holds.
    """

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | float | None:
        """The number as the database can hold it."""
        if value is None or dialect.name != "sqlite":
            return value if value is None else min(value, _MOST)
        return value if value <= _MOST_SQLITE else float(value)

    def process_result_value(self, value: float | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """The number that the database held."""
        return value if value is None else int(value)


_SQL = {str: Text, int: Integer, float: Float, bool: Boolean}


def _fields(kind: type, *keys: str, large: str = "") -> "Iterator[Column[typing.Any]]":
    """A column for each field of a dataclass; ``keys`` are part of the primary key, and ``large``
    is a whole number that may need more than 64 bits.

    The fields ``candidate`` and ``study`` refer to the tables of candidates and studies.
    """
    for name, hint in typing.get_type_hints(kind).items():
        sql = _SQL[codec.scalar(hint) or str]
        optional = type(None) in typing.get_args(hint)
        if name == "candidate":
            yield _candidate()
        elif name == "study":
            yield _study(key=False)
        else:
            sql = _LargeNumber if name == large else sql
            yield Column(name, sql, primary_key=name in keys, nullable=optional)


def _candidate() -> "Column[typing.Any]":
    return Column("candidate", ForeignKey("candidates.identity"), primary_key=True)


def _study(*, key: bool = True) -> "Column[typing.Any]":
    return Column("study", ForeignKey("studies.name"), primary_key=key, nullable=False)


def _run() -> "Column[typing.Any]":
    return Column("run", ForeignKey("runs.id"), primary_key=True)


meta = Table(
    "autotune_meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
studies = Table("studies", metadata, *_fields(StudyEntry, "name"))
runs = Table("runs", metadata, *_fields(RunEntry, "id"))
candidates = Table(
    "candidates",
    metadata,
    Column("identity", Text, primary_key=True),
    Column("record", Text, nullable=False),
)
members = Table(
    "members",
    metadata,
    _study(),
    _candidate(),
    Column("place", Integer, nullable=False),
    Column("baseline", Boolean, nullable=False),
)
spaces = Table("spaces", metadata, _study(), *_fields(ProblemSpace, "problem", large="candidates"))
predictions = Table(
    "predictions",
    metadata,
    _study(),
    _candidate(),
    *_fields(Prediction, "engine"),
    Column("rank", Integer, nullable=True),
)
maps = Table(
    "maps",
    metadata,
    _study(),
    Column("label", Text, primary_key=True),
    Column("record", Text, nullable=False),
)
choices = Table("choices", metadata, _run(), *_fields(StoredChoice))
prepared = Table("prepared", metadata, _run(), *_fields(StoredBuild))
samples = Table(
    "samples",
    metadata,
    _run(),
    _candidate(),
    Column("number", Integer, primary_key=True),
    *_fields(Sample, "launch"),
)
outcomes = Table("outcomes", metadata, _run(), *_fields(StoredOutcome))
Index("runs_of_study", runs.c.study)
Index("samples_of_candidate", samples.c.candidate, samples.c.run)
