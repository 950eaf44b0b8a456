"""Reports of progress to a person, and the time of each stage."""

import time
from collections.abc import Mapping
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
        self.divided({stage: 1.0}, started)

    def divided(self, shares: Mapping[str, float], started: float) -> None:
        """Add the time since ``started`` (time.monotonic) to several stages, by their shares."""
        seconds = time.monotonic() - started
        for stage, share in shares.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + share * seconds


def time_left_text(seconds: float | None) -> str:
    """The remaining time in words, such as ``about 40 s left``; empty for None.

    >>> time_left_text(41.7), time_left_text(200.0), time_left_text(None)
    ('about 42 s left', 'about 4 min left', '')
    """
    if seconds is None:
        return ""
    if seconds < 100:
        return f"about {max(1, round(seconds))} s left"
    return f"about {-(-int(seconds) // 60)} min left"
