"""Predicted against measured time in core of some 270 compiled loops, all with their data in L1.

    python benchmarks/loops.py [--quick] [--only TEXT] [--half even|odd|all] [--rounds 4]
                               [--keep FILE] [--again FILE]

The loops are those of the IVPs and stencils that come along and of ``unseen``: right-hand sides,
linear combinations in several loop orders, sums over stages in several passes, fused and unrolled
ones, results in registers, vectors of four doubles; by gcc and (where installed) clang, at -O2 and
-O3 in turn. Each runs alone on rows of its own that fit in L1 (the probes of `autotune measure
--dissect`), in interleaved rounds of short launches. A chain of dependent additions runs between
the launches: its rate is the clock, so that a figure is a ratio of two times of one moment. A
launch between two chains that differ by more than 2 % counts only where a loop has no others. The
cycles of a loop are the lower quartile over its launches.

Predicted is what engine reuse charges for the same loop, number of components and place: the larger
of T_OL and T_nOL with the window, crossed lines, remainders and the entry into the loop.

Printed are the median and the 90th percentile of abs(predicted / measured - 1) with the goals, the
bias and the root mean square of log(measured / predicted) by compiler, level, kind of loop, trait,
limit and half-width of the 80 % interval of the in-core time, the share of the loops that these
intervals hold and their score (as `accuracy.py`), for the two halves of the problems, and the worst
ten. Noise is the median over the loops of (median - lower quartile) / lower quartile over launches.
Constants of the machine and widths may be mended by looking at half ``even``; ``odd`` judges.

``--keep`` writes the measured cycles to a file; ``--again`` reads them from one in place of
measuring, to score the engine of today on the same measurements. ``--quick`` takes fewer
variants and two rounds. On two idle cores the command is meant to take some five minutes.
"""

import argparse
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import loops_tables as tables
from loops_subjects import MeasuredLoop, loops
from loops_tables import ScoredLoop

from autotune.commands.rank import host_machine
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.candidates.probe_runs import Dissector, ProbeOutcome
from autotune.measuring.host import host_probe
from autotune.measuring.host.host_probe import HostProbe, ProbeItem
from autotune.statistics import launch_times

Launches = Mapping[str, Sequence[float]]
"""By the name of a loop: cycles per source iteration of each of its launches."""

_CHAINS = 4
_CHAIN = 0.0015
"""Seconds of a chain of additions."""
_UNTIL = 0.05
_EVERY, _QUICK = 3, 10
"""Every how many-th variant of a problem is taken."""
_STEADY = 0.02
"""Relative difference of the clock before and after a launch."""


def main() -> None:
    """Measure the loops and print how far the predictions are off."""
    given = _arguments()
    machine = host_machine.host(_silent)
    compilers = tuple(name for name in ("gcc", "clang") if shutil.which(name))
    with tempfile.TemporaryDirectory() as folder:
        every = _QUICK if given.quick else _EVERY
        subjects, measurer = loops(machine, Path(folder), compilers, given.only, every)
    if given.again:
        launches: Launches = json.loads(Path(given.again).read_text(encoding="utf-8"))
    else:
        launches = _measured(subjects, measurer, 2 if given.quick else given.rounds)
    if given.keep:
        Path(given.keep).write_text(json.dumps(launches), encoding="utf-8")
    scored = [
        ScoredLoop.of(loop, loop.predicted(machine), launches[loop.name])
        for loop in subjects
        if launches.get(loop.name)
    ]
    for half in ("even", "odd"):
        if given.half in (half, "all"):
            tables.show(half, [loop for loop in scored if loop.loop.half == half])
    lost = len(subjects) - len(scored)
    if lost:
        print(f"\n{lost} of {len(subjects)} loops were not measured")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer variants, two rounds")
    parser.add_argument("--only", default="", help="problems whose name contains this text")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--keep", default="", help="file for the measured cycles")
    parser.add_argument("--again", default="", help="file of an earlier run, not measured again")
    return parser.parse_args()


def _measured(
    subjects: Sequence[MeasuredLoop], measurer: HostMeasurer, rounds: int
) -> dict[str, list[float]]:
    """Cycles per source iteration of the launches, by the clock before and after each."""
    probes = [loop.probe() for loop in subjects]
    dissector = Dissector(measurer, probes, _silent)
    dissector.build()
    chain = host_probe.build()
    order: dict[tuple[int, int], int] = {}
    clocks: list[float] = []

    def clock(outcome: ProbeOutcome, launch: int) -> None:
        order[id(outcome), launch] = len(clocks)
        clocks.append(_clock(chain))

    dissector.run(rounds, before=clock)
    clocks.append(_clock(chain))
    cycles: dict[str, list[float]] = defaultdict(list)
    for loop, outcome in zip(subjects, dissector.outcomes, strict=True):
        steady: list[float] = []
        for launch, time in launch_times.by_launch(outcome.samples).items():
            at = order[id(outcome), launch]
            before, after = clocks[at : at + 2]
            ticks = time.seconds * (before + after) / 2 / loop.iterations
            cycles[loop.name].append(ticks)
            if abs(after / before - 1) <= _STEADY:
                steady.append(ticks)
        cycles[loop.name] = steady or cycles[loop.name]
        if not cycles[loop.name]:
            print(f"{loop.name}: {outcome.reason}")
    return cycles


def _clock(chain: HostProbe) -> float:
    """The rate of dependent additions now, Hz: the fastest of a few short chains."""
    items = [ProbeItem(kind="clock")] * _CHAINS
    ran = host_probe.run(chain, 1, items, sample=_CHAIN, until=_UNTIL)
    return max((1 / s.per_operation for s in ran.samples), default=float("nan"))


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is printed before the tables."""


if __name__ == "__main__":
    main()
