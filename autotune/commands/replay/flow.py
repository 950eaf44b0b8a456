"""Searching a recorded space with the loop of ``autotune tune`` and recorded times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autotune.commands.replay.recorded_candidates import RecordedCandidates, candidates_of
from autotune.domain.results import Measurement, Prepared, Sample
from autotune.domain.setup import Measuring, Sampler, Searching, Selection
from autotune.domain.variant import Candidate
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.files.recorded.replayed import Replay, Step
from autotune.progress import Progress
from autotune.tuning import Bench, Chosen, Task, TuningPlan, tune_problems
from autotune.tuning.first_candidates import first_candidates
from autotune.tuning.search.base import Searcher
from autotune.tuning.search.points import Points
from autotune.tuning.search.search_choice import searcher
from autotune.tuning.study_search import StudySearch

BUDGET = 200
"""Evaluations where none are stated."""
_MEASURING = Measuring(rounds=1, samples=1)
"""A recorded time is the same at each launch: one round says all."""


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
    """Search a recorded space, with its predictions if it has any, until the search ends."""
    recorded = candidates_of(space)
    points = recorded.points(space.predicted)
    search = searcher(points, Searching(sampler=sampler), seed)
    steps, stopped = run(recorded, points, search, budget=budget, seed=seed, progress=progress)
    return Replay(
        space=space,
        sampler=sampler,
        seed=seed,
        steps=tuple(steps),
        stopped=stopped,
        predicted=not np.isnan(space.predicted).all(),
    )


def run(
    recorded: RecordedCandidates,
    points: Points,
    search: Searcher,
    *,
    budget: int,
    seed: int,
    progress: Progress,
) -> tuple[list[Step], str]:
    """Tune a recorded space, one candidate at a time; its evaluations, and why the search ended.

    ``points``: the candidates as ``search`` sees them. First candidates, repeated launches and the
    exchange with the search work as in a real study.
    """
    ranking = recorded.ranking(points.predicted)
    prior = np.full(len(points), math.nan) if points.prior is None else points.prior
    prior_of = zip(recorded.identities, prior.tolist(), strict=True)
    first = first_candidates(
        ranking,
        Selection(seed=seed, baseline=False),
        budget=budget,
        baseline=None,
        prior={identity: seconds for identity, seconds in prior_of if not math.isnan(seconds)},
    )
    journal = _Evaluations(recorded, budget, progress)
    bench = Bench(measurer=recorded.measurer(), journal=journal, progress=_unseen)
    plan = TuningPlan(measuring=_MEASURING, seed=seed, evaluations=budget, batch=1)
    task = Task(ranking=ranking, first=tuple(first), baseline="")
    study = StudySearch(recorded.candidates, points, search)
    (ended,) = tune_problems([task], study, bench, plan)
    return journal.steps, ended.why


@dataclass(slots=True)
class _Evaluations:
    """A journal of a run that lists the candidates in the order in which they were chosen."""

    recorded: RecordedCandidates
    budget: int
    progress: Progress
    steps: list[Step] = field(default_factory=list)
    _rows: dict[str, int] = field(init=False)
    _best: float | None = None

    def __post_init__(self) -> None:
        self._rows = {identity: row for row, identity in enumerate(self.recorded.identities)}

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Add an evaluation for each chosen candidate."""
        space = self.recorded.space
        for choice in choices:
            row = self._rows[choice.candidate.identity]
            seconds = float(space.seconds[row]) if space.statuses[row] == "ok" else None
            if seconds is not None:
                self._best = seconds if self._best is None else min(self._best, seconds)
            self.steps.append(
                Step(
                    row=row,
                    why=choice.why,
                    status=space.statuses[row],
                    seconds=seconds,
                    best=self._best,
                )
            )
        self.progress("search", len(self.steps), self.budget, self._above())

    def _above(self) -> str:
        if self._best is None:
            return ""
        return f"best so far {self._best / self.recorded.space.best - 1:.1%} above the recorded one"

    def prepared(self, prepared: Prepared) -> None:
        """Ignored; only choices are listed."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Ignored; only choices are listed."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Ignored; only choices are listed."""


def _unseen(stage: str, done: int, total: int, detail: str = "") -> None:
    """A progress that shows nothing, because the stages of a replayed launch take no time."""
