"""The document of ``autotune explain``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainDocument:
    """``autotune explain --json``: one word or kind of message, or all words."""

    schema: Literal["autotune.explain/1"] = "autotune.explain/1"
    name: str | None
    """The word, or the kind of the message; null where all words are listed."""
    text: str | None
    """What it means."""
    advice: str | None
    """What helps against a message; null for a word."""
    words: tuple[str, ...]
    """Related words, or all words."""
