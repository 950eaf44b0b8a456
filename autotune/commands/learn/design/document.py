"""The document of ``autotune learn design``: which rows to measure."""

from dataclasses import dataclass
from typing import Literal

from autotune.learning.designs import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDocument:
    """``autotune learn design --json``: a design of experiments."""

    schema: Literal["autotune.learn.design/1"] = "autotune.learn.design/1"
    source: str
    """Where the parameters come from."""
    notes: tuple[str, ...]
    """What to know of the space."""
    design: Design
    candidates: tuple[str, ...]
    """Of a config: the id of each row's candidate, as ``autotune measure`` takes it."""
