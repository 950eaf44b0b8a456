"""Optuna's TPE as a user would set it up: over the Cartesian product of the parameters.

Ordered numbers are integers on the index of the value, all else categories. A combination that was
not recorded is told with a violated constraint and the worst value so far; it is free, as are
repeats, but the asks of a run are capped at six times its budget.
"""

import numpy as np
import optuna

from autotune.files.recorded.recorded_space import RecordedSpace

_ASKS = 6


def tpe(space: RecordedSpace, budget: int, seed: int) -> list[int]:
    """The rows that Optuna's TPE, with its defaults, evaluates, in order, each once."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    domains = {name: _domain(values) for name, values in space.parameters.items()}
    row_of = {row: number for number, row in enumerate(space.rows)}
    order: dict[int, None] = {}
    worst = float(np.nanmax(space.seconds[: len(space)]))
    told: list[float] = []
    for _ in range(_ASKS * budget):
        if len(order) >= budget:
            break
        trial = study.ask(domains)
        values = space.parameters.items()
        chosen = tuple(
            listed[trial.params[name]] if _ordered(listed) else trial.params[name]
            for name, listed in values
        )
        row = row_of.get(chosen)
        seconds = float("nan") if row is None else float(space.seconds[row])
        trial.set_constraint("legal", 0.0 if seconds == seconds else 1.0)
        if seconds == seconds:
            told.append(seconds)
        study.tell(trial, seconds if seconds == seconds else max(told, default=worst))
        if row is not None:
            order.setdefault(row)
    return list(order)


def _ordered(values: tuple[object, ...]) -> bool:
    return len(values) > 2 and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _domain(values: tuple[object, ...]) -> optuna.distributions.BaseDistribution:
    if _ordered(values):
        return optuna.distributions.IntDistribution(0, len(values) - 1)
    return optuna.distributions.CategoricalDistribution(list(values))
