"""Reuse distances: the bytes that a thread touches between two touches of the same cache line.

Pass q touches object o at relative position x; pass q' touched it before. In between the thread
touched what lies right of x in q', what lies left of x in q, and all of the passes between:

    q'   . . . . . . x#########        # touched in between
    mid  ######################        D(x) = sum over objects R of size(R) * share(R, x)
    q    ############x . . . .

An object counts once, however often it is touched (LRU stack distance, Mattson et al. 1970).
Without tiles D is linear in x: (1 - x) * B(q' or mid) + x * B(mid or q). With tiles the left and
right parts reach to the borders of the tile first. D is given at ``POSITIONS`` positions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autotune.models.traffic.passes import DOUBLE, Pass, PassGroup, ThreadPasses, Touch

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

POSITIONS = 8
"""Midpoints of equal shares of a block (and, in another order, of a tile)."""

_MACRO: Floats = (np.arange(POSITIONS) + 0.5) / POSITIONS
_MICRO: Floats = ((5 * np.arange(POSITIONS)) % POSITIONS + 0.5) / POSITIONS
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class LineHistory:
    """How the lines of n streams are touched now, and who touched them before."""

    distance: Floats
    """(n, POSITIONS): bytes touched since the line was last touched."""
    stores: Flags
    """(n,): whether the line is written without being read."""
    remote: Flags
    """(n,): whether another thread wrote the line last."""
    reclaimed: Floats
    """(n,): the share of the lines that are written after another thread has read them."""
    streamed: Flags
    """(n,): whether the line is written past the caches, which neither read nor keep it."""
    again: Flags
    """(n,): whether loads of neighbouring components read the line while it is on its way."""

    def __len__(self) -> int:
        return len(self.distance)

    def at(self, rows: Whole) -> "LineHistory":
        """The history of the streams ``rows``."""
        return LineHistory(
            distance=self.distance[rows],
            stores=self.stores[rows],
            remote=self.remote[rows],
            reclaimed=self.reclaimed[rows],
            streamed=self.streamed[rows],
            again=self.again[rows],
        )

    @classmethod
    def joined(cls, parts: "Sequence[LineHistory]") -> "LineHistory":
        """The streams of all parts, one part after the other."""
        return cls(
            distance=np.concatenate([part.distance for part in parts]),
            stores=np.concatenate([part.stores for part in parts]),
            remote=np.concatenate([part.remote for part in parts]),
            reclaimed=np.concatenate([part.reclaimed for part in parts]),
            streamed=np.concatenate([part.streamed for part in parts]),
            again=np.concatenate([part.again for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class ThreadStreams:
    """Streams of cache lines of one thread in one steady-state time step, as arrays.

    First axis: streams, ordered by time. ``outward`` (streams, POSITIONS) is the largest distance
    in bytes until the line is written again, nan where the stream does not write.
    """

    owner: Whole
    """Position of the stream's pass in ``passes``."""
    row: Whole
    history: LineHistory
    outward: Floats
    lines: Floats
    """Inbound lines per iteration; as many go out again where the stream writes."""
    passes: tuple[Pass, ...]
    alike: int
    """Number of threads with these streams."""


@dataclass(frozen=True, slots=True)
class _Timeline:
    """All passes of all time steps in order, with the earlier touches of each object."""

    passes: tuple[Pass, ...]
    start: Whole
    """Number of the first pass in the group of each pass."""
    end: Whole
    tile: Floats
    sizes: Floats
    last: npt.NDArray[np.int64]
    """(passes, objects): the latest earlier pass that touched the object, or -1."""
    touched: Flags
    """(passes, objects)."""
    gone: Flags
    """(passes, objects): stored past the caches."""


