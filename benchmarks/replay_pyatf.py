"""pyATF's search techniques (MIT) on a recorded space.

A worker (``replay_worker``) under a Python that has pyatf. Its space is built by constraints: each
parameter is constrained by those before it to what begins a legal candidate.
"""

import functools
import random

import pyatf
import replay_worker
from pyatf import search_techniques
from pyatf.search_space import SearchSpace
from pyatf.tuning_data import CostFunctionError


def run(space, evaluations, technique, seed):  # noqa: ANN001, ANN201
    """Tune a recorded space by a technique with its defaults."""

    def cost(configuration):  # noqa: ANN001, ANN202
        row = evaluations.row(configuration[f"p{place}"] for place in range(len(space.names)))
        if row is None or space.costs[row] is None:
            raise CostFunctionError("it failed")
        return space.costs[row]

    random.seed(seed)
    tuner = pyatf.Tuner().search_space(_space(space)).verbosity(0)
    tuner.search_technique(getattr(search_techniques, technique)())
    tuner.tune(cost, pyatf.abort_conditions.Evaluations(replay_worker.ASKS * evaluations.budget))


@functools.lru_cache(maxsize=16)
def _space(space):  # noqa: ANN001, ANN202
    parameters = []
    for last, values in enumerate(space.values):
        begun = {row[: last + 1] for row in space.rows}
        names = ", ".join(f"p{place}" for place in range(last + 1))
        # the names of arguments are how a constraint says which parameters it is of
        legal = eval(f"lambda {names}: ({names},) in begun", {"begun": begun})
        parameters.append(pyatf.TP(f"p{last}", pyatf.Set(*range(len(values))), legal))
    return SearchSpace(*parameters, verbosity=0)


if __name__ == "__main__":
    replay_worker.serve(run)
