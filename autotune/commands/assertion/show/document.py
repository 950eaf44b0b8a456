"""The document of ``autotune assert show --json``."""

from dataclasses import dataclass
from typing import Literal

from autotune.domain.assertion_record import AssertionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionRecordsDocument:
    """``autotune assert show --json``: the records of a run."""

    schema: Literal["autotune.assert.show/1"] = "autotune.assert.show/1"
    missing_ranks: tuple[int, ...]
    """Ranks without a record."""
    records: tuple[AssertionRecord, ...]
    """Ascending by rank."""
