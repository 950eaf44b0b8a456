"""Priors of the benchmark: what a model of other times expects of a recorded space.

    sibling         of the recorded space that has most of its parameters in common
    distorted S     of the space's own times, off by a systematic error of S in the logarithm
    reversed        of the reciprocals of its own times: the slowest is held to be the fastest
    shuffled        of its own times, each of another candidate

The model is that of ``autotune tune --prior``, trained on what our search evaluates of the other
times, so that it knows them as a tuned study would.
"""

import math
from dataclasses import replace

import numpy as np
import replay_models
from replay_search import UntilNear, evaluated

from autotune.commands.replay.flow import replay_plan
from autotune.commands.replay.recorded_candidates import candidates_of
from autotune.commands.tune.study_prior import expected
from autotune.domain.tables.table import MeasurementTable
from autotune.errors import InputError
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.files.tables.cleaning import Cell, Heading, Record, assemble
from autotune.tuning.search.model_search import ModelSearch

NONE = "none"
PRIORS = (NONE, "sibling", "distorted 0.2", "distorted 0.4", "reversed", "shuffled")
ROWS = 60
"""Evaluations of the other study."""
_ALIKE = 0.5
"""Siblings have more than this share of their parameters in common."""


def likeness(one: RecordedSpace, other: RecordedSpace) -> float:
    """Jaccard's index of the names of parameters; zero where it is not above one half."""
    names, others = set(one.names), set(other.names)
    found = len(names & others) / len(names | others)
    return found if found > _ALIKE else 0.0


def source(space: RecordedSpace, kind: str, seed: int) -> RecordedSpace:
    """The space with other times: distorted, reversed or shuffled."""
    if kind == "reversed":
        return replace(space, seconds=1.0 / space.seconds)
    if kind == "shuffled":
        seconds = space.seconds.copy()
        good = np.flatnonzero(~np.isnan(seconds))
        seconds[good] = seconds[np.random.default_rng([seed, 104_729]).permutation(good)]
        return replace(space, seconds=seconds)
    sigma = float(kind.split()[1])
    seconds = replay_models.emulated(space, "systematic", sigma, seed + 500_000)
    return replace(space, seconds=np.where(np.isnan(space.seconds), np.nan, seconds))


def prior(target: RecordedSpace, predicted: Floats, other: RecordedSpace, seed: int) -> Floats:
    """(n,) what a model of the other space expects of the target, nan where it says nothing.

    ``predicted``: of the target; the other study has predictions where these are any.
    """
    there = np.full(len(other), math.nan)
    if not np.isnan(predicted).all():
        there = predicted if other.rows == target.rows else other.predicted
    table = _study(other, there, seed)
    settings = [_settings(target, row) for row in range(len(target))]
    try:
        return expected(table, settings, predicted, seed=seed)
    except InputError:
        return np.full(len(target), math.nan)


def _study(space: RecordedSpace, predicted: Floats, seed: int) -> MeasurementTable:
    """What a study of the space would have measured."""
    recorded = candidates_of(space)
    points = recorded.points(predicted)
    search = UntilNear(ModelSearch(points, seed=seed), near=np.zeros(len(space), dtype=bool))
    plan = replay_plan(ROWS, seed)
    order = evaluated(recorded, points, search, recorded.measurer(), plan).order
    rows = [row for row in order if space.statuses[row] == "ok"]
    records = [
        Record(
            place=str(row),
            settings=_settings(space, row),
            times=(float(space.seconds[row]),),
            predicted=float(predicted[row]),
        )
        for row in rows
    ]
    heading = Heading(name=space.name, where=space.name, source=space.name, unit="s")
    return assemble(records, heading)


def _settings(space: RecordedSpace, row: int) -> dict[str, Cell]:
    values = zip(space.names, space.rows[row], strict=True)
    return {name: "none" if value is None else value for name, value in values}
