"""Searching a recorded space of this host as `autotune tune` does, with its real predictions.

The candidates are the real ones with the predictions that the engine makes now, their uncertainty
among it; a launch gives the recorded time. So the baseline comes first, as in a real study.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from host_record import Recording, recording
from host_spaces import HostSpace

from autotune.commands.learn.study_tables import study_table
from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.tune.initial_candidates import baseline, tasks
from autotune.commands.tune.study_prior import PriorStudy
from autotune.commands.tune.tune_options import StudyOptions
from autotune.domain.ranking import rank
from autotune.domain.results import Measurement, Prepared, Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate
from autotune.files.store import Store
from autotune.measuring.candidates import replay_measurer
from autotune.progress import silent
from autotune.tuning import Bench, Chosen, TuningPlan, tune_problems
from autotune.tuning.study_search import study_search

ENGINE, COLD, ORDER, RANDOM = "engine", "cold", "order", "random"
MODELS = (ENGINE, COLD, ORDER, RANDOM)
_ONCE = Measuring(rounds=1, samples=1)
"""A recorded time is the same at each launch."""


@dataclass(frozen=True, slots=True)
class RecordedHost:
    """A space of this host with its predictions and its recorded times."""

    space: HostSpace
    ranked: RankedSpace
    recording: Recording

    @classmethod
    def read(cls, space: HostSpace, folder: Path) -> "RecordedHost | None":
        """The recorded space of a folder; None where it was not recorded."""
        path = Path(space.store(folder))
        if not path.exists():
            return None
        with Store.open(str(path), create=False) as results:
            name = results.latest_study(space.study)
            record = results.load_study(name) if name else None
        if record is None:
            return None
        ranked = rank_space(space.workload(folder), silent)
        return cls(space, ranked, recording(record))

    @property
    def predicted(self) -> bool:
        """Whether an engine predicts its candidates."""
        return any(e.prediction.seconds for e in self.ranked.rankings[0].entries)

    @property
    def safe(self) -> str:
        """The identity of the baseline."""
        return baseline(self.ranked, self.ranked.rankings[0]).identity

    def evaluated(
        self, model: str, seed: int, budget: int, prior: Mapping[str, float] | None = None
    ) -> list[str]:
        """The candidates in the order of their evaluation, the baseline first.

        ``model``: one of ``MODELS``. ``order`` and ``random`` have no baseline.
        """
        names = [e.candidate.identity for e in self.ranked.rankings[0].entries]
        if model == ORDER:
            return names[:budget]
        if model == RANDOM:
            return [names[k] for k in np.random.default_rng(seed).permutation(len(names))[:budget]]
        return self._searched(_at(self.ranked, seed, cold=model == COLD), seed, budget, prior or {})

    def _searched(
        self, ranked: RankedSpace, seed: int, budget: int, prior: Mapping[str, float]
    ) -> list[str]:
        entries = ranked.rankings[0].entries
        search = study_search(
            [entry.candidate for entry in entries],
            [entry.prediction for entry in entries],
            settings=ranked.setup.search,
            first=[self.safe],
            prior=prior,
            seed=seed,
        )
        options = StudyOptions(budget_evaluations=budget)
        journal = _Order()
        bench = Bench(measurer=self._measurer(), journal=journal, progress=silent)
        plan = TuningPlan(measuring=_ONCE, seed=seed, evaluations=budget, batch=1)
        tune_problems(tasks(ranked, options, [], {}, "", prior), search, bench, plan)
        return journal.identities

    def _measurer(self) -> replay_measurer.ReplayMeasurer:
        times, failed = self.recording.seconds, self.recording.failed
        recordings = {i: replay_measurer.Recording(launches=((s,),)) for i, s in times.items()} | {
            i: replay_measurer.Recording(launches=((),), status=status)
            for i, status in failed.items()
        }
        return replay_measurer.ReplayMeasurer(recordings)

    def prior(self, study: str, store: str, seed: int) -> Mapping[str, float]:
        """What a model of another study expects of the candidates, as ``tune --prior`` has it."""
        with Store.open(store, create=False) as results:
            table = study_table(results.load_study(study)).table
        entries = self.ranked.rankings[0].entries
        candidates = [entry.candidate for entry in entries]
        predictions = [entry.prediction for entry in entries]
        return PriorStudy(name=study, table=table).prior(candidates, predictions, seed).seconds

    def losses(self, order: Sequence[str], safe: bool = True) -> list[float]:
        """The loss of the best so far after each evaluation; the baseline may be left out."""
        counted = [i for i in order if safe or i != self.safe]
        return so_far([self.recording.loss(identity) for identity in counted])


def so_far(losses: Sequence[float]) -> list[float]:
    """The smallest value up to each place.

    >>> so_far([0.3, 0.5, 0.1])
    [0.3, 0.3, 0.1]
    """
    return [float(x) for x in np.minimum.accumulate(losses)] if losses else []


def evaluations_to(losses: Sequence[float], goal: float) -> float:
    """After how many evaluations a loss is reached; infinite if it is not.

    >>> evaluations_to([0.3, 0.02, 0.0], 0.05)
    2.0
    """
    return next((float(n) for n, loss in enumerate(losses, 1) if loss <= goal), math.inf)


def reaches(loss: float, share: float) -> bool:
    """Whether a candidate of this loss has so large a share of the speed of the best.

    >>> reaches(0.11, 0.9), reaches(0.12, 0.9)
    (True, False)
    """
    return 1 / (1 + loss) >= share


def _at(ranked: RankedSpace, seed: int, *, cold: bool) -> RankedSpace:
    """The ranked space with another seed, and without predictions."""
    setup = ranked.setup
    setup = replace(setup, selection=replace(setup.selection, seed=seed))
    ranked = replace(ranked, workload=ranked.workload.at(setup))
    if not cold:
        return ranked
    entries = sorted(ranked.rankings[0].entries, key=lambda entry: entry.candidate.identity)
    nothing = [
        replace(e.prediction, seconds=None, interval=None, uncertainty=None, parts=())
        for e in entries
    ]
    return replace(ranked, rankings=tuple(rank([e.candidate for e in entries], nothing)))


@dataclass(slots=True)
class _Order:
    """A journal that lists candidates in the order of their evaluation."""

    identities: list[str] = field(default_factory=list)

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Add candidates that were not chosen before."""
        for choice in choices:
            if choice.candidate.identity not in self.identities:
                self.identities.append(choice.candidate.identity)

    def prepared(self, prepared: Prepared) -> None:
        """Ignored."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Ignored."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Ignored."""