def streams(thread: ThreadPasses, line: int) -> ThreadStreams:
    """The streams of a thread, with their reuse distances in the last time step."""
    groups = [group for step in thread.steps for group in step]
    past = _timeline(groups, thread.sizes)
    begin = sum(len(group.passes) for step in thread.steps[:-1] for group in step)
    touches = [
        (index, touch)
        for index in range(begin, len(past.passes))
        for touch in past.passes[index].touches
    ]
    where = np.array([index for index, _ in touches], dtype=np.int64)
    what = np.array([touch.object for _, touch in touches], dtype=np.int64)
    leading = _leading(past, where, what, past.sizes[:, None])[:, :, 0]
    outward = _outward(leading, what, np.array([touch.written for _, touch in touches]))
    trails = _trails(past, thread.steps[-1], begin)
    beyond = [(index - begin, touch) for index, touch in touches if touch.past]
    owner = np.concatenate(
        [where - begin, np.array([t[0] for t in (*trails, *beyond)], dtype=np.int64)]
    )
    extra, far = len(trails) + len(beyond), len(beyond)
    rows = [touch.row for _, touch in touches]
    rows += [trail[1].row for trail in trails] + [touch.row for _, touch in beyond]
    behind = np.array([t[2] for t in trails]).reshape(len(trails), POSITIONS)
    never = np.full((far, POSITIONS), np.inf)
    remote = np.array([touch.remote for _, touch in touches] + [False] * extra)
    written = np.array([touch.written for _, touch in touches] + [False] * extra)
    stores = [t.written and not t.read for _, t in touches] + [False] * len(trails) + [True] * far
    shares = (
        [1 - t.past + t.beyond for _, t in touches]
        + [t[3] for t in trails]
        + [t.past for _, t in beyond]
    )
    lines = np.array(shares) * (DOUBLE / line)
    moved = lines * np.array([past.passes[begin + index].iterations for index in owner])
    return ThreadStreams(
        owner=owner,
        row=np.array(rows, dtype=np.int64),
        history=LineHistory(
            distance=np.concatenate([leading, behind, never]),
            stores=np.array(stores),
            remote=remote,
            reclaimed=_first_writes_after_reads(
                np.array(rows, dtype=np.int64), written, remote, moved
            ),
            streamed=np.arange(len(rows)) >= len(rows) - far,
            again=np.array([touch.again for _, touch in touches] + [False] * extra),
        ),
        outward=np.concatenate([outward, np.full((len(trails), POSITIONS), np.nan), never]),
        lines=lines,
        passes=past.passes[begin:],
        alike=thread.alike,
    )


def distances(
    thread: ThreadPasses, parts: Floats, able: Callable[[Floats], Flags]
) -> tuple[Whole, Whole, Floats]:
    """How much of every part of a cache is touched between two touches of a line.

    ``parts`` (objects, parts): bytes of each object in each part. ``able``: from the most bytes in
    any part, (touches, POSITIONS), which of the leading touches of the last time step matter. The
    result for these: their numbers among the streams of ``streams``, their objects, and the bytes
    (touches, POSITIONS, parts).
    """
    groups = [group for step in thread.steps for group in step]
    past = _timeline(groups, thread.sizes)
    begin = sum(len(group.passes) for step in thread.steps[:-1] for group in step)
    touches = [
        (index, touch.object)
        for index in range(begin, len(past.passes))
        for touch in past.passes[index].touches
    ]
    where, what = (np.array(column, dtype=np.int64) for column in zip(*touches, strict=True))
    most = _leading(past, where, what, parts.max(axis=1, keepdims=True))[:, :, 0]
    rows = np.flatnonzero(able(most))
    return rows, what[rows], _leading(past, where[rows], what[rows], parts)


def _first_writes_after_reads(row: Whole, written: Flags, remote: Flags, lines: Floats) -> Floats:
    """The share of the ``lines`` of each stream that it is the first to write after another thread
    has read them.

    All threads behave alike: when this thread reads lines of others, the others read as many of
    its lines. The time step repeats, so the last event of a row precedes its first.
    """
    reclaimed = np.zeros(len(row))
    for remote_row in set(row[remote].tolist()):
        events = np.flatnonzero((row == remote_row) & (written | remote))
        read = 0.0
        for event in (*events, *events):
            if remote[event]:
                read = max(read, lines[event])
            elif written[event]:
                taken = min(read, lines[event])
                reclaimed[event] = taken / lines[event] if taken else 0.0
                read -= taken
    return reclaimed


