"""Runs of programs whose scaling is known."""

from collections.abc import Sequence

import numpy as np

from autotune.learning.scaling.scaling_runs import Runs, Variables, points
from autotune.learning.scaling.variables import Variable

LEVELS = (16, 32, 64, 128, 256, 512, 1024)
TRUTH = (-13.0, -0.9, 0.95)


def variables(formula: str = "n", covariates: Sequence[str] = ()) -> Variables:
    return Variables(
        processors=Variable(symbol="P", formula="ranks"),
        size=Variable(symbol="SIZE", formula=formula, unit="cells"),
        time=Variable(symbol="T", formula="time", unit="s"),
        covariates=tuple(Variable(symbol="X", formula=name) for name in covariates),
    )


def planted(
    truth: Sequence[float] = TRUTH,
    *,
    noise: float = 0.05,
    seed: int = 1,
    levels: Sequence[int] = LEVELS,
    each: int = 3,
) -> Runs:
    """``each`` sizes at each level that take about 100 s, with log-normal noise (log2)."""
    b0, b1, b2 = truth
    rng = np.random.default_rng(seed)
    p = np.repeat(np.array(levels, dtype=np.float64), each)
    centre = (np.log2(100.0) - b0 - b1 * np.log2(p)) / b2
    size = centre + np.tile(np.linspace(-0.5, 0.5, each), len(levels))
    time = b0 + b1 * np.log2(p) + b2 * size + rng.normal(0, noise, len(p))
    return Runs(
        points=points(p.tolist(), (2.0**size).tolist()), time=2.0**time, variables=variables()
    )


def split(
    computation: Sequence[float] = (-14.0, -0.95, 1.0),
    communication: Sequence[float] = (-8.0, 0.4, 0.5),
    *,
    lost: float = 0.02,
    noise: float = 0.02,
    seed: int = 1,
) -> Runs:
    """Both components on a grid of sizes; the time is their sum over 1 - ``lost``."""
    rng = np.random.default_rng(seed)
    p = np.repeat(np.array(LEVELS, dtype=np.float64), 4)
    size = np.log2(p) + np.tile([14.0, 15.0, 16.0, 17.0], len(LEVELS))
    parts = [
        2.0 ** (b[0] + b[1] * np.log2(p) + b[2] * size + rng.normal(0, noise, len(p)))
        for b in (computation, communication)
    ]
    return Runs(
        points=points(p.tolist(), (2.0**size).tolist()),
        time=(parts[0] + parts[1]) / (1 - lost),
        variables=variables(),
        parts={"computation": parts[0], "communication": parts[1]},
    )
