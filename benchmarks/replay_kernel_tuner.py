"""Kernel Tuner's optimisers (Apache-2.0) on a recorded space, in its simulation mode: no GPU.

A worker (``replay_worker``) under a Python that has kernel_tuner. It searches the legal candidates
alone: its space of them is made of the recorded ones.
"""

import functools
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import replay_worker
from kernel_tuner import interface, util
from kernel_tuner.runners.simulation import SimulationRunner

_FOLDER = tempfile.TemporaryDirectory()
_searchspace = interface.Searchspace
_run = SimulationRunner.run


def run(space, evaluations, technique, seed):  # noqa: ANN001, ANN201
    """Tune a recorded space by one of Kernel Tuner's strategies with its defaults."""
    cache = _cache(space)
    row_of = dict(zip(cache["cache"], space.rows, strict=True))
    legal = set(map(tuple, _legal(space).list))

    def recording(self, parameter_space, tuning_options):  # noqa: ANN001, ANN202
        elements = list(parameter_space)
        for element in elements:
            places = row_of.get(",".join(str(value) for value in element))
            evaluations.row(places or ())  # no places are illegal ones
        return _run(self, elements, tuning_options)

    SimulationRunner.run = recording
    interface.Searchspace = lambda *_arguments, **_options: _legal(space)
    util.process_cache = lambda *_arguments, **_options: cache["cache"]
    random.seed(seed)
    np.random.seed(seed)
    interface.tune_kernel(
        "recorded",
        "",
        (1, 1, 1),
        [],
        cache["tune_params"],
        restrictions=[util.FunctionConstraint(lambda *values: values in legal)],
        cache=str(_path(space)),
        simulation_mode=True,
        strategy=technique,
        strategy_options={"max_fevals": evaluations.budget},
        quiet=True,
        lang="C",
    )


@functools.lru_cache(maxsize=16)
def _cache(space):  # noqa: ANN001, ANN202
    """The content of a Kernel Tuner cache of a recorded space, by the order of its rows."""
    entries = {}
    for row, cost in zip(space.rows, space.costs, strict=True):
        values = [listed[place] for listed, place in zip(space.values, row, strict=True)]
        entry = dict(zip(space.names, values, strict=True))
        entry["time"] = "RuntimeFailedConfig" if cost is None else cost
        if cost is None:
            entry["__error__"] = "RuntimeFailedConfig"
        entries[",".join(str(value) for value in values)] = entry
    return {
        "device_name": "recorded",
        "kernel_name": "recorded",
        "problem_size": [1, 1, 1],
        "tune_params_keys": space.names,
        "tune_params": dict(zip(space.names, space.values, strict=True)),
        "objective": "time",
        "cache": entries,
    }


@functools.lru_cache(maxsize=16)
def _legal(space):  # noqa: ANN001, ANN202
    return _searchspace(None, None, None, from_cache=_cache(space))


@functools.lru_cache(maxsize=16)
def _path(space):  # noqa: ANN001, ANN202
    path = Path(_FOLDER.name) / f"{Path(space.path).stem}.json"
    path.write_text(json.dumps(_cache(space)), encoding="utf-8")
    return path


if __name__ == "__main__":
    replay_worker.serve(run)
