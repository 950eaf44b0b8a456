"""The search of a study over the listed candidates of its problems, each chosen as a whole.

The candidates are legal and listed, so nothing is sampled from a Cartesian product. The results
store is the truth, and the search learns its contents.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from autotune.domain.metric import positive_cost
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.results import Measurement, Prediction
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate
from autotune.measuring.conditions.resource_use import ENERGY, MEMORY
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import Proposal
from autotune.tuning.search.base import Searcher, SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Floats, Points, Setting
from autotune.tuning.search.search_choice import searcher

_FOREIGN = 0.1
"""Noise of a time from elsewhere where it is not stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """The time of a candidate on another machine or with another compiler; it is not a result."""

    candidate: Candidate
    seconds: float
    sigma: float = _FOREIGN
    """Standard deviation of the logarithm of the time."""


class Mirror(Protocol):
    """Receives a search's proposals and outcomes while it runs, to show them elsewhere."""

    @property
    def fault(self) -> str:
        """Why the mirroring has ended; empty while it goes on."""

    def propose(self, suggestion: Suggestion) -> None:
        """Record that a candidate is going to be measured."""

    def end(self, row: int, outcome: SearchResult | None, status: str) -> None:
        """Record the outcome of a candidate; None if it has no result."""


class StudySearch:
    """Proposes the candidates of a study to measure next, and learns from their results.

    Problems are numbered in the order in which they first appear among the candidates.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        points: Points,
        search: Searcher,
        *,
        objectives: Sequence[str] = ("time",),
        mirror: Mirror | None = None,
    ) -> None:
        """Set up the search; ``points``: the candidates as ``search`` sees them, in the same
        order.
        """
        self.candidates = tuple(candidates)
        self.points = points
        self.mirror = mirror
        self._search = search
        self._objectives = tuple(objectives)
        self._rows = {c.identity: row for row, c in enumerate(candidates)}
        self._times: dict[str, tuple[Measurement, float]] = {}
        """By identity the measurement that was reported last, and its time."""

    @property
    def fault(self) -> str:
        """Why the mirroring has ended; empty while it goes on, or without a mirror."""
        return self.mirror.fault if self.mirror else ""

    def ask(self, problem: int, count: int = 1) -> list[Proposal]:
        """At most ``count`` candidates of a problem, none twice; empty if none remains."""
        proposals: list[Proposal] = []
        while len(proposals) < count and (suggested := self._search.ask(problem, 1)):
            (suggestion,) = suggested
            if self.mirror:
                self.mirror.propose(suggestion)
            proposals.append(
                Proposal(
                    candidate=self.candidates[suggestion.index],
                    why=suggestion.why,
                    expected_improvement=suggestion.expected_improvement,
                    posterior=suggestion.predicted,
                    promise=suggestion.promise,
                )
            )
        return proposals

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """Add the result of a candidate, proposed or not; ``sigma``: of the logarithm of its time.

        None, or a disturbed candidate, means no result, which is not a failure. In the search a
        later result of a candidate replaces an earlier one; the mirror keeps the first.
        """
        row = self._rows[candidate.identity]
        outcome = self._outcome(row, measurement, sigma)
        if outcome is None:
            self._search.release(row)
        else:
            self._search.tell(outcome)
        if self.mirror:
            self.mirror.end(row, outcome, measurement.status if measurement else "not run")

    def claim(self, candidate: Candidate) -> None:
        """Note that a candidate is being measured, so that it is not proposed."""
        self._search.claim(self._rows[candidate.identity])

    def follow(self, other: "StudySearch") -> None:
        """Go on where a search of the same kind over other candidates has ended."""
        self._times = other._times
        if isinstance(self._search, ModelSearch) and isinstance(other._search, ModelSearch):
            self._search.follow(other._search)

    def finished(self, problem: int) -> str | None:
        """Why the search of a problem has ended; None while it is worth continuing."""
        return self._search.finished(problem)

    def forecast(self, problem: int) -> SearchForecast:
        """Expected times of all candidates of a problem, with indices into ``candidates``."""
        return self._search.forecast(problem)

    def _outcome(
        self, row: int, measurement: Measurement | None, sigma: float
    ) -> SearchResult | None:
        if measurement is None or measurement.status == "contended":
            return None
        if measurement.status != "ok":
            return SearchResult(index=row, seconds=None)
        return SearchResult(
            index=row,
            seconds=self._time(measurement),
            sigma=sigma,
            objectives=objectives(
                measurement, self._objectives[1:], self.candidates[row].problem.facts()
            ),
        )

    def _time(self, measurement: Measurement) -> float:
        """The time of a measurement, computed once though pools that move are told it often."""
        before = self._times.get(measurement.candidate)
        if before is None or before[0] is not measurement:
            before = self._times[measurement.candidate] = (
                measurement,
                time_of(measurement.samples),
            )
        return before[1]


class MirrorFile(NamedTuple):
    """An Optuna journal file that mirrors a search, and the name of the study in it."""

    path: str
    study: str = "autotune"


def study_search(
    candidates: Sequence[Candidate],
    predictions: Sequence[Prediction],
    *,
    settings: Searching,
    first: Sequence[str] = (),
    hints: Sequence[Hint] = (),
    prior: Mapping[str, float] | None = None,
    mirror_file: MirrorFile | None = None,
    seed: int = 1,
) -> StudySearch:
    """The search over the candidates of all problems of a study.

    ``predictions``: in the order of the candidates. ``first``: identities that come first.
    ``prior``: expected time by identity from a model of another study, in any unit.
    ``mirror_file``: the file for Optuna's view of the search; None: no mirror.

    ValueError if an identity is not among the candidates, or the lengths differ.
    """
    points = points_of(candidates, predictions, prior or {})
    rows = {c.identity: row for row, c in enumerate(candidates)}
    named = [*first, *(hint.candidate.identity for hint in hints)]
    unknown = [identity for identity in named if identity not in rows]
    if unknown:
        raise ValueError(f"{unknown[0]} is not among the {len(candidates)} candidates")
    search = searcher(points, settings, seed, [rows[identity] for identity in first])
    for hint in hints:
        row = rows[hint.candidate.identity]
        search.tell(SearchResult(index=row, seconds=hint.seconds, sigma=hint.sigma, prior=True))
    mirror = None
    if mirror_file is not None:
        from autotune.tuning.optuna_mirror import OptunaMirror  # noqa: PLC0415 - optuna is heavy

        mirror = OptunaMirror(
            candidates,
            points,
            settings.objectives,
            storage=mirror_file.path,
            name=mirror_file.study,
        )
    return StudySearch(candidates, points, search, objectives=settings.objectives, mirror=mirror)


def objectives(
    measurement: Measurement, names: Sequence[str], facts: ProblemFacts
) -> dict[str, float]:
    """Energy (median over the samples), memory (largest), and the costs of metrics (median), if
    they were read.
    """
    values: dict[str, float] = {}
    for name in names:
        printed = [s.metrics[name] for s in measurement.timed if name in s.metrics]
        if printed:
            values |= positive_cost(facts.metric(name), float(np.median(printed)))
            continue
        key = {"energy": ENERGY, "memory": MEMORY}.get(name, name)
        read = [sample.conditions.get(key) for sample in measurement.timed]
        positive = [float(value) for value in read if isinstance(value, int | float) and value > 0]
        if positive:
            values[name] = max(positive) if name == "memory" else float(np.median(positive))
    return values


def points_of(
    candidates: Sequence[Candidate],
    predictions: Sequence[Prediction],
    prior: Mapping[str, float] | None = None,
) -> Points:
    """Candidates as the search sees them; size and problem are parameters, so all share results.

    ``prior``: expected time by identity.
    """
    rows = _settings(candidates)
    names = list(dict.fromkeys(name for row in rows for name in row))
    groups = _problem_numbers(candidates)
    table = [tuple(row.get(name) for name in names) for row in rows]
    met: Counter[tuple[object, ...]] = Counter()
    twins = []
    for values, group in zip(table, groups, strict=True):
        twins.append(met[group, values])
        met[group, values] += 1
    if any(twins):  # alike in all parameters, yet not the same
        names.append("twin")
        table = [(*values, twin) for values, twin in zip(table, twins, strict=True)]
    uncertainties = [prediction.uncertainty for prediction in predictions]
    return Points(
        names=tuple(names),
        rows=tuple(table),
        predicted=np.array([p.seconds or math.nan for p in predictions], dtype=np.float64),
        sigma=np.array([u.sigma if u else math.nan for u in uncertainties], dtype=np.float64),
        group=np.array(groups, dtype=np.intp),
        prior=_expected(candidates, prior or {}),
    )


def _problem_numbers(candidates: Sequence[Candidate]) -> list[int]:
    """The number of the problem of each candidate, in the order in which they first occur."""
    numbers: dict[str, int] = {}
    of_object: dict[int, int] = {}
    for candidate in candidates:
        problem = candidate.problem
        if id(problem) not in of_object:
            of_object[id(problem)] = numbers.setdefault(problem.key, len(numbers))
    return [of_object[id(candidate.problem)] for candidate in candidates]


def _expected(candidates: Sequence[Candidate], prior: Mapping[str, float]) -> Floats | None:
    """(n,) times that a prior expects, nan without an expectation; None without a prior."""
    if not prior:
        return None
    return np.array([prior.get(c.identity, math.nan) for c in candidates], dtype=np.float64)


def _settings(candidates: Sequence[Candidate]) -> list[Mapping[str, Setting]]:
    """All settings that distinguish candidates: their variants, builds, layouts and problems.

    Many candidates share the same few objects: what these say is put together once.
    """
    shared: dict[tuple[int, int, int], Mapping[str, Setting]] = {}
    settings: list[Mapping[str, Setting]] = []
    for candidate in candidates:
        key = id(candidate.build), id(candidate.layout), id(candidate.problem)
        if key not in shared:
            shared[key] = _surroundings(candidate)
        variant = candidate.variant
        settings.append({**(variant.coordinates or variant.parameters), **shared[key]})
    return settings


def _surroundings(candidate: Candidate) -> Mapping[str, Setting]:
    """The build, the layout and the problem of a candidate as settings."""
    problem = candidate.problem
    return {
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
