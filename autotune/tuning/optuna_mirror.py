"""A search as an Optuna journal file, for optuna-dashboard, while the search runs.

There is a study ``NAME/LABEL`` for each problem and a trial for each candidate. The results store
is the truth: the journal is never read back. This module imports Optuna, which is heavy.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.trial import FrozenTrial, Trial

from autotune.domain.metric import Metric
from autotune.domain.problem_facts import labels
from autotune.domain.variant import Candidate
from autotune.tuning.search import optuna_trials
from autotune.tuning.search.base import SearchResult, Suggestion
from autotune.tuning.search.points import Points, Setting

_UNWRITABLE = (OSError, json.JSONDecodeError, RuntimeError)
"""What a journal raises that is full, out of reach, or torn; and whose lock is gone or cannot be
made."""
_GRACE = 5
"""Seconds after which the lock of a journal is taken from a writer that died."""


class OptunaMirror:
    """Writes the proposals and results of a search to an Optuna journal.

    If the file cannot be written, at the start or later, the mirroring ends but not the search;
    ``fault`` then says why.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        points: Points,
        objectives: Sequence[str],
        *,
        storage: str,
        name: str,
    ) -> None:
        """``points``: the candidates as the search sees them. ``storage``: path of the journal."""
        self.fault = ""
        self.studies: list[optuna.Study] = []
        """A study for each problem, in order; fewer where the journal cannot be written."""
        self._candidates, self._points = candidates, points
        self._objectives = tuple(objectives)
        self._open: dict[int, Trial] = {}
        self._ended: set[int] = set()
        members = [points.members(group) for group in range(points.groups)]
        self._samplers = [_NextRow(points, rows.tolist()) for rows in members]
        facts = [candidates[rows[0]].problem.facts() for rows in members]
        titles = labels(facts)
        self._metrics = [[of.metric(name) for name in objectives] for of in facts]
        self._storage = storage
        try:
            for title, sampler, metrics in zip(titles, self._samplers, self._metrics, strict=True):
                self.studies.append(self._study(f"{name}/{title}", sampler, metrics))
        except (*_UNWRITABLE, ValueError) as error:
            self._give_up(error)

    def _study(self, name: str, sampler: "_NextRow", metrics: Sequence[Metric]) -> optuna.Study:
        lock = JournalFileSymlinkLock(self._storage, grace_period=_GRACE)
        backend = JournalFileBackend(self._storage, lock_obj=lock)
        study = optuna_trials.open_study(
            [metric.name for metric in metrics],
            better=[metric.better for metric in metrics],
            storage=JournalStorage(backend),
            name=name,
            sampler=sampler,
            resume=True,
        )
        study.set_user_attr("objectives", [metric.name for metric in metrics])
        return study

    def _give_up(self, error: Exception) -> None:
        self.fault = f"the Optuna journal {self._storage} is not kept: {error}"

    def propose(self, suggestion: Suggestion) -> None:
        """Open a trial for a candidate that is going to be measured."""
        if self.fault:
            return
        group = int(self._points.group[suggestion.index])
        sampler = self._samplers[group]
        sampler.row = suggestion.index
        try:
            trial = self.studies[group].ask(sampler.domains)
            self._open[suggestion.index] = trial
            for name, value in self._described(suggestion).items():
                trial.set_user_attr(name, value)
        except _UNWRITABLE as error:
            self._give_up(error)

    def _described(self, suggestion: Suggestion) -> dict[str, str | float]:
        attributes = self._attributes(suggestion.index) | {"why": suggestion.why}
        if not math.isnan(suggestion.expected_improvement):
            attributes["expected_improvement"] = suggestion.expected_improvement
        if suggestion.predicted is not None:
            goal = self._metrics[int(self._points.group[suggestion.index])][0]
            name = "expected_s" if goal.timed else f"expected_{goal.name}"
            attributes[name] = goal.value(suggestion.predicted)
        return attributes

    def _attributes(self, row: int) -> dict[str, str | float]:
        attributes: dict[str, str | float] = {"candidate": self._candidates[row].id}
        predicted = float(self._points.predicted[row])
        if not math.isnan(predicted):
            attributes["predicted_s"] = predicted
        return attributes

    def end(self, row: int, outcome: SearchResult | None, status: str) -> None:
        """End the trial of a candidate; the first outcome of a candidate is kept.

        ``outcome``: None if the candidate has no result, which does not count as a failure.
        """
        if self.fault or row in self._ended:
            return
        group = int(self._points.group[row])
        costs = None
        if outcome is not None:
            costs = optuna_trials.objective_values(
                self._objectives, outcome.seconds, outcome.objectives
            )
        metrics = self._metrics[group]
        values = costs and [of.value(cost) for of, cost in zip(metrics, costs, strict=True)]
        try:
            self._finish(self.studies[group], row, values, status)
        except _UNWRITABLE as error:
            self._give_up(error)
        self._ended.add(row)

    def _finish(
        self, study: optuna.Study, row: int, values: list[float] | None, status: str
    ) -> None:
        trial = self._open.pop(row, None)
        if trial is not None:
            trial.set_user_attr("status", status)
            optuna_trials.finish(study, trial, values)
        elif not any(_shows(trial, self._candidates[row]) for trial in study.get_trials(False)):
            study.add_trial(
                optuna_trials.finished_trial(
                    self._samplers[int(self._points.group[row])].params(row),
                    self._samplers[int(self._points.group[row])].domains,
                    values,
                    attributes={**self._attributes(row), "status": status},
                )
            )


class _NextRow(optuna.samplers.BaseSampler):
    """An Optuna sampler that makes the next trial a row set beforehand."""

    def __init__(self, points: Points, members: Sequence[int]) -> None:
        self.row = 0
        self.domains = optuna_trials.domains([points.rows[row] for row in members], points.names)
        self._points = points

    def params(self, row: int) -> Mapping[str, Setting]:
        """The parameters of a row by name."""
        return dict(zip(self._points.names, self._points.rows[row], strict=True))

    def infer_relative_search_space(
        self,
        study: optuna.Study,  # noqa: ARG002 - the signature is Optuna's
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """The search space with all parameters, since a candidate is chosen as a whole."""
        return self.domains

    def sample_relative(
        self,
        study: optuna.Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        search_space: dict[str, BaseDistribution],  # noqa: ARG002
    ) -> dict[str, Any]:
        """The parameters of the row set beforehand."""
        return dict(self.params(self.row))

    def sample_independent(
        self,
        study: optuna.Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        param_name: str,
        param_distribution: BaseDistribution,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 - the signature is Optuna's
        """Raise ValueError: a parameter that candidates do not have cannot be sampled."""
        raise ValueError(f"candidates have no parameter {param_name} with this domain")


def _shows(trial: FrozenTrial, candidate: Candidate) -> bool:
    return trial.state.is_finished() and trial.user_attrs.get("candidate") == candidate.id
