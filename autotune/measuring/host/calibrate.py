"""Calibrates this host: measures its clock, bandwidth by working set, threads and streams, and
constants.

Rounds over all points are repeated until the budget is used. So the samples of a point are apart in
time, and a disturbance affects all points alike. What a last whole round would not fit into is used
for rounds over the points that take little time. No root access, hardware counters or likwid are
needed.
"""

import math
import os
import random
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from autotune.domain.calibration import BandwidthCurve, Calibration, Constant
from autotune.domain.machine import Machine
from autotune.errors import Fault, InputError, WorkFailed
from autotune.measuring.host import calibration_plan, estimates, host_facts, host_probe
from autotune.measuring.host import constants as host_constants
from autotune.measuring.host.calibration_plan import CHAINS, SHORT, Block, CalibrationPlan
from autotune.measuring.host.constants import ProbeConditions
from autotune.measuring.host.host_probe import HostProbe, Kind, ProbeItem, ProbeRun, ProbeSample
from autotune.measuring.host.stored_calibrations import identity, save, stored
from autotune.units import Bytes, BytesPerSecond, Hertz, Seconds

__all__ = ["DEFAULT_BUDGET", "Recheck", "calibrate", "identity", "recheck", "save", "stored"]

Progress = Callable[[str, float], None]
"""Callback: the current activity in words, and the completed share of the whole, 0..1."""

DEFAULT_BUDGET = 45.0
"""Seconds of wall time."""
_MOST_ROUNDS = 15
_BRIEF = 2.0
"""Longest sample of a round that takes little time, relative to the length that is asked for; those
of large working sets last longer, as all of a set is read."""
_CHAIN = 0.01
"""Seconds of a chain of additions in a new check."""
_BESIDE: tuple[Kind, ...] = ("update", "divide")
"""Kinds of streams that other work runs beside."""
_LEAST_SLOT = 0.05
_LAUNCHES = 3
_ENOUGH = 3
"""So many undisturbed rounds count without the others."""
_SLOT = 0.3
"""Seconds in which lines of other cores are measured again."""
_MODES = 2.0
"""Factor by which the cost of a line of another core changes where cores share another cache."""
_HOLDS = 0.2
"""Relative change of the bandwidth up to which a calibration counts as valid; of the clock that is
always told, however wide its spreads are."""
_IN_MEMORY = 1.05
"""Largest bandwidth of a working set over that of the largest one with which it lies in memory."""
_CLOCK_TOLD = 0.01
"""Relative change of the clock that is never told, however narrow its spreads are."""
_RECHECK = 1.5
"""Seconds of all launches of a new check of clock and bandwidth together."""


