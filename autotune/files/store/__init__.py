"""Results in SQL: every sample durable when taken, with its provenance."""

from autotune.files.store.database import Store, now
from autotune.files.store.records import (
    MAP,
    CandidateRecord,
    Choice,
    RunElsewhere,
    RunFacts,
    RunRecord,
    StoredBuild,
    StoredPrediction,
    StudyRecord,
    StudySummary,
)

__all__ = [
    "MAP",
    "CandidateRecord",
    "Choice",
    "RunElsewhere",
    "RunFacts",
    "RunRecord",
    "Store",
    "StoredBuild",
    "StoredPrediction",
    "StudyRecord",
    "StudySummary",
    "now",
]
