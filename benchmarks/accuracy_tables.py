"""The tables of benchmarks/accuracy.py: figures of cells, by regime."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from accuracy_score import KS, Predicted, Times

from autotune.domain.machine import Machine
from autotune.domain.variant import Candidate
from autotune.results.report.text_table import columns
from autotune.statistics import estimators, rank_correlation

Floats = npt.NDArray[np.float64]
_CACHE = (0.3e6, 10e6)
"""Bytes per thread."""
_SHORT = 100e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The figures of one cell, over some of its candidates."""

    name: str
    group: str
    deviations: Floats
    tau: float | None
    pairs: float | None
    losses: Mapping[int, float]
    floor: float
    inside: float
    width: float
    subject: str


def show(
    found: Sequence[Times], predicted: Sequence[Predicted], machine: Machine, *, verbose: bool
) -> None:
    for title, wanted in (
        ("six loop orders", _plain),
        ("all PIRK variants", lambda c: c.problem.family == "ivp"),
        ("stencils", lambda c: c.problem.family == "stencil"),
    ):
        lines, labels = [], {}
        for times, said in zip(found, predicted, strict=True):
            chosen = np.array([wanted(candidate) for candidate in times.candidates])
            if chosen.sum() < 2:
                continue
            lines.append(_line(times, said, chosen, machine))
            labels[lines[-1].name] = times
        if lines:
            print(f"\n{title}")
            print(_table(lines, _rules(lines, labels, wanted), verbose=verbose))


def _plain(candidate: Candidate) -> bool:
    if candidate.problem.family != "ivp":
        return False
    values = candidate.variant.parameters
    return not any(v for k, v in values.items() if k not in ("order", "pad") and v != "none")


def _line(times: Times, said: Predicted, chosen: npt.NDArray[np.bool_], machine: Machine) -> Line:
    measured, predicted = times.seconds[chosen], said.seconds[chosen]
    low, high = said.low[chosen], said.high[chosen]
    known = np.where(np.isnan(predicted), np.inf, predicted)
    a, b = known.tolist(), measured.tolist()
    return Line(
        name=times.cell.name,
        group=f"{_regime(times, machine)} T{times.cell.threads}",
        deviations=predicted / measured - 1,
        tau=rank_correlation.kendall(a, b),
        pairs=estimators.ordered_pairs(a, b),
        losses={k: rank_correlation.top_loss(a, b, k) or 0.0 for k in KS},
        floor=times.floor,
        inside=float(np.mean((low <= measured) & (measured <= high))),
        width=float(np.nanmedian((high - low) / predicted)),
        subject=times.cell.subject,
    )


def _regime(times: Times, machine: Machine) -> str:
    least, most = _CACHE
    if times.bytes * times.cell.threads > 2 * machine.caches[-1].size:
        return "memory"
    if least <= times.bytes <= most and float(np.min(times.seconds)) >= _SHORT:
        return "cache"
    return "other"


def _rules(
    lines: Sequence[Line], cases: Mapping[str, Times], wanted: Callable[[Candidate], bool]
) -> dict[int, dict[str, float]]:
    """k to the loss on each cell of the best list of k variants chosen on other problems."""
    found: dict[int, dict[str, float]] = {k: {} for k in KS}
    table = {
        line.name: {
            c.variant.label: float(t)
            for c, t in zip(cases[line.name].candidates, cases[line.name].seconds, strict=True)
            if wanted(c)
        }
        for line in lines
    }
    for subject in {cases[line.name].cell.subject for line in lines}:
        for name in [line.name for line in lines if cases[line.name].cell.subject == subject]:
            alike = {
                other: times
                for other, times in table.items()
                if cases[other].cell.subject != subject and times.keys() == table[name].keys()
            }
            if not alike:
                continue
            for k in KS:
                chosen = estimators.constant_rule({**alike, name: table[name]}, k, leave_out=name)
                best = min(table[name].values())
                found[k][name] = min(table[name][v] for v in chosen) / best - 1
    return found


def _table(
    lines: Sequence[Line], rules: Mapping[int, Mapping[str, float]], *, verbose: bool
) -> str:
    head = ["cells", "n", "mdev", "tau-b", "pairs"]
    head += [f"top-{k} mean/max" for k in KS]
    head += ["excess-1 (95 %)", "excess-5", *(f"rule-{k}" for k in KS), "skill-1", "floor"]
    head += ["cover", "width"]
    rows = [head]
    if verbose:
        rows += [_summary(line.name, [line], rules) for line in lines]
    for group in sorted({line.group for line in lines}):
        rows.append(_summary(group, [line for line in lines if line.group == group], rules))
    rows.append(_summary("all", lines, rules))
    return columns(rows, right=range(1, len(head)))


def _summary(
    name: str, lines: Sequence[Line], rules: Mapping[int, Mapping[str, float]]
) -> list[str]:
    deviations = np.concatenate([line.deviations for line in lines])
    excess = {k: [max(0.0, line.losses[k] - line.floor) for line in lines] for k in KS}
    subjects = [line.subject for line in lines]
    ruled = {k: [rules[k][x.name] for x in lines if x.name in rules[k]] for k in KS}
    ours = [line.losses[1] for line in lines if line.name in rules[1]]
    return [
        name,
        f"{len(lines)}/{len(deviations)}",
        _percent(float(np.nanmedian(np.abs(deviations)))),
        _number(_mean(line.tau for line in lines)),
        _percent(_mean(line.pairs for line in lines)),
        *(
            f"{_percent(_mean(x.losses[k] for x in lines))}/"
            f"{_percent(max(x.losses[k] for x in lines))}"
            for k in KS
        ),
        f"{_percent(_mean(excess[1]))} ({_percent(_bound(excess[1], subjects))})",
        _percent(_mean(excess[5])),
        *(_percent(_mean(ruled[k])) for k in KS),
        _number(estimators.skill(ours, ruled[1])) if ours else "-",
        _percent(_mean(line.floor for line in lines)),
        _percent(_mean(line.inside for line in lines)),
        _percent(statistics.median(line.width for line in lines)),
    ]


def _bound(values: Sequence[float], subjects: Sequence[str], draws: int = 2000) -> float:
    """Upper end of the 95 % interval of the mean, by a bootstrap over problems, then cells."""
    generator = np.random.default_rng(1)
    cells_of = {
        name: np.array([v for v, other in zip(values, subjects, strict=True) if other == name])
        for name in dict.fromkeys(subjects)
    }
    names = list(cells_of)
    means = []
    for _ in range(draws):
        drawn = [cells_of[names[k]] for k in generator.integers(len(names), size=len(names))]
        means.append(np.concatenate([generator.choice(c, size=len(c)) for c in drawn]).mean())
    return float(np.quantile(means, 0.975))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.fmean(known) if known else None


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