def calibrate(
    machine: Machine,
    *,
    budget_seconds: float = DEFAULT_BUDGET,
    usual_load: bool = False,
    progress: Progress | None = None,
) -> Calibration:
    """Measure the host that ``machine`` describes, within about ``budget_seconds`` of wall time.

    The budget starts once the measuring program is built. What is measured is disturbed where the
    threads did not get their cores, or other processes used more than a twentieth of the cores. If
    all rounds together are, undisturbed ones count alone where there are enough; else all count and
    ``contended`` is set, unless ``usual_load`` says that this load is always there. Raises
    MissingTool without a compiler, WorkFailed when no sample could be taken.
    """
    report = progress or _no_progress
    report("building the calibration program", 0.0)
    program = host_probe.build()
    started, deadline = time.monotonic(), time.monotonic() + budget_seconds
    session = _Session(
        program,
        calibration_plan.make(machine, deadline - time.monotonic(), host_facts.available_memory()),
        deadline,
    )

    def tell(text: str) -> None:
        used = (time.monotonic() - started) / max(budget_seconds, 1e-3)
        report(f"measuring, {text}", min(0.99, used))

    brief, took = False, dict.fromkeys((False, True), 0.0)
    while len(session.rounds) < _MOST_ROUNDS:
        before = time.monotonic()
        session.round(tell, brief=brief)
        if not session.rounds[-1]:
            break
        took[brief] = time.monotonic() - before
        left = deadline - time.monotonic()
        brief = brief or left < took[False]
        if left < took[brief]:
            break
    report("measured", 1.0)
    spent = Seconds(time.monotonic() - started)
    return replace(_calibration(machine, session, spent, usual_load), usual_load=usual_load)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """A comparison of a calibration with two seconds of new measurements; ratios are new over
    stored.
    """

    clock: Hertz
    clock_ratio: float
    clock_spread: float
    """Spreads of the calibrated and of the new clock, added."""
    threads: int
    bandwidth: BytesPerSecond | None
    """Memory bandwidth per thread while all threads run; None: the host was too slow for it."""
    bandwidth_ratio: float | None
    bandwidth_spread: float = 0.0
    """Spreads of the calibrated and of the new bandwidth, added."""
    contended: bool
    line_of_another_core: float | None = None
    """Cycles to read a line that the next core has just written, beyond one of its own; None: one
    thread, or not measured."""
    line_ratio: float | None = None
    line_between: tuple[float, float] | None = None
    """The least and the greatest ratio by the 80 % intervals of the calibrated and of the new
    cycles; None where they are not known."""

    @property
    def changes(self) -> tuple[str, ...]:
        """What the calibration did not describe, in words; empty where it held."""
        changes = []
        if self.drifted:
            then, longer = self.clock / self.clock_ratio, 1 / self.clock_ratio - 1
            changes.append(
                f"the clock was {self.clock / 1e9:.2f} GHz, {then / 1e9:.2f} GHz when the host was"
                f" calibrated: what is bound by the core would take {100 * abs(longer):.0f} %"
                f" {'longer' if longer > 0 else 'less'} than predicted"
            )
        if self.slowed:
            changes.append(f"memory bandwidth was {self.bandwidth_ratio:.2f} of the calibrated one")
        if self.moved:
            changes.append(
                f"a line of another core took {self.line_ratio:.1f} times the calibrated cycles:"
                " the cores shared other caches"
            )
        return tuple(changes)

    @property
    def drifted(self) -> bool:
        """Whether the clock differs by more than both spreads together."""
        least = min(max(self.clock_spread, _CLOCK_TOLD), _HOLDS)
        return abs(self.clock_ratio - 1) > least

    @property
    def slowed(self) -> bool:
        """Whether the memory bandwidth differs, in either direction, by more than both spreads
        together, and by more than leaves a calibration valid.
        """
        least = max(self.bandwidth_spread, _HOLDS)
        return self.bandwidth_ratio is not None and abs(self.bandwidth_ratio - 1) > least

    @property
    def moved(self) -> bool:
        """Whether the cores share other caches than when they were calibrated: lines of other cores
        take another multiple of the cycles, and no value within both intervals is alike.
        """
        if self.line_ratio is None or 1 / _MODES < self.line_ratio < _MODES:
            return False
        return self.line_between is None or not self.line_between[0] <= 1 <= self.line_between[1]

    def __str__(self) -> str:
        if not self.changes:
            return "the calibration still describes the host"
        text = "; ".join(self.changes)
        if self.contended:
            return f"{text} (contended: other processes were running)"
        return f"{text}; autotune machine calibrate measures again"


