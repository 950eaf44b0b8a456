"""Measure this host: clock, bandwidth over working set and threads, barriers, overlap.

Rounds over all points are repeated until the budget is used, so that the samples of a point lie
apart in time and a disturbance hits all points alike. No root, no counters, no likwid.
"""

import os
import random
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autotune.errors import Fault, InputError, WorkFailed
from autotune.host import facts, plan, probe, reduce
from autotune.host.plan import Plan
from autotune.host.probe import EXTRAS, PAGE, Probe, Ran, Sample
from autotune.host.stored import identity, save, stored
from autotune.machine import Calibration, Machine
from autotune.units import Bytes, BytesPerSecond, Hertz, Seconds

__all__ = ["DEFAULT_BUDGET", "Recheck", "calibrate", "identity", "recheck", "save", "stored"]

Progress = Callable[[str, float], None]
"""What is being done, and the share of the whole that is done, 0..1."""

DEFAULT_BUDGET = 45.0
"""Seconds of wall time."""
_MOST_ROUNDS = 15
_CHAINS = 0.1
_BARRIERS = 0.03
_SHORT = 0.002
"""Seconds of one chain or run of barriers; the caches play no part."""
_LEAST_SLOT = 0.05
_RESIDENT = Bytes(PAGE)
"""A working set that stays in any L1 beside the probe's other buffer."""


def calibrate(
    machine: Machine,
    *,
    budget_seconds: float = DEFAULT_BUDGET,
    progress: Progress | None = None,
) -> Calibration:
    """Measure the host that ``machine`` describes, within about ``budget_seconds`` of wall time.

    ``contended`` is set when the threads did not get their cores or other processes used more than
    a twentieth of them. Raises MissingTool without a compiler, WorkFailed when nothing came of it.
    """
    started, deadline = time.monotonic(), time.monotonic() + budget_seconds
    report = progress or _silent
    report("building the calibration program", 0.0)
    program = probe.build()
    load = _Load()
    session = _Session(
        program, plan.make(machine, deadline - time.monotonic(), facts.available_memory()), deadline
    )
    count = 1
    while len(session.rounds) < count:
        number = len(session.rounds)
        report(f"measuring, round {number + 1}", number / max(count, number + 1))
        before = time.monotonic()
        session.round()
        if not session.rounds[-1]:
            break
        took = time.monotonic() - before
        left = (deadline - time.monotonic()) / took
        count = min(_MOST_ROUNDS, len(session.rounds) + int(left))
    report("measured", 1.0)
    return _calibration(machine, session, load, Seconds(time.monotonic() - started))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """What two seconds of measuring say about a stored calibration: ratios are now over then."""

    clock: Hertz
    clock_ratio: float
    threads: int
    bandwidth: BytesPerSecond
    """From memory, per thread, all threads running."""
    bandwidth_ratio: float
    contended: bool

    def __str__(self) -> str:
        text = (
            f"clock {self.clock_ratio:.2f} and memory bandwidth {self.bandwidth_ratio:.2f}"
            f" of the calibrated figures"
        )
        return text + (" (contended: other processes were running)" if self.contended else "")


def recheck(machine: Machine) -> Recheck:
    """Measure clock and memory bandwidth again, within two seconds once the program is built.

    Raises InputError for a machine that was never calibrated.
    """
    known = machine.calibration or stored(machine)
    if known is None:
        fault = Fault(
            where=machine.name,
            found="this host is not calibrated",
            hint="run: autotune machine calibrate",
        )
        raise InputError(fault)
    curve = known.curves[-1]
    program = probe.build()
    load = _Load()
    size = min(curve.working_set[-1], plan.top(machine, curve.threads, facts.available_memory()))
    chains = probe.run(program, "clock", curve.threads, sample=_SHORT, until=_CHAINS)
    streams = probe.run(
        program, "stream", curve.threads, sample=0.02, until=1.0, streams=[(0, size)] * 9
    )
    if not chains.samples or not streams.samples:
        raise WorkFailed(f"the host could not be measured: {chains.detail or streams.detail}")
    clock, _ = reduce.clock(chains.samples)
    now = reduce.curves(streams.samples, clock)[0].bandwidth[0] * clock
    return Recheck(
        clock=clock,
        clock_ratio=clock / known.clock,
        threads=curve.threads,
        bandwidth=BytesPerSecond(now),
        bandwidth_ratio=now / (curve.at(size) * known.clock),
        contended=load.contended([*chains.samples, *streams.samples]),
    )


