"""The search of a study: over the enumerated candidates of its problems, mirrored in Optuna.

The candidates are legal and known, so nothing is sampled from a Cartesian product: each trial is
one of them, chosen as a whole by a sampler of ours. The results store is the truth: the search is
told of what is in it, and never reads the mirror, which shows a study to whatever speaks Optuna.
"""

import json
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from autotune.domain.results import Measurement, Prediction
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate
from autotune.files.store.records import labels
from autotune.files.store.store_rows import problem_facts
from autotune.measuring.candidates.resource_use import ENERGY, MEMORY
from autotune.statistics.estimators import location
from autotune.tuning.search.base import Forecast, Searcher, Suggestion, Told
from autotune.tuning.search.optuna_sampler import CandidateSampler
from autotune.tuning.search.points import Floats, Points, Setting
from autotune.tuning.search.search_choice import searcher

_UNWRITABLE = (OSError, json.JSONDecodeError, RuntimeError)
"""What a journal raises that is full, out of reach, or torn; and whose lock is gone or cannot be
made."""
_GRACE = 5
"""Seconds after which the lock of a journal is taken from a writer that died."""
_FOREIGN = 0.1
"""Noise of a time from elsewhere where it is not stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What another machine or compiler is known to take for a candidate: a hint, no result."""

    candidate: Candidate
    seconds: float
    sigma: float = _FOREIGN
    """Standard deviation of the logarithm of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate to be measured next, and why."""

    candidate: Candidate
    why: str
    expected_improvement: float
    """Relative to the best of its problem; nan where it does not come from a posterior."""
    posterior: float | None
    """Expected seconds of a time step; None where the search has no expectation."""