def recheck(machine: Machine) -> Recheck:
    """Measure clock, memory bandwidth and lines of other cores again, within about two seconds once
    the program is built.

    Beside other processes a short launch may see a disturbed phase only, so there are several, and
    of all their samples the least disturbed ones count, as in a calibration. Raises InputError for
    a machine that was never calibrated.
    """
    calibration = machine.calibration or stored(machine)
    if calibration is None:
        fault = Fault(
            where=machine.name,
            found="this host is not calibrated",
            hint="run: autotune machine calibrate",
        )
        raise InputError(fault)
    curve = calibration.loads[-1]
    program = host_probe.build()
    load = _Load()
    size = min(
        _least_in_memory(curve),
        calibration_plan.largest_working_set(machine, curve.threads, host_facts.available_memory()),
    )
    chains, streams, cpu = _chains_and_streams(program, curve.threads, size)
    contended = load.contended([*chains, *streams], cpu)
    clock, spread = estimates.clock(chains)
    line = _line_of_another_core(program, machine, curve.threads, clock)
    calibrated = calibration.constant("core_to_core", curve.threads)
    pair = (line, calibrated) if line and calibrated and calibrated.value > 0 else None
    fresh = estimates.curves(streams, clock)[0] if streams else None
    now = fresh.bandwidth[0] * clock if fresh else None
    return Recheck(
        clock=clock,
        clock_ratio=clock / calibration.clock,
        clock_spread=spread + calibration.clock_spread,
        threads=curve.threads,
        bandwidth=None if now is None else BytesPerSecond(now),
        bandwidth_ratio=None if now is None else now / (curve.at(size) * calibration.clock),
        bandwidth_spread=fresh.spread[0] + _spread_at(curve, size) if fresh else 0.0,
        contended=contended,
        line_of_another_core=None if line is None else line.value,
        line_ratio=pair[0].value / pair[1].value if pair else None,
        line_between=_between(*pair) if pair else None,
    )


def _chains_and_streams(
    program: HostProbe, threads: int, size: Bytes
) -> tuple[list[ProbeSample], list[ProbeSample], float]:
    """Samples of several launches: of chains of additions, and of reading a working set; and the
    processor time of the launches. Raises WorkFailed without a chain.
    """
    chains: list[ProbeSample] = []
    streams: list[ProbeSample] = []
    detail, cpu = "", 0.0
    deadline = time.monotonic() + _RECHECK
    for number in range(_LAUNCHES):
        left = (deadline - time.monotonic()) / (_LAUNCHES - number)
        if left < _LEAST_SLOT:
            break
        items = [ProbeItem(kind="clock")] * CHAINS
        ran = host_probe.run(program, threads, items, sample=_CHAIN, until=left / 3)
        chains += ran.samples
        cpu += ran.cpu
        items = [host_probe.load(size)] * 9
        ran = host_probe.run(program, threads, items, sample=0.02, until=2 * left / 3)
        streams += ran.samples
        cpu += ran.cpu
        detail = ran.detail or detail
    if not chains:
        raise WorkFailed(f"the host could not be measured: {detail}")
    return chains, streams, cpu


def _least_in_memory(curve: BandwidthCurve) -> Bytes:
    """The smallest working set of a curve that lies in memory.

    The largest ones of a host with a large cache take seconds to be provided.
    """
    limit = _IN_MEMORY * curve.bandwidth[-1]
    points = zip(curve.working_set, curve.bandwidth, strict=True)
    return next(size for size, bandwidth in points if bandwidth <= limit)


def _spread_at(curve: BandwidthCurve, size: Bytes) -> float:
    """The spread of the first point of a curve that is at least so large."""
    points = zip(curve.working_set, curve.spread, strict=True)
    return next((spread for point, spread in points if point >= size), curve.spread[-1])


def _between(now: Constant, then: Constant) -> tuple[float, float]:
    """The least and the greatest ratio of two figures by their intervals."""
    return now.low / then.high, now.high / then.low if then.low > 0 else math.inf


def _line_of_another_core(
    program: HostProbe, machine: Machine, threads: int, clock: Hertz
) -> Constant | None:
    """Cycles per line that the next core has just written, beyond one of its own; None where it was
    not measured: beside other processes both threads may run on one core.

    The cores of a guest move between those of its host, which share a cache or do not. The samples
    are taken in turns, so that its interval is that of several values.
    """
    if threads == 1:
        return None
    definition = next(host_constants.lines_of_others(threads, machine.line))
    size = len(definition.items)
    items = [item for _, item in definition.items] * _LAUNCHES
    ran = host_probe.run(program, threads, items, sample=SHORT, until=_SLOT)
    turns = [ran.samples[k : k + size] for k in range(0, len(ran.samples), size)]
    measured = host_constants.constants(turns, clock, [definition], contended=False)
    return next((constant for constant in measured.values() if constant.value > 0), None)


