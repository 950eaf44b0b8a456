"""HEBO (MIT) on a recorded space: Gaussian processes with warped inputs and outputs.

A worker (``replay_worker``) under a Python that has HEBO. Ordered numbers are integers on the index
of the value, all else categories; HEBO takes no constraint, so that what is illegal or fails is
told with the worst cost so far.
"""

import numpy as np
import pandas as pd
import replay_worker
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

_ASKS = 6
"""Questions for each evaluation: one takes a second."""


def run(space, evaluations, technique, seed):  # noqa: ANN001, ANN201, ARG001
    """Tune a recorded space with HEBO's defaults."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    optimizer = HEBO(DesignSpace().parse(_parameters(space)), scramble_seed=seed)
    for _ in range(_ASKS * evaluations.budget):
        asked = optimizer.suggest(n_suggestions=1)
        places = [int(asked.iloc[0][f"p{number}"]) for number in range(len(space.names))]
        cost = evaluations.penalized(places)
        optimizer.observe(pd.DataFrame(asked), np.array([[cost]]))


def _parameters(space):  # noqa: ANN001, ANN202
    return [
        {"name": f"p{place}", "type": "int", "lb": 0, "ub": len(values) - 1}
        if space.ordered(place)
        else {"name": f"p{place}", "type": "cat", "categories": list(range(len(values)))}
        for place, values in enumerate(space.values)
    ]


if __name__ == "__main__":
    replay_worker.serve(run)
