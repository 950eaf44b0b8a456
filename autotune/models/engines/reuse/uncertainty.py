"""The uncertainty of predictions, as relative standard deviations of the predicted time.

There are two kinds of uncertainty. *Figures* of the machine (``classes``) are wrong for all
candidates alike: if the bandwidth of L3 is ten percent lower, all candidates that load from L3 are
slower, each by its share. Their derivatives are computed by evaluating the passes again with the
figure one standard deviation off. *Regimes* are conditions of the hardware under which the model is
known to be weak. A share of their variance is common to all candidates in the regime; the rest is
independent for each candidate.

    sigma_i^2  = sum_c s_ic^2 + own_i^2                        interval  t exp(+-1.2816 sigma), 80 %
    sigma_ij^2 = sum_c (s_ic - s_jc)^2 + own_i^2 + own_j^2     common errors cancel

``s_ic``: relative change of the time of i when figure or regime c is one standard deviation off.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.domain.calibration import Z80
from autotune.domain.machine import Machine
from autotune.models.engines.reuse.line_cost import MEMORY, LineCosts
from autotune.models.engines.reuse.time_model import (
    CorePassTimes,
    LineTimes,
    OverlapRules,
    TransferSums,
    added_cycles,
    row_cycles,
    sums,
)
from autotune.models.traffic import POSITIONS, Floats

_QUARTILES = 1.349
"""Standard deviations between the quartiles of a normal distribution."""


# --- regimes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Regime:
    """A condition of the hardware under which the model is known to err."""

    sigma: float
    """Relative standard deviation of the time that is spent under the condition."""
    common: float
    """Share of the variance that all candidates under the condition have in common."""
    meaning: str


REGIMES: Mapping[str, Regime] = {
    "model": Regime(0.08, 0.5, "all time of passes: what the model leaves out where it is best"),
    "memory": Regime(0.20, 0.6, "time for lines from memory"),
    "tiles of memory": Regime(
        0.40, 0.6, "time of passes that run tile by tile in a step that loads from memory"
    ),
    "grids": Regime(0.20, 0.6, "sweeps over grids, whose rows and planes several streams share"),
    "threads": Regime(0.10, 0.6, "all time of steps of several threads"),
    "short": Regime(0.30, 0.7, "parallel steps around or below 100 us, the shorter the more"),
    "approximate": Regime(
        0.10, 0.5, "loops by a nearest architecture's tables alone, a port table, or the text"
    ),
    "irregular": Regime(0.80, 0.2, "loops with gathers, whose lines depend on data"),
    "calls": Regime(0.30, 0.6, "loops that call functions"),
    "crowded": Regime(0.30, 0.3, "passes whose rows crowd a set of a cache"),
    "unmeasured": Regime(0.15, 0.7, "time for lines priced by a machine file, not measured"),
    "no barrier": Regime(0.30, 0.7, "parallel steps below 100 us without a figure for barriers"),
    "contradiction": Regime(0.50, 0.6, "time for lines from levels whose figures contradict"),
}
"""Standard deviations estimated from six IVPs on a Zen 4 host; ``model`` from six right-hand sides
in cache on a Granite Rapids host, so that with the other terms the deviations of a thread have the
variance that is stated; see ``benchmarks``."""

SHORT = 100e-6
"""Seconds of a parallel step below which it counts as short."""


def parallel_shares(
    seconds: Floats | float, several: npt.NDArray[np.bool_] | bool, *, barrier_stated: bool
) -> dict[str, Floats]:
    """The shares of the time of steps that the regimes of several threads apply to.

    ``several``: whether a rank has more than one thread, so that its threads wait for one another.
    """
    short: Floats = several / (1 + (np.asarray(seconds) / SHORT) ** 2)
    shares = {"threads": np.ones_like(short), "short": short}
    return shares if barrier_stated else {**shares, "no barrier": short}


def regime_shifts(shares: Mapping[str, Floats | float]) -> tuple[dict[str, Floats], Floats]:
    """By regime, the change of the time that all candidates share for one standard deviation; and
    the variance of what is left, which belongs to each candidate alone. ``shares``: of the time.
    """
    shifts: dict[str, Floats] = {}
    variance = np.zeros(())
    for name, share in shares.items():
        regime = REGIMES[name]
        shifts[name] = np.asarray(share) * regime.sigma * np.sqrt(regime.common)
        variance = variance + (np.asarray(share) * regime.sigma) ** 2 * (1 - regime.common)
    return shifts, variance


# --- figures ----------------------------------------------------------------------------------

LEVEL_FILE = 0.30
"""Relative standard deviation of a bandwidth in a machine file."""
LEVEL_UNVERIFIED = 0.45
"""Relative standard deviation of a bandwidth that the file marks as unverified."""
LEVEL_LEAST = 0.04
"""Smallest relative standard deviation of a measured bandwidth: loops differ in how they read."""
LEVEL_OTHER_THREADS = 0.15
"""Added where the bandwidth was measured with another number of threads."""
CONTENDED = 0.15
"""Added to figures that were measured while other processes used the cores."""
OUTBOUND = 0.3
ENTRY = 0.5
"""Relative standard deviation of the cycles to enter loops, to start streams and to store across
lines."""
BARRIER_FILE = 0.7
BARRIER = 0.3
EXPOSED = 0.25
"""Absolute standard deviation of a measured exposed share without an interval."""
EXPOSED_LEAST = 0.1
"""Smallest absolute standard deviation of a measured share: loops differ in their overlap."""
_APPROXIMATE, _EXACT = 0.3, 0.1
"""Half-width of an in-core time without one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterDeviations:
    """The standard deviations of a machine's figures, with some threads running."""

    levels: Floats
    """(levels,): relative, of the cost of a line from each level behind the innermost cache."""
    names: tuple[str, ...]
    """Names of these levels."""
    clock: float
    barrier: float
    low: OverlapRules
    """Rules with more overlap than stated, as far as it may go."""
    high: OverlapRules
    """Rules with less overlap than stated."""
    outbound: bool
    """True: outbound lines have a cost."""
    between: float
    """Relative, of the cost of lines that pass between cores."""
    foreign: bool
    """True: lines may come from another thread."""
    spans: bool
    """True: the interval reaches from ``low`` to ``high``, because the overlap rule of a machine
    file is a guess."""
    contradicted: Floats
    """(levels,): 1 where the figures of a level contradict one another."""
    measured: bool
    notes: tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the figures, followed by the regimes."""
        return (*self.figures, *REGIMES)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures that may be wrong."""
        rest = ("outbound", "overlap", "capacity", "conflicts", "foreign")
        return ("core", *self.names, *rest, "entry", "barrier", "clock")


