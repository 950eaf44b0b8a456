"""Telling a person what is going on, and where the time went."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class Progress(Protocol):
    """Told what is going on, often enough for a person to watch."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """``done`` of ``total`` steps of a stage are finished; ``detail`` is the current one."""


@dataclass(slots=True)
class Clock:
    """Wall time by stage, in seconds: where the time of a run went."""

    stages: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str, started: float) -> None:
        """Add the time since ``started`` (time.monotonic) to a stage."""
        self.stages[stage] = self.stages.get(stage, 0.0) + time.monotonic() - started
