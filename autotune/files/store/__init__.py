"""The results store in SQL: every sample is durable as soon as it is taken, with its provenance."""

from autotune.files.store.database import Store, now
from autotune.files.store.records import (
    MAP,
    CandidateRecord,
    RunFacts,
    RunRecord,
    StoredBuild,
    StoredChoice,
    StoredPrediction,
    StudyOrigin,
    StudyRecord,
    StudySummary,
)

__all__ = [
    "MAP",
    "CandidateRecord",
    "RunFacts",
    "RunRecord",
    "Store",
    "StoredBuild",
    "StoredChoice",
    "StoredPrediction",
    "StudyOrigin",
    "StudyRecord",
    "StudySummary",
    "now",
]
