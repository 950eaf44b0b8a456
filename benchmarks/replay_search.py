"""Our search of a recorded space in the loop of the tuner, ended by the benchmark alone."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from replay_score import NEVER

from autotune.commands.replay.flow import Searched, run
from autotune.commands.replay.recorded_candidates import RecordedCandidates
from autotune.measuring.candidates.base import Measurer
from autotune.results.evaluate.comparable import comparable_measurements
from autotune.tuning import TuningPlan
from autotune.tuning.search.base import Searcher, SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.points import Points


@dataclass
class UntilNear:
    """A search that goes on, whatever it says itself, until one of some rows has a result."""

    search: Searcher
    near: NDArray[np.bool_]
    """(n,) the rows that end it."""
    least: int = 0
    """So many results are wanted in any case."""
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
        enough = len(self.rows) >= self.least and self.near[sorted(self.rows)].any()
        return "near the best" if enough else None

    def forecast(self, group: int) -> SearchForecast:
        return self.search.forecast(group)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What our search evaluated of a recorded space."""

    order: list[int]
    """The rows, in order."""
    stop: float = NEVER
    """After how many evaluations it would have ended by itself."""
    best: int | None = None
    """The row that it calls the fastest; None where all failed."""
    launches: int = 0


def evaluated(
    recorded: RecordedCandidates,
    points: Points,
    search: UntilNear,
    measurer: Measurer,
    plan: TuningPlan,
) -> Evaluated:
    """The rows that a search evaluates until it is near."""
    searched = run(recorded, points, search, measurer, plan, _unseen)
    return Evaluated(
        order=[step.row for step in searched.steps],
        stop=search.stop,
        best=_best(recorded, searched),
        launches=sum(
            len({sample.round for sample in m.samples}) or 1 for m in searched.measurements
        ),
    )


def _best(recorded: RecordedCandidates, searched: Searched) -> int | None:
    """The row of the candidate that a study would report as the fastest."""
    comparable = comparable_measurements("", searched.measurements)
    return None if comparable is None else recorded.identities.index(comparable.least_regret)


def _unseen(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nobody watches."""
