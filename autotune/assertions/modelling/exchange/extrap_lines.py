"""Totals of a model at several points as the JSON Lines of Extra-P."""

import json
from collections.abc import Iterable, Iterator

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.studies.scaling_study import ScalingPoint
from autotune.assertions.modelling.tree_walk import METRICS, path_counts


def extrap_lines(bindings: Iterable[ModelBinding], rank: int = 0) -> Iterator[str]:
    """A line for every point, node and metric: the counts of one rank at the node itself.

    Extra-P joins the names of a call path by ``->``.
    """
    for binding in bindings:
        given = {name: float(value) for name, value in binding.given.items()}
        for path, count in path_counts(binding, rank).items():
            for metric in METRICS:
                if value := count.own_counts[metric]:
                    callpath = "->".join([binding.model.model.name, *path.split("/")])
                    yield _line(given, callpath, metric, float(value))


def scaling_lines(points: Iterable[ScalingPoint], name: str) -> Iterator[str]:
    """A line for every point and metric of a study: the most of a single rank."""
    for point in points:
        given = {key: float(value) for key, value in point.values.items()}
        for total in point.totals:
            yield _line(given, name, total.metric, float(total.most))


def _line(given: dict[str, float], callpath: str, metric: str, value: float) -> str:
    line = {"params": given, "callpath": callpath, "metric": metric, "value": value}
    return f"{json.dumps(line)}\n"