class _Session:
    """The state of one calibration while its rounds run."""

    def __init__(self, program: HostProbe, plan: CalibrationPlan, deadline: float) -> None:
        self.program, self.plan, self.deadline = program, plan, deadline
        self.rounds: list[list[ProbeSample]] = []
        self.quiet: list[list[ProbeSample]] = []
        """Those of the rounds that nothing disturbed."""
        self.beside: dict[int, dict[Kind, dict[str, int]]] = {}
        """Threads to kind of the work beside a stream to level to how much of it; after one
        round."""
        self.brief: dict[int, Bytes] = {}
        """Threads to the largest working set of which a sample takes little time; after one
        round."""
        self.priority = "none"
        self.detail = ""
        self.cpu = 0.0
        self.load = _Load()

    def round(self, tell: Callable[[str], None], *, brief: bool) -> None:
        """Take one sample of every item, in shuffled order; ``brief``: only of those that take
        little time, where a first round has shown which do.
        """
        number = len(self.rounds)
        load, cpu = _Load(), self.cpu
        order = random.Random(number)
        counts = list(self.plan.threads)
        order.shuffle(counts)
        samples: list[ProbeSample] = []
        for position, threads in enumerate(counts):
            tell(f"round {number + 1}, {threads} thread{'s' * (threads > 1)}")
            # the first round shares the time out, so that no thread count is left without a point
            share = 1 / (len(counts) - position) if number == 0 else 1.0
            short, long = self.plan.short(threads), self.plan.long(threads)
            if threads == self.plan.threads[-1]:  # the clock that a full processor keeps up
                long += [(ProbeItem(kind="clock"),)] * CHAINS
            if threads in (1, self.plan.threads[-1]):
                long += [(ProbeItem(kind="wide"),)] * CHAINS
                long += self._overlap(threads)
            if brief:
                largest = self.brief.get(threads, Bytes(0))
                long = [block for block in long if all(i.bytes <= largest for i in block)]
            samples += self._run(threads, short, order, min(SHORT, self.plan.sample), share / 2)
            samples += self._run(threads, long, order, self.plan.sample, share)
        self.rounds.append(samples)
        if samples and not load.contended(samples, self.cpu - cpu):
            self.quiet.append(samples)
        for s in samples:
            if s.item.kind == "load" and s.seconds <= _BRIEF * self.plan.sample:
                self.brief[s.threads] = max(s.item.bytes, self.brief.get(s.threads, s.item.bytes))
        if not self.beside and samples:
            self.beside = {
                threads: {
                    kind: {
                        name: estimates.balanced_work(samples, kind, size, threads)
                        for name, size in self.plan.levels[threads].items()
                    }
                    for kind in _BESIDE
                }
                for threads in sorted({1, self.plan.threads[-1]})
            }

    @property
    def counting(self) -> tuple[list[list[ProbeSample]], bool]:
        """The rounds that count, and whether they were disturbed.

        Where all rounds together were, undisturbed ones count alone if they are enough and hold
        every item that rounds after the first have.
        """
        samples = [sample for samples in self.rounds for sample in samples]
        if not samples or not self.load.contended(samples, self.cpu):
            return self.rounds, False
        needed, held = _items(self.rounds[1:]), _items(self.quiet)
        enough = len(self.quiet) >= _ENOUGH and needed <= held
        return (self.quiet, False) if enough else (self.rounds, True)

    def _overlap(self, threads: int) -> list[Block]:
        """The items that run a stream and other work together; in the first round, the other work
        alone, in one thread.
        """
        if not self.beside:
            only = _BESIDE if threads == 1 else ()
            return [calibration_plan.overlap_candidates(kind) for kind in only]
        return [
            calibration_plan.overlap_items(kind, self.plan.levels[threads][level], extra)
            for kind, amounts in self.beside[threads].items()
            for level, extra in amounts.items()
        ]

    def _run(
        self, threads: int, blocks: list[Block], order: random.Random, sample: float, share: float
    ) -> tuple[ProbeSample, ...]:
        left = (self.deadline - time.monotonic()) * share
        if left < _LEAST_SLOT or not blocks:
            return ()
        order.shuffle(blocks)
        items = [item for block in blocks for item in block]
        ran: ProbeRun = host_probe.run(self.program, threads, items, sample=sample, until=left)
        self.priority, self.detail = ran.priority, ran.detail or self.detail
        self.cpu += ran.cpu
        return ran.samples