def _timeline(groups: Sequence[PassGroup], sizes: Sequence[float]) -> _Timeline:
    passes = tuple(item for group in groups for item in group.passes)
    counts = np.array([len(group.passes) for group in groups])
    ends = np.cumsum(counts)
    pairs = [(k, touch.object) for k, item in enumerate(passes) for touch in item.touches]
    touched = np.zeros((len(passes), len(sizes)), dtype=np.bool_)
    touched[tuple(np.array(pairs).T)] = True
    gone = np.zeros_like(touched)
    for k, item in enumerate(passes):
        gone[k, [touch.object for touch in item.touches if touch.past]] = True
    lasting = touched & np.array([item.whole for item in passes])[:, None]
    last = np.where(lasting, np.arange(len(passes))[:, None], -1)
    last = np.vstack([np.full(len(sizes), -1), np.maximum.accumulate(last)[:-1]])
    return _Timeline(
        passes=passes,
        start=np.repeat(ends - counts, counts),
        end=np.repeat(ends, counts),
        tile=np.repeat(np.array([group.tile for group in groups]), counts),
        sizes=np.array(sizes),
        last=last,
        touched=touched,
        gone=gone,
    )


def _leading(past: _Timeline, where: Whole, what: Whole, parts: Floats) -> Floats:
    """(touches, POSITIONS, parts): the reuse distances of the leading offset of each touch, by
    ``parts`` (objects, parts) of the bytes of every object.
    """
    if not len(where):
        return np.zeros((0, POSITIONS, parts.shape[1]))
    before = past.last[where, what]
    linear, inner = _linear(past, where, before, parts)
    tiled = (past.end - past.start) > 1
    general = (before >= 0) & ~inner & (tiled[where] | tiled[np.maximum(before, 0)])
    if general.any():
        for number, part in enumerate(parts.T):
            shares = replace(past, sizes=part)
            linear[general, :, number] = _tiled(shares, where[general], before[general])
    linear[(before < 0) | past.gone[before, what]] = np.inf
    return linear


def _linear(past: _Timeline, where: Whole, before: Whole, parts: Floats) -> tuple[Floats, Flags]:
    """The distances by the formula without tiles, which also holds within one tile, and a mask of
    where it holds.
    """
    inner: Flags = before >= past.start[where]
    last = past.last[where]
    since = last >= before[:, None]
    after = (last > before[:, None]) | past.touched[where]
    right, left = since @ parts, after @ parts
    t0, t1 = _tile_of(_MACRO, past.tile[where][:, None])
    share = np.where(inner[:, None], t1 - t0, 1.0)
    position = np.where(inner[:, None], _MICRO, _MACRO)
    until, on = share * (1 - position), share * position
    return until[:, :, None] * right[:, None] + on[:, :, None] * left[:, None], inner


def _tiled(past: _Timeline, where: Whole, before: Whole) -> Floats:
    """The distances where one of the two passes, or both, run tile by tile.

        [0, t0)     earlier tiles of now          touched by all passes of this tile loop
        [t0, x)     this tile, left of x          by the passes up to this one
        [x, t1)     this tile, right of x         by the passes before this one
    and mirrored for the earlier tile loop, whose tile is [u0, u1).
    """
    tile, other = past.tile[where][:, None], past.tile[before][:, None]
    t0, t1 = _tile_of(_MACRO, tile)
    x = np.where(tile < 1, t0 + _MICRO * (t1 - t0), _MACRO)
    u0, u1 = _tile_of(x, other)
    first = _first_touch(past, where)
    begun = past.last[past.start[where]]
    middle = begun >= past.end[before][:, None]
    earlier = begun >= past.start[before][:, None]
    since = begun >= before[:, None]
    after = begun > before[:, None]
    upto, ahead = first <= where[:, None], first < where[:, None]
    ever = first < _NEVER

    def share(full: Flags, whole: Floats, *partial: tuple[Flags, Floats]) -> Floats:
        """Bytes touched: ``whole`` where ``full``, else the sum of the partial lengths, at most
        ``whole``.
        """
        bytes_ = (full @ past.sizes)[:, None] * whole
        rest = sum((f[:, None, :] * p[:, :, None] for f, p in partial), np.zeros(()))
        capped = np.minimum(rest, whole[:, :, None]) * ~full[:, None, :]
        result: Floats = bytes_ + capped @ past.sizes
        return result

    left = share(middle | upto, x, (ever, t0), (after, x - u0))
    right = share(middle | since, 1 - x, (ahead, t1 - x), (earlier, 1 - u1))
    return left + right