class Trials:
    """Says which candidate is measured next, and is told what became of it.

    Problems are numbered in the order in which they first appear among the candidates. ``storage``
    is the path of a journal file of Optuna with a study for each problem, ``NAME/LABEL``; None
    keeps the studies in memory. A file that cannot be written, from the start or later, ends the
    mirroring and not the search: ``fault`` then says why.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        predictions: Sequence[Prediction],
        *,
        settings: Searching,
        first: Sequence[str] = (),
        known: Sequence[Known] = (),
        prior: Mapping[str, float] | None = None,
        storage: str | None = None,
        name: str = "autotune",
        seed: int = 1,
    ) -> None:
        """``predictions``: in the order of the candidates. ``first``: identities that come first.
        ``known``: of the candidates, from elsewhere. ``prior``: identity to what a model of another
        study expects, in any unit.

        ValueError when an identity is not among the candidates, or the lengths differ.
        """
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.candidates = tuple(candidates)
        self.problems = list(dict.fromkeys(c.problem.key for c in candidates))
        """The keys of the problems, by number."""
        self.points = replace(
            points_of(candidates, predictions), prior=_expected(candidates, prior or {})
        )
        self.fault = ""
        self._objectives = settings.objectives
        self._rows = {c.identity: row for row, c in enumerate(candidates)}
        named = [*first, *(hint.candidate.identity for hint in known)]
        unknown = [identity for identity in named if identity not in self._rows]
        if unknown:
            raise ValueError(f"{unknown[0]} is not among the {len(candidates)} candidates")
        self._search: Searcher = searcher(
            self.points, settings, seed, [self._rows[identity] for identity in first]
        )
        self._hint(known)
        self._name, self._storage = name, storage
        members = [self.points.members(group) for group in range(len(self.problems))]
        self._labels = labels([problem_facts(candidates[m[0]].problem) for m in members])
        self._samplers = [
            CandidateSampler(self._search, self.points, group, settings.objectives, reads=False)
            for group in range(len(self.problems))
        ]
        self._studies = [self._study(group) for group in range(len(self.problems))]
        self._open: dict[int, Trial] = {}
        self._mirrored: set[int] = set()

    # --- the search -------------------------------------------------------------------------

    def ask(self, problem: int, count: int = 1) -> list[Proposal]:
        """Up to ``count`` candidates of a problem, none twice; empty when none is left."""
        found: list[Proposal] = []
        while len(found) < count and (suggestion := self._ask(problem)) is not None:
            found.append(
                Proposal(
                    candidate=self.candidates[suggestion.index],
                    why=suggestion.why,
                    expected_improvement=suggestion.expected_improvement,
                    posterior=suggestion.predicted,
                )
            )
        return found

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """What became of a candidate, asked for or not; ``sigma``: of the log of its time.

        None, and a candidate that was disturbed: it has no result, which is not a failure. The
        search takes in what is told later of the same candidate, the mirror keeps the first.
        """
        row = self._rows[candidate.identity]
        told = self._told(row, measurement, sigma)
        if told is None:
            self._search.release(row)
        else:
            self._search.tell(told)
        status = measurement.status if measurement else "not run"
        self._mirror(row, told, status)

    def finished(self, problem: int) -> str | None:
        """Why the search of a problem is over; None while it is worth going on."""
        return self._search.finished(problem)

    def forecast(self, problem: int) -> Forecast:
        """What is expected of every candidate of a problem; indices into ``candidates``."""
        return self._search.forecast(problem)

    def _told(self, row: int, measurement: Measurement | None, sigma: float) -> Told | None:
        if measurement is None or measurement.status == "contended":
            return None
        if measurement.status != "ok":
            return Told(index=row, seconds=None)
        return Told(
            index=row,
            seconds=location([sample.seconds for sample in measurement.accepted]),
            sigma=sigma,
            objectives=objectives(measurement, self._objectives[1:]),
        )

    def _hint(self, known: Sequence[Known]) -> None:
        """Tell what other machines and compilers took."""
        for hint in known:
            row = self._rows[hint.candidate.identity]
            told = Told(index=row, seconds=hint.seconds, sigma=hint.sigma, prior=True)
            self._search.tell(told)

    # --- the mirror -------------------------------------------------------------------------

    @property
    def studies(self) -> tuple[optuna.Study, ...]:
        """The studies of the problems, in order."""
        return tuple(self._studies)

    def _study(self, group: int) -> optuna.Study:
        directions = [StudyDirection.MINIMIZE] * len(self._objectives)
        sampler = self._samplers[group]
        if self._storage is None:
            return optuna.create_study(directions=directions, sampler=sampler)
        name = f"{self._name}/{self._labels[group]}"
        try:
            lock = JournalFileSymlinkLock(self._storage, grace_period=_GRACE)
            backend = JournalFileBackend(self._storage, lock_obj=lock)
            study = optuna.create_study(
                storage=JournalStorage(backend),
                study_name=name,
                directions=directions,
                sampler=sampler,
                load_if_exists=True,
            )
            if len(study.directions) != len(directions):
                raise ValueError(f"study {name} there has {len(study.directions)} objectives")
            study.set_user_attr("objectives", list(self._objectives))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                study.set_metric_names(list(self._objectives))
        except (*_UNWRITABLE, ValueError) as error:
            return self._without(group, error)
        return study

    def _without(self, group: int, error: Exception) -> optuna.Study:
        """Go on in memory: the mirror is a convenience, the search is not."""
        self.fault = self.fault or f"the Optuna journal {self._storage} is not kept: {error}"
        self._storage = None
        return self._study(group)

    def _ask(self, problem: int) -> Suggestion | None:
        found = self._search.ask(problem, 1)
        if not found:
            return None
        self._samplers[problem].offer(found[0])
        try:
            trial = self._studies[problem].ask(dict(self._samplers[problem].domains))
            self._open[found[0].index] = trial
            self._describe(trial, found[0])
        except _UNWRITABLE as error:
            self._studies[problem] = self._without(problem, error)
        return found[0]

    def _describe(self, trial: Trial, suggestion: Suggestion) -> None:
        attributes = self._attributes(suggestion.index) | {"why": suggestion.why}
        if not math.isnan(suggestion.expected_improvement):
            attributes["expected_improvement"] = suggestion.expected_improvement
        if suggestion.predicted is not None:
            attributes["expected_s"] = suggestion.predicted
        for name, value in attributes.items():
            trial.set_user_attr(name, value)

    def _attributes(self, row: int) -> dict[str, str | float]:
        attributes: dict[str, str | float] = {"candidate": self.candidates[row].id}
        predicted = float(self.points.predicted[row])
        if not math.isnan(predicted):
            attributes["predicted_s"] = predicted
        return attributes

    def _mirror(self, row: int, told: Told | None, status: str) -> None:
        if row in self._mirrored:
            return
        group = int(self.points.group[row])
        try:
            self._finish(self._studies[group], row, told, status)
        except _UNWRITABLE as error:
            self._studies[group] = self._without(group, error)
        self._mirrored.add(row)

    def _finish(self, study: optuna.Study, row: int, told: Told | None, status: str) -> None:
        values = self._values(told)
        state = TrialState.FAIL if values is None else TrialState.COMPLETE
        trial = self._open.pop(row, None)
        if trial is not None:
            trial.set_user_attr("status", status)
            study.tell(trial, values, state=state)
        elif not any(_is(known, self.candidates[row]) for known in study.get_trials(False)):
            study.add_trial(
                create_trial(
                    state=state,
                    values=values,
                    params=dict(zip(self.points.names, self.points.rows[row], strict=True)),
                    distributions=dict(self._samplers[int(self.points.group[row])].domains),
                    user_attrs={**self._attributes(row), "status": status},
                )
            )

    def _values(self, told: Told | None) -> list[float] | None:
        if told is None or told.seconds is None:
            return None
        named = {self._objectives[0]: told.seconds, **told.objectives}
        found = [named.get(name, math.nan) for name in self._objectives]
        return None if any(math.isnan(value) for value in found) else found


def _is(trial: FrozenTrial, candidate: Candidate) -> bool:
    return trial.state.is_finished() and trial.user_attrs.get("candidate") == candidate.id


def objectives(measurement: Measurement, names: Sequence[str]) -> dict[str, float]:
    """Energy (median over the samples) and memory (the largest), as far as they were read."""
    found: dict[str, float] = {}
    for name in names:
        key = {"energy": ENERGY, "memory": MEMORY}.get(name, name)
        read = [sample.conditions.get(key) for sample in measurement.accepted]
        values = [float(value) for value in read if isinstance(value, int | float) and value > 0]
        if values:
            found[name] = max(values) if name == "memory" else float(np.median(values))
    return found


def points_of(candidates: Sequence[Candidate], predictions: Sequence[Prediction]) -> Points:
    """Candidates as the search sees them; size and problem are parameters, so that all learn."""
    rows = [parameters(candidate) for candidate in candidates]
    names = list(dict.fromkeys(name for row in rows for name in row))
    keys = {
        key: number for number, key in enumerate(dict.fromkeys(c.problem.key for c in candidates))
    }
    groups = np.array([keys[c.problem.key] for c in candidates], dtype=np.intp)
    table = [tuple(row.get(name) for name in names) for row in rows]
    met: Counter[tuple[object, ...]] = Counter()
    twins = []
    for values, group in zip(table, groups.tolist(), strict=True):
        twins.append(met[group, values])
        met[group, values] += 1
    if any(twins):  # alike in all parameters, yet not the same
        names.append("twin")
        table = [(*values, twin) for values, twin in zip(table, twins, strict=True)]
    told = [prediction.uncertainty for prediction in predictions]
    return Points(
        names=tuple(names),
        rows=tuple(table),
        predicted=np.array([p.seconds or math.nan for p in predictions], dtype=np.float64),
        sigma=np.array([known.sigma if known else math.nan for known in told], dtype=np.float64),
        group=groups,
    )


def _expected(candidates: Sequence[Candidate], prior: Mapping[str, float]) -> Floats | None:
    """(n,) what a prior expects, nan where it says nothing; None where there is no prior."""
    if not prior:
        return None
    return np.array([prior.get(c.identity, math.nan) for c in candidates], dtype=np.float64)


def parameters(candidate: Candidate) -> Mapping[str, Setting]:
    """What tells a candidate from others: its variant, its build, how it runs, the problem."""
    problem = candidate.problem
    return {
        **candidate.variant.parameters,
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        "threads": candidate.threads,
        "ranks": candidate.ranks,
        "nodes": candidate.nodes,
        "communication": candidate.communication,
        "placement": candidate.placement,
        "problem": problem.definition,
        "size": problem.n,
    }
