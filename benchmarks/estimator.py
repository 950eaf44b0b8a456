"""Which estimator of a time repeats best from launch to launch on this host?

    python benchmarks/estimator.py [--launches 16] [--samples 6]

Candidates of configs/quickstart.yaml, launched in interleaved rounds. For every way of splitting
the launches into groups of as many as a run has rounds, the estimators are applied to the pooled
samples of each group; printed is the median over candidates of the standard deviation of the
logarithm, in per cent. ``autotune.statistics.estimators.LOCATION`` names the winner.
"""

import argparse
import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.results import Prepared, Sample
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.statistics import estimators
from autotune.workloads.shipped import workload_of


def main() -> None:
    arguments = _arguments()
    setup = config.load(Path(arguments.config))
    measuring = dataclasses.replace(setup.measuring, samples=arguments.samples)
    measurer = HostMeasurer(
        measuring=measuring,
        limits=setup.limits,
        sources=lambda c: harness.units(
            variant_program.program(c.variant, setup.skeleton, c.problem), c.problem
        ),
    )
    for problem in setup.problems:
        chosen = _chosen(setup, problem.label, arguments.candidates)
        prepared = [p for p in map(measurer.prepare, chosen) if p.status == "ok"]
        launches = _launches(measurer, prepared, arguments.launches, arguments.samples)
        for group in (1, 2, 4):
            spread = _spread(list(launches.values()), group)
            text = ", ".join(f"{name} {100 * value:.2f} %" for name, value in spread.items())
            print(f"{problem.label}: {group} launch(es) of {arguments.samples} samples: {text}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--config", default="configs/quickstart.yaml")
    parser.add_argument("--launches", type=int, default=16)
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--candidates", type=int, default=6)
    return parser.parse_args()


def _chosen(setup: Setup, label: str, count: int) -> list[Candidate]:
    legal = workload_of(setup).candidates(2).legal
    matching = [candidate for candidate in legal if candidate.problem.label == label]
    return random.Random(1).sample(matching, min(count, len(matching)))


def _launches(
    measurer: HostMeasurer, prepared: Sequence[Prepared], launches: int, samples: int
) -> dict[str, list[list[float]]]:
    """Candidate to its launches with all their samples, accepted or not."""
    kept: dict[str, list[list[float]]] = {p.candidate.identity: [] for p in prepared}
    order = list(prepared)
    for number in range(launches):
        random.Random(number).shuffle(order)
        for item in order:
            taken: list[Sample] = []
            measurer.launch(
                item, round_number=number, launch=number, expected=None, on_sample=taken.append
            )
            times = [s.seconds for s in taken if s.accepted and not s.warm_up]
            if len(times) >= samples:
                kept[item.candidate.identity].append(times[:samples])
    return kept


def _spread(candidates: Sequence[list[list[float]]], group: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in estimators.ESTIMATORS}
    for launches in candidates:
        pooled = [
            [time for launch in launches[start : start + group] for time in launch]
            for start in range(0, len(launches) - group + 1, group)
        ]
        if len(pooled) >= 2:
            for name, value in estimators.repeatability(pooled).items():
                found[name].append(value)
    return {name: float(np.median(values)) for name, values in found.items() if values}


if __name__ == "__main__":
    main()