def _items(rounds: Sequence[Sequence[ProbeSample]]) -> set[tuple[int, ProbeItem]]:
    """Threads and items of all samples."""
    return {(sample.threads, sample.item) for samples in rounds for sample in samples}


def _calibration(
    machine: Machine, session: _Session, took: Seconds, usual_load: bool
) -> Calibration:
    rounds, contended = (session.rounds, False) if usual_load else session.counting
    samples = [sample for samples in rounds for sample in samples]
    if not {"clock", "load"} <= {sample.item.kind for sample in samples}:
        raise WorkFailed(
            "the calibration measured nothing: "
            + (session.detail or "the budget is too short; allow some more seconds")
        )
    clock, clock_spread = estimates.clock(samples)
    measured = ProbeConditions(
        plan=session.plan,
        clock=clock,
        width=session.program.width,
        line=machine.line,
        beside=session.beside,
    )
    constants = host_constants.constants(
        rounds, clock, host_constants.host_constants(measured), contended=contended
    )
    return Calibration(
        identity=identity(machine),
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=took,
        clock=clock,
        clock_spread=clock_spread,
        curves=estimates.curves(samples, clock),
        barriers={
            int(name.partition("@")[2]): Seconds(constant.value)
            for name, constant in constants.items()
            if name.startswith("barrier@")
        },
        exposed={
            name.partition(".")[2]: constant.value
            for name, constant in constants.items()
            if name.startswith("exposed.") and "@" not in name
        },
        contended=contended,
        priority=session.priority,
        compiler=session.program.compiler,
        probe=host_probe.identity(),
        constants=constants,
    )


def _no_progress(text: str, share: float) -> None:
    """A progress callback that does nothing."""


class _Load:
    """The CPU time that other processes take from now on."""

    def __init__(self) -> None:
        self._started, self._busy, self._cpu_before = (
            time.monotonic(),
            _busy_seconds(),
            _cpu_seconds(),
        )

    def contended(self, samples: Sequence[ProbeSample], cpu: float) -> bool:
        """Whether the threads did not get their cores, or other processes used more than a
        twentieth of them; ``cpu``: seconds of the processes that took the samples.
        """
        wall = sum(s.threads * s.seconds for s in samples)
        busy_share = sum(s.threads * s.seconds * min(1.0, s.busy) for s in samples) / wall
        elapsed = (time.monotonic() - self._started) * len(os.sched_getaffinity(0))
        taken = _cpu_seconds() - self._cpu_before + cpu
        others = max(0.0, _busy_seconds() - self._busy - taken) / elapsed
        return min(busy_share, 1 - others) < estimates.BUSY


def _cpu_seconds() -> float:
    """CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _busy_seconds() -> float:
    """Seconds since boot in which the usable CPUs were busy (proc(5), /proc/stat)."""
    try:
        text = Path("/proc/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    cpus = {f"cpu{cpu}" for cpu in os.sched_getaffinity(0)}
    ticks = 0
    for name, *values in (line.split() for line in text.splitlines()):
        if name in cpus:
            user, nice, system, _, _, *rest = map(int, values)
            ticks += user + nice + system + sum(rest[:3])
    return ticks / os.sysconf("SC_CLK_TCK")