def _tile_of(position: Floats, tile: Floats) -> tuple[Floats, Floats]:
    """The borders of the tile that each position lies in; the last tile may be shorter."""
    start = np.floor(position / tile) * tile
    return start, np.minimum(1.0, start + tile)


def _first_touch(past: _Timeline, where: Whole) -> npt.NDArray[np.int64]:
    """(touches, objects): the first pass of the current group that touches the object."""
    firsts: dict[int, npt.NDArray[np.int64]] = {}
    for start in np.unique(past.start[where]):
        end = past.end[start]
        inside = past.touched[start:end]
        firsts[int(start)] = np.where(inside.any(axis=0), start + inside.argmax(axis=0), _NEVER)
    return np.stack([firsts[int(start)] for start in past.start[where]])


def _outward(distance: Floats, what: Whole, written: Flags) -> Floats:
    """The largest distance until a written line is written again, which decides how far it is
    written back.
    """
    outward = np.where(written[:, None], 0.0, np.nan)
    outward = np.broadcast_to(outward, distance.shape).copy()
    order = np.argsort(what, kind="stable")
    for begin, end in _runs(what[order]):
        touches = order[begin:end]
        writes = np.flatnonzero(written[touches])
        if writes.size:
            # The touches after a write belong to it; those before the first, to the last one.
            owner = touches[writes[np.searchsorted(writes, np.arange(len(touches))) - 1]]
            np.maximum.at(outward, owner, distance[touches])
    return outward


def _runs(values: Whole) -> list[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(values)) + 1
    return list(zip([0, *cuts.tolist()], [*cuts.tolist(), len(values)], strict=True))


def _trails(
    past: _Timeline, groups: Sequence[PassGroup], begin: int
) -> list[tuple[int, Touch, Floats, float]]:
    """(pass, touch, distances, components read in an iteration) of the trailing offsets.

    Where a gap reaches back over the border of a tile, the line was loaded in the tile before.
    Everything that the tile loop touched since lies in between.
    """
    result: list[tuple[int, Touch, Floats, float]] = []
    index = begin
    for group in groups:
        users = past.touched[index : index + len(group.passes)].sum(axis=0)
        for item in group.passes:
            trailing = [(touch, trail) for touch in item.touches for trail in touch.trails]
            touched = past.touched[index] if trailing and group.tile < 1 else None
            for touch, trail in trailing:
                distance = np.full(POSITIONS, float(trail.distance))
                if touched is not None:
                    distance += _over_the_border(users, touched, group.tile_components, trail.gap)
                result.append((index - begin, touch, distance, trail.components))
            index += 1
    return result


def _over_the_border(
    users: npt.NDArray[np.int64], inside: Flags, length: float, gap: int
) -> Floats:
    """Bytes that the other passes of a tile loop touch within a gap that begins in an earlier tile.

    Rows that only the other passes touch count for the tiles in between. Rows that both touch count
    where they reach beyond the gap, to the begin of the earlier tile. ``users``: passes per object;
    ``length``: of a tile.
    """
    others, shared = (users > 0) & ~inside, (users > 1) & inside
    position = _MICRO * length
    beyond = max(length - gap, 0.0) + position
    added = others.sum() * max(length, float(gap)) + shared.sum() * beyond
    result: Floats = np.where(position < gap, DOUBLE * added, 0.0)
    return result
