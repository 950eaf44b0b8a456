"""Reports of progress to a person, and the time of each stage."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class Progress(Protocol):
    """Receives reports of progress, often enough for a person to watch."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Report that ``done`` of ``total`` steps of a stage are finished; ``detail``: the
        current step.
        """


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Reports nothing, where nobody watches."""


@dataclass(slots=True)
class Clock:
    """The wall time of a run by stage, in seconds."""

    stages: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str, started: float) -> None:
        """Add the time since ``started`` (time.monotonic) to a stage."""
        self.stages[stage] = self.stages.get(stage, 0.0) + time.monotonic() - started
