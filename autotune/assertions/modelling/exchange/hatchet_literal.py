"""The tree of a model with its totals in the literal format of Hatchet, which Thicket reads too.

    [{"frame": {"name", "type"}, "metrics": {name: number}, "children": [...]}]

A metric without suffix is of a node alone, one with ``(inc)`` of the node with all below it.
"""

from collections.abc import Iterable, Mapping

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.parsed_model import ParsedNode
from autotune.assertions.modelling.tree_walk import (
    METRICS,
    Metric,
    PathCounts,
    RankCounts,
    path_counts,
)

Literal = dict[str, object]


def hatchet_literal(binding: ModelBinding, rank: int = 0) -> list[Literal]:
    """The program as one root with the nodes of the model below it; the metrics of one rank."""
    counts = path_counts(binding, rank)
    model = binding.model
    total = RankCounts()
    for count in counts.values():
        total.add(count.own_counts)
    metrics = [metric for metric in METRICS if total[metric]]
    children, inclusive = _nodes(model.nodes, counts, metrics)
    frame = {"name": model.model.name, "type": "program"}
    numbers = _metrics(PathCounts(visits=1), inclusive, metrics)
    return [{"frame": frame, "metrics": numbers, "children": children}]


def _nodes(
    nodes: Iterable[ParsedNode], counts: Mapping[str, PathCounts], metrics: list[Metric]
) -> tuple[list[Literal], RankCounts]:
    """The frames of some nodes, and the counts of all of them together."""
    frames: list[Literal] = []
    together = RankCounts()
    for node in nodes:
        children, inclusive = _nodes(node.inner, counts, metrics)
        count = counts[node.path]
        inclusive.add(count.own_counts)
        together.add(inclusive)
        frame = {"name": node.path.rpartition("/")[2], "type": node.node.kind}
        numbers = _metrics(count, inclusive, metrics)
        frames.append({"frame": frame, "metrics": numbers, "children": children})
    return frames, together


def _metrics(count: PathCounts, inclusive: RankCounts, metrics: list[Metric]) -> dict[str, float]:
    return {
        "visits": float(count.visits),
        **{metric: float(count.own_counts[metric]) for metric in metrics},
        **{f"{metric} (inc)": float(inclusive[metric]) for metric in metrics},
    }
