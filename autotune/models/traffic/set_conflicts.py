"""Set conflicts: more rows whose lines fall into the same set of a cache than the set has ways.

All stored rows lie in one arena, row r at r * leading dimension. With a leading dimension of a
multiple of sets x line bytes, all rows that a sweep walks along use one set at a time:

    set  7   Y[0] Y[1] Y[2] Y[3] F[0] F[1] F[2] F[3]    8 ways are full
             y                                          the ninth drives out one of them

Where the rows come in turn, each line is gone under LRU replacement before its turn comes again:
what was loaded ahead of its use is loaded again, once for each pass of the loop over the line. A
row that a pass touches several times, because it gathers a sum in memory, stays.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.domain.machine import CacheLevel
from autotune.models.traffic.passes import DOUBLE
from autotune.models.traffic.sweep_shape import SweepShape

PAGE = 4096
"""Bytes of the smallest page: only address bits below it are equal in physical memory."""


@dataclass(frozen=True, slots=True)
class SetConflict:
    """Streams of one sweep that together exceed the ways of a set of one cache level."""

    level: str
    streams: int
    """Largest number of streams in one set."""
    ways: int
    lines: float
    """Lines loaded again from the next level, per iteration."""
    certain: bool
    """False: it depends on the physical pages."""


def leading_dimension(n: int, pad_lines: int, line: int) -> int:
    """The components from one row of an IVP to the next: whole cache lines or, with padding, whole
    pages plus the padding.

    >>> leading_dimension(488, 0, 64), leading_dimension(488, 3, 64)
    (488, 536)
    """
    per_line, per_page = line // DOUBLE, PAGE // DOUBLE
    if pad_lines == 0:
        return -(-n // per_line) * per_line
    return -(-n // per_page) * per_page + per_line * pad_lines


def conflicts(
    shape: SweepShape,
    begins: Mapping[str, int],
    caches: Sequence[CacheLevel],
    iterations: float,
) -> list[SetConflict]:
    """The set conflicts of a sweep, for loops that do ``iterations`` per pass.

    ``begins``: where the row of each parameter begins, in components. Shared outer caches are left
    out: their set index is a hash of the address.
    """
    private = [cache for cache in caches if cache.cores == 1]
    if len(shape.streams) <= min((cache.ways for cache in private), default=0):
        return []
    starts = [begins[name] + offset for name, offset in shape.streams]
    turns = [begins[name] + offset for name, offset in shape.touches]
    result = []
    for cache in private:
        crowd = crowded(starts, cache, iterations, turns)
        if crowd:
            certain = cache.sets * cache.line <= PAGE
            result.append(SetConflict(cache.name, crowd[0], cache.ways, crowd[1], certain))
    return result


def merged(*several: Sequence[SetConflict]) -> list[SetConflict]:
    """One conflict for each level: the largest of several reasons for it, which do not add up."""
    by_level: dict[str, SetConflict] = {}
    for conflict in (conflict for some in several for conflict in some):
        other = by_level.get(conflict.level, conflict)
        by_level[conflict.level] = replace(
            conflict,
            streams=max(conflict.streams, other.streams),
            lines=max(conflict.lines, other.lines),
        )
    return list(by_level.values())


def crowded(
    starts: Sequence[int], cache: CacheLevel, iterations: float, turns: Sequence[int] = ()
) -> tuple[int, float] | None:
    """The most streams in one set and the lines loaded again per iteration; None where no set is
    crowded.

    ``starts``: the components where the streams begin; they advance side by side. ``turns``: the
    same components in the order in which a pass touches them, where some may occur more than once;
    by default each occurs once.
    """
    per_line = cache.line // DOUBLE
    sets = Counter(line % cache.sets for line in {start // per_line for start in starts})
    crowds = {place: count for place, count in sets.items() if count > cache.ways}
    if not crowds:
        return None
    again = sum(
        _missed([line for turn in turns if (line := turn // per_line) % cache.sets == place], cache)
        if turns
        else count
        for place, count in crowds.items()
    )
    return max(crowds.values()), again * max(1.0, per_line / max(1.0, iterations)) / per_line


def _missed(turns: Sequence[int], cache: CacheLevel) -> int:
    """The misses of one pass in a set under LRU, after passes that touched the same lines in the
    same order.
    """
    cached: list[int] = []
    missed = 0
    for _ in range(3):
        missed = 0
        for line in turns:
            if line in cached:
                cached.remove(line)
            else:
                missed += 1
            cached.append(line)
            del cached[: -cache.ways]
    return missed
