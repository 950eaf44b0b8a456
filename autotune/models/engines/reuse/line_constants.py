"""The costs of cache lines from the measured constants of a host."""

from dataclasses import replace

import numpy as np

from autotune.domain.calibration import Z80, BandwidthCurve, Calibration, Constant
from autotune.domain.machine import Machine
from autotune.domain.variant import Placement
from autotune.models.engines.ecm_arithmetic import Floats, threads_on_group
from autotune.models.engines.reuse.line_cost import Crowding, LineCosts, line_costs

_LEAST = 0.3
"""Smallest relative standard deviation of the cost of lines of other cores."""
_WITHIN = 2.0
"""Factor on the size of the caches before the last one with which data lie in the last one."""
_FALL = np.log(1.25)
"""Least logarithm of the bandwidth of the last cache over that of memory that shows a border."""
_NEAR = np.log(2.5)
"""Largest logarithm of the ratio of two working sets between which a border is interpolated."""
_MODES = 4.0
"""Factor around the measured value that contains the modes of transfers between cores."""


def calibrated_costs(machine: Machine, threads: int, placement: Placement = "compact") -> LineCosts:
    """The costs of lines, with the measured value for every constant that was measured."""
    costs, calibration = line_costs(machine, threads, placement), machine.calibration
    if calibration is None or not calibration.curves:
        return costs
    cycle = calibration.constant("core_cycle", threads)
    if placement != "compact":
        threads = threads_on_group(threads, machine.memory.cores, placement, machine.cores)

    def value(name: str, otherwise: float = 0.0) -> float:
        constants = calibration.constant(name, threads)
        return otherwise if constants is None else constants.value

    def by_level(name: str) -> Floats | None:
        constants = [calibration.constant(f"{name}.{level}", threads) for level in costs.names[1:]]
        values = [constant.value for constant in constants if constant is not None]
        return np.array([0.0, *values]) if len(values) == len(constants) else None

    out, stored = by_level("outbound"), by_level("allocate")
    exposed = by_level("exposed") if threads > 1 else None
    return replace(
        costs,
        borders=_measured_borders(costs),
        exposed=costs.exposed if exposed is None else exposed,
        crowding=_crowding(calibration, threads),
        fastest=max(float(curve.bandwidth[-1]) for curve in _nearest_curves(calibration, threads)),
        handed=_middle(calibration.constant("core_to_core", threads)),
        reclaim=_middle(calibration.constant("ownership", threads)),
        between=_between(calibration, threads),
        outlinks=costs.outlinks if out is None else np.diff(out),
        stored=None if stored is None else _store_load_ratios(costs, stored),
        arithmetic=by_level("overlap_ol"),
        conflict=None if calibration.constant("set_conflict") is None else value("set_conflict"),
        crossing=value("line_crossing"),
        crossing_stores=by_level("crossing_stores"),
        crossing_loads=by_level("crossing_loads"),
        loop_entry=value("loop_entry"),
        exit=value("predicted_exit"),
        load_again=value("load_again"),
        vector=calibration.vector,
        again_loop=value("again_loop"),
        stream_start=by_level("stream_start"),
        stream_resume=by_level("stream_resume"),
        core_cycle=1.0 if cycle is None else cycle.value,
        waiting=by_level("waiting"),
    )


def _measured_borders(costs: LineCosts) -> Floats:
    """The borders of the caches, the last one where the measured curve has it.

    What share of the last cache a thread has beside the others is no matter of its size alone: a
    guest does not see who shares it, and victims of inner caches take a part. Its border is the
    working set at which the bandwidth has fallen half way, in logarithms, from its own to that of
    memory. The border of the machine file stands where the curve shows no such fall, shows it only
    roughly, or between two points that have the border between them.
    """
    if costs.curve is None or len(costs.borders) < 2:
        return costs.borders
    sizes, bandwidths = costs.curve
    beyond = np.log(_WITHIN * costs.borders[-2])
    inside, outside = float(np.interp(beyond, sizes, bandwidths)), float(bandwidths[-1])
    if inside - outside < _FALL or beyond >= sizes[-1]:
        return costs.borders
    middle = (inside + outside) / 2
    below = int(np.flatnonzero(bandwidths > middle)[-1])
    pair = slice(below, below + 2)
    within = sizes[below] <= np.log(costs.borders[-1]) <= sizes[below + 1]
    if within or sizes[below + 1] - sizes[below] > _NEAR:
        return costs.borders
    border = np.exp(np.interp(-middle, -bandwidths[pair], sizes[pair]))
    return np.array([*costs.borders[:-1], max(float(border), float(costs.borders[-2]))])


def _middle(constant: Constant | None) -> float:
    """The geometric mean of the ends of a constant's interval.

    Transfers between cores have several modes, far apart where cores move between caches, and any
    of them may hold at the next run.
    """
    if constant is None:
        return 0.0
    return float(np.sqrt(max(constant.low, constant.value / _MODES) * constant.high))


def _between(calibration: Calibration, threads: int) -> float:
    """Relative standard deviation of the cost of lines that pass between cores."""
    names = ("core_to_core", "ownership")
    constants = [calibration.constant(name, threads) for name in names]
    spans = [
        c.high / max(c.low, c.value / _MODES) for c in constants if c is not None and c.value > 0
    ]
    return float(max([_LEAST, *(np.log(span) / (2 * Z80) for span in spans)]))


def _crowding(calibration: Calibration, threads: int) -> Crowding | None:
    """The measured bandwidth of several streams over that of one stream; None where it was not
    measured.
    """
    several = [curve for curve in _nearest_curves(calibration, threads) if curve.streams > 1]
    if not several:
        return None
    counts = sorted({1, *(curve.streams for curve in several)})
    sizes = sorted({size for curve in several for size in curve.working_set})
    factors = [[calibration.stream_factor(threads, n, size) for size in sizes] for n in counts]
    return Crowding(
        streams=np.log(np.array(counts, dtype=float)),
        sizes=np.log(np.array(sizes, dtype=float)),
        factors=np.log(np.array(factors)),
    )


def _nearest_curves(calibration: Calibration, threads: int) -> list[BandwidthCurve]:
    """The measured curves for the number of threads nearest to ``threads``."""
    near = calibration.curve(threads).threads
    return [curve for curve in calibration.curves if curve.threads == near]


def _store_load_ratios(costs: LineCosts, stored: Floats) -> Floats:
    """The cycles of a stored line over those of a line read, for each level; 1 in the innermost."""
    ratios = [1.0]
    for level in range(1, len(costs.names)):
        inner = costs.borders[level - 1]
        outer = costs.borders[level] if level < len(costs.borders) else inner
        size = np.sqrt(inner * outer)
        if level == len(costs.borders) and costs.curve is not None:
            size = np.exp(costs.curve[0][-1])
        read = costs.line / costs.measured(np.array([size]))[0]
        ratios.append(float(stored[level] / read))
    return np.array(ratios)
