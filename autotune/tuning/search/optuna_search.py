"""Optuna's samplers over a list of candidates: only new and legal proposals are measured.

A sampler works on the Cartesian product of the values. A proposal that is not a candidate is
reported to it as infeasible, with the worst value so far; a known candidate is reported with its
value. Neither is measured.
"""

import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import (
    BaseSampler,
    CmaEsSampler,
    GPSampler,
    NSGAIISampler,
    RandomSampler,
    TPESampler,
)
from optuna.trial import Trial

from autotune.errors import Fault, MissingTool, unknown_name
from autotune.tuning.search import optuna_trials
from autotune.tuning.search.base import SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.parameter_levels import ParameterLevels, levels
from autotune.tuning.search.points import Points
from autotune.tuning.search.policy import Policy

_ATTEMPTS = 40
"""Proposals that are illegal or known, after which the nearest candidate is taken instead."""

_SAMPLERS: Mapping[str, tuple[str, Callable[[int], BaseSampler]]] = {
    "random": ("", lambda seed: RandomSampler(seed=seed)),
    "tpe": ("", lambda seed: TPESampler(seed=seed, multivariate=True, constant_liar=True)),
    "gp": ("torch", lambda seed: GPSampler(seed=seed, deterministic_objective=False)),
    "cmaes": ("cmaes", lambda seed: CmaEsSampler(seed=seed, warn_independent_sampling=False)),
    "nsga2": ("", lambda seed: NSGAIISampler(seed=seed, population_size=20)),
}
"""Name to the package that it needs, and how it is made."""


def sampler(name: str, seed: int) -> BaseSampler:
    """One of Optuna's samplers by name.

    InputError for an unknown name, MissingTool if its package is missing.
    """
    if name not in _SAMPLERS:
        raise MissingTool(unknown_name("search.sampler", "sampler", name, _SAMPLERS))
    package, make = _SAMPLERS[name]
    if package and importlib.util.find_spec(package) is None:
        raise MissingTool(
            Fault(
                where="search.sampler",
                found=f"sampler {name!r} needs the package {package}, which is not installed",
                expected=f"pip install {package}",
                hint="the default, sampler: model, needs nothing",
            )
        )
    return make(seed)


