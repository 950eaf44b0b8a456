"""Searching a recorded space: what the search would have measured, and how soon it got there."""

from pathlib import Path

import numpy as np

from autotune.domain.setup import Sampler, Searching
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.files.recorded.replayed import Replay, Step
from autotune.progress import Progress
from autotune.tuning.search.base import Searcher, Told
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.search_choice import searcher

BUDGET = 200
"""Evaluations where none are stated."""


def replay_file(
    path: Path, *, sampler: Sampler, budget: int | None, seed: int, progress: Progress
) -> Replay:
    """Search the recorded space of a file. InputError where it cannot be read."""
    progress("read recorded space", 0, 1)
    space = read(path)
    progress("read recorded space", 1, 1)
    return replay(space, sampler=sampler, budget=budget or BUDGET, seed=seed, progress=progress)


def replay(
    space: RecordedSpace, *, sampler: Sampler, budget: int, seed: int, progress: Progress
) -> Replay:
    """Search a recorded space with its predictions, where it has any, until it is over."""
    settings = Searching(sampler=sampler)
    search = searcher(points_of(space, space.predicted), settings, seed)
    steps, stopped = run(space, search, budget, progress)
    return Replay(
        space=space,
        sampler=sampler,
        seed=seed,
        steps=tuple(steps),
        stopped=stopped,
        predicted=not np.isnan(space.predicted).all(),
    )


def points_of(space: RecordedSpace, predicted: Floats | None = None) -> Points:
    """The candidates of a recorded space as a search sees them."""
    return points(space.names, space.rows, predicted=predicted)


def run(
    space: RecordedSpace, search: Searcher, budget: int, progress: Progress
) -> tuple[list[Step], str]:
    """Ask and tell, one candidate at a time, with the recorded times; and why that ended."""
    steps: list[Step] = []
    best: float | None = None
    while len(steps) < budget:
        over = search.finished(0)
        if over:
            return steps, over
        asked = search.ask(0, 1)
        if not asked:
            return steps, "every candidate was measured"
        row = asked[0].index
        seconds = float(space.seconds[row]) if space.statuses[row] == "ok" else None
        search.tell(Told(index=row, seconds=seconds))
        if seconds is not None:
            best = seconds if best is None else min(best, seconds)
        steps.append(
            Step(
                row=row,
                why=asked[0].why,
                status=space.statuses[row],
                seconds=seconds,
                best=best,
            )
        )
        progress("search", len(steps), budget, _told(space, best))
    return steps, f"the budget of {budget} evaluations is used"


def _told(space: RecordedSpace, best: float | None) -> str:
    return "" if best is None else f"best so far {best / space.best - 1:.1%} above the recorded one"
