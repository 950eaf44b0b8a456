"""SMAC3 (BSD-3-Clause) on a recorded space: random forests, its facade for hyperparameters.

A worker (``replay_worker``) under a Python that has smac. Ordered numbers are ordinal on the index
of the value, all else categories. The space draws and accepts legal candidates alone.
"""

import contextlib
import functools
import logging
import tempfile

import numpy as np
import replay_worker
from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, OrdinalHyperparameter
from ConfigSpace.configuration import Configuration
from ConfigSpace.forbidden import ForbiddenConjunction, ForbiddenEqualsClause
from smac import HyperparameterOptimizationFacade, Scenario
from smac.runhistory import StatusType, TrialValue


class Unrecorded(ForbiddenConjunction):
    """What is not one of the recorded candidates, which ``legal`` holds as tuples of places."""

    legal = frozenset()

    def __repr__(self):  # noqa: ANN204
        return "not recorded"

    def is_forbidden_vector(self, vector):  # noqa: ANN001, ANN201
        """Whether places are illegal."""
        return tuple(vector.astype(int)) not in self.legal

    def is_forbidden_vector_array(self, arr):  # noqa: ANN001, ANN201
        """Which columns of places are illegal."""
        return np.array([self.is_forbidden_vector(column) for column in arr.T], dtype=bool)

    def is_forbidden_value(self, values):  # noqa: ANN001, ANN201
        """Whether named places are illegal."""
        names = (component.hyperparameter.name for component in self.components)
        return tuple(values[name] for name in names) not in self.legal

    def to_dict(self):  # noqa: ANN201
        """Nothing that could be read again."""
        return {}


class RecordedSpace(ConfigurationSpace):
    """A space that draws its samples from the recorded candidates."""

    def sample_configuration(self, size=None):  # noqa: ANN001, ANN201
        """So many of them, with replacement; one alone where no size is given."""
        drawn = [
            Configuration(self, vector=np.array(self.recorded[row], dtype=float))
            for row in self.random.randint(len(self.recorded), size=size or 1)
        ]
        return drawn if size is not None and size > 1 else drawn[0] if size is None else drawn

    def to_json(self, path):  # noqa: ANN001, ANN201
        """Write nothing: SMAC keeps a copy of its space that nobody reads."""


def run(space, evaluations, technique, seed):  # noqa: ANN001, ANN201, ARG001
    """Tune a recorded space with the defaults of SMAC's facade, by asking and telling."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(StopIteration):
        scenario = Scenario(
            _space(space, seed),
            n_trials=evaluations.budget,
            seed=seed,
            deterministic=True,
            output_directory=folder,
        )
        smac = HyperparameterOptimizationFacade(
            scenario, _never, overwrite=True, logging_level=False
        )
        while True:
            info = smac.ask()
            places = tuple(int(place) for place in info.config.get_array())
            row = evaluations.row(places)
            failed = row is None or space.costs[row] is None
            status = StatusType.CRASHED if failed else StatusType.SUCCESS
            cost = evaluations.penalized(places)
            smac.tell(info, TrialValue(cost=cost, status=status), save=False)


def _never(config, seed):  # noqa: ANN001, ANN202
    """The target that SMAC is made for; it is never called."""


def _space(space, seed):  # noqa: ANN001, ANN202
    made = RecordedSpace(seed=seed)
    made.recorded = space.rows
    first = space.rows[0]
    for place, (name, values) in enumerate(zip(_names(space), space.values, strict=True)):
        kind = OrdinalHyperparameter if space.ordered(place) else CategoricalHyperparameter
        made.add(kind(name, list(range(len(values))), default_value=first[place]))
    clause = Unrecorded(*(ForbiddenEqualsClause(made[name], 0) for name in _names(space)))
    clause.legal = frozenset(space.rows)
    made.add(clause)
    return made


@functools.lru_cache(maxsize=16)
def _names(space):  # noqa: ANN001, ANN202
    """Names whose alphabetical order is that of the parameters: a space sorts them."""
    return [f"p{place:03d}" for place in range(len(space.names))]


if __name__ == "__main__":
    replay_worker.serve(run)
