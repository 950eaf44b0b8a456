"""The document of ``autotune import``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.domain.metric import TIME, Metric
from autotune.domain.variant import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class FastestImported:
    """The fastest recorded candidate of a problem; the best where the objective is not the time."""

    problem: str
    candidate: str
    seconds: float | None
    """Null where the objective is not the time."""
    best_value: float | None = None
    """Of an objective that is not the time, in its unit."""
    goal: Metric = TIME
    """The objective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDocument:
    """``autotune import --json``: how the rows of a file were used."""

    schema: Literal["autotune.import/1"] = "autotune.import/1"
    study: str
    """Its name in the store."""
    source: str
    """The file and its format."""
    device: str
    """What the file says of the machine; empty where it says nothing."""
    rows: int
    """Of the file."""
    entered: int
    """Rows that are candidates of the config."""
    failed: int
    """Of these."""
    strangers: tuple[Mapping[str, Value], ...]
    """The first few of the rows that are no legal candidate of the config."""
    ignored: tuple[str, ...]
    """Columns that the config does not have. Each has the same value in all rows, so no row was
    refused for it."""
    best: tuple[FastestImported, ...] = ()
    already: bool = False
    """The study was in the store before; nothing was entered."""
