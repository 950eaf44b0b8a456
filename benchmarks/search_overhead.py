"""What a step of the search costs beside the measurement: seconds of ask and tell.

    python benchmarks/search_overhead.py [--sizes 5000,50000] [--steps 200] [--repeats 3]
                                         [--failing 0] [--json]

A made-up space of 8 parameters is searched to 200 observations, one at a time, with predictions
that are wrong by a systematic error, and without any; a share may fail, by values. Printed for
each size: median, mean, 95th percentile and worst step in milliseconds of wall time; of repeated
runs the medians of these, and their spread (largest over smallest). Steps in which the
hyperparameters are fitted again are the slow ones. The threads of BLAS are those of the
environment; OPENBLAS_NUM_THREADS=1 for one.
"""

import argparse
import json
import sys
import time

import numpy as np

from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy

_VALUES = (9, 8, 6, 5, 4, 4, 3, 3)
GOALS = {5_000: 20.0, 50_000: 200.0}
"""Milliseconds of a mean step."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="5000,50000")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--failing", type=float, default=0.0, help="share of failing candidates")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [
        measured(size, modelled, arguments)
        for size in map(int, arguments.sizes.split(","))
        for modelled in (True, False)
    ]
    if arguments.json:
        print(json.dumps({"schema": "autotune.search-overhead/1", "rows": rows}))
        return
    print("candidates  model  observations  median   mean    p95   worst ms   spread of the mean")
    for row in rows:
        goal = GOALS.get(int(row["candidates"]))
        print(
            f"{row['candidates']:10.0f}  {'yes' if row['model'] else 'no':5s}"
            f"  {row['observations']:12.0f}  {row['median']:6.1f} {row['mean']:6.1f}"
            f" {row['p95']:6.1f}  {row['worst']:9.1f}   {row['spread']:.2f}"
            + (f"   goal {goal:g} ms" if goal else "")
        )


def measured(size: int, modelled: bool, arguments: argparse.Namespace) -> dict[str, float]:
    """Milliseconds per step, the medians over the repeats."""
    steps, repeats = arguments.steps, arguments.repeats
    candidates, seconds = space(size, modelled, arguments.failing)
    runs = []
    for repeat in range(repeats):
        print(f"{size} candidates, run {repeat + 1} of {repeats}", file=sys.stderr)
        runs.append(steps_of(candidates, seconds, steps, repeat))
    figures = {
        "median": [float(np.median(run)) for run in runs],
        "mean": [float(np.mean(run)) for run in runs],
        "p95": [float(np.quantile(run, 0.95)) for run in runs],
        "worst": [float(np.max(run)) for run in runs],
    }
    return {
        "candidates": size,
        "model": modelled,
        "observations": steps,
        **{name: 1e3 * float(np.median(values)) for name, values in figures.items()},
        "spread": max(figures["mean"]) / min(figures["mean"]),
    }


def steps_of(candidates: Points, seconds: np.ndarray, steps: int, seed: int) -> list[float]:
    """Wall seconds of each ask with its tell."""
    search = ModelSearch(candidates, Policy(), seed=seed)
    taken = []
    for _ in range(steps):
        started = time.perf_counter()
        row = search.ask(0)[0].index
        told = None if np.isnan(seconds[row]) else float(seconds[row])
        search.tell(SearchResult(index=row, seconds=told))
        taken.append(time.perf_counter() - started)
    return taken


def space(size: int, modelled: bool, failing: float) -> tuple[Points, np.ndarray]:
    """So many of the combinations, their times, nan where they fail, and predictions if there is a
    model.
    """
    chance = np.random.default_rng(size)
    total = int(np.prod(_VALUES))
    chosen = np.sort(chance.choice(total, size, replace=False))
    index = np.stack(np.unravel_index(chosen, _VALUES), axis=1)
    names = tuple(f"p{place}" for place in range(len(_VALUES)))
    rows = tuple(tuple(row) for row in index.tolist())

    def effects(scale: float) -> np.ndarray:
        """Of each value, and of each pair of neighbouring parameters."""
        found = np.zeros(size)
        for place, count in enumerate(_VALUES):
            found += scale * chance.normal(size=count)[index[:, place]]
        for place in range(len(_VALUES) - 1):
            table = chance.normal(size=(_VALUES[place], _VALUES[place + 1]))
            found += scale * table[index[:, place], index[:, place + 1]]
        return found

    times = np.exp(effects(0.15))
    predicted = times * np.exp(effects(0.1)) if modelled else None
    if failing:
        field = effects(1.0)
        times = np.where(field > np.quantile(field, 1 - failing), np.nan, times)
    return points(names, rows, predicted=predicted), times


if __name__ == "__main__":
    main()
