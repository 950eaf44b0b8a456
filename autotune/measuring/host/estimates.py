"""Computes the figures of a calibration from samples; pure arithmetic.

A figure is the quartile on the fast side. Most disturbances slow a sample down, so this quartile is
far more stable than the mean. Memory bandwidth has phases, of which the maximum would show only the
best. Contended samples are used only where there are no others.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from autotune.domain.calibration import BandwidthCurve
from autotune.measuring.host import calibration_plan
from autotune.measuring.host.host_probe import GROUP, Kind, ProbeItem, ProbeSample, load
from autotune.statistics.quantiles import quartile
from autotune.units import Bytes, BytesPerCycle, Hertz

BUSY = 0.95
"""A sample below this share of processor time per wall time is contended."""


def accepted(samples: Sequence[ProbeSample]) -> list[ProbeSample]:
    """The samples that are not contended; all samples where every one is."""
    return [s for s in samples if s.busy >= BUSY] or list(samples)


def clock(samples: Sequence[ProbeSample]) -> tuple[Hertz, float]:
    """The clock rate with the most threads that were measured, from chains of dependent additions
    (one per cycle), and the spread over all chains.

    The clock of a shared processor moves by tens of per cent. The upper quartile of the rates
    belongs to the lower quartile of the times that stands for a launch, and to that of bandwidths.
    """
    chains = [s for s in samples if s.item.kind == "clock"]
    most = max(s.threads for s in chains)
    rates = [1 / s.per_operation for s in accepted([s for s in chains if s.threads == most])]
    return Hertz(quartile(rates, 3)), spread(rates)


def curves(samples: Sequence[ProbeSample], clock: Hertz) -> tuple[BandwidthCurve, ...]:
    """Bandwidth curves, one per number of streams and threads: upper quartiles by working set.

    Data of a larger working set cannot come faster. Where they seem to, the smaller point was
    disturbed: it gets the bandwidth of the larger one, with the difference as spread, or is left
    out where it is less than half as fast.
    """
    loads = [s for s in samples if s.item.kind == "load" and s.item.extra == 0]
    result = []
    for streams, threads in sorted({(s.item.streams, s.threads) for s in loads}):
        matching = [s for s in loads if (s.item.streams, s.threads) == (streams, threads)]
        points = _grouped(matching, lambda s: s.item.bytes)
        rates = {
            size: [GROUP / s.per_operation / clock for s in accepted(points[size])]
            for size in points
        }
        sizes = sorted(rates)
        quartiles = [quartile(rates[size], 3) for size in sizes]
        least = list(accumulate(reversed(quartiles), max))[::-1]
        kept = [
            (size, low, max(spread(rates[size]), low / value - 1))
            for size, value, low in zip(sizes, quartiles, least, strict=True)
            if value >= low / 2
        ]
        result.append(
            BandwidthCurve(
                threads=threads,
                streams=streams,
                working_set=tuple(Bytes(size) for size, _, _ in kept),
                bandwidth=tuple(BytesPerCycle(value) for _, value, _ in kept),
                spread=tuple(wide for _, _, wide in kept),
            )
        )
    return tuple(result)


def balanced_work(samples: Sequence[ProbeSample], kind: Kind, size: Bytes, threads: int) -> int:
    """The number of loads or divides that take about as long as reading a group of lines with
    ``threads`` threads running.

    The overlap of the two shows most clearly where their times are equal.
    """
    stream = _fastest(samples, load(size), threads)
    times = {
        item.extra: _fastest(samples, item, 1) for item in calibration_plan.overlap_candidates(kind)
    }
    measured = {extra: seconds for extra, seconds in times.items() if seconds}
    if not stream or not measured:
        return calibration_plan.overlap_candidates(kind)[-1].extra
    return min(measured, key=lambda extra: abs(math.log(measured[extra] / stream)))


def spread(values: Sequence[float]) -> float:
    """Interquartile range of the values divided by their median."""
    return (quartile(values, 3) - quartile(values, 1)) / quartile(values, 2)


def _grouped(
    samples: Sequence[ProbeSample], key: Callable[[ProbeSample], int]
) -> dict[int, list[ProbeSample]]:
    groups: dict[int, list[ProbeSample]] = {}
    for sample in samples:
        groups.setdefault(key(sample), []).append(sample)
    return groups


def _fastest(samples: Sequence[ProbeSample], item: ProbeItem, threads: int) -> float | None:
    """The lower quartile of the seconds per group of lines, measured with ``threads`` threads."""
    matching = [s for s in samples if s.item == item and s.threads == threads]
    return quartile([s.per_operation for s in accepted(matching)], 1) if matching else None
