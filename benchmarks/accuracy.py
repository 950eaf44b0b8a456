"""How well does engine reuse rank the variants of this host, against measuring all of them?

    python benchmarks/accuracy.py [--ivps heat2d,inverterchain,wave1d] [--threads 1,2]
                                  [--space pirk-small] [--rounds 6] [--store FILE] [--keep]

For each IVP, three sizes (working set in L2, L3 and memory) and thread count, every candidate of
the space is measured in interleaved rounds (an exhaustive study, kept in the store). Printed per
problem, for the six loop orders alone and for the whole pool:

    mdev      median of abs((predicted - measured) / measured)
    tau-b     rank correlation of predicted and measured times
    pairs     share of the pairs measured more than 5 % apart that are predicted in that order
    top-k     loss of the best of the predicted k best
    rule-k    loss of the best constant rule: the fixed list of k variants chosen on the other
              problems; skill-k is 1 - mean loss / mean loss of the rule, over all problems
    floor     noise floor: loss of choosing in one half of the rounds and scoring in the other
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.evaluate import ProblemResult, Row
from autotune.measure import stats
from autotune.pipeline import prospect, study
from autotune.report.text import columns

_ROWS = 10
"""Stage rows and vectors of a PIRK step with four stages."""
_KS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Case:
    """One problem with one thread count: its compared candidates."""

    name: str
    rows: tuple[Row, ...]
    floor: stats.NoiseFloor | None

    def of(self, orders_only: bool) -> tuple[Row, ...]:
        """The six plain loop orders, or all."""
        if not orders_only:
            return self.rows
        return tuple(r for r in self.rows if _plain(r))


def main() -> None:
    arguments = _arguments()
    ivps = arguments.ivps.split(",")
    threads = [int(t) for t in arguments.threads.split(",")]
    store = arguments.store or str(Path(tempfile.mkdtemp()) / "accuracy.sqlite")
    cases: list[Case] = []
    for ivp in ivps:
        for count in threads:
            cases += _measure(arguments, ivp, count, store)
    print(f"every sample is in {store}")
    for title, orders in (("six loop orders", True), (f"space {arguments.space}", False)):
        print(f"\n{title}")
        print(_table(cases, orders))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--ivps", default="heat2d,inverterchain,wave1d")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--space", default="pirk-small")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--components", default="4096,65536,2097152", help="n in L2, L3, memory")
    parser.add_argument("--store", default="", help="keep the samples here")
    return parser.parse_args()


def _size(ivp_name: str, components: int) -> int:
    """The size N whose dimension is nearest to ``components``."""
    from autotune import config

    ivp = config.ivp(ivp_name)
    low, high = ivp.minimum, components
    while low < high:
        middle = (low + high) // 2
        if int(ivp.values(middle)["n"]) < components:
            low = middle + 1
        else:
            high = middle
    return low


def _measure(arguments: argparse.Namespace, ivp: str, threads: int, store: str) -> list[Case]:
    sizes = [_size(ivp, int(n)) for n in arguments.components.split(",")]
    problems = "\n".join(
        f"  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {size}}}" for size in sizes
    )
    text = (
        "schema: autotune.config/1\n"
        f"title: accuracy of {ivp} with {threads} threads\n"
        "machine: host\nskeleton: pirk\n"
        f"space: {arguments.space}\n"
        f"problems:\n{problems}\n"
        "builds: [{compiler: gcc, flags: [-O3, -march=native]}]\n"
        f"threads: [{threads}]\n"
        f"measuring: {{rounds: {arguments.rounds}, samples: 3, min_sample: 20 ms}}\n"
    )
    path = Path(tempfile.mkdtemp()) / f"accuracy-{ivp}-t{threads}.yaml"
    path.write_text(text, encoding="utf-8")
    setup = prospect.load(path)
    options = study.Options(exhaustive=True)
    result = study.tune(setup, options, store, _progress).evaluation
    return [_case(problem, threads) for problem in result.problems]


def _case(problem: ProblemResult, threads: int) -> Case:
    rows = tuple(row for row in problem.rows if row.compared and row.predicted is not None)
    return Case(f"{problem.label} T{threads}", rows, problem.noise_floor)


def _plain(row: Row) -> bool:
    values = row.candidate.parameters
    return not any(v for k, v in values.items() if k not in ("order", "pad") and v != "none")


def _table(cases: Sequence[Case], orders: bool) -> str:
    head = ["problem", "n", "mdev", "tau-b", "pairs"]
    head += [f"top-{k}" for k in _KS] + [f"rule-{k}" for k in _KS] + ["floor mean/max"]
    times = {
        case.name: {row.candidate.variant: row.measured or 0.0 for row in case.of(orders)}
        for case in cases
    }
    rules = {k: stats.constant_losses(times, k) for k in _KS}
    lines, losses = [head], {k: list[float]() for k in _KS}
    for case in cases:
        rows = case.of(orders)
        predicted = [row.predicted or 0.0 for row in rows]
        measured = [row.measured or 0.0 for row in rows]
        tops = {k: stats.top_loss(predicted, measured, k) or 0.0 for k in _KS}
        for k in _KS:
            losses[k].append(tops[k])
        floor = case.floor
        lines.append(
            [
                case.name,
                str(len(rows)),
                _percent(statistics.median(abs(row.deviation or 0.0) for row in rows)),
                _number(stats.kendall(predicted, measured)),
                _percent(stats.ordered_pairs(predicted, measured)),
                *(_percent(tops[k]) for k in _KS),
                *(_percent(rules[k].get(case.name)) for k in _KS),
                f"{_percent(floor.mean)}/{_percent(floor.maximum)}" if floor else "-",
            ]
        )
    lines.append(_summary(lines[1:], losses, rules))
    skills = [
        f"skill-{k} {_number(_skill(losses[k], rules[k], [c.name for c in cases]))}" for k in _KS
    ]
    return columns(lines, right=range(1, len(head))) + "\n" + ", ".join(skills)


def _skill(losses: Sequence[float], rule: dict[str, float], names: Sequence[str]) -> float | None:
    pairs = [(loss, rule[name]) for loss, name in zip(losses, names, strict=True) if name in rule]
    return stats.skill([a for a, _ in pairs], [b for _, b in pairs])


def _summary(
    lines: Sequence[Sequence[str]],
    losses: dict[int, list[float]],
    rules: dict[int, dict[str, float]],
) -> list[str]:
    def mean(values: Iterable[float]) -> str:
        found = list(values)
        return _percent(statistics.fmean(found)) if found else "-"

    def column(k: int) -> list[float]:
        return [float(line[k].split()[0]) for line in lines if line[k] != "-"]

    return [
        "median / mean",
        "",
        f"{statistics.median(column(2)):.1f} %",
        f"{statistics.fmean(column(3)):.2f}",
        f"{statistics.fmean(column(4)):.1f} %",
        *(mean(losses[k]) for k in _KS),
        *(mean(rules[k].values()) for k in _KS),
        "",
    ]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _progress(stage: str, done: int, total: int, detail: str = "") -> None:
    if done == total:
        print(f"{stage} {done}/{total} {detail}", flush=True)


if __name__ == "__main__":
    main()