def parameter_deviations(
    machine: Machine, costs: LineCosts, rules: OverlapRules, threads: int
) -> ParameterDeviations:
    """The standard deviations of a machine's figures with some threads running."""
    measured = costs.curve is not None
    calibration = machine.calibration
    contended = CONTENDED if calibration and calibration.contended else 0.0
    wrong = contradictions(machine, costs)
    if measured:
        reach = np.array([_exposed(machine, name, threads) for name in costs.names[1:]]) + contended
        low, high = rules.exposed - reach, rules.exposed + reach
    else:
        low, high = np.zeros_like(rules.exposed), np.ones_like(rules.exposed)
    least = (calibration.clock_spread if calibration else 0.0) / _QUARTILES
    barrier = BARRIER if calibration and calibration.barriers else BARRIER_FILE
    return ParameterDeviations(
        levels=np.array(
            [_level(machine, costs, k, threads) + contended for k in range(1, len(costs.names))]
        ),
        names=costs.names[1:],
        clock=min(least + contended / 3, 0.5),
        barrier=barrier + contended,
        low=replace(rules, exposed=np.clip(low, 0.0, 1.0)),
        high=replace(
            rules,
            exposed=np.clip(high, 0.0, 1.0),
            serial_stores=rules.serial_stores or not measured,
        ),
        outbound=bool(costs.outlinks.any()),
        foreign=threads > 1,
        between=costs.between,
        spans=not measured,
        contradicted=np.array([float(name in wrong) for name in costs.names[1:]]),
        measured=measured,
        notes=tuple(wrong.values()),
    )


