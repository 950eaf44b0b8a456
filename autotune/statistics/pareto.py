"""The Pareto front: the candidates that no other candidate dominates."""

import math
from collections.abc import Mapping, Sequence

FINE = 0.01
"""Values of all objectives but the first that are nearer than this share count as equal."""


def front(
    values: Mapping[str, Mapping[str, float]], objectives: Sequence[str], fine: float = FINE
) -> tuple[str, ...]:
    """Names of the candidates that no other one dominates, best in the first objective first.

    ``values``: candidate to objective to a positive value, smaller is better; candidates that lack
    one of ``objectives`` take no part. A candidate dominates another if it is at least as good in
    every objective and better in one. The first objective counts as it is, the others in steps of
    ``fine``, so that a slightly smaller memory alone does not put a candidate on the front (the
    boxes of Laumanns, Thiele, Deb and Zitzler 2002, Evol. Comput. 10(3)). Of equal candidates the
    first by name stays.

    >>> front({"a": {"t": 1, "m": 9}, "b": {"t": 2, "m": 3}, "c": {"t": 3, "m": 4}}, ("t", "m"))
    ('a', 'b')
    """
    boxes = {
        name: _box([point[objective] for objective in objectives], fine)
        for name, point in values.items()
        if all(objective in point for objective in objectives)
    }
    kept: dict[str, tuple[float, ...]] = {}
    for name in sorted(boxes, key=lambda name: (boxes[name], name)):
        # in this order nothing later dominates anything earlier
        if not any(_covers(other, boxes[name]) for other in kept.values()):
            kept[name] = boxes[name]
    return tuple(kept)


def _box(point: Sequence[float], fine: float) -> tuple[float, ...]:
    if not all(value > 0 and math.isfinite(value) for value in point):
        raise ValueError(f"objectives must be positive numbers, not {list(point)}")
    first, *rest = point
    return (first, *(math.floor(math.log(value) / math.log1p(fine)) for value in rest))


def _covers(point: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(point, other, strict=True))
