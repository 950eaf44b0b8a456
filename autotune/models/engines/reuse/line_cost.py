"""The cost of a cache line on a machine as a function of its reuse distance."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autotune.domain.machine import OVERLAP_RULES, Machine
from autotune.domain.variant import Placement
from autotune.models.engines.ecm_arithmetic import Floats, path_cycles, threads_on_group

Levels = npt.NDArray[np.int64]

MEMORY = "MEM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowding:
    """The bandwidth of several streams over that of one, on a grid of stream counts and
    distances.
    """

    streams: Floats
    """Logarithms of the counts, ascending, the first 0."""
    sizes: Floats
    """Logarithms of bytes, ascending."""
    factors: Floats
    """(streams, sizes): logarithms."""

    def of(self, crowd: Floats, position: Floats) -> Floats:
        """Logarithms of the bandwidth factors for (kinds,) stream counts at (kinds, positions)
        logarithms of bytes.
        """
        result = np.ones_like(position)
        logarithms = np.log(np.maximum(crowd, 1.0))
        for count in np.unique(logarithms):
            row = [np.interp(count, self.streams, column) for column in self.factors.T]
            chosen = logarithms == count
            result[chosen] = np.exp(np.interp(position[chosen], self.sizes, row))
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCosts:
    """Cycles per cache line for one of ``threads`` running threads.

    A line with a reuse distance within the innermost cache costs nothing: the in-core time includes
    its load. For larger distances the measured bandwidth curve counts: the time per line at this
    working set, less the exposed share of the time that the same loads take in the innermost cache.
    Without a curve, the links of the machine file count. Costs are nan where the machine has no
    figure.
    """

    names: tuple[str, ...]
    """Names of the levels from the core outwards, the memory last."""
    borders: Floats
    """Bytes of each cache per thread: shared caches divided, victim caches added up."""
    exposed: Floats
    """Exposed share of the transfers of each level."""
    line: int
    links: Floats
    """Cycles per line into each level from the next one, by the machine file."""
    outlinks: Floats
    """Cycles per dirty line out of each level to the next; 0 where hidden."""
    victims: Floats
    """Cycles for the line that each inbound line evicts into a victim cache, clean or dirty, while
    lines from beyond pass by; 0 without a victim cache or where the transfer is hidden."""
    curve: tuple[Floats, Floats] | None
    """Measured bandwidth: logarithms of working set and of bytes per cycle."""
    memory: float
    """Bytes per cycle of memory for one thread; nan: not known."""
    allocating: float
    """Bytes within which the line of a store need not be loaded."""
    private: float
    """Bytes of the caches that no other core shares."""
    spread: float
    """Relative uncertainty of the costs."""
    extrapolated: tuple[str, ...]
    """Levels whose figures were not measured at this number of threads."""
    notes: tuple[str, ...]
    capacity: float = 1.0
    passed: int = 0
    """Number of innermost caches that write through: stored lines are allocated behind them only,
    and leave them byte by byte."""
    store: float = 0.0
    """Cycles per byte stored through these caches, in parallel to everything else."""
    beside: bool = False
    """Transfers do not add to the loads and stores of the core; shares act between levels."""
    fastest: float = 0.0
    """Largest bytes per cycle of memory for this thread; 0: as for one stream."""
    crowding: Crowding | None = None
    """How bandwidth depends on the number of streams; None: not measured."""
    handed: float = 0.0
    """Cycles per line last written by another core, where the curve gives less."""
    reclaim: float = 0.0
    """Cycles until a line may be written that another core has read since this core wrote it."""
    between: float = 0.7
    """Relative standard deviation of ``handed`` and ``reclaim``."""
    stored: Floats | None = None
    """Cost of a line that is stored and not read, over that of a line read, from each level."""
    arithmetic: Floats | None = None
    """Exposed share of each level for loops bound by arithmetic; None: nothing is exposed."""
    conflict: float | None = None
    """Cycles per line that a set conflict evicts from the innermost cache; None: as its level."""
    crossing: float = 0.0
    """Cycles of the load ports per vector access that crosses a line."""
    crossing_stores: Floats | None = None
    """Least cycles of a loop per store across two lines of each level; None: not measured."""
    crossing_loads: Floats | None = None
    """More of it for every line of each level that is loaded meanwhile; None: not measured."""
    loop_entry: float = 0.0
    """Cycles per entry into a loop beyond its iterations, its mispredicted exit included."""
    exit: float = 0.0
    """Cycles of the mispredicted exit."""
    load_again: float = 0.0
    """Cycles per line of the cache next to the innermost that several loads read while it is on its
    way, beyond the longer of its transfer and of the loop, for a loop of no length."""
    vector: float = 0.0
    """Bytes of the vectors of the loop in which that was measured."""
    again_loop: float = 0.0
    """Cycles of a loop for one line of components, from which on they are none."""
    stream_start: Floats | None = None
    """Cycles per start of a stream at each level; None: not measured."""
    stream_resume: Floats | None = None
    """The same where a stream goes on where it ended before others; None: not measured."""
    core_cycle: float = 1.0
    """Cycles of the calibrated clock per cycle of the core."""
    waiting: Floats | None = None
    """Share of the time of work on lines from each level that the last thread at a barrier is late;
    None: not measured."""

    @property
    def streamed(self) -> float:
        """Cycles per line that is written past the caches.

        It passes the memory once, a line stored through the caches twice: half of the price of
        that one where it was measured. Otherwise it costs its way out, or as much as a line read
        where the machine states no bandwidth towards memory.
        """
        if self.stored is not None:
            reads = self.line / self.memory
            return float(self.stored[-1] * reads / 2)
        return float(self.outlinks[-1] or self.links[-1])

    def level(self, distance: Floats) -> Levels:
        """Position in ``names`` of the level that a reuse distance falls in."""
        levels: Levels = np.searchsorted(self.borders, distance / self.capacity)
        return levels

    def inbound(
        self, distance: Floats, level: Levels, *, beyond: int = 0, crowd: Floats | None = None
    ) -> Floats:
        """Cycles per line with this reuse distance, which falls in ``level``.

        ``beyond``: the number of innermost caches that the line does not enter. ``crowd``: the
        number of streams that run at once, per row of ``distance``; None: one.
        """
        if self.curve is None:
            costs = np.array([self._path(end, beyond) for end in range(len(self.names))])[level]
        else:
            sizes, bandwidths = self.curve
            costs = self.line / self.measured(distance, crowd)
            innermost = self.line / float(np.exp(bandwidths[0]))
            inside = sizes[0] <= np.log(self.borders[0])
            costs = np.maximum(costs - inside * self.exposed[level] * innermost, 0.0)
        result: Floats = np.where(level > 0, costs, 0.0)
        return result

    def _path(self, level: int, beyond: int) -> float:
        """Cycles of the links that a line passes on its way from a level; victim caches are
        bypassed.
        """
        links = self.links[:level].copy()
        for link in range(level):
            if self.victims[link]:
                links[link] = self.victims[link] + (links[link] if link == level - 1 else 0.0)
        links[:beyond] = 0.0
        return float(path_cycles(links, self.exposed[1 : level + 1])[-1]) if level else 0.0

    def measured(self, distance: Floats, crowd: Floats | None = None) -> Floats:
        """Bytes per cycle at a working set, interpolated log-log in the measured curve; without a
        curve, those of memory.
        """
        if self.curve is None:
            return np.full(distance.shape, self.memory)
        position = np.log(np.maximum(distance / self.capacity, 1.0))
        result: Floats = np.exp(np.interp(position, *self.curve))
        if self.crowding is not None and crowd is not None:
            result = result * self.crowding.of(crowd, position)
        return result

    def from_memory(self, distance: Floats, level: Levels) -> Floats:
        """The share of the lines that come from memory; near the bend of the curve the last cache
        delivers the others.
        """
        share = np.minimum(1.0, self.memory / self.measured(distance))
        result: Floats = np.where(level == len(self.borders), share, 0.0)
        return result

    def outbound(self, level: Levels) -> Floats:
        """Cycles per modified line that is written back as far as ``level``."""
        return np.concatenate([[0.0], np.cumsum(self.outlinks)])[level]

    def typical(self, level: int) -> float:
        """Cycles per line from a level, at a typical reuse distance in it."""
        sizes = self.borders
        upper = sizes[level] if level < len(sizes) else 16 * sizes[-1]
        distance = np.array([np.sqrt(sizes[level - 1] * upper) * self.capacity])
        return float(self.inbound(distance, np.array([level]))[0])

    def missing(self, level: int) -> str:
        """A sentence that names the missing figure without which lines from a level
        have no cost.
        """
        for index in range(level):
            if np.isnan(self.links[index]):
                name = self.names[index + 1]
                figure = "bandwidth" if name == MEMORY else "inbound bandwidth (B/cy)"
                return f"the machine has no {figure} of {name} and no calibration"
        return f"the machine has no figure for {self.names[level]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bandwidths:
    """The bandwidths of a machine, measured or from its machine file."""

    curve: tuple[Floats, Floats] | None
    """Logarithms of working set and of bytes per cycle; None: not measured."""
    memory: float
    """Bytes per cycle of memory for one thread."""
    spread: float
    """Relative uncertainty."""
    extrapolated: tuple[str, ...]
    """Levels whose bandwidth was not measured at this number of threads."""
    notes: tuple[str, ...]


def _bandwidths(
    machine: Machine, threads: int, names: tuple[str, ...], memory: float
) -> _Bandwidths:
    """The measured bandwidths where the machine has them; else those of its file, where ``memory``
    is the memory's.
    """
    calibration = machine.calibration
    if not (calibration and calibration.curves):
        rule = machine.overlap.rule
        notes = (
            "bandwidths from the machine file, not measured",
            f"overlap rule {rule} of the machine file, {OVERLAP_RULES[rule]}: the interval spans"
            " full overlap to none",
        )
        return _Bandwidths(
            curve=None, memory=memory, spread=0.3, extrapolated=names[1:], notes=notes
        )
    curve = calibration.curve(threads)
    remarks = []
    if curve.threads != threads:
        remarks.append(f"bandwidths measured with {curve.threads} threads, not {threads}")
    if calibration.contended:
        remarks.append("calibrated while other processes took the cores")
    return _Bandwidths(
        curve=(np.log(np.array(curve.working_set, float)), np.log(np.array(curve.bandwidth))),
        memory=float(curve.bandwidth[-1]),
        spread=max(0.05, max(curve.spread)) + (0.15 if calibration.contended else 0.0),
        extrapolated=names[1:] if curve.threads != threads else (),
        notes=tuple(remarks),
    )


def line_costs(machine: Machine, threads: int, placement: Placement = "compact") -> LineCosts:
    """The costs of lines with ``threads`` threads running, from measured curves where the machine
    has them.

    ``placement`` says how many of the threads share a cache or a memory. Curves were measured with
    threads side by side, so the curve used is that of as many threads as run in the fullest memory
    domain.
    """
    if placement != "compact":
        return _spread_out(machine, threads, placement)
    caches = machine.caches
    names = (*(cache.name for cache in caches), MEMORY)
    borders: list[float] = []
    for cache in caches:
        size = cache.size / min(threads, cache.cores)
        borders.append(size + borders[-1] if cache.victim and borders else size)
    line = int(machine.line)
    links = [line / c.inbound if c.inbound else float("nan") for c in caches[1:]]
    passed = next((k for k, cache in enumerate(caches) if cache.write_back), len(caches))
    outlinks = _outlinks(machine, threads, passed)
    victims = np.array([*(float(c.victim) for c in caches[1:]), 0.0]) * outlinks
    outlinks = np.where(victims > 0, 0.0, outlinks)
    allocating = [b for c, b in zip(caches, borders, strict=True) if c.write_allocate]
    private = [b for c, b in zip(caches, borders, strict=True) if c.cores == 1]
    figures = _bandwidths(machine, threads, names, _memory(machine, threads))
    return LineCosts(
        names=names,
        borders=np.maximum.accumulate(np.array(borders)),
        exposed=np.array([0.0, *(machine.exposed(name) for name in names[1:])]),
        line=line,
        links=np.array([*links, line / figures.memory + (machine.memory.penalty_load or 0.0)]),
        outlinks=outlinks,
        victims=victims,
        curve=figures.curve,
        memory=figures.memory,
        allocating=allocating[0] if allocating else float("inf"),
        private=max(private, default=0.0),
        spread=figures.spread,
        extrapolated=figures.extrapolated,
        notes=figures.notes,
        passed=passed,
        store=_store(machine, threads) if passed else 0.0,
        beside=figures.curve is None and machine.overlap.rule == "data-serial",
    )


def _spread_out(machine: Machine, threads: int, placement: Placement) -> LineCosts:
    """The costs for threads spread out over groups of cores that share a cache or memory.

    Each cache and the memory is treated separately, with the number of threads that share it.
    """
    cores = machine.cores
    domain = threads_on_group(threads, machine.memory.cores, placement, cores)
    costs = line_costs(machine, domain)
    borders: list[float] = []
    for cache in machine.caches:
        size = cache.size / threads_on_group(threads, cache.cores, placement, cores)
        borders.append(size + borders[-1] if cache.victim and borders else size)
    note = f"{threads} threads {placement}: {domain} in the fullest memory domain"
    return replace(
        costs,
        borders=np.maximum.accumulate(np.array(borders)),
        notes=(*costs.notes, note),
    )


def _outlinks(machine: Machine, threads: int, passed: int) -> Floats:
    """Cycles per modified line written back into each level from the level before it; 0 where
    hidden or not written back.
    """
    line, memory = int(machine.line), machine.memory
    costs = [line / c.outward if c.outward else 0.0 for c in machine.caches[1:]]
    share = min(threads, memory.cores)
    costs.append(line * machine.frequency * share / memory.outward if memory.outward else 0.0)
    costs[-1] += memory.penalty_store or 0.0
    return np.array([0.0 if index < passed else cost for index, cost in enumerate(costs)])


def _store(machine: Machine, threads: int) -> float:
    """Cycles per byte that one core writes through, while the other cores on the path
    do the same.
    """
    path = machine.overlap.store_path
    if path is not None:
        return min(threads, path.cores) / path.throughput
    beyond = machine.caches[1:2]
    throughput = beyond[0].outbound or beyond[0].inbound if beyond else None
    return 1 / throughput if throughput else 0.0


def _memory(machine: Machine, threads: int) -> float:
    """Bytes per cycle of one thread by the machine file: min(single, saturated / threads)."""
    memory = machine.memory
    in_domain = min(threads, memory.cores)
    figures = [memory.single, memory.saturated / in_domain if memory.saturated else None]
    bandwidths = [figure for figure in figures if figure is not None]
    return min(bandwidths) / machine.frequency if bandwidths else float("nan")
