"""A search as a sampler of Optuna: each trial is one of the enumerated candidates.

Storage, dashboard, callbacks and workers stay Optuna's. The sampler reads the finished trials of
the study before it answers, so that a study that is resumed, or shared by several workers, goes on
where it was.
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
    """Samples whole rows of the points of one problem, never one twice.

    Values of a study are seconds, then the further ``objectives`` in order. A trial that fails
    counts as a candidate that failed; pruned ones, and those with user attribute ``status`` =
    ``not run`` or ``contended``, count as neither run nor failed. RuntimeError when a trial is
    asked for and no candidate is left; in ``study.optimize`` the study stops by itself when the
    search is over.
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
        """All parameters: a candidate is chosen as a whole."""
        return dict(self.domains)

    def sample_relative(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        search_space: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """The next candidate of the search; enqueued trials keep what they were enqueued with."""
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
        """A parameter that candidates do not have cannot be sampled: ValueError."""
        raise ValueError(f"candidates have no parameter {param_name} with this domain")

    def after_trial(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Learn from the trial at once, and stop ``study.optimize`` when the search is over."""
        self._learn(trial, state, values)
        if self.search.finished(self._group) is not None:
            try:
                study.stop()
            except RuntimeError:  # asked and told by hand: whoever asks looks at finished()
                return

    def read(self, study: optuna.Study, but: int = -1) -> None:
        """Take in the trials of the study, other workers' too; ``but`` is the one being asked."""
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
