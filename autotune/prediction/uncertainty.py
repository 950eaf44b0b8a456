"""What predictions are unsure of, as relative standard deviations of the predicted time.

Two kinds. *Figures* (``classes``) are wrong for all candidates alike: were the bandwidth of L3 ten
percent lower, all that load from L3 were slower, each by its share. Their derivatives are taken
by evaluating the passes again with the figure one standard deviation off. *Regimes* are conditions
of the hardware under which the model itself is known to be weak; a share of their variance is
common to all candidates in the regime, the rest belongs to each candidate alone.

    sigma_i^2  = sum_c s_ic^2 + own_i^2                        interval  t exp(+-1.2816 sigma), 80 %
    sigma_ij^2 = sum_c (s_ic - s_jc)^2 + own_i^2 + own_j^2     what is common cancels

``s_ic``: relative change of the time of i when figure or regime c is one standard deviation off.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from autotune.analysis.traffic import Floats
from autotune.machine import Machine
from autotune.prediction.lines import MEMORY, LineCosts
from autotune.prediction.model import Rules, Terms, row_cycles

Z80 = 1.2816
"""Standard deviations from the middle of an 80 % interval to its ends."""
_QUARTILES = 1.349
"""Standard deviations between the quartiles of a normal distribution."""


# --- regimes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Regime:
    """A condition of the hardware under which the model errs."""

    sigma: float
    """Relative standard deviation of the time that is spent under the condition."""
    common: float
    """Share of the variance that all candidates under the condition have in common."""
    meaning: str


REGIMES: Mapping[str, Regime] = {
    "model": Regime(0.06, 0.3, "all time of passes: what the model leaves out where it is best"),
    "memory": Regime(0.20, 0.6, "time for lines from memory"),
    "tiles of memory": Regime(
        0.40, 0.6, "time of passes that run tile by tile in a step that loads from memory"
    ),
    "threads": Regime(0.10, 0.6, "all time of steps of several threads"),
    "short": Regime(0.30, 0.7, "parallel steps around or below 100 us, the shorter the more"),
    "approximate": Regime(0.10, 0.5, "loops of a nearest architecture, a port table, or the text"),
    "irregular": Regime(0.80, 0.2, "loops with gathers, whose lines depend on data"),
    "calls": Regime(0.30, 0.6, "loops that call functions"),
    "crowded": Regime(0.30, 0.3, "passes whose rows crowd a set of a cache"),
    "unmeasured": Regime(0.15, 0.7, "time for lines priced by a machine file, not measured"),
    "no barrier": Regime(0.30, 0.7, "parallel steps below 100 us without a figure for barriers"),
    "contradiction": Regime(0.50, 0.6, "time for lines from levels whose figures contradict"),
}
"""Standard deviations as they were estimated from six IVPs on a Zen 4 host; see ``benchmarks``."""

SHORT = 100e-6
"""Seconds of a parallel step below which it counts as short."""


# --- figures ----------------------------------------------------------------------------------

LEVEL_FILE = 0.30
"""Standard deviation of a bandwidth of a machine file."""
LEVEL_UNVERIFIED = 0.45
"""The same where the file marks it as never checked."""
LEVEL_LEAST = 0.04
"""A measured bandwidth is not known better than this: another loop reads another way."""
LEVEL_OTHER_THREADS = 0.15
"""Added where it was measured with another number of threads."""
CONTENDED = 0.15
"""Added to what was measured while other processes took the cores."""
OUTBOUND = 0.3
FOREIGN = 0.7
"""Of the price of lines that another core wrote last."""
ENTRY = 0.5
"""Of the cycles to enter loops and to start streams."""
BARRIER_FILE = 0.7
BARRIER = 0.3
EXPOSED = 0.25
"""Of a measured exposed share, absolute."""
_APPROXIMATE, _EXACT = 0.3, 0.1
"""Half-width of an in-core time without one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Standard deviations of the figures of a machine with some threads running."""

    levels: Floats
    """(levels,): of a line from each level behind the innermost cache, relative."""
    names: tuple[str, ...]
    """Of the levels."""
    clock: float
    barrier: float
    low: Rules
    """More overlap than stated, as far as it may be."""
    high: Rules
    """Less overlap."""
    spans: bool
    """The interval reaches from ``low`` to ``high``: the rule of a machine file is a guess."""
    contradicted: Floats
    """(levels,): 1 where the figures of a level contradict one another."""
    measured: bool
    notes: tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the figures, then of the regimes."""
        return (*self.figures, *REGIMES)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures that may be off."""
        rest = ("outbound", "overlap", "capacity", "conflicts", "foreign")
        return ("core", *self.names, *rest, "entry", "barrier", "clock")


def doubts(machine: Machine, costs: LineCosts, rules: Rules, threads: int) -> Doubts:
    """What the figures of a machine are worth with some threads running."""
    measured = costs.curve is not None
    calibration = machine.calibration
    contended = CONTENDED if calibration and calibration.contended else 0.0
    wrong = contradictions(machine, costs)
    if measured:
        low, high = rules.exposed - EXPOSED, rules.exposed + EXPOSED
    else:
        low, high = np.zeros_like(rules.exposed), np.ones_like(rules.exposed)
    least = (calibration.clock_spread if calibration else 0.0) / _QUARTILES
    barrier = BARRIER if calibration and calibration.barriers else BARRIER_FILE
    return Doubts(
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
        spans=not measured,
        contradicted=np.array([float(name in wrong) for name in costs.names[1:]]),
        measured=measured,
        notes=tuple(wrong.values()),
    )


def _level(machine: Machine, costs: LineCosts, level: int, threads: int) -> float:
    """Standard deviation of the price of a line from a level."""
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
    """Levels whose figures contradict others, with what is wrong in words."""
    found: dict[str, str] = {}
    memory = machine.memory
    if memory.peak and memory.saturated and memory.saturated > memory.peak:
        found[MEMORY] = "memory bandwidth of the machine file lies above its peak"
    if memory.single and memory.saturated and memory.single > memory.saturated:
        found[MEMORY] = "memory bandwidth of one core lies above that of all"
    prices = [costs.typical(level) for level in range(1, len(costs.names))]
    for level in range(1, len(prices)):
        near, far = prices[level - 1], prices[level]
        if far < near * 0.95 and costs.borders[level] > costs.borders[level - 1]:
            name, before = costs.names[level + 1], costs.names[level]
            found[name] = f"lines from {name} cost less than from {before}: a figure must be wrong"
    return found


def width(approximate: bool, stated: float | None) -> float:
    """Standard deviation of an in-core time from the half-width of its interval."""
    half = stated if stated else _APPROXIMATE if approximate else _EXACT
    return half / Z80


# --- derivatives ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """What the terms of passes would be if figures were others; means over the positions."""

    width: Floats
    """(passes,): standard deviation of the in-core time."""
    mean: Floats
    """(levels, passes): the data as stated."""
    out: Floats
    """(levels, passes): the outbound lines among the data."""
    foreign: Floats
    small: Floats
    """(levels, passes): the data if caches were smaller."""
    large: Floats
    hidden: Floats
    """The data if transfers overlapped more."""
    serial: Floats
    conflicts: Floats
    """(levels, passes or 1): set conflicts with those that depend on physical pages."""


def figures(
    terms: Terms, rules: Rules, other: Alternatives, doubt: Doubts
) -> tuple[Floats, dict[str, Floats]]:
    """Cycles of the passes, and how they change when a figure is one deviation off, by its name.

    Upwards: the cycles are convex in their terms, so this is no less than downwards. Figures that
    play no part are left out. ``less overlap`` and ``more overlap``, ``smaller`` and ``larger``
    caches, ``no conflicts`` and ``all conflicts`` are two sides of one figure. ``terms`` have one
    row, means over the positions.
    """
    stated = terms.data[:, 0]
    made = _Assumptions(terms)
    factor = 1.0 + other.width
    made.core("core", terms.T_OL * factor, terms.T_nOL * factor)
    for level, name in enumerate(doubt.names):
        changed = stated.copy()
        changed[level] *= 1.0 + doubt.levels[level]
        off = terms.conflicts.copy()
        off[level] *= 1.0 + doubt.levels[level]
        made.data(name, changed, off)
    for name, lines in (("outbound", OUTBOUND * other.out), ("foreign", FOREIGN * other.foreign)):
        if lines.any():
            made.data(name, stated + lines, terms.conflicts)
    made.data("smaller", other.small, terms.conflicts)
    made.data("larger", other.large, terms.conflicts)
    if other.conflicts.any():
        made.data("no conflicts", stated, np.zeros_like(terms.conflicts))
        made.data("all conflicts", stated, other.conflicts)
    if terms.entry.any():
        made.entry("entry", terms.entry * (1 + ENTRY))
    cycles = row_cycles(made.terms(), rules)
    found = dict(zip(made.names, cycles[1:] - cycles[0], strict=True))
    for name, data, ruled in (
        ("more overlap", other.hidden, doubt.low),
        ("less overlap", other.serial, doubt.high),
    ):
        found[name] = row_cycles(replace(terms, data=data[:, None]), ruled)[0] - cycles[0]
    return cycles[0], found


class _Assumptions:
    """Terms with a row for each assumption, what is stated first."""

    def __init__(self, terms: Terms) -> None:
        self.names: list[str] = []
        self._stated = terms
        crowded = terms.conflicts if terms.conflicts.any() else None
        self._plain = terms.data[:, 0] if crowded is None else terms.data[:, 0] + crowded
        self._rows = [(terms.T_OL, terms.T_nOL, self._plain, terms.entry)]

    def core(self, name: str, T_OL: Floats, T_nOL: Floats) -> None:
        """Other times in the core."""
        self.names.append(name)
        self._rows.append((T_OL, T_nOL, self._plain, self._stated.entry))

    def data(self, name: str, data: Floats, conflicts: Floats) -> None:
        """Other transfers."""
        self.names.append(name)
        stated = self._stated
        self._rows.append((stated.T_OL, stated.T_nOL, data + conflicts, stated.entry))

    def entry(self, name: str, entry: Floats) -> None:
        """Other entries into loops."""
        self.names.append(name)
        self._rows.append((self._stated.T_OL, self._stated.T_nOL, self._plain, entry))

    def terms(self) -> Terms:
        """All rows; conflicts are among the data."""
        T_OL, T_nOL, data, entry = zip(*self._rows, strict=True)
        return replace(
            self._stated,
            T_OL=np.stack(T_OL),
            T_nOL=np.stack(T_nOL),
            data=np.stack(data, axis=1),
            conflicts=np.zeros((len(self._plain), 1)),
            entry=np.stack(entry),
        )


def reaching(less: Floats, more: Floats) -> Floats:
    """Relative standard deviation of which the 80 % interval holds two relative changes of time.

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
"""What is said beside a prediction that a weakness of the model makes unsure."""
