"""The document of ``autotune schema``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaKind:
    """A kind of YAML file or of document that has a JSON Schema."""

    name: str
    """As ``autotune schema`` takes it: ``machine``, ``learn.fit``."""
    key: str
    """The value of its key ``schema``: ``autotune.machine/1``."""
    form: Literal["file", "document"]
    """A YAML file that is read, or a document that a command prints."""
    about: str
    """What it is, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDocument:
    """``autotune schema --json``: every kind of YAML file and of document."""

    schema: Literal["autotune.schema/1"] = "autotune.schema/1"
    kinds: tuple[SchemaKind, ...]
