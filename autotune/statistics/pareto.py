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
    names = list(boxes)
    first_of: dict[tuple[float, ...], str] = {}
    for name in sorted(names[i] for i in not_dominated(list(boxes.values()))):
        first_of.setdefault(boxes[name], name)
    return tuple(first_of[box] for box in sorted(first_of))


def not_dominated(points: Sequence[Sequence[float]]) -> list[int]:
    """The places of the points that no other point dominates, ascending; equal points all stay.

    A point dominates another if it is at least as small in every objective and smaller in one.

    >>> not_dominated([(1, 9), (2, 3), (3, 4), (2, 3)])
    [0, 1, 3]
    """
    tuples = [tuple(point) for point in points]
    kept: list[tuple[float, ...]] = []
    for point in sorted(set(tuples)):
        # in this order nothing later dominates anything earlier
        if not any(_covers(other, point) for other in kept):
            kept.append(point)
    front_points = set(kept)
    return [place for place, point in enumerate(tuples) if point in front_points]


def _box(point: Sequence[float], fine: float) -> tuple[float, ...]:
    if not all(value > 0 and math.isfinite(value) for value in point):
        raise ValueError(f"objectives must be positive numbers, not {list(point)}")
    first, *rest = point
    return (first, *(math.floor(math.log(value) / math.log1p(fine)) for value in rest))


def _covers(point: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(point, other, strict=True))
