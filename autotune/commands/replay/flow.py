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
from autotune.measuring.candidates.base import Measurer
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search of a recorded space evaluated, in order, and what was measured of it."""

    steps: tuple[Step, ...]
    stopped: str
    """Why it ended."""
    measurements: tuple[Measurement, ...]


def replay_plan(budget: int, seed: int, measuring: Measuring = _MEASURING) -> TuningPlan:
    """One candidate at a time, as many as ``budget``."""
    return TuningPlan(measuring=measuring, seed=seed, evaluations=budget, batch=1)


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
    plan = replay_plan(budget, seed)
    searched = run(recorded, points, search, recorded.measurer(), plan, progress)
    return Replay(
        space=space,
        sampler=sampler,
        seed=seed,
        steps=searched.steps,
        stopped=searched.stopped,
        predicted=not np.isnan(space.predicted).all(),
    )


def run(
    recorded: RecordedCandidates,
    points: Points,
    search: Searcher,
    measurer: Measurer,
    plan: TuningPlan,
    progress: Progress,
) -> Searched:
    """Tune a recorded space.

    ``points``: the candidates as ``search`` sees them. First candidates, repeated launches and the
    exchange with the search work as in a real study. ``measurer``: gives the recorded times.
    """
    ranking = recorded.ranking(points.predicted)
    prior = np.full(len(points), math.nan) if points.prior is None else points.prior
    prior_of = zip(recorded.identities, prior.tolist(), strict=True)
    first = first_candidates(
        ranking,
        Selection(seed=plan.seed, baseline=False),
        budget=plan.evaluations,
        baseline=None,
        prior={identity: seconds for identity, seconds in prior_of if not math.isnan(seconds)},
    )
    journal = _Evaluations(recorded, plan.evaluations or len(points), progress)
    bench = Bench(measurer=measurer, journal=journal, progress=_unseen)
    task = Task(ranking=ranking, first=tuple(first), baseline="")
    study = StudySearch(recorded.candidates, points, search)
    (ended,) = tune_problems([task], study, bench, plan)
    return Searched(
        steps=tuple(journal.steps),
        stopped=ended.why,
        measurements=tuple(journal.measured.values()),
    )


@dataclass(slots=True)
class _Evaluations:
    """A journal of a run that lists the candidates in the order in which they were chosen."""

    recorded: RecordedCandidates
    budget: int
    progress: Progress
    steps: list[Step] = field(default_factory=list)
    measured: dict[str, Measurement] = field(default_factory=dict)
    """By candidate, its last outcome."""
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
        """Ignored; replayed candidates are not built."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Ignored; the outcome holds all samples."""

    def outcome(
        self,
        measurement: Measurement,
        checksum: tuple[float, float] | None,  # noqa: ARG002 - recorded candidates have none
    ) -> None:
        """Keep the measurement, in place of an earlier one of the candidate."""
        self.measured[measurement.candidate] = measurement


def _unseen(stage: str, done: int, total: int, detail: str = "") -> None:
    """A progress that shows nothing, because the stages of a replayed launch take no time."""