def _exposed(machine: Machine, level: str, threads: int) -> float:
    """The absolute standard deviation of a measured exposed share, from its interval where there is
    one.
    """
    calibration = machine.calibration
    constant = calibration.constant(f"exposed.{level}", threads) if calibration else None
    return (
        EXPOSED
        if constant is None
        else max(EXPOSED_LEAST, (constant.high - constant.low) / (2 * Z80))
    )


def _level(machine: Machine, costs: LineCosts, level: int, threads: int) -> float:
    """Relative standard deviation of the cost of a line from a level."""
    name = costs.names[level]
    if costs.curve is not None and machine.calibration is not None:
        curve = machine.calibration.curve(threads)
        inner = costs.borders[level - 1]
        outer = costs.borders[level] if level < len(costs.borders) else math.inf
        inside = [
            spread
            for size, spread in zip(curve.working_set, curve.spread, strict=True)
            if inner < size <= outer
        ]
        spread = max(inside, default=max(curve.spread)) / _QUARTILES
        other = LEVEL_OTHER_THREADS if name in costs.extrapolated else 0.0
        return min(math.hypot(LEVEL_LEAST, spread) + other, 0.9)
    keys = {f"caches.{name}", f"caches.{name}.inbound"}
    if name == MEMORY:
        keys = {"memory", "memory.saturated", "memory.single"}
    return LEVEL_UNVERIFIED if keys & machine.unverified else LEVEL_FILE


def contradictions(machine: Machine, costs: LineCosts) -> dict[str, str]:
    """The levels whose figures contradict other figures, each with an explanation in words."""
    notes: dict[str, str] = {}
    memory = machine.memory
    if memory.peak and memory.saturated and memory.saturated > memory.peak:
        notes[MEMORY] = "memory bandwidth of the machine file lies above its peak"
    if memory.single and memory.saturated and memory.single > memory.saturated:
        notes[MEMORY] = "memory bandwidth of one core lies above that of all"
    prices = [costs.typical(level) for level in range(1, len(costs.names))]
    for level in range(1, len(prices)):
        near, far = prices[level - 1], prices[level]
        if far < near * 0.95 and costs.borders[level] > costs.borders[level - 1]:
            name, before = costs.names[level + 1], costs.names[level]
            notes[name] = f"lines from {name} cost less than from {before}: a figure must be wrong"
    return notes


def width(approximate: bool, stated: float | None) -> float:
    """The relative standard deviation of an in-core time, from the half-width of its interval."""
    half = stated if stated else _APPROXIMATE if approximate else _EXACT
    return half / Z80


# --- assumptions ------------------------------------------------------------------------------


class Assumption(NamedTuple):
    """An assumed change of the transfers: factors on the costs of lines of each level."""

    name: str
    levels: Floats
    """(levels,): factors."""
    rules: OverlapRules


def assumptions(rules: OverlapRules, doubt: ParameterDeviations) -> tuple[Assumption, ...]:
    """The assumptions about transfers, in the order of the rows of ``assumed``.

    The first is the stated model. ``smaller`` and ``larger`` caches are the two sides of one
    figure, and so are ``more overlap`` and ``less overlap``. All other figures are changed upwards
    only: the cycles are convex in their terms, so the change is no smaller than downwards.
    """
    unchanged = np.ones(len(doubt.names))
    result = [Assumption("stated", unchanged, rules)]
    for level, name in enumerate(doubt.names):
        off = unchanged.copy()
        off[level] += doubt.levels[level]
        result.append(Assumption(name, off, rules))
    if doubt.outbound:
        result.append(Assumption("outbound", unchanged, rules))
    if doubt.foreign:
        result.append(Assumption("foreign", unchanged, rules))
    result += [Assumption(name, unchanged, rules) for name in ("smaller", "larger")]
    result.append(Assumption("more overlap", unchanged, doubt.low))
    return (*result, Assumption("less overlap", unchanged, doubt.high))


