"""The results store in SQL: every sample is durable as soon as it is taken, with its provenance."""

from typing import TYPE_CHECKING

from autotune.files.store.records import (
    MAP,
    CandidateRecord,
    RunElsewhere,
    RunFacts,
    RunRecord,
    StoredBuild,
    StoredChoice,
    StoredPrediction,
    StudyRecord,
    StudySummary,
)

__all__ = [
    "MAP",
    "CandidateRecord",
    "RunElsewhere",
    "RunFacts",
    "RunRecord",
    "Store",
    "StoredBuild",
    "StoredChoice",
    "StoredPrediction",
    "StudyRecord",
    "StudySummary",
    "now",
]

if TYPE_CHECKING:
    from autotune.files.store.database import Store, now


def __getattr__(name: str) -> object:
    """``Store`` and ``now``, loaded when they are used: a ranking needs no SQL."""
    if name not in ("Store", "now"):
        raise AttributeError(f"{__name__} has no {name}")
    from autotune.files.store import database  # noqa: PLC0415 - SQLAlchemy is heavy

    return getattr(database, name)