class _Session:
    """The rounds of one calibration."""

    def __init__(self, program: Probe, plan: Plan, deadline: float) -> None:
        self.program, self.plan, self.deadline = program, plan, deadline
        self.rounds: list[list[Sample]] = []
        self.levels: dict[str, tuple[int, Bytes]] = {}
        """Level to the loads from L1 beside its stream, and its working set; after one round."""
        self.priority = "none"
        self.detail = ""

    def round(self) -> None:
        """Take one sample, or a few of the short ones, of every point, in an order of its own."""
        number = len(self.rounds)
        order = random.Random(number)
        counts = list(self.plan.threads)
        order.shuffle(counts)
        # with all threads running: the clock that a full processor keeps up
        samples = [*self._run("clock", self.plan.threads[-1], until=_CHAINS)]
        for position, threads in enumerate(counts):
            # the first round shares the time out, so that no thread count is left without a point
            share = 1 / (len(counts) - position + 1) if number == 0 else 1.0
            sizes = list(self.plan.sizes[threads])
            order.shuffle(sizes)
            samples += self._run("barrier", threads, until=_BARRIERS) if threads > 1 else ()
            samples += self._run("stream", threads, share=share, streams=[(0, n) for n in sizes])
        samples += self._run("stream", 1, streams=self._overlap())
        self.rounds.append(samples)
        if not self.levels and samples:
            self.levels = {
                name: (reduce.extra_loads(samples, size, _RESIDENT), size)
                for name, size in self.plan.levels.items()
            }

    def _overlap(self) -> list[tuple[int, int]]:
        """Streams whose times tell the overlap; those of one level close together in time."""
        if not self.levels:
            sizes = [(0, size) for size in self.plan.levels.values()]
            return [*sizes, *((extra, _RESIDENT) for extra in EXTRAS if extra)]
        return [
            point
            for extra, size in self.levels.values()
            for point in ((extra, _RESIDENT), (0, size), (extra, size))
        ]

    def _run(
        self,
        kind: probe.Kind,
        threads: int,
        *,
        until: float = 60.0,
        share: float = 1.0,
        streams: Sequence[tuple[int, int]] = (),
    ) -> tuple[Sample, ...]:
        left = (self.deadline - time.monotonic()) * share
        if left < _LEAST_SLOT:
            return ()
        sample = self.plan.sample if kind == "stream" else _SHORT
        ran: Ran = probe.run(
            self.program, kind, threads, sample=sample, until=min(until, left), streams=streams
        )
        self.priority, self.detail = ran.priority, ran.detail or self.detail
        return ran.samples


def _calibration(machine: Machine, session: _Session, load: "_Load", took: Seconds) -> Calibration:
    samples = [sample for samples in session.rounds for sample in samples]
    if not {"clock", "stream"} <= {sample.kind for sample in samples}:
        raise WorkFailed(
            "the calibration measured nothing: "
            + (session.detail or "the budget is too short; allow some more seconds")
        )
    clock, clock_spread = reduce.clock(samples)
    return Calibration(
        identity=identity(machine),
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=took,
        clock=clock,
        clock_spread=clock_spread,
        curves=reduce.curves(samples, clock),
        barriers=reduce.barriers(samples),
        exposed=reduce.exposed(session.rounds[1:], session.levels, _RESIDENT),
        contended=load.contended(samples),
        priority=session.priority,
        compiler=session.program.compiler,
    )


def _silent(text: str, share: float) -> None:
    """Progress that nobody follows."""


class _Load:
    """What other processes took of the CPUs of this process, from its making to the verdict."""

    def __init__(self) -> None:
        self._started, self._busy, self._own = time.monotonic(), _busy(), _own()

    def contended(self, samples: Sequence[Sample]) -> bool:
        """Whether the threads missed their cores, or others used more than a twentieth of them."""
        wall = sum(s.threads * s.seconds for s in samples)
        kept = sum(s.threads * s.seconds * min(1.0, s.busy) for s in samples) / wall
        elapsed = (time.monotonic() - self._started) * len(os.sched_getaffinity(0))
        others = max(0.0, (_busy() - self._busy) - (_own() - self._own)) / elapsed
        return min(kept, 1 - others) < reduce.BUSY


def _own() -> float:
    """Processor seconds of this process and its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _busy() -> float:
    """Seconds since boot in which the usable CPUs were not idle (proc(5), /proc/stat)."""
    try:
        text = Path("/proc/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    wanted = {f"cpu{cpu}" for cpu in os.sched_getaffinity(0)}
    ticks = 0
    for name, *values in (line.split() for line in text.splitlines()):
        if name in wanted:
            user, nice, system, _, _, *rest = map(int, values)
            ticks += user + nice + system + sum(rest[:3])
    return ticks / os.sysconf("SC_CLK_TCK")
