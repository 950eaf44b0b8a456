"""The plan of a calibration: numbers of threads, working sets, work beside streams, length of
samples.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autotune.domain.machine import Machine
from autotune.measuring.host.host_probe import (
    EXTRAS,
    FUNCTIONS,
    GROUP,
    PAGE,
    STREAMS,
    Kind,
    ProbeItem,
    load,
)
from autotune.units import Bytes, Seconds

MEMORY = "MEM"
SHORT = 0.004
"""Seconds of a sample that uses no cache beyond L1."""
RESIDENT = Bytes(PAGE)
"""A working set that stays in any L1 together with the probe's other buffer."""
TRIPS = (32, 64, 96)
"""Lengths of short loops in doubles, constant or on average."""
VARIED = 8
"""Doubles by which the lengths of a short loop vary."""
RUNS = (16, 64)
"""Lengths of short pieces of a stream, in groups."""
TURNS = 8
"""Arrays whose pieces are read in turns."""
WHOLE = 1024
"""Groups of a piece so long that its start does not matter."""
CHAIN = 96
"""Dependent operations of a chain, more than can wait at a time where ports are not the limit."""
CHAINS = 6
"""Chains of additions in a round, with all threads, and with one and all beside vectors."""
LARGEST_L1 = Bytes(2 * PAGE)
"""The largest working set that fits into every L1 together with the probe's other data."""

WIDTHS = (16, 32, 64)
"""Bytes of vectors; scalar operations take as long as the narrowest."""
RELOADED = 8
"""Pointers that an item of kind ``narrow`` loads in each pass."""

PIECES = (1 << 12, 1 << 14)
"""Groups of the pieces of work between two barriers."""

ARITHMETIC: tuple[Kind, ...] = ("adds", "multiplies", "fused", "divides", "shuffles")
"""Kinds of independent vector operations."""

Block = tuple[ProbeItem, ...]
"""Items that are compared with each other and therefore measured in direct succession."""