def assumed(lines: LineTimes, rules: OverlapRules, doubt: ParameterDeviations) -> TransferSums:
    """The transfers by position, then their means over positions under each of the
    ``assumptions``.
    """
    changed = {
        "outbound": lines.mean + OUTBOUND * lines.out,
        "foreign": lines.mean + doubt.between * lines.foreign,
        "smaller": lines.small,
        "larger": lines.large,
        "more overlap": lines.hidden,
        "less overlap": lines.serial,
    }
    waited = {"foreign": (1 + doubt.between) * lines.waited}
    rows = [
        sums(
            (changed.get(assumption.name, lines.mean) * assumption.levels[:, None])[:, None],
            assumption.rules,
            lines.stored,
            waited.get(assumption.name, lines.waited) * assumption.levels[:, None],
        )
        for assumption in assumptions(rules, doubt)
    ]
    return sums(lines.data, rules, lines.stored, lines.waited).joined(*rows, axis=0)


def with_conflicts(
    data: TransferSums, conflicts: Floats, rules: OverlapRules, doubt: ParameterDeviations
) -> TransferSums:
    """The transfers with the lines loaded again by set conflicts added, (levels, passes) cycles."""
    every = assumptions(rules, doubt)
    repeated = [*[every[0]] * POSITIONS, *every]
    factor = np.stack([assumption.levels for assumption in repeated])
    exposed = np.stack([assumption.rules.exposed for assumption in repeated]) * factor
    beside = data.beside
    if beside is not None and rules.arithmetic is not None:
        beside = beside + (factor * rules.arithmetic) @ conflicts
    return TransferSums(
        total=data.total + factor @ conflicts,
        waited=data.waited,
        exposed=data.exposed + exposed @ conflicts,
        beside=beside,
    )


def changes(core: CorePassTimes, width: Floats, data: TransferSums, rows: Floats) -> Floats:
    """(assumptions + 1, passes): the changes of the cycles of passes under changed figures.

    The rows are each assumption except the first, then slower cores, then slower entries into
    loops, stores across lines and loads issued again. ``rows``: the cycles by position and under
    each assumption; ``width``: standard deviations of the in-core times.
    """
    stated = rows[POSITIONS]
    result = np.empty((len(rows) - POSITIONS + 1, rows.shape[1]))
    np.subtract(rows[POSITIONS + 1 :], stated, out=result[:-2])
    factor = 1.0 + width
    events = core.entry
    slower = replace(core, T_OL=core.T_OL * factor, T_nOL=core.T_nOL * factor)
    np.subtract(row_cycles(slower, data.row(POSITIONS))[0], stated, out=result[-2])
    for term in ("across", "again"):
        events = events + added_cycles(core, data.row(POSITIONS), term)[0]
    np.multiply(events, ENTRY, out=result[-1])
    return result


def crowding(
    core: CorePassTimes, data: TransferSums, conflicts: Floats, rules: OverlapRules
) -> tuple[Floats, Floats]:
    """The cycles of passes without set conflicts and with them; ``data`` are transfers without
    conflicts.
    """
    extra = sums(conflicts[:, None], rules, np.zeros(1), np.zeros_like(conflicts))
    row = data.row(POSITIONS)
    beside = None if row.beside is None or extra.beside is None else row.beside + extra.beside
    more = TransferSums(
        total=row.total + extra.total,
        waited=row.waited,
        exposed=row.exposed + extra.exposed,
        beside=beside,
    )
    return row_cycles(core, row)[0], row_cycles(core, more)[0]


def reaching(less: Floats, more: Floats) -> Floats:
    """The relative standard deviation whose 80 % interval just contains two relative changes.

    ``less`` is negative or 0, ``more`` positive or 0.
    """
    reach: Floats = np.maximum(np.log1p(more), -np.log1p(np.maximum(less, -0.99)))
    return reach / Z80


WEAK: Mapping[str, str] = {
    "tiles of memory": "tiles of data that lie in memory are often predicted too fast",
    "short": "a parallel step this short is often predicted too fast",
    "irregular": "gathers: which lines a loop loads depends on data, so the interval is wide",
    "calls": "loops that call functions are not modelled well",
    "contradiction": "figures of the machine contradict one another: the interval is wide",
}
"""Note for a prediction that is uncertain by a weakness of the model, by regime."""
