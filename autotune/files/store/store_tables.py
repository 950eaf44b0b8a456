r"""The tables of a results store.

    studies --< members >-- candidates        what a study may choose from
       | |--< maps                            which candidate wins where, over size and threads
       |  \--< predictions                    what each engine said
       \--< runs --< choices                  what a run took for measuring, and why
                 --< prepared                 how build and verification ended
                 --< samples                  every sample, its conditions beside it
                 --< outcomes                 how measuring ended

The primary keys say what must not be doubled. A change of any table, or of the JSON in one, is a
new schema number:

    1  problems are IVPs
    2  problems are IVPs or stencils (record of a candidate: family, stencil, grid)
    3  or programs of the user's (record of a candidate: program, arguments); table maps
"""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA = 3
OLDER = frozenset({1, 2})
"""Schemas whose rows read as they are; such a store is brought up to date when it is written."""
APPLICATION = "autotune"
APPLICATION_ID = 0x41755431
"""Of the SQLite file header: ``AuT1``."""

metadata = MetaData()

meta = Table(
    "autotune_meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
studies = Table(
    "studies",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("config", String(200), nullable=False),
    Column("setup", Text, nullable=False),
    Column("created", String(40), nullable=False),
    Column("versions", Text, nullable=False),
)
runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("study", ForeignKey("studies.name"), nullable=False, index=True),
    Column("started", String(40), nullable=False),
    Column("ended", String(40)),
    Column("state", String(20), nullable=False),
    Column("machine", Text, nullable=False),
    Column("machine_identity", String(80), nullable=False),
    Column("versions", Text, nullable=False),
    Column("conditions", Text, nullable=False),
    Column("timings", Text, nullable=False),
)
candidates = Table(
    "candidates",
    metadata,
    Column("identity", String(64), primary_key=True),
    Column("label", Text, nullable=False),
    Column("record", Text, nullable=False),
)
members = Table(
    "members",
    metadata,
    Column("study", ForeignKey("studies.name"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("baseline", Boolean, nullable=False),
)
predictions = Table(
    "predictions",
    metadata,
    Column("study", ForeignKey("studies.name"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("engine", String(64), primary_key=True),
    Column("seconds", Float),
    Column("low", Float),
    Column("high", Float),
    Column("reason", Text, nullable=False),
    Column("parts", Text, nullable=False),
    Column("notes", Text, nullable=False),
)
maps = Table(
    "maps",
    metadata,
    Column("study", ForeignKey("studies.name"), primary_key=True),
    Column("label", String(200), primary_key=True),
    Column("record", Text, nullable=False),
)
choices = Table(
    "choices",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("reason", Text, nullable=False),
)
prepared = Table(
    "prepared",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("detail", Text, nullable=False),
    Column("error", Float),
    Column("build", String(128), nullable=False),
    Column("provenance", Text, nullable=False),
)
samples = Table(
    "samples",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("launch", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("round", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("busy", Float, nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("warm_up", Boolean, nullable=False),
    Column("taken", String(40), nullable=False),
    Column("conditions", Text, nullable=False),
)
outcomes = Table(
    "outcomes",
    metadata,
    Column("run", ForeignKey("runs.id"), primary_key=True),
    Column("candidate", ForeignKey("candidates.identity"), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("detail", Text, nullable=False),
    Column("checksum", Float),
    Column("magnitude", Float),
)
Index("samples_of_candidate", samples.c.candidate, samples.c.run)