_HANDED = 4
"""Rows that one thread writes in turn and another reads one by one."""
_LEAST_TOP = Bytes(64 << 20)
READ, WRITTEN = (2, 6), 2
"""Rows that the items of kind across read, and those that each writes."""
_ROUNDS = 3
"""Number of rounds that should fit into the budget."""
_OVERHEAD = 0.08
"""Seconds of one process besides its samples: start and first touch."""
_WARM = 1.7
"""Time of a sample including its warm-up, divided by the time of the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPlan:
    """The points of one calibration round."""

    threads: tuple[int, ...]
    sizes: Mapping[int, tuple[Bytes, ...]]
    """Threads to working sets per thread of one stream, ascending."""
    levels: Mapping[int, Mapping[str, Bytes]]
    """Threads to each level with a working set per thread that lies well inside it."""
    streams: tuple[int, ...]
    """Numbers of streams, besides one, for one thread and for all threads."""
    way: Bytes
    """Bytes of one way of L1: lines at this distance share a set."""
    ways: int
    sample: Seconds

    def long(self, threads: int) -> list[Block]:
        """The items of one round whose working sets are larger than L1."""
        blocks: list[Block] = [(load(size),) for size in self.sizes[threads]]
        if threads not in (1, self.threads[-1]):
            return blocks
        levels = self.levels[threads]
        for size in sorted({self.sizes[threads][0], *levels.values()}):
            blocks.append(tuple(load(size, streams=n) for n in (1, *self.streams)))
        for size in levels.values():
            blocks.append((load(size), single_stream("update", size), single_stream("store", size)))
        blocks += [tuple(across(size, rows) for rows in READ) for size in levels.values()]
        if threads == 1:
            blocks.append(self.taps())
        blocks += [tuple(items) for items in map(stretches, levels.values())]
        blocks += [tuple(items) for items in map(resumed, levels.values())]
        if threads > 1:
            blocks += [(load(size), *pieces(size)) for size in levels.values()]
        return blocks

    def short(self, threads: int) -> list[Block]:
        """The items of one round with all data in L1 or moving between the caches of cores."""
        if threads > 1:
            blocks: list[Block] = [(ProbeItem(kind="barrier"),)]
            if threads in (2, self.threads[-1]):
                blocks.append(handed_lines())
            return blocks
        blocks = [
            (ProbeItem(kind="add"), ProbeItem(kind="forward"), ProbeItem(kind="blocked")),
            (offset(0), offset(8)),
            (behind(0), behind(8)),
            (
                *map(apart, WIDTHS[1:]),
                *(mixed(width, both) for width in WIDTHS for both in (False, True)),
            ),
            vector_operations(),
            library_calls(),
            (ProbeItem(kind="add"), ProbeItem(kind="window", run=CHAIN)),
            tuple(loop_calls(n) for n in TRIPS) + tuple(loop_calls(n, varied=True) for n in TRIPS),
            tuple(stretches(LARGEST_L1)),
            *([self.clash()] if self.clash() else []),
        ]
        return [(ProbeItem(kind="clock"), *block) for block in blocks]

    def taps(self) -> Block:
        """Items that read an array of the next level once, and four, and eight, neighbours of every
        component, in L1 and of that array.
        """
        within, beyond = self.sizes[1][0], next(iter(self.levels[1].values()))
        return (
            load(beyond),
            *(single_stream("taps", of, more) for more in (0, 1) for of in (within, beyond)),
        )

    def clash(self) -> Block:
        """Items with twice as many arrays as L1 has ways, in equal and in different sets.

        Empty where L1 has too many ways.
        """
        count = next((n for n in STREAMS if n >= 2 * self.ways and n % 4 == 0), None)
        if count is None or self.way % PAGE:
            return ()
        size = Bytes(count * PAGE // 4)
        return (
            load(size, streams=count),
            ProbeItem(kind="clash", bytes=size, streams=count, extra=self.way),
        )

    @property
    def cost(self) -> Seconds:
        """Estimated time of one round."""
        long = sum(len(block) for n in self.threads for block in self.long(n)) + 3 * CHAINS
        short = sum(len(block) for n in self.threads for block in self.short(n))
        # overlap, which depends on the first round
        overlap_items = 6 * sum(len(self.levels[n]) for n in {1, self.threads[-1]})
        seconds = (long + overlap_items) * self.sample + short * min(SHORT, self.sample)
        return Seconds(seconds * _WARM + 2 * len(self.threads) * _OVERHEAD)


def single_stream(kind: Kind, size: Bytes, extra: int = 0) -> ProbeItem:
    """An item that runs one stream."""
    return ProbeItem(kind=kind, bytes=size, streams=1, extra=extra)


def offset(distance: int) -> ProbeItem:
    """An item of vector loads from L1 that start ``distance`` bytes behind the start of a cache
    line.
    """
    return ProbeItem(kind="offset", bytes=LARGEST_L1, streams=1, extra=distance)


def behind(distance: int) -> ProbeItem:
    """An item of vector stores to L1 that start ``distance`` bytes behind the start of a line."""
    return ProbeItem(kind="behind", bytes=LARGEST_L1, streams=1, extra=distance)


def apart(width: int) -> ProbeItem:
    """An item of stores of so many bytes to L1, to two rows in turn; at most of the bytes of the
    vectors that the compiler makes, at least of half of the widest.
    """
    return ProbeItem(kind="apart", bytes=RESIDENT, streams=2, extra=width)


def mixed(width: int, both: bool) -> ProbeItem:
    """An item of vectors of so many bytes of four rows in L1, each loaded and added or multiplied,
    or ``both``; at most of the bytes that the compiler makes them of.
    """
    return ProbeItem(kind="mixed", bytes=RESIDENT, streams=4, extra=width, run=int(both))


def across(size: Bytes, read: int) -> ProbeItem:
    """An item of sums of ``read`` rows with vector stores across lines to ``WRITTEN`` others."""
    return ProbeItem(kind="across", bytes=size, streams=read + WRITTEN)


def vector_operations() -> Block:
    """Items of independent vector loads from L1, stores to it, arithmetic of each kind, and a loop
    over many rows whose pointers fit in registers and do not.
    """
    moves = (single_stream("load", RESIDENT, EXTRAS[-1]), single_stream("store", RESIDENT))
    rows = tuple(ProbeItem(kind="narrow", extra=extra) for extra in (0, 1))
    return (*moves, *(ProbeItem(kind=kind) for kind in ARITHMETIC), *rows)


def library_calls() -> Block:
    """Items of calls of each function of the mathematical library that the program can call."""
    return tuple(ProbeItem(kind="calls", extra=number) for number in range(len(FUNCTIONS)))


def loop_calls(length: int, *, varied: bool = False) -> ProbeItem:
    """An item that calls a loop over ``length`` doubles, or over ``length`` on average if
    ``varied``.
    """
    if not varied:
        return ProbeItem(kind="entry", bytes=LARGEST_L1, run=length)
    return ProbeItem(kind="entry", bytes=LARGEST_L1, extra=VARIED, run=length - 7 * VARIED // 2)


def stretches(size: Bytes) -> Iterator[ProbeItem]:
    """Items that time short pieces of a stream, then long pieces or the whole stream.

    In a small working set no piece is long enough to make its start negligible, so the whole stream
    is timed there.
    """
    near = Bytes(1 << round(math.log2(size)))
    for groups in RUNS:
        yield ProbeItem(kind="runs", bytes=near, run=groups)
    long = ProbeItem(kind="runs", bytes=near, run=WHOLE)
    yield long if near >= 2 * WHOLE * GROUP else load(near)


def resumed(size: Bytes) -> Iterator[ProbeItem]:
    """Items that read short pieces of several arrays in turns, then long pieces or the whole.

    Each piece goes on where the last one of its array ended.
    """
    for groups in RUNS:
        yield ProbeItem(kind="resume", bytes=size, streams=TURNS, run=groups)
    long = ProbeItem(kind="resume", bytes=size, streams=TURNS, run=WHOLE)
    yield long if size >= 2 * TURNS * WHOLE * GROUP else load(size)


def pieces(size: Bytes) -> Block:
    """Items that read pieces of a working set, with a barrier after each."""
    return tuple(ProbeItem(kind="meet", bytes=size, streams=1, run=n) for n in PIECES)


def handed_lines() -> Block:
    """Items in which a thread writes rows, another thread or the same one reads them, and they are
    written again.

    The rows are as short as what a solver hands over at the border of a block, and stay in L1.
    """
    kinds: tuple[Kind, ...] = ("handed", "kept", "lent", "owned")
    return tuple(ProbeItem(kind=kind, bytes=LARGEST_L1, streams=_HANDED) for kind in kinds)


def make(machine: Machine, budget: float, memory: Bytes | None) -> CalibrationPlan:
    """The finest plan of which several rounds fit into ``budget`` seconds.

    ``memory`` is the available memory in bytes; a quarter of it is used.
    """
    for per_octave, all_counts, streams, sample in (
        (2, True, (2, 4, 8, 16), 0.015), (2, True, (2, 4, 8, 16), 0.01), (1, True, (4, 16), 0.01),
        (1, False, (4, 16), 0.005), (1, False, (4,), 0.002),
    ):  # fmt: skip
        plan = _plan(machine, memory, per_octave, all_counts, streams, sample)
        if plan.cost * _ROUNDS <= budget:
            break
    return plan


def thread_counts(cores: int) -> tuple[int, ...]:
    """The numbers of threads to measure: all up to four, powers of two, and all cores.

    >>> thread_counts(12)
    (1, 2, 3, 4, 8, 12)
    """
    powers = {2**k for k in range(3, cores.bit_length())}
    return tuple(sorted({n for n in (1, 2, 3, 4, *powers, cores) if n <= cores}))


def _plan(
    machine: Machine,
    memory: Bytes | None,
    per_octave: int,
    all_counts: bool,
    streams: tuple[int, ...],
    sample: float,
) -> CalibrationPlan:
    counts = thread_counts(machine.cores) if all_counts else tuple(sorted({1, machine.cores}))
    first = machine.caches[0]
    sizes = {
        count: _grid(first.size // 2, largest_working_set(machine, count, memory), per_octave)
        for count in counts
    }
    return CalibrationPlan(
        threads=counts,
        sizes=sizes,
        levels={count: representatives(machine, count, sizes[count][-1]) for count in counts},
        streams=streams,
        way=Bytes(first.sets * first.line),
        ways=first.ways,
        sample=Seconds(sample),
    )


def largest_working_set(machine: Machine, threads: int, memory: Bytes | None) -> Bytes:
    """The largest working set per thread, so large that its data lie in memory, not in the last
    cache.

    It is four times the thread's share of the last cache, and at least 64 MiB for up to four
    threads; less where ``memory`` is short.
    """
    last = machine.caches[-1]
    share = last.size // min(threads, last.cores)
    size = max(_LEAST_TOP * 4 // max(threads, 4), 4 * share)
    if memory is not None:
        size = min(size, memory // 4 // threads)
    return _pages(max(size, 2 * machine.caches[0].size))


def _grid(first: int, last: int, per_octave: int) -> tuple[Bytes, ...]:
    steps = max(1, round(per_octave * math.log2(last / first)))
    return tuple(sorted({_pages(first * (last / first) ** (k / steps)) for k in range(steps + 1)}))


def _pages(size: float) -> Bytes:
    return Bytes(max(1, round(size / PAGE)) * PAGE)


def representatives(machine: Machine, threads: int, largest: Bytes) -> dict[str, Bytes]:
    """A working set inside each level: the geometric mean of the sizes of a cache and the next
    inner one; the largest for memory.

    Of a cache that threads share, the size is the part of one thread.
    """
    result: dict[str, Bytes] = {}
    inner = machine.caches[0].size
    for level in machine.caches[1:]:
        share = level.size // min(threads, level.cores)
        size = _pages(math.sqrt(inner * share))
        if inner < size < largest:
            result[level.name] = size
        inner = Bytes(share)
    return result | {MEMORY: largest}


def overlap_items(kind: Kind, size: Bytes, extra: int) -> Block:
    """Items whose times show how far a stream overlaps with ``extra`` loads or divides per group of
    lines.
    """
    alone = single_stream("load" if kind == "divide" else kind, size)
    return (single_stream(kind, RESIDENT, extra), alone, single_stream(kind, size, extra))


def overlap_candidates(kind: Kind) -> Block:
    """Items with different amounts of work of one kind, from which the first round chooses an
    amount.
    """
    return tuple(single_stream(kind, RESIDENT, extra) for extra in EXTRAS if extra)
