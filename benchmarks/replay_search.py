"""Our search of a recorded space in the loop of the tuner, ended by the benchmark alone."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from replay_score import NEVER

from autotune.commands.replay.flow import run
from autotune.commands.replay.recorded_candidates import RecordedCandidates
from autotune.tuning.search.base import Searcher, SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.points import Points


@dataclass
class UntilNear:
    """A search that goes on, whatever it says itself, until one of some rows has a result."""

    search: Searcher
    near: NDArray[np.bool_]
    """(n,) the rows that end it."""
    rows: set[int] = field(default_factory=set)
    """Those that have a result."""
    stop: float = NEVER
    """The number of results with which the search would have ended by itself."""

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        return self.search.ask(group, count)

    def tell(self, result: SearchResult) -> None:
        self.rows.add(result.index)
        self.search.tell(result)

    def claim(self, index: int) -> None:
        self.search.claim(index)

    def release(self, index: int) -> None:
        self.rows.add(index)
        self.search.release(index)

    def finished(self, group: int) -> str | None:
        if self.stop == NEVER and self.search.finished(group):
            self.stop = len(self.rows)
        return "near the best" if self.near[sorted(self.rows)].any() else None

    def forecast(self, group: int) -> SearchForecast:
        return self.search.forecast(group)


def evaluated(
    recorded: RecordedCandidates,
    points: Points,
    search: Searcher,
    *,
    near: NDArray[np.bool_],
    budget: int,
    seed: int,
) -> tuple[list[int], float]:
    """The rows that a search evaluates until it is near, and when it would have stopped."""
    until = UntilNear(search, near)
    steps, _ = run(recorded, points, until, budget=budget, seed=seed, progress=_unseen)
    return [step.row for step in steps], until.stop


def _unseen(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nobody watches."""
