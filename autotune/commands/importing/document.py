"""The document of ``autotune import``."""

from typing import TypedDict

from autotune.results.documents import Plain


class BestRow(TypedDict):
    """The fastest recorded candidate of a problem."""

    problem: str
    candidate: str
    measured_s: float


class ImportDocument(TypedDict):
    """``autotune import --json``."""

    schema: str
    """autotune.import/1"""
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
    already: bool
    """The study was in the store before; nothing was entered."""
    ignored: list[str]
    """Names that the config does not have, of one value in all rows."""
    strangers: list[dict[str, Plain]]
    """The first few of the rows that are no legal candidate of the config."""
    best: list[BestRow]
