"""Optuna's studies and trials: opening a study, and writing the end of a trial.

Each parameter of a candidate is a categorical parameter of the trial. A trial is complete if it has
a value for every objective, and failed otherwise.
"""

import datetime
import math
import warnings
from collections.abc import Mapping, Sequence

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.storages import JournalStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from autotune.domain.metric import Direction
from autotune.tuning.search.points import Setting

Domains = Mapping[str, BaseDistribution]
Attributes = Mapping[str, str | float]


_DIRECTIONS: Mapping[Direction, StudyDirection] = {
    "less": StudyDirection.MINIMIZE,
    "more": StudyDirection.MAXIMIZE,
}


def open_study(
    objectives: Sequence[str],
    *,
    better: Sequence[Direction] | None = None,
    storage: JournalStorage | None = None,
    name: str | None = None,
    sampler: BaseSampler | None = None,
    resume: bool = False,
) -> optuna.Study:
    """A study of the objectives; in memory if no storage is given.

    ``better``: whether less or more of each objective is better; None: less of all. ``resume``:
    continue an existing study of this name; ValueError if it has another number of objectives, or
    other directions.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    directions = [_DIRECTIONS[word] for word in better or ["less"] * len(objectives)]
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        directions=directions,
        sampler=sampler,
        load_if_exists=resume,
    )
    if len(study.directions) != len(objectives):
        raise ValueError(f"study {name} there has {len(study.directions)} objectives")
    if list(study.directions) != directions:
        raise ValueError(f"study {name} there has objectives of other directions")
    if storage is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.set_metric_names(list(objectives))
    return study


def domains(rows: Sequence[Sequence[Setting]], names: Sequence[str]) -> dict[str, BaseDistribution]:
    """Every parameter as a category of its values in the rows, ascending."""
    categories: dict[str, BaseDistribution] = {}
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        values = {(type(value).__name__, value): value for value in column}
        categories[name] = CategoricalDistribution(sorted(values.values(), key=_order))
    return categories


def _order(value: Setting) -> tuple[bool, float, str]:
    number = isinstance(value, int | float)
    return number, float(value) if isinstance(value, int | float) else 0.0, str(value)


def objective_values(
    objectives: Sequence[str], seconds: float | None, others: Mapping[str, float]
) -> list[float] | None:
    """The values of a trial in the order of the objectives; None if one is missing.

    ``seconds``: the first objective, the time; None if the candidate failed. ``others``: the
    further objectives by name.
    """
    if seconds is None:
        return None
    values = [others.get(name, math.nan) for name in objectives[1:]]
    return None if any(math.isnan(value) for value in values) else [seconds, *values]


def finished_trial(
    params: Mapping[str, Setting | int],
    distributions: Domains,
    values: Sequence[float] | None,
    *,
    attributes: Attributes | None = None,
    number: int = 0,
    period: tuple[datetime.datetime, datetime.datetime] | None = None,
) -> FrozenTrial:
    """A trial that has ended; failed if ``values`` is None.

    ``period``: its start and end, in local time without a zone; None: now.
    """
    begun, ended = period or (datetime.datetime.now(), datetime.datetime.now())
    return FrozenTrial(
        number=number,
        trial_id=number,
        state=TrialState.FAIL if values is None else TrialState.COMPLETE,
        value=None,
        values=None if values is None else list(values),
        datetime_start=begun,
        datetime_complete=ended,
        params=dict(params),
        distributions=dict(distributions),
        user_attrs=dict(attributes or {}),
        system_attrs={},
        intermediate_values={},
    )


def finish(study: optuna.Study, trial: Trial, values: Sequence[float] | None) -> None:
    """End a trial that the study proposed; it has failed if ``values`` is None."""
    state = TrialState.FAIL if values is None else TrialState.COMPLETE
    study.tell(trial, values, state=state)
