"""What blocking in time and computing once gain for PIRK methods, and whether the model chooses it.

    python benchmarks/gain.py [--quick] [--ivps heat2d,...] [--components 65536,...] [--threads 1,2]

Of every IVP of limited access distance that is not periodic, at every size and number of threads,
all programs of one space are measured, interleaved in one run (space ``pirk-time-small``;
``--quick``: some of them, the fast ones among them). Printed are, for each cell: the best program
that has only loop orders, tiles and fusion over the best of the others (blocked in time, the first
corrector step computed once, or both), with its 90 % interval; the losses of the first choice and
of the best three by prediction over the best of all; the loss of the constant rule: the variant
with the smallest mean loss on the other IVPs of the same class; and the noise floor of the run.
Then geometric means by class, and the time of a component in memory over that in cache. A run
takes minutes a cell.

Goals: gain in memory at least 2.5 with one thread and 3 with all, in cache 1.5; first choice over
the best at most 1.05 with one thread and 1.10 with all; a component at 2^22 at most 1.25 times one
at 2^16.
"""

import argparse
import itertools
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accuracy_cells import size_of

from autotune import paths
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow
from autotune.files import config
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate

IN_MEMORY = 1 << 20
"""Components from which on a cell counts as in memory."""
QUICK: Mapping[str, str] = {
    "  order: [ijl, ilj, jil, jli, lij, lji]": "  order: [jil, jli]",
    "  tile: [none, 256, 1024, 4096]": "  tile: [none, 1024]",
    "  block: [none, 256, 512, 1024, 2048]": "  block: [none, 512, 2048]",
    "tile: [256, 1024, 4096]": "tile: [1024]",
    "block: [256, 512, 1024, 2048]": "block: [512, 2048]",
    "order: [ijl, ilj, jil, lij, lji]": "order: [jil]",
}
"""Lines of the space, and what they are with ``--quick``."""


@dataclass(frozen=True, slots=True)
class GainCell:
    """The measured programs of one IVP at one size with some threads."""

    ivp: str
    components: int
    threads: int
    rows: tuple[EvaluatedCandidate, ...]
    """Those that were measured, best prediction first."""
    floor: float

    @property
    def kind(self) -> tuple[str, int]:
        """The class: cache or memory, and the threads."""
        return "memory" if self.components >= IN_MEMORY else "cache", self.threads

    @property
    def best(self) -> float:
        """Seconds of the fastest program."""
        return min(seconds(row) for row in self.rows)

    def fastest(self, *, plain: bool) -> EvaluatedCandidate:
        """The fastest program that has, or lacks, only loop orders, tiles and fusion."""
        return min((r for r in self.rows if _plain(r) == plain), key=seconds)

    def gain(self) -> tuple[float, float, float]:
        """The gain over loop orders, tiles and fusion, and its 90 % interval."""
        plain, other = self.fastest(plain=True), self.fastest(plain=False)
        ratio = seconds(plain) / seconds(other)
        spread = math.hypot(width(plain), width(other))
        return ratio, ratio * math.exp(-spread), ratio * math.exp(spread)

    def loss(self, count: int) -> float:
        """The loss of the best ``count`` by prediction."""
        return min(seconds(row) for row in self.rows[:count]) / self.best - 1

    def losses(self) -> dict[str, float]:
        """The loss of every variant."""
        return {row.candidate.variant: seconds(row) / self.best - 1 for row in self.rows}


def _plain(row: EvaluatedCandidate) -> bool:
    """Whether a program is neither blocked in time nor computes the first corrector step once."""
    parameters = row.candidate.parameters
    return parameters["block"] == "none" and not parameters["once"]


def seconds(row: EvaluatedCandidate) -> float:
    """The measured seconds of a time step."""
    assert row.measured is not None
    return row.measured


def width(row: EvaluatedCandidate) -> float:
    """Half the width of the logarithm of the 90 % interval; 0 without one."""
    if row.interval is None:
        return 0.0
    low, high = row.interval
    return math.log(high / low) / 2 if low > 0 else math.inf


