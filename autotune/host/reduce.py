"""From samples to the figures of a calibration: pure arithmetic.

A figure is a quartile on the fast side: most disturbances slow a sample down, so that the maximum
is far more stable than the mean, but memory bandwidth has phases, of which the maximum would show
only the best. Contended samples do not count where there are others.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from autotune.host.probe import EXTRAS, GROUP, Sample
from autotune.machine import BandwidthCurve
from autotune.units import Bytes, BytesPerCycle, Hertz, Seconds

BUSY = 0.95
"""A sample below this share of processor time per wall time is contended."""


def accepted(samples: Sequence[Sample]) -> list[Sample]:
    """The samples that are not contended; all of them where none is left."""
    return [s for s in samples if s.busy >= BUSY] or list(samples)


def clock(samples: Sequence[Sample]) -> tuple[Hertz, float]:
    """The fastest chain of dependent additions, one per cycle, and the spread of all chains."""
    rates = [1 / s.each for s in accepted([s for s in samples if s.kind == "clock"])]
    return Hertz(max(rates)), spread(rates)


def curves(samples: Sequence[Sample], clock: Hertz) -> tuple[BandwidthCurve, ...]:
    """One curve per thread count: upper quartile at each working set."""
    loads = [s for s in samples if s.kind == "stream" and s.extra == 0]
    result = []
    for threads in sorted({s.threads for s in loads}):
        points = _grouped([s for s in loads if s.threads == threads], lambda s: s.bytes)
        rates = {size: [GROUP / s.each / clock for s in accepted(points[size])] for size in points}
        result.append(
            BandwidthCurve(
                threads=threads,
                working_set=tuple(Bytes(size) for size in sorted(rates)),
                bandwidth=tuple(BytesPerCycle(quartile(rates[n], 3)) for n in sorted(rates)),
                spread=tuple(spread(rates[n]) for n in sorted(rates)),
            )
        )
    return tuple(result)


def barriers(samples: Sequence[Sample]) -> dict[int, Seconds]:
    """Threads to the time of one barrier: lower quartile."""
    groups = _grouped([s for s in samples if s.kind == "barrier"], lambda s: s.threads)
    return {
        threads: Seconds(quartile([s.each for s in accepted(groups[threads])], 1))
        for threads in sorted(groups)
    }


def extra_loads(samples: Sequence[Sample], size: Bytes, resident: Bytes) -> int:
    """Loads from L1 that take about as long as streaming a group from a working set of ``size``.

    The share of two equal times that adds up is what ``exposed`` can see best. ``resident`` is the
    working set of the samples that lie in L1.
    """
    stream = _fastest(samples, 0, size)
    beside = {extra: _fastest(samples, extra, resident) for extra in EXTRAS if extra > 0}
    known = {extra: seconds for extra, seconds in beside.items() if seconds}
    if not stream or not known:
        return EXTRAS[-1]
    return min(known, key=lambda extra: abs(math.log(known[extra] / stream)))


def exposed(
    rounds: Sequence[Sequence[Sample]], level: Mapping[str, tuple[int, Bytes]], resident: Bytes
) -> dict[str, float]:
    """Per level, the share w of a transfer that adds to loads from L1, 0..1: median over rounds.

    With a the loop's time when all of it lies in L1, b that of the stream alone and T that of both
    together, T = max(a, b) + w min(a, b). ``level`` gives the additional loads and working set.
    """
    result: dict[str, float] = {}
    for name, (extra, size) in level.items():
        shares = []
        for samples in rounds:
            a = _fastest(samples, extra, resident)
            b = _fastest(samples, 0, size)
            both = _fastest(samples, extra, size)
            if a and b and both:
                shares.append((both - max(a, b)) / min(a, b))
        if shares:
            result[name] = min(1.0, max(0.0, statistics.median(shares)))
    return result


def quartile(values: Sequence[float], which: int) -> float:
    """The lower (1), middle (2) or upper (3) quartile."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=4, method="inclusive")[which - 1]


def spread(values: Sequence[float]) -> float:
    """Interquartile range over median."""
    return (quartile(values, 3) - quartile(values, 1)) / quartile(values, 2)


def _grouped(samples: Sequence[Sample], key: Callable[[Sample], int]) -> dict[int, list[Sample]]:
    groups: dict[int, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample)
    return groups


def _fastest(samples: Sequence[Sample], extra: int, size: Bytes) -> float | None:
    """Lower quartile of the seconds per group of one thread."""
    wanted = [
        s
        for s in samples
        if s.kind == "stream" and (s.threads, s.extra, s.bytes) == (1, extra, size)
    ]
    return quartile([s.each for s in accepted(wanted)], 1) if wanted else None
