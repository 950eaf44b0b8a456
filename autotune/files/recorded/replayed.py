"""A finished search of a recorded space: its steps, and how soon it came near the best."""

import math
from dataclasses import dataclass

from autotune.domain.results import Status
from autotune.files.recorded.recorded_space import RecordedSpace

SHARES = (0.05, 0.01)
"""How near to the recorded best a search is to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One evaluation of a search: the candidate, why it was chosen, its time, and the best time so
    far.
    """

    row: int
    why: str
    status: Status
    seconds: float | None
    best: float | None
    """None as long as everything failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A finished search of a recorded space, with all its evaluations."""

    space: RecordedSpace
    sampler: str
    seed: int
    steps: tuple[Step, ...]
    stopped: str
    """Why it ended."""
    predicted: bool
    """The file holds predictions, and the search used them."""

    def reached(self, share: float) -> int | None:
        """The number of evaluations until one was within ``share`` of the recorded best; None where
        none was.
        """
        near = self.space.within(share)
        return next((n for n, step in enumerate(self.steps, 1) if near[step.row]), None)

    @property
    def best(self) -> Step | None:
        """The evaluation with the smallest time; None where all failed."""
        good = [step for step in self.steps if step.seconds is not None]
        return min(good, key=lambda step: step.seconds or math.inf) if good else None
