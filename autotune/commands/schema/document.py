"""The document of ``autotune schema``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaKind:
    """A kind of file or of document that has a JSON Schema."""

    name: str
    """As ``autotune schema`` takes it: ``machine``, ``learn.fit``."""
    key: str
    """The value of its key ``schema``: ``autotune.machine/1``."""
    form: Literal["file", "data", "document"]
    """A YAML file that is read, a JSON file that commands write and read, or a document that a
    command prints."""
    about: str
    """What it is, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDocument:
    """``autotune schema --json``: every kind of file and of document."""

    schema: Literal["autotune.schema/1"] = "autotune.schema/1"
    kinds: tuple[SchemaKind, ...]