class OptunaSearch:
    """One of Optuna's samplers as a search; each problem has its own Optuna study, in memory."""

    def __init__(
        self,
        points: Points,
        name: str,
        policy: Policy,
        *,
        first: Sequence[int] = (),
        seed: int = 1,
    ) -> None:
        """Set up the search; ``first`` rows come first, then the best by prediction.

        With the sampler ``random`` there are none by prediction.
        """
        self.points = points
        self._levels = levels(points.rows)
        self._objectives = policy.objectives
        self._studies = [
            optuna_trials.open_study(policy.objectives, sampler=sampler(name, seed + group))
            for group in range(points.groups)
        ]
        self._domains = _domains(self._levels)
        self._rows = [
            {tuple(self._levels.index[row].tolist()): row for row in points.members(g).tolist()}
            for g in range(points.groups)
        ]
        self._first = [
            _first(points, policy.first if name != "random" else 0, first, group)
            for group in range(points.groups)
        ]
        self._open: dict[int, Trial] = {}
        self._tried: set[int] = set()
        self._reported: dict[int, list[float]] = {}
        self._seconds: dict[int, float] = {}

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        """At most ``count`` candidates of a problem that were neither proposed nor reported
        before.
        """
        suggestions: list[Suggestion] = []
        left = sum(row not in self._tried for row in self._rows[group].values())
        for _ in range(min(count, left)):
            row, why = self._next(group)
            self._tried.add(row)
            suggestions.append(Suggestion(index=row, why=why))
        return suggestions

    def _next(self, group: int) -> tuple[int, str]:
        while self._first[group]:
            row = self._first[group].pop(0)
            if row not in self._tried:
                return row, "the baseline or predicted to be fast"
        study, levels_of = self._studies[group], list(self._domains)
        name = type(study.sampler).__name__
        for _ in range(_ATTEMPTS):
            trial = study.ask(self._domains)
            place = tuple(int(trial.params[parameter]) for parameter in levels_of)
            row = self._rows[group].get(place, -1)
            if row >= 0 and row not in self._tried:
                self._open[row] = trial
                return row, f"proposed by {name}"
            self._answer(study, trial, row, group)
        rows = np.array([r for r in self._rows[group].values() if r not in self._tried])
        apart = (self._levels.index[rows] != np.array(place)).sum(axis=1)
        return int(rows[np.argmin(apart)]), f"nearest to a proposal of {name}"

    def _answer(self, study: optuna.Study, trial: Trial, row: int, group: int) -> None:
        """Report to the sampler the value of a proposal that is not measured."""
        value = self._reported.get(row)
        if row < 0:
            trial.set_constraint("legal", 1.0)
        worst = self._worst(group)
        if value is None and (row >= 0 or worst is None):  # running, or nothing to say
            optuna_trials.finish(study, trial, None)
        else:
            optuna_trials.finish(study, trial, value or worst)

    def _worst(self, group: int) -> list[float] | None:
        values = [v for row, v in self._reported.items() if self.points.group[row] == group]
        return [max(column) for column in zip(*values, strict=True)] if values else None

    def tell(self, result: SearchResult) -> None:
        """Add a result; results from other machines are ignored."""
        if result.prior:
            return
        row, group = result.index, int(self.points.group[result.index])
        self._tried.add(row)
        values = self._values(result) or self._worst(group)
        study, trial = self._studies[group], self._open.pop(row, None)
        if result.seconds is not None:
            self._seconds[row] = result.seconds
        if row in self._reported and trial is None:  # measured again
            self._reported[row] = values or self._reported[row]
        elif values is None:
            if trial is not None:
                optuna_trials.finish(study, trial, None)
        else:
            self._reported[row] = values
            if trial is not None:
                optuna_trials.finish(study, trial, values)
            else:
                place = self._levels.index[row].tolist()
                params = dict(zip(self._domains, place, strict=True))
                study.add_trial(optuna_trials.finished_trial(params, self._domains, values))

    def _values(self, result: SearchResult) -> list[float] | None:
        """Logarithms of the objectives; None if one is missing."""
        values = optuna_trials.objective_values(self._objectives, result.seconds, result.objectives)
        return None if values is None else [math.log(value) for value in values]

    def claim(self, index: int) -> None:
        """Note that another tuner is measuring a candidate, so that it is not proposed."""
        self._tried.add(index)

    def release(self, index: int) -> None:
        """Note that a running candidate got no result; it is not proposed again."""
        trial = self._open.pop(index, None)
        if trial is not None:
            group = int(self.points.group[index])
            optuna_trials.finish(self._studies[group], trial, None)

    def finished(self, group: int) -> str | None:
        """Why the search has ended: these samplers end when every candidate was measured."""
        done = all(row in self._tried for row in self._rows[group].values())
        return "every candidate was measured" if done else None

    def forecast(self, group: int) -> SearchForecast:
        """The measured times; nan for all other candidates, since there is no posterior."""
        members = self.points.members(group)
        mean = np.log([self._seconds.get(row, math.nan) for row in members.tolist()])
        return SearchForecast(index=members, mean=mean, sd=np.where(np.isnan(mean), np.nan, 0.0))


def _domains(parameter_levels: ParameterLevels) -> dict[str, BaseDistribution]:
    """Optuna's distribution of each parameter's level: integers if ordered, else categories."""
    domains: dict[str, BaseDistribution] = {}
    for place, table in enumerate(parameter_levels.tables):
        size = len(table)
        ordered = size > 2 and table[0, 1] < table[0, -1]
        domains[f"p{place}"] = (
            IntDistribution(0, size - 1) if ordered else CategoricalDistribution(range(size))
        )
    return domains


def _first(points: Points, count: int, always: Sequence[int], group: int) -> list[int]:
    members = points.members(group)
    predicted = points.predicted[members]
    with_prediction = members[~np.isnan(predicted)]
    order = with_prediction[np.argsort(points.predicted[with_prediction], kind="stable")]
    wanted = [row for row in always if points.group[row] == group]
    return list(dict.fromkeys([*wanted, *order[:count].tolist()]))
