"""Lines that come into each cache per time step: counted by engine ``reuse``, and simulated.

The simulation runs the generated program itself (``traffic_simulated``), after warm-up steps that
bring it to its steady state. What the engine counts has sharp borders here: a line comes in where
more bytes have been touched since its last touch than the cache holds; set conflicts are added as
the engine does. Some variants of each kind of problem are drawn and run at all of its sizes, which
are drawn too.
"""

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import traffic_workloads
from traffic_simulated import SimulatedPrograms
from traffic_workloads import Workload

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import CacheLevel, Machine
from autotune.domain.variant import Candidate
from autotune.models.traffic import StepTraffic, TrafficAnalyser

GOAL = 0.01
_FEW = 0.01
"""Lines below this share of what enters L1 count as much: a cache that holds all has next to none,
and their ratio would say nothing."""
_NEAR = 0.25
"""A case is near a border where so much more or less cache changes the count by more than the
goal."""


@dataclass(frozen=True)
class Deviation:
    """One cache of one candidate: lines per time step."""

    workload: str
    label: str
    level: str
    expected: float
    simulated: float
    scale: float
    """Lines that a deviation is a share of."""
    near: bool
    """True: a distance lies near the size of this cache."""

    @property
    def share(self) -> float:
        """(expected - simulated) / simulated."""
        return (self.expected - self.simulated) / self.scale


def measure(machine: Machine, scale: int, count: int, seed: int, only: str) -> None:
    """Print the deviations of ``count`` variants of each problem; caches divided by ``scale``."""
    small, begun = scaled(machine, scale), time.monotonic()
    sizes = ", ".join(f"{c.name} {c.size // 1024} KiB in {c.ways} ways" for c in small.caches)
    print(f"{machine.name}, caches divided by {scale}: {sizes}", flush=True)
    every: list[Deviation] = []
    for workload in traffic_workloads.workloads(seed):
        if workload.name.startswith(only):
            mine = list(_deviations(workload, small, machine.name, count, seed))
            every += mine
            _table(workload.name, mine)
    for level in small.caches:
        of_level = [item for item in every if item.level == level.name]
        print(f"{'all':18} {level.name:3}  {_summary(of_level)}")
    _worst(every)
    print(f"{time.monotonic() - begun:.0f} s")


def scaled(machine: Machine, by: int) -> Machine:
    """The machine with fewer sets in each cache.

    A cache that cores share has four times fewer again, so that small problems reach memory.
    """
    caches = tuple(
        CacheLevel(
            name=c.name,
            size=c.size // (by if c.cores == 1 else 4 * by),
            line=c.line,
            ways=c.ways,
            cores=c.cores,
            victim=c.victim,
        )
        for c in machine.caches
    )
    return replace(machine, caches=caches)


def _deviations(
    workload: Workload, machine: Machine, name: str, count: int, seed: int
) -> Iterator[Deviation]:
    """Each cache of some candidates, at every size of their problem."""
    analyser, draw = TrafficAnalyser(machine), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        setup = traffic_workloads.load(workload, name, Path(folder))
        programs = SkeletonPrograms(setup.skeleton)
        built = SimulatedPrograms(Path(folder), programs)
        for problems in traffic_workloads.alike(setup.problems):
            variants = traffic_workloads.variants(workload, setup, problems[0], programs)
            for candidate in draw.sample(variants, min(count, len(variants))):
                for problem in problems:  # one build serves all sizes
                    here = replace(candidate, problem=problem)
                    program = programs(here)
                    traffic = analyser.analyse(program, problem, 1)
                    found = built.lines(here, machine)
                    pad = program.pad_lines
                    yield from _compared(workload.name, here, traffic, pad, machine, found)


def _compared(
    workload: str,
    candidate: Candidate,
    traffic: StepTraffic,
    pad_lines: int,
    machine: Machine,
    simulated: Sequence[float],
) -> Iterator[Deviation]:
    label = f"{candidate.problem.label} {candidate.variant.label}"
    for level, found in zip(machine.caches, simulated, strict=True):
        conflicts = _conflicts(traffic, pad_lines, machine, level.name)
        here, less, more = (
            _lines(traffic, level.size * factor) + conflicts
            for factor in (1.0, 1 - _NEAR, 1 + _NEAR)
        )
        scale = max(found, _FEW * simulated[0])
        near = max(less - here, here - more) > GOAL * scale
        yield Deviation(workload, label, level.name, here, found, scale, near)


def _lines(traffic: StepTraffic, size: float) -> float:
    """Lines per time step whose reuse distance is above ``size``."""
    (thread,) = traffic.threads
    runs = traffic.executions.sum(axis=0)
    per_pass = np.array([item.iterations * runs[item.call] for item in thread.passes])
    share = (thread.history.distance > size).mean(axis=1) * ~thread.history.streamed
    return float((thread.lines * share * per_pass[thread.owner]).sum())


def _conflicts(traffic: StepTraffic, pad_lines: int, machine: Machine, level: str) -> float:
    """Lines per time step that set conflicts load again, in loops that are not vectorised."""
    (thread,) = traffic.threads
    runs = traffic.executions.sum(axis=0)
    total = 0.0
    for item in thread.passes:
        again = traffic.conflicts(item.call, pad_lines, machine, 1.0)
        lines = sum(conflict.lines for conflict in again if conflict.level == level)
        total += lines * item.iterations * runs[item.call]
    return total


def _table(workload: str, found: Sequence[Deviation]) -> None:
    """Median, 90th percentile and worst deviation by cache; apart, those far from its border."""
    for level in dict.fromkeys(item.level for item in found):
        mine = [item for item in found if item.level == level]
        far = [item for item in mine if not item.near]
        worst = max(mine, key=lambda item: abs(item.share))
        print(
            f"{workload:18} {level:3}  {_summary(mine)}   away from borders {_summary(far)}"
            f"   worst {worst.label}",
            flush=True,
        )


def _summary(items: Sequence[Deviation]) -> str:
    if not items:
        return f"{0:4}"
    shares = np.abs([item.share for item in items])
    median, high, worst = np.quantile(shares, [0.5, 0.9, 1.0]) * 100
    kept = (shares <= GOAL).mean() * 100
    return (
        f"{len(items):4}: median {median:5.2f}, p90 {high:5.1f}, most {worst:6.1f} %,"
        f" {kept:3.0f} % within 1 %"
    )


def _worst(found: Sequence[Deviation], count: int = 40) -> None:
    print("worst:")
    for item in sorted(found, key=lambda item: -abs(item.share))[:count]:
        mark = "near a border" if item.near else ""
        print(
            f"{item.share * 100:+7.1f} % {item.level} {item.workload}: {item.label}:"
            f" {item.expected:.0f} expected, {item.simulated:.0f} simulated {mark}"
        )
