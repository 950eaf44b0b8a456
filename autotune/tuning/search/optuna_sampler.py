"""A search as an Optuna sampler: each trial is one of the listed candidates.

Storage, dashboard, callbacks and workers remain Optuna's. Before each proposal the sampler reads
the finished trials of the study. So a study that is resumed, or shared by several workers,
continues where it was.
"""

from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from autotune.tuning.search.base import Searcher, SearchResult, Suggestion
from autotune.tuning.search.optuna_trials import Domains, domains
from autotune.tuning.search.points import Points, Setting

_NO_RESULT = ("not run", "contended")


class CandidateSampler(optuna.samplers.BaseSampler):
    """An Optuna sampler of whole rows of the points of one problem, never one twice.

    The values of a trial are seconds, then the further ``objectives`` in order. A failed trial
    counts as a failed candidate. Pruned trials, and those with user attribute ``status`` = ``not
    run`` or ``contended``, count as neither run nor failed. RuntimeError if a trial is requested
    and no candidate remains; ``study.optimize`` stops by itself when the search has ended.
    """

    def __init__(
        self,
        search: Searcher,
        points: Points,
        group: int = 0,
        objectives: Sequence[str] = ("time",),
    ) -> None:
        self.search = search
        self.suggestions: dict[int, Suggestion] = {}
        """What was answered, by number of trial."""
        self._names = points.names
        self._group = group
        self._objectives = tuple(objectives)
        members = points.members(group).tolist()
        self._rows = {_key(points.rows[row]): row for row in members}
        self._points = points
        self.domains: Domains = domains([points.rows[row] for row in members], points.names)
        self._read: dict[int, TrialState] = {}

    def infer_relative_search_space(
        self,
        study: optuna.Study,  # noqa: ARG002 - the signature is Optuna's
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """The search space with all parameters, since a candidate is chosen as a whole."""
        return dict(self.domains)

    def sample_relative(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        search_space: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """The next candidate of the search; an enqueued trial keeps its own parameters."""
        if not search_space or "fixed_params" in trial.system_attrs:
            return {}
        suggestion = self._ask(study, trial.number)
        self.suggestions[trial.number] = suggestion
        return dict(zip(self._names, self._points.rows[suggestion.index], strict=True))

    def _ask(self, study: optuna.Study, number: int) -> Suggestion:
        self.read(study, number)
        suggestions = self.search.ask(self._group, 1)
        if not suggestions:
            raise RuntimeError("every candidate was tried: there is none left to sample")
        return suggestions[0]

    def sample_independent(
        self,
        study: optuna.Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        param_name: str,
        param_distribution: BaseDistribution,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401 - the signature is Optuna's
        """Raise ValueError: a parameter that candidates do not have cannot be sampled."""
        raise ValueError(f"candidates have no parameter {param_name} with this domain")

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Learn from the trial at once, and stop ``study.optimize`` when the search has ended."""
        self._learn(trial, state, values)
        if self.search.finished(self._group) is not None:
            try:
                study.stop()
            except RuntimeError:  # asked and told by hand: whoever asks looks at finished()
                return

    def read(self, study: optuna.Study, but: int = -1) -> None:
        """Learn from the trials of the study, also those of other workers.

        ``but``: the trial that is being sampled, which is skipped.
        """
        for trial in study.get_trials(deepcopy=False):
            if trial.number != but and self._read.get(trial.number) != trial.state:
                self._learn(trial, trial.state, trial.values)

    def _learn(self, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        if self._read.get(trial.number) == state:
            return
        self._read[trial.number] = state
        settings = tuple(trial.params.get(name) for name in self._names)
        row = self._rows.get(_key(settings))
        if row is None or not trial.params:
            return
        if state == TrialState.COMPLETE and values:
            others = dict(zip(self._objectives[1:], values[1:], strict=True))
            sigma = float(trial.user_attrs.get("sigma", 0.0))
            self.search.tell(
                SearchResult(index=row, seconds=values[0], sigma=sigma, objectives=others)
            )
        elif state == TrialState.RUNNING:
            self.search.claim(row)
        elif state == TrialState.PRUNED or trial.user_attrs.get("status") in _NO_RESULT:
            self.search.claim(row)
            self.search.release(row)
        elif state == TrialState.FAIL:
            self.search.tell(SearchResult(index=row, seconds=None))


def _key(row: Sequence[Setting]) -> tuple[tuple[bool, Setting], ...]:
    return tuple((isinstance(value, bool), value) for value in row)