def space(*, quick: bool) -> str:
    """The text of the space."""
    text = (paths.folder("variants/space") / "pirk-time-small.yaml").read_text(encoding="utf-8")
    for line, other in QUICK.items() if quick else ():
        assert line in text
        text = text.replace(line, other)
    return text


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Report no progress."""
    del stage, done, total, detail


def measure(ivp: str, components: int, threads: int, *, quick: bool) -> GainCell:
    """All programs of one cell, measured."""
    size = size_of(ivp, components)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "space.yaml").write_text(space(quick=quick), encoding="utf-8")
        study = Path(folder, "gain.yaml")
        study.write_text(
            "schema: autotune.config/1\n"
            "title: blocked in time\nmachine: host\nskeleton: pirk\nspace: space.yaml\n"
            "problems:\n"
            f"  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {size}}}\n"
            f"threads: [{threads}]\n"
            "measuring: {rounds: 4, samples: 2, min_sample: 20 ms}\n",
            encoding="utf-8",
        )
        made = flow.tune(
            load(str(study)),
            flow.StudyOptions(exhaustive=True),
            str(Path(folder, "results.sqlite")),
            quiet,
        )
    (problem,) = made.evaluation.problems
    rows = tuple(row for row in problem.rows if row.measured is not None and row.status == "ok")
    failed = [r for r in problem.rows if r.status not in ("ok", None)]
    for row in failed:
        print(f"  {row.candidate.label}: {row.status}")
    floor = problem.noise_floor.mean if problem.noise_floor else math.nan
    return GainCell(ivp, components, threads, rows, floor)


def rule(cell: GainCell, cells: Sequence[GainCell]) -> float:
    """The loss of the variant that is best on the other IVPs of the class; nan without one."""
    others = [c for c in cells if c.kind == cell.kind and c.ivp != cell.ivp]
    tables = [c.losses() for c in others]
    here = cell.losses()
    common = [v for v in here if tables and all(v in table for table in tables)]
    if not common:
        return math.nan
    chosen = min(common, key=lambda v: statistics.fmean(table[v] for table in tables))
    return here[chosen]


def mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def report(cells: Sequence[GainCell]) -> None:
    """Print every cell and the classes."""
    print(f"{'IVP':14} {'components':>10} threads   gain  90 % interval  ns/component"
          "   top 1   top 3    rule   floor  fastest")  # fmt: skip
    for cell in cells:
        ratio, low, high = cell.gain()
        each = cell.best / cell.components * cell.threads * 1e9
        fastest = min(cell.rows, key=seconds).candidate.variant
        print(
            f"{cell.ivp:14} {cell.components:10} {cell.threads:7} {ratio:6.2f}"
            f"  {low:5.2f} to {high:5.2f} {each:13.1f} {cell.loss(1):7.1%} {cell.loss(3):7.1%}"
            f" {rule(cell, cells):7.1%} {cell.floor:7.1%}  {fastest}"
        )
    for kind in sorted({cell.kind for cell in cells}):
        members = [cell for cell in cells if cell.kind == kind]
        rules = [1 + rule(cell, cells) for cell in members]
        print(
            f"{kind[0]}, {kind[1]} threads: gain {mean([c.gain()[0] for c in members]):.2f},"
            f" first choice {mean([1 + c.loss(1) for c in members]):.3f} times the best,"
            f" constant rule {mean(rules):.3f}, mean loss of the best three by prediction"
            f" {statistics.fmean(c.loss(3) for c in members):.1%}; {len(members)} cells"
        )
    for ivp in dict.fromkeys(cell.ivp for cell in cells):
        for threads in dict.fromkeys(cell.threads for cell in cells):
            times = {
                c.components: c.best / c.components
                for c in cells if c.ivp == ivp and c.threads == threads
            }  # fmt: skip
            inside = [t for n, t in times.items() if n <= 1 << 16]
            if inside and max(times) >= IN_MEMORY:
                ratio = times[max(times)] / min(inside)
                print(f"{ivp}, {threads} threads: a component at {max(times)} takes {ratio:.2f}"
                      " times the best in cache")  # fmt: skip


def pipelined(name: str) -> bool:
    """Whether corrector steps of an IVP can follow one another."""
    ivp = config.ivp(name)
    return ivp.limited and not ivp.periodic


def main() -> None:
    """Measure the cells and report them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    limited = [name for name in paths.names("kernels/ivp") if pipelined(name)]
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--ivps", default=",".join(limited))
    parser.add_argument("--components", default="16384,65536,4194304")
    parser.add_argument("--threads", default=f"1,{cores}")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    cells: list[GainCell] = []
    places = itertools.product(
        map(int, given.components.split(",")),
        map(int, given.threads.split(",")),
        given.ivps.split(","),
    )
    try:
        for components, threads, ivp in places:
            try:
                cell = measure(ivp, components, threads, quick=given.quick)
                ratio, low, high = cell.gain()
            except Exception as error:
                print(f"{ivp}, {components}, {threads}: {error}", file=sys.stderr, flush=True)
                continue
            cells.append(cell)
            print(f"{ivp} {components} {threads}: {ratio:.2f} [{low:.2f}, {high:.2f}]",
                  file=sys.stderr, flush=True)  # fmt: skip
    except KeyboardInterrupt:
        print("interrupted: what was measured follows", file=sys.stderr)
    if cells:
        report(cells)


if __name__ == "__main__":
    main()
