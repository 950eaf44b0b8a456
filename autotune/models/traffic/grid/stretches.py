"""Positions along one dimension of a blocked sweep, as stretches within which nothing changes.

Blocks repeat themselves, so that few stretches stand for any number of positions: those near the
borders of the grid, and those of one period, which comes again and again in between.

    begin         m0*period    (m0+1)*period          m1*period      end
      |---|--|------|----|--|-----|----|--|-----| ... |----|--|---|--|
           head           one period, repeated                 tail
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]

_HEAD, _PERIOD, _TAIL = range(3)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of positions in ascending order."""

    first: Whole
    """The first position of each stretch."""
    length: Whole
    """Its number of positions."""
    part: Whole
    """Whether it lies in the head (0), in the period (1) or in the tail (2)."""
    period: int
    """Positions of the period."""
    repeats: int
    """How often the period comes."""

    def representatives(self, pattern: Whole) -> tuple[Whole, Whole]:
        """The middle position of each pattern, and the number of positions with this pattern.

        ``pattern``: a row for each stretch.
        """
        _, group = np.unique(pattern, axis=0, return_inverse=True)
        place = 3 * group.reshape(-1) + self.part
        order = np.argsort(place, kind="stable")
        slots = 3 * (int(group.max()) + 1)
        once = np.zeros(slots, dtype=np.int64)
        np.add.at(once, place, self.length)
        until = np.cumsum((once.reshape(-1, 3) * (1, self.repeats, 1)), axis=1)
        many = until[:, _TAIL]
        middle = many // 2
        part = (middle[:, None] >= until[:, :_TAIL]).sum(axis=1)
        chosen = 3 * np.arange(len(many)) + part
        rest = middle - np.where(part > 0, until[np.arange(len(many)), part - 1], 0)
        round_, rest = np.divmod(rest, once[chosen])
        ends = np.cumsum(self.length[order])
        rest += (np.cumsum(once) - once)[chosen]
        at = np.searchsorted(ends, rest, side="right")
        stretch = order[at]
        within = rest - (ends[at] - self.length[stretch])
        return self.first[stretch] + within + round_ * self.period, many


def stretches(
    ends: tuple[int, int], alike: tuple[int, int], period: int, edges: Whole, borders: Whole
) -> Stretches:
    """The stretches of the positions [begin, end) in ``ends``.

    A stretch begins at each of ``edges``, at the same places of every period of so many positions
    before and after, and at ``borders``. Periods within ``alike`` are equal.
    """
    begin, end = ends
    first, last = -(-alike[0] // period), alike[1] // period
    repeats = last - first
    if repeats < 2:
        first, last, repeats = -(-end // period), -(-end // period), 0
    head, tail = first * period, last * period
    pieces = [
        (_HEAD, begin, min(head, end)),
        (_PERIOD, head, head + period if repeats else head),
        (_TAIL, tail, end),
    ]
    parts = [
        (cuts[:-1], np.diff(cuts), np.full(len(cuts) - 1, part))
        for part, low, high in pieces
        if low < high
        for cuts in [_cuts(low, high, period, edges, borders)]
    ]
    starts, lengths, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Stretches(starts, lengths, numbers, period, repeats)


def _cuts(low: int, high: int, period: int, edges: Whole, borders: Whole) -> Whole:
    """Where stretches begin within [low, high), and ``high``."""
    offsets = np.unique(edges % period)
    periods = np.arange(low // period, -(-high // period)) * period
    cuts = np.concatenate([(periods[:, None] + offsets).ravel(), borders])
    inside = cuts[(cuts > low) & (cuts < high)]
    return np.concatenate([[low], np.unique(inside), [high]]).astype(np.int64)
