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
)

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
_SQL = {str: Text, int: Integer, float: Float, bool: Boolean}


def _fields(kind: type, *keys: str) -> "Iterator[Column[typing.Any]]":
    """A column for each field of a dataclass; ``keys`` are part of the primary key.

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
spaces = Table("spaces", metadata, _study(), *_fields(ProblemSpace, "problem"))
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
