"""How well are hybrid programs (MPI + OpenMP) predicted on this host, communication included?

    python benchmarks/hybrid.py [--ivps heat2d,wave1d,medakzo] [--components 65536,2097152]
                                [--rounds 5] [--store FILE]

For each IVP and size the six loop orders are measured exhaustively on one rank x two threads and on
two ranks x one thread with every communication that the problem allows, in the same interleaved
rounds. Printed per problem, layout and communication: the median deviation (predicted - measured) /
measured, the predicted share of communication, the fastest variant predicted and measured; per
problem the rank correlation over all of them, the loss of the predicted best and the noise floor.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from autotune import config
from autotune.evaluate import ProblemResult, Row
from autotune.measure import stats
from autotune.pipeline import prospect, study
from autotune.report.text import columns, seconds

_HEAD = (
    "problem", "ranks x threads", "communication", "n", "predicted", "measured", "mdev",
    "communication", "best predicted", "best measured",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--ivps", default="heat2d,wave1d,medakzo")
    parser.add_argument("--components", default="65536,2097152", help="n of the problems")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--store", default="", help="keep the samples here")
    arguments = parser.parse_args()
    store = arguments.store or str(Path(tempfile.mkdtemp()) / "hybrid.sqlite")
    lines: list[Sequence[str]] = [_HEAD]
    totals: list[Sequence[str]] = [("problem", "n", "tau-b", "top-1 loss", "floor mean/max")]
    for ivp in arguments.ivps.split(","):
        components = [int(n) for n in arguments.components.split(",")]
        for problem in _measure(ivp, components, arguments.rounds, store):
            lines += _groups(problem)
            totals.append(_total(problem))
    print(f"every sample is in {store}")
    print(columns(lines, right=range(3, 8)))
    print()
    print(columns(totals, right=range(1, 5)))


def _measure(
    ivp: str, components: Sequence[int], rounds: int, store: str
) -> tuple[ProblemResult, ...]:
    sizes = "\n".join(
        f"  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {_size(ivp, n)}}}"
        for n in components
    )
    text = (
        "schema: autotune.config/1\n"
        f"title: hybrid programs of {ivp}\n"
        "machine: host\nskeleton: pirk\nspace: pirk-orders\n"
        f"problems:\n{sizes}\n"
        "builds: [{compiler: gcc, flags: [-O3, -march=native]}]\n"
        "layouts: [{ranks: 1, threads: 2}, {ranks: 2, threads: 1}]\n"
        f"measuring: {{rounds: {rounds}, samples: 3, min_sample: 20 ms}}\n"
    )
    path = Path(tempfile.mkdtemp()) / f"hybrid-{ivp}.yaml"
    path.write_text(text, encoding="utf-8")
    options = study.Options(exhaustive=True)
    return study.tune(prospect.load(path), options, store, _progress).evaluation.problems


def _size(name: str, components: int) -> int:
    """The smallest size with at least so many components."""
    ivp = config.ivp(name)
    low, high = ivp.minimum, components
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (middle + 1, high) if int(ivp.values(middle)["n"]) < components else (low, middle)
        )
    return low


def _groups(problem: ProblemResult) -> list[Sequence[str]]:
    groups: dict[tuple[int, int, str], list[Row]] = {}
    for row in problem.rows:
        if row.compared and row.predicted and row.measured:
            c = row.candidate
            groups.setdefault((c.ranks, c.threads, c.communication), []).append(row)
    return [
        (
            problem.label,
            f"{ranks} x {threads}",
            way,
            str(len(rows)),
            seconds(min(r.predicted or 0.0 for r in rows)),
            seconds(min(r.measured or 0.0 for r in rows)),
            f"{100 * statistics.median(abs(r.deviation or 0.0) for r in rows):.1f} %",
            f"{100 * statistics.median(_communicated(r) for r in rows):.1f} %",
            min(rows, key=lambda r: r.predicted or 0.0).candidate.variant,
            min(rows, key=lambda r: r.measured or 0.0).candidate.variant,
        )
        for (ranks, threads, way), rows in sorted(groups.items())
    ]


def _communicated(row: Row) -> float:
    """The predicted share of communication."""
    assert row.prediction is not None
    assert row.prediction.seconds is not None
    parts = row.prediction.parts
    return sum(p.seconds for p in parts if p.kind == "communication") / row.prediction.seconds


def _total(problem: ProblemResult) -> Sequence[str]:
    rows = [row for row in problem.rows if row.compared and row.predicted and row.measured]
    predicted = [row.predicted or 0.0 for row in rows]
    measured = [row.measured or 0.0 for row in rows]
    tau, loss = stats.kendall(predicted, measured), stats.top_loss(predicted, measured, 1)
    floor = problem.noise_floor
    return (
        problem.label,
        str(len(rows)),
        "-" if tau is None else f"{tau:.2f}",
        "-" if loss is None else f"{100 * loss:.1f} %",
        f"{100 * floor.mean:.1f}/{100 * floor.maximum:.1f} %" if floor else "-",
    )


def _progress(stage: str, done: int, total: int, detail: str = "") -> None:
    """Silent: the table is the result."""


if __name__ == "__main__":
    main()
