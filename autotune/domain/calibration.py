"""Measurements of a host: bandwidth curves, physical constants with intervals, conditions.

Every figure is a property of the processor; none belongs to a kernel. ``CONSTANTS`` defines each
constant: what it counts, and to which part of a model it is added.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated

from autotune.domain.annotations import Bounds, Count, FileColumn, FileKey, Fraction, Text
from autotune.units import Bytes, BytesPerCycle, Hertz, Seconds

Z80 = 1.2816
"""Half the width of an interval that holds 80 % of a normal distribution, in its sigma."""

_TABLE = "; takes the place of an instruction table's figure outside its interval"

CONSTANTS: Mapping[str, tuple[str, str]] = {
    "line_crossing": (
        "cy",
        "per vector load of full width from L1 that crosses a line, beyond one that does not;"
        " adds to T_nOL",
    ),
    "vector_load": ("cy", f"per independent vector load from L1{_TABLE}"),
    "vector_store": ("cy", f"per independent vector store to L1{_TABLE}"),
    "vector_add": ("cy", f"per independent vector addition of doubles{_TABLE}"),
    "vector_multiply": ("cy", f"per independent vector multiplication of doubles{_TABLE}"),
    "vector_fused": ("cy", f"per independent fused multiply-add of vectors of doubles{_TABLE}"),
    "vector_divide": ("cy", f"per independent vector division of doubles{_TABLE}"),
    "vector_shuffle": ("cy", f"per independent shuffle of doubles across a whole vector{_TABLE}"),
    "vector_window": (
        "operations",
        "vector operations that can wait for their operands at a time; younger ones start only when"
        " fewer do",
    ),
    "vector_unaligned": (
        "cy",
        "per store of a row of vector stores that begin at no multiple of their width, beyond those"
        " that do, lines that they cross included; adds to the time of the store port",
    ),
    "vector_apart": (
        "cy",
        "per vector store to L1 where stores to two rows come in turn; a store takes as long unless"
        " the one before goes to the same cache line",
    ),
    "vector_mixed": (
        "cy",
        "per micro-operation of vectors where loads from L1 and arithmetic come in turn, in the mix"
        " that is taken up the fastest; a loop takes at least as long for all its loads, stores and"
        " arithmetic on vectors",
    ),
    "vector_narrow": (
        "cy",
        "per pointer to a row that each pass of a loop of unaligned vector loads and stores loads"
        " again, beyond the passes without; a loop with such loads takes at least as long",
    ),
    "library_call": (
        "cy",
        "per independent call of a function of the mathematical library, named after the dot, with"
        " arguments along a wave, of a size of 2 at most; takes the place of a common figure",
    ),
    "store_forward": (
        "cy",
        "from a store to a load of the same vector that waits for it: an operation of a chain of"
        " dependent instructions that passes through memory; told, not used by an engine",
    ),
    "blocked_forward": (
        "cy",
        "from a store to a wider load of the same place that waits for it; told, not used by an"
        " engine",
    ),
    "loop_entry": (
        "cy",
        "per call of a vectorised loop: call, prologue, mispredicted exit; adds to the iterations"
        " times the cycles of one",
    ),
    "predicted_exit": (
        "cy",
        "the part of loop_entry that falls away where the processor foresees the last iteration:"
        " few iterations, always the same number",
    ),
    "stream_start": (
        "cy",
        "per start of one stream of lines that lie in the level, beyond loop_entry and the lines"
        " at the bandwidth of the curve; streams from memory that start together wait once",
    ),
    "stream_resume": (
        "cy",
        "per stream of lines that goes on where it ended, after other streams (tiles of a sweep),"
        " in the place of stream_start",
    ),
    "core_to_core": (
        "cy",
        "per line that another core wrote last, in short rows whose neighbours a loop reads, beyond"
        " one of its own; the line takes this or what the curve says of it, whichever is more",
    ),
    "ownership": (
        "cy",
        "per line that is written, several rows in turn, after another core has read it, beyond one"
        " that no other core has; adds to what the curve says of the line",
    ),
    "outbound": (
        "cy",
        "per dirty line that leaves for the level, beyond the load curve; adds to the lines in",
    ),
    "allocate": (
        "cy",
        "per line of a stream of stores alone, write-allocate and the line out included",
    ),
    "load_again": (
        "cy",
        "per line of the cache next to L1 that several loads of neighbouring components read while"
        " it is on its way, beyond the longer of its transfer and of the loop, for a loop of no"
        " length; less for a longer one, none from again_loop on",
    ),
    "again_loop": (
        "cy",
        "of a loop for one line of components, from which on load_again adds nothing",
    ),
    "crossing_stores": (
        "cy",
        "the least that a loop which writes several rows takes, all else included, per vector store"
        " across two lines of the level: it waits for the second; more by crossing_loads",
    ),
    "crossing_loads": (
        "cy",
        "more of crossing_stores for every line of the level that is loaded meanwhile, up to six",
    ),
    "exposed": (
        "1",
        "share of the transfers from the level that adds to a loop bound by loads from L1",
    ),
    "overlap_ol": (
        "1",
        "share of the transfers from the level that adds to a loop bound by arithmetic",
    ),
    "set_conflict": (
        "cy",
        "per line that associativity alone drives from L1 to L2 before its next use, beyond loads"
        " that hit L1; takes the place of what the curve says of the line",
    ),
    "barrier": ("s", "one OpenMP barrier"),
    "waiting": (
        "1",
        "per time between two barriers: what the last thread there is late, on the average, beyond"
        " the thread that takes longest on the whole; for work on lines from the level",
    ),
    "core_cycle": (
        "cy",
        "of the calibrated clock, which is that of all cores, per cycle of a core that works on"
        " vectors of full width; in-core times are in cycles of the core",
    ),
}
"""Constant to its unit and meaning. A level follows after a dot, ``outbound.L3``, or the bytes of a
vector, ``vector_add.64``, or a function, ``library_call.exp``; the number of threads, where more
than one runs, after an at sign, ``outbound.L3@2``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A measured, non-negative figure with the 80 % interval of its repeats."""

    value: float
    low: float
    high: float
    unit: Text
    """``cy``, ``s``, or ``1`` for a share."""
    source: str
    """How it was found."""
    samples: int
    """How many repeats."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(number) for number in (self.value, self.low, self.high)):
            raise ValueError(f"a constant must be finite, not {self.value} {self.unit}")
        if not 0 <= self.low <= self.value <= self.high:
            raise ValueError(
                f"a constant lies within its interval above 0,"
                f" not {self.value} in [{self.low}, {self.high}]"
            )
        if self.samples < 1:
            raise ValueError("a constant needs at least one sample")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """A figure refined by a study: before and after, with the 80 % interval of the new value."""

    before: float
    """As it was measured."""
    after: float
    low: float
    high: float
    study: str
    """Names of the studies, in order."""
    taken: str = ""
    """Time of day of the last change, ISO 8601, UTC."""
    before_low: float = 0.0
    before_high: float = 0.0
    """80 % interval of what was measured."""

    def __post_init__(self) -> None:
        numbers = (self.before, self.after, self.low, self.high, self.before_low, self.before_high)
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("a refined figure must be finite and not negative")
        if not self.low <= self.after <= self.high:
            raise ValueError(f"{self.after} is not within [{self.low}, {self.high}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthCurve:
    """Measured inbound bandwidth of one thread over its working set, with ``threads`` running."""

    threads: Count
    streams: Count = 1
    """Arrays that a thread reads at once, a vector of each in turn; they share the working set."""
    working_set: Annotated[tuple[Bytes, ...], FileColumn("points", "size")]
    """Bytes per thread, all streams together, ascending."""
    bandwidth: Annotated[tuple[BytesPerCycle, ...], FileColumn("points", "bandwidth")]
    """Bytes per cycle and thread, all streams together."""
    spread: Annotated[tuple[Annotated[float, Bounds(least=0)], ...], FileColumn("points", "spread")]
    """Relative interquartile range of the repeats at each point."""

    def __post_init__(self) -> None:
        if self.threads < 1 or self.streams < 1:
            raise ValueError("a bandwidth curve needs at least one thread and one stream")
        if not self.working_set:
            raise ValueError("a bandwidth curve needs at least one point")
        if not len(self.working_set) == len(self.bandwidth) == len(self.spread):
            raise ValueError("working sets, bandwidths and spreads must have equal length")
        if any(a >= b for a, b in zip(self.working_set, self.working_set[1:], strict=False)):
            raise ValueError("working sets must ascend")
        if any(not math.isfinite(b) or b <= 0 for b in self.bandwidth):
            raise ValueError("bandwidths must be positive")

    def at(self, working_set: float) -> BytesPerCycle:
        """Bandwidth at a working set, log-log interpolation; flat outside the measured range."""
        return BytesPerCycle(_along(self.working_set, self.bandwidth, working_set))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The measurements of a host, with their conditions."""

    identity: Text
    """CPU model, cache topology and number of cores, as a hash."""
    taken: Text
    """Time of day, ISO 8601, UTC."""
    seconds: Seconds
    """How long it took."""
    clock: Hertz
    """With all cores busy; cycles of all figures but those in the core are of this clock."""
    clock_spread: Annotated[float, Bounds(least=0)]
    """Relative interquartile range of the chains."""
    curves: tuple[BandwidthCurve, ...]
    """Those of one stream first."""
    barriers: Annotated[Mapping[int, Seconds], FileKey(entries="a number of threads")]
    """Threads to the time of one OpenMP barrier."""
    exposed: Mapping[str, Fraction]
    """Level name to the measured exposed share."""
    contended: bool
    """Other processes took the cores while it was measured."""
    usual_load: bool = False
    """It was said that the load beside it is always there: it is not called contended."""
    priority: str
    """How priority was raised: ``autogroup``, ``nice`` or ``none``."""
    compiler: str
    probe: str = ""
    """A hash of the program that measured it and of the figures that it was to measure. Where that
    of the installed version differs, the host is calibrated again; who edits a file keeps it."""
    constants: Mapping[str, Constant] = field(default_factory=dict)
    """As ``CONSTANTS`` defines them; those not measured are absent."""
    refined: Mapping[str, Refined] = field(default_factory=dict)
    """Figures that a study changed."""

    @property
    def loads(self) -> tuple[BandwidthCurve, ...]:
        """The load bandwidth curves of one stream, by number of threads."""
        alone = (curve for curve in self.curves if curve.streams == 1)
        return tuple(sorted(alone, key=lambda curve: curve.threads))

    def curve(self, threads: int, streams: int = 1) -> BandwidthCurve:
        """The curve of the nearest measured thread count, then of the nearest stream count.

        Raises ValueError if there is no curve.
        """
        if not self.curves:
            raise ValueError("the calibration has no bandwidth curve")
        near = min((abs(c.threads - threads), c.threads) for c in self.curves)[1]
        alike = [curve for curve in self.curves if curve.threads == near]
        return min(alike, key=lambda c: (abs(math.log(c.streams / streams)), c.streams))

    def stream_factor(self, threads: int, streams: float, working_set: float) -> float:
        """Bandwidth of several streams over that of one, at the same working set.

        Interpolated over working sets with both measurements, and over the logarithm of the number
        of streams; constant beyond; 1 if only one stream was measured.
        """
        measured_curve = self.curve(threads)
        factors: list[tuple[int, float]] = [(1, 1.0)]
        for curve in sorted(self.curves, key=lambda c: c.streams):
            if curve.threads == measured_curve.threads and curve.streams > 1:
                ratios = [
                    b / measured_curve.at(size)
                    for size, b in zip(curve.working_set, curve.bandwidth, strict=True)
                ]
                factors.append((curve.streams, _along(curve.working_set, ratios, working_set)))
        return _along([n for n, _ in factors], [ratio for _, ratio in factors], streams)

    @property
    def vector(self) -> int:
        """Bytes of the vectors that compilers make of loops here; 0: not measured."""
        named = (name.partition(".") for name in self.constants)
        return max((int(of) for base, _, of in named if base.startswith("vector_")), default=0)

    def constant(self, name: str, threads: int = 1) -> Constant | None:
        """A constant by its name, at the measured thread count nearest by ratio; None if not
        measured.
        """
        by_name = {
            int(count or 1): value
            for (base, _, count), value in (
                (key.partition("@"), value) for key, value in self.constants.items()
            )
            if base == name and (not count or count.isdigit())
        }
        near = min(by_name, key=lambda n: (abs(math.log(n / threads)), n), default=0)
        return by_name.get(near)

    def barrier(self, threads: int) -> Seconds:
        """Seconds of one barrier: linear between measured thread counts, proportional beyond."""
        if threads <= 1:
            return Seconds(0.0)
        counts = sorted(self.barriers)
        if not counts:
            return Seconds(0.0)
        for low, high in pairwise(counts):
            if low <= threads <= high:
                share = (threads - low) / (high - low)
                return Seconds((1 - share) * self.barriers[low] + share * self.barriers[high])
        near = counts[0] if threads < counts[0] else counts[-1]
        return Seconds(self.barriers[near] * threads / near)


def _along(places: Sequence[int], values: Sequence[float], at: float) -> float:
    """Log-log interpolation between ascending points; constant outside their range."""
    if at <= places[0]:
        return values[0]
    for left, right, low, high in zip(places, places[1:], values, values[1:], strict=False):
        if at <= right:
            return float(low * (high / low) ** (math.log(at / left) / math.log(right / left)))
    return values[-1]
