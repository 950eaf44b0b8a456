"""Samplers of Optuna over problems whose candidates cannot all be listed.

``random`` draws from all legal candidates. Every other sampler suggests values of the parameters, a
build and a layout from distributions over all of them, as in a study of Optuna. A suggestion that
is not legal is answered as infeasible with the worst value so far, one that was measured with its
value; after many of these a drawn candidate is measured in place of a suggestion.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import Trial

from autotune.domain.results import Measurement, Prediction
from autotune.domain.setup import Searching
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import Proposal, Search
from autotune.tuning.search import optuna_trials
from autotune.tuning.search.optuna_search import sampler
from autotune.tuning.study_search import objectives
from autotune.workloads.base import CandidateSource

_ATTEMPTS = 40
"""Suggestions that are illegal or measured, after which a candidate is drawn."""
_WAY = "build and layout"
"""The name of a suggestion beside those of parameters."""

Predict = Callable[[Sequence[Candidate]], Sequence[Prediction]]


@dataclass(slots=True)
class _Problem:
    """A problem with more candidates than can be listed, and its study of Optuna."""

    source: CandidateSource
    ways: tuple[tuple[Build, ExecutionLayout], ...]
    study: optuna.Study
    draws: bool
    """Every candidate is drawn, none suggested."""
    chance: random.Random
    open: dict[str, Trial] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    values: dict[str, list[float]] = field(default_factory=dict)
    """Logarithms of the objectives, by identity of a candidate."""

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """What is suggested: places of values, integers where the values are ordered numbers."""
        chosen: dict[str, BaseDistribution] = {
            name: _distribution(values) for name, values in self.source.parameters.items()
        }
        if len(self.ways) > 1:
            chosen[_WAY] = CategoricalDistribution(range(len(self.ways)))
        return chosen

    def next(self) -> tuple[Candidate, str] | None:
        """A legal candidate that was not tried, and why; None where none is found."""
        distributions = {} if self.draws else self.distributions
        for _ in range(0 if self.draws else _ATTEMPTS):
            trial = self.study.ask(distributions)
            candidate = self._suggested(trial)
            if candidate is not None and candidate.identity not in self.tried:
                self.open[candidate.identity] = trial
                return candidate, f"proposed by {type(self.study.sampler).__name__}"
            self._answer(trial, candidate)
        for candidate in self.source.draw(_ATTEMPTS, self.chance):
            if candidate.identity not in self.tried:
                return candidate, "drawn at random from all"
        return None

    def _suggested(self, trial: Trial) -> Candidate | None:
        values: dict[str, Value] = {
            name: values[trial.params[name]] for name, values in self.source.parameters.items()
        }
        build, layout = self.ways[trial.params.get(_WAY, 0)]
        return self.source.recalled(values, build, layout)

    def _answer(self, trial: Trial, candidate: Candidate | None) -> None:
        """Report the value of a suggestion that is not measured."""
        value = None if candidate is None else self.values.get(candidate.identity)
        if candidate is None:
            trial.set_constraint("legal", 1.0)
            value = self.worst()
        optuna_trials.finish(self.study, trial, value)

    def worst(self) -> list[float] | None:
        """The largest value of each objective so far; None before the first."""
        return [max(column) for column in zip(*self.values.values(), strict=True)] or None

    def learn(self, candidate: Candidate, values: list[float] | None) -> None:
        """Add a result; None: the candidate failed."""
        trial = self.open.pop(candidate.identity, None)
        before = candidate.identity in self.values
        values = values or self.worst()
        if values is not None:
            self.values[candidate.identity] = values
        if trial is not None:
            optuna_trials.finish(self.study, trial, values)
        elif values is not None and not before and not self.draws:
            self.study.add_trial(
                optuna_trials.finished_trial(self._places(candidate), self.distributions, values)
            )

    def _places(self, candidate: Candidate) -> dict[str, int]:
        """The suggestion that means a candidate."""
        parameters = candidate.variant.parameters
        places = {
            name: next(k for k, value in enumerate(values) if value == parameters[name])
            for name, values in self.source.parameters.items()
        }
        if len(self.ways) > 1:
            places[_WAY] = self.ways.index((candidate.build, candidate.layout))
        return places


def _distribution(values: Sequence[Value]) -> BaseDistribution:
    ordered = len(values) > 2 and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )
    return (
        IntDistribution(0, len(values) - 1)
        if ordered and list(values) == sorted(values, key=lambda value: float(value or 0))
        else CategoricalDistribution(range(len(values)))
    )


class SampledSearch:
    """A search of a study (``tuning.Search``) by a sampler of Optuna that draws from all legal
    candidates; problems that are listed are searched by ``listed``.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        *,
        sources: Mapping[str, CandidateSource],
        settings: Searching,
        predict: Predict,
        listed: Search | None,
        seed: int = 1,
    ) -> None:
        """``candidates``: of all problems, some of those with a source. ``listed``: searches the
        problems without a source, numbered in their order; None where there are none.
        """
        self._objectives = settings.objectives
        self._predict = predict
        self._listed = listed
        groups: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            groups.setdefault(candidate.problem.key, []).append(candidate)
        self._keys = list(groups)
        self._problems = {
            key: _Problem(
                sources[key],
                tuple(dict.fromkeys((c.build, c.layout) for c in group)),
                optuna_trials.open_study(
                    settings.objectives, sampler=sampler(settings.sampler, seed + number)
                ),
                settings.sampler == "random",
                random.Random(f"{seed} {key}"),
            )
            for number, (key, group) in enumerate(groups.items())
            if key in sources
        }

    @property
    def fault(self) -> str:
        """Empty: nothing is mirrored."""
        return ""

    def ask(self, problem: int, count: int = 1) -> Sequence[Proposal]:
        """At most ``count`` candidates of a problem that were not proposed before."""
        of_problem = self._problems.get(self._keys[problem])
        if of_problem is None:
            return self._others.ask(self._place(problem), count)
        proposals: list[Proposal] = []
        while len(proposals) < count and (following := of_problem.next()) is not None:
            candidate, why = following
            of_problem.tried.add(candidate.identity)
            (prediction,) = self._predict([candidate])
            proposals.append(Proposal(candidate=candidate, why=why, prediction=prediction))
        return proposals

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """Report the result of a candidate, proposed or not; None: it was not measured."""
        of_problem = self._problems.get(candidate.problem.key)
        if of_problem is None:
            self._others.tell(candidate, measurement, sigma)
            return
        of_problem.tried.add(candidate.identity)
        if measurement is not None and measurement.status != "contended":
            of_problem.learn(candidate, self._costs(candidate, measurement))

    def finished(self, problem: int) -> str | None:
        """None: there is always more to draw."""
        if self._keys[problem] in self._problems:
            return None
        return self._others.finished(self._place(problem))

    @property
    def _others(self) -> Search:
        assert self._listed is not None, "the study has listed problems"
        return self._listed

    def _place(self, problem: int) -> int:
        """The number of a listed problem among these."""
        return sum(key not in self._problems for key in self._keys[:problem])

    def _costs(self, candidate: Candidate, measurement: Measurement) -> list[float] | None:
        """Logarithms of the objectives; None for a failure, or where one was not read."""
        if measurement.status != "ok":
            return None
        others = objectives(measurement, self._objectives[1:], candidate.problem.facts())
        seconds = time_of(measurement.samples)
        values = optuna_trials.objective_values(self._objectives, seconds, others)
        return None if values is None else [math.log(value) for value in values]
