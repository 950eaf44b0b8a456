"""Do 80 % intervals of communication curves cover ranks that they have not seen?

    python benchmarks/comm.py --intervals [FILE.jsonl ...]

Of every table (one operation on one system, over ranks and sizes) the larger half of the numbers of
ranks is hidden; curves are fitted to the rest and predict the hidden times. The tables are in
``recorded/comm/`` (sources: its README):

simulated: Allgather, Barrier and the exchange with both neighbours on a ring by SimGrid 3.32 (SMPI,
the algorithm selectors of four MPI libraries) on three clusters with one rank a node.

oversubscribed: measured by ``autotune comm bench`` on two cores by Open MPI 5 over shared memory,
over TCP, and with linear algorithms, in six launches. From 3 ranks on these take turns at the
cores, which no curve of fewer ranks can know and which no candidate does: these rows show what the
intervals do not cover.

cluster: times of real clusters that others published (``clusters.csv.gz``): Allgather and Barrier
of OSU Micro-Benchmarks on 1 to 128 nodes, with 1 to 128 ranks each. No width was set on them.

file: files of samples (``comm bench``, or OSU and IMB output by ``comm import``).

The widths of ``autotune.domain.curve_reach`` were set on every second system (half ``set``), and on
times of broadcasts on 2 to 128 nodes; only the others judge (half ``judged``).
"""

import csv
import gzip
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotune.domain.cost_curve import OPERATIONS, Operation
from autotune.domain.network import Network
from autotune.errors import InputError
from autotune.measuring.network import curve_fit, samples
from autotune.measuring.network.samples import BenchmarkRun, BenchmarkSample, RecordedRun
from autotune.results.report.text_table import columns
from autotune.units import Bytes, Seconds

FOLDER = Path(__file__).parent / "recorded/comm"
RECORDED = FOLDER / "ranks.csv.gz"
CLUSTERS = FOLDER / "clusters.csv.gz"
BENCHMARKS = {"simulated": "imb", "cluster": "osu"}
"""The benchmark of a kind of table: that of SimGrid exchanges on a ring, as IMB does. Others are
``autotune``'s own."""
Layout = tuple[int, int]
"""Nodes, and ranks on all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTable:
    """The times of one operation on one system."""

    kind: str
    system: str
    operation: Operation
    runs: Mapping[Layout, RecordedRun]


@dataclass(frozen=True, slots=True)
class HiddenTime:
    """A hidden time beside its prediction."""

    ratio: float
    """Logarithm of measured over predicted."""
    width: float
    """Upper over lower end of the interval."""
    covered: bool


def print_scores(files: Sequence[Path]) -> None:
    """Coverage, width and error of hidden ranks, by half, kind and operation."""
    recorded, others = _recorded(RECORDED), [*_recorded(CLUSTERS), *_of_files(files)]
    systems = sorted({(table.kind, table.system) for table in recorded})
    judged = {*systems[0::2], *((table.kind, table.system) for table in others)}
    hidden: dict[tuple[str, str, str], list[HiddenTime]] = {}
    for table in [*recorded, *others]:
        half = "judged" if (table.kind, table.system) in judged else "set"
        hidden.setdefault((half, table.kind, table.operation), []).extend(_hidden(table))
    print("the larger half of the ranks hidden, 80 % intervals (goal: 70 to 90 % covered)")
    rows: list[tuple[str, ...]] = [
        ("half", "kind", "operation", "n", "covered", "width", "error", "bias")
    ]
    rows += [_row(*key, times) for key, times in sorted(hidden.items()) if times]
    for half, kind in sorted({key[:2] for key in hidden}):
        every = [time for key, times in hidden.items() if key[:2] == (half, kind) for time in times]
        rows.append(_row(half, kind, "all", every))
    print(columns(rows, right=range(3, 8)))
    print("judged: " + ", ".join(f"{kind} {system}" for kind, system in sorted(judged)))


def _row(half: str, kind: str, operation: str, times: Sequence[HiddenTime]) -> tuple[str, ...]:
    ratios = np.array([time.ratio for time in times])
    return (
        half,
        kind,
        operation,
        str(len(times)),
        f"{100 * np.mean([time.covered for time in times]):.0f} %",
        f"x {np.median([time.width for time in times]):.2g}",
        f"{100 * math.expm1(float(np.median(np.abs(ratios)))):.0f} %",
        f"{100 * math.expm1(float(np.median(ratios))):+.0f} %",
    )


def _hidden(table: RankTable) -> Iterator[HiddenTime]:
    """The larger half of the layouts of a table, predicted from the smaller."""
    layouts = sorted(table.runs, key=lambda layout: layout[::-1])
    seen = layouts[: len(layouts) // 2]
    if not seen:
        return
    try:
        fitted = curve_fit.fit([table.runs[layout] for layout in seen], contended=True)
    except InputError:
        return
    network = Network().updated(tuple(fit.curve for fit in fitted))
    for nodes, ranks in layouts[len(seen) :]:
        by_size = itertools.groupby(
            sorted(table.runs[nodes, ranks].samples, key=lambda sample: sample.bytes),
            key=lambda sample: sample.bytes,
        )
        for size, members in by_size:
            measured = float(np.median([sample.seconds for sample in members]))
            cost = network.cost(table.operation, size, nodes, ranks)
            if cost is not None:
                low, high = cost.interval
                ratio = math.log(measured / cost.seconds)
                yield HiddenTime(ratio, high / low, low <= measured <= high)


def _recorded(path: Path) -> list[RankTable]:
    runs: dict[tuple[str, str, Operation], dict[Layout, RecordedRun]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            operation = next(name for name in OPERATIONS if name == row["operation"])
            layout = int(row["nodes"]), int(row["ranks"])
            table = runs.setdefault((row["kind"], row["table"], operation), {})
            benchmark = BENCHMARKS.get(row["kind"], "autotune")
            run = BenchmarkRun(benchmark=benchmark, nodes=layout[0], ranks=layout[1])
            table.setdefault(layout, RecordedRun(run)).samples.append(
                BenchmarkSample(
                    operation=operation,
                    bytes=Bytes(int(row["bytes"])),
                    seconds=Seconds(float(row["seconds"])),
                    count=1,
                    launch=int(row["launch"]),
                )
            )
    return [
        RankTable(kind=kind, system=system, operation=operation, runs=table)
        for (kind, system, operation), table in runs.items()
    ]


def _of_files(files: Sequence[Path]) -> list[RankTable]:
    tables = []
    for path in files:
        for operation in OPERATIONS:
            runs: dict[Layout, RecordedRun] = {}
            for recorded in samples.read([path]):
                members = [s for s in recorded.samples if s.operation == operation]
                layout = recorded.run.nodes, recorded.run.ranks
                if members:
                    runs.setdefault(layout, RecordedRun(recorded.run)).samples.extend(members)
            if len(runs) > 1:
                tables.append(
                    RankTable(kind="file", system=path.name, operation=operation, runs=runs)
                )
    return tables
