"""How well are hybrid programs (MPI + OpenMP) predicted on this host, communication included?

    python benchmarks/hybrid.py [--ivps heat2d,wave1d,medakzo] [--components 65536,2097152]
                                [--rounds 5] [--store FILE]

For each IVP and size the six loop orders are measured exhaustively on one rank x two threads and on
two ranks x one thread with every communication that the problem allows, in the same interleaved
rounds. Printed per problem, layout and communication: the median deviation (predicted - measured) /
measured; of the fastest one the communication predicted and measured (in an instrumented run of its
own, waiting for the other rank included); the fastest variant predicted and measured.
Per problem the rank correlation over all of them, the loss of the predicted best, the noise floor.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from autotune.commands.tune import flow as tune_flow
from autotune.files import config
from autotune.measuring.host import detect
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.results.report.number_words import seconds
from autotune.results.report.text_table import columns
from autotune.statistics.rank_correlation import kendall, top_loss
from autotune.workloads.generated.generated_workload import GeneratedWorkload
from autotune.workloads.ivp.ivp_kind import IvpKind

_HEAD = (
    "problem", "ranks x threads", "communication", "n", "predicted", "measured", "mdev",
    "of it: predicted", "measured", "best predicted", "best measured",
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
        workload = _workload(ivp, components, arguments.rounds)
        options = tune_flow.StudyOptions(exhaustive=True)
        for problem in tune_flow.tune(workload, options, store, _progress).evaluation.problems:
            lines += _groups(problem, workload)
            totals.append(_total(problem))
    print(f"every sample is in {store}")
    print(columns(lines, right=range(3, 9)))
    print()
    print(columns(totals, right=range(1, 5)))


def _workload(ivp: str, components: Sequence[int], rounds: int) -> GeneratedWorkload:
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
    return GeneratedWorkload(config.load(path), IvpKind())


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


def _groups(problem: ProblemEvaluation, workload: GeneratedWorkload) -> list[Sequence[str]]:
    groups: dict[tuple[int, int, str], list[EvaluatedCandidate]] = {}
    for row in problem.rows:
        if row.compared and row.predicted and row.measured:
            c = row.candidate
            groups.setdefault((c.ranks, c.threads, c.communication), []).append(row)
    lines: list[Sequence[str]] = []
    for (ranks, threads, way), rows in sorted(groups.items()):
        fastest = min(rows, key=lambda r: r.measured or 0.0)
        lines.append(
            (
                problem.label,
                f"{ranks} x {threads}",
                way,
                str(len(rows)),
                seconds(fastest.predicted),
                seconds(fastest.measured),
                f"{100 * statistics.median(abs(r.deviation or 0.0) for r in rows):.1f} %",
                seconds(_predicted(fastest)) if ranks > 1 else "-",
                seconds(_measured(fastest, workload)) if ranks > 1 else "-",
                min(rows, key=lambda r: r.predicted or 0.0).candidate.variant,
                fastest.candidate.variant,
            )
        )
    return lines


def _predicted(row: EvaluatedCandidate) -> float:
    """Seconds of communication per step."""
    assert row.prediction is not None
    return sum(p.seconds for p in row.prediction.parts if p.kind == "communication")


def _measured(row: EvaluatedCandidate, workload: GeneratedWorkload) -> float | None:
    """Seconds of communication per step, from an instrumented run."""
    host = detect.detect()
    enumerated = workload.candidates(host.cores)
    (found,) = [c for c in enumerated.legal if c.identity == row.candidate.identity]
    phases = workload.measurer(host).phases(found, row.measured)
    return phases.seconds.get("communication")


def _total(problem: ProblemEvaluation) -> Sequence[str]:
    rows = [row for row in problem.rows if row.compared and row.predicted and row.measured]
    predicted = [row.predicted or 0.0 for row in rows]
    measured = [row.measured or 0.0 for row in rows]
    tau, loss = kendall(predicted, measured), top_loss(predicted, measured, 1)
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
