"""Kernel Tuner's optimisers on a recorded space, in its simulation mode: no GPU is needed.

Runs as a child process under a Python that has kernel_tuner (Apache-2.0), and imports nothing else:

    python -m venv kt && kt/bin/pip install 'kernel_tuner>=1.5,<2'
    python benchmarks/replay.py --kernel-tuner kt/bin/python

A request is a line of JSON on standard input: ``cache`` (a Kernel Tuner cache file), ``names``,
``strategy``, ``budget``, ``seed``. The answer is a line of JSON: the keys of the configurations
that it evaluated, in order, each once, failures among them. A configuration that was evaluated
before is free, as is one that the cache does not hold; but a strategy that asks fifty times as
often as it may evaluate goes in circles, and its run ends there.
"""

import contextlib
import io
import json
import random
import sys
import warnings

import numpy as np
from kernel_tuner import interface, util
from kernel_tuner.runners.simulation import SimulationRunner

_SPACES = {}
_CACHES = {}
_ORDER = {}
_LEFT = [0]
"""Questions of a run that are left, free ones among them."""
_ASKS = 50
_searchspace = interface.Searchspace
_run = SimulationRunner.run


def _recording(self, parameter_space, tuning_options):  # noqa: ANN001, ANN202
    """As the runner itself, noting what was not evaluated before."""
    elements = list(parameter_space)
    _LEFT[0] -= max(len(elements), 1)
    if _LEFT[0] < 0:
        raise util.StopCriterionReached("it goes in circles")
    results = _run(self, elements, tuning_options)
    for element, result in zip(elements, results, strict=False):
        key = ",".join(str(value) for value in element)
        if result is not None and key in tuning_options.cache:
            _ORDER.setdefault(key)
    return results


def _answer(request):  # noqa: ANN001, ANN202
    path = request["cache"]
    if path not in _CACHES:
        _CACHES[path] = util.read_cache(path, open_cache=False)
    cache = _CACHES[path]
    legal = {
        tuple(row[name] for name in cache["tune_params_keys"]) for row in cache["cache"].values()
    }

    def space(*arguments, **options):  # noqa: ANN002, ANN003, ANN202
        if path not in _SPACES:
            _SPACES[path] = _searchspace(*arguments, **options)
        return _SPACES[path]

    def process(*_arguments, **_options):  # noqa: ANN002, ANN003, ANN202
        return cache["cache"]

    interface.Searchspace = space
    util.process_cache = process
    _ORDER.clear()
    _LEFT[0] = _ASKS * request["budget"]
    random.seed(request["seed"])
    np.random.seed(request["seed"])
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interface.tune_kernel(
            "recorded",
            "",
            (1, 1, 1),
            [],
            cache["tune_params"],
            restrictions=[util.FunctionConstraint(lambda *values: values in legal)],
            cache=path,
            simulation_mode=True,
            strategy=request["strategy"],
            strategy_options={"max_fevals": request["budget"]},
            quiet=True,
            lang="C",
        )
    return list(_ORDER)


def main() -> None:
    SimulationRunner.run = _recording
    for line in sys.stdin:
        try:
            answer = {"order": _answer(json.loads(line))}
        except Exception as error:  # a peer's failure is a result
            answer = {"error": f"{type(error).__name__}: {error}", "order": list(_ORDER)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
