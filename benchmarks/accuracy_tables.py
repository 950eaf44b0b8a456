"""The tables of benchmarks/accuracy.py: figures of cells, by regime, with the goals beside."""

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import accuracy_folds as crossed
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
_BIAS = 0.03
"""The goal of the mean signed error of a family."""
_GOALS = {"cache": (0.06, 0.15, 0.95, 0.01), "memory": (0.10, 0.20, 0.90, 0.02)}
"""Median and 90th percentile of the deviation at most, pairs at least, excess-1 at most."""
_SKILL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The figures of one cell, over some of its candidates."""

    name: str
    subject: str
    group: str
    deviations: Floats
    """(n,): relative to the measured time; nan for a candidate without prediction."""
    kinds: tuple[frozenset[str], ...]
    """Of every candidate, its kinds of transformations."""
    times: dict[str, float]
    folds: crossed.Folds
    order: tuple[int, ...]
    """The candidates, best prediction first."""
    tau: float | None
    pairs: float | None
    inside: float
    width: float
    score: float

    def excess(self, k: int) -> float:
        """The cross-fitted loss of the best of the predicted ``k`` best."""
        return self.folds.excess(self.order[:k])

    def excess_of(self, variants: Sequence[str]) -> float:
        """The cross-fitted loss of the best of some variants."""
        names = list(self.times)
        return self.folds.excess([names.index(name) for name in variants])

    def loss(self, k: int) -> float:
        """The loss of the best of the predicted ``k`` best, by all rounds."""
        times = list(self.times.values())
        return min(times[i] for i in self.order[:k]) / min(times) - 1


def show(
    found: Sequence[Times], predicted: Sequence[Predicted], machine: Machine, *, verbose: bool
) -> None:
    """Print all tables of some predictions."""
    for title, wanted in (
        ("six loop orders", _plain),
        ("all PIRK variants", lambda c: c.problem.family == "ivp"),
        ("stencils", lambda c: c.problem.family == "stencil"),
    ):
        lines = []
        for times, said in zip(found, predicted, strict=True):
            chosen = np.array([wanted(candidate) for candidate in times.candidates])
            if chosen.sum() >= 2:
                lines.append(_line(times, said, chosen, machine))
        if lines:
            print(f"\n{title}\n{_table(lines, verbose=verbose)}")
            if title != "six loop orders":
                print(f"\n{_families(lines)}\n\n{_goals(lines)}")
            _tell_unpredicted(lines)


def _plain(candidate: Candidate) -> bool:
    return candidate.problem.family == "ivp" and not _kinds(candidate)


def _kinds(candidate: Candidate) -> frozenset[str]:
    """The kinds of transformations, but for orders of loops and padded rows."""
    names = {type(made).__name__ for made in candidate.variant.transformations}
    return frozenset(
        re.sub(r"(?<=.)(?=[A-Z])", " ", name).lower() for name in names - {"Interchange", "Pad"}
    )


def _line(times: Times, said: Predicted, chosen: npt.NDArray[np.bool_], machine: Machine) -> Line:
    candidates = [c for c, kept in zip(times.candidates, chosen, strict=True) if kept]
    rounds = [each for each, kept in zip(times.rounds, chosen, strict=True) if kept]
    measured, predicted = times.seconds[chosen], said.seconds[chosen]
    low, high = said.low[chosen], said.high[chosen]
    known = np.where(np.isnan(predicted), np.inf, predicted)
    a, b = known.tolist(), measured.tolist()
    return Line(
        name=times.cell.name,
        subject=times.cell.subject,
        group=class_of(times, machine),
        deviations=predicted / measured - 1,
        kinds=tuple(_kinds(candidate) for candidate in candidates),
        times={c.variant.label: t for c, t in zip(candidates, b, strict=True)},
        folds=crossed.folds(rounds),
        order=tuple(np.argsort(known, kind="stable").tolist()),
        tau=rank_correlation.kendall(a, b),
        pairs=estimators.ordered_pairs(a, b),
        inside=float(np.mean((low <= measured) & (measured <= high))),
        width=float(np.nanmedian((high - low) / predicted)),
        score=float(np.nanmean(crossed.interval_score(low, high, measured))),
    )


def class_of(times: Times, machine: Machine) -> str:
    """The class of a cell: its regime and its threads."""
    return f"{_regime(times, machine)} T{times.cell.threads}"


def _regime(times: Times, machine: Machine) -> str:
    least, most = _CACHE
    if times.bytes * times.cell.threads > 2 * machine.caches[-1].size:
        return "memory"
    if least <= times.bytes <= most and float(np.min(times.seconds)) >= _SHORT:
        return "cache"
    return "other"


# --- the constant rule --------------------------------------------------------------------------


def _ruled(lines: Sequence[Line], k: int) -> dict[str, float]:
    """The excess on each cell of the best list of k variants on other problems of its class."""
    made = {}
    for line in lines:
        others = [o.times for o in lines if o.group == line.group and o.subject != line.subject]
        chosen = crossed.constant_rule(others, list(line.times), k)
        if chosen:
            made[line.name] = line.excess_of(chosen)
    return made


def _skill(lines: Sequence[Line], rule: dict[str, float]) -> tuple[float, float, float] | None:
    known = [line for line in lines if line.name in rule]
    return crossed.skill(
        [line.excess(1) for line in known],
        [rule[line.name] for line in known],
        [line.subject for line in known],
    )


# --- tables -------------------------------------------------------------------------------------


def _groups(lines: Sequence[Line]) -> dict[str, list[Line]]:
    return {g: [x for x in lines if x.group == g] for g in sorted({x.group for x in lines})}


def _table(lines: Sequence[Line], *, verbose: bool) -> str:
    head = ["cells", "n", "mdev", "p90", "bias", "tau-b", "pairs"]
    head += [f"top-{k} mean/max" for k in KS]
    head += ["excess-1 (95 %)", "excess-3", "rule-1", "rule-3", "skill-1 (90 %)", "floor"]
    head += ["cover", "width", "score"]
    rules = {k: _ruled(lines, k) for k in (1, 3)}
    rows = [head]
    if verbose:
        rows += [_summary(line.name, [line], rules) for line in lines]
    rows += [_summary(name, members, rules) for name, members in _groups(lines).items()]
    rows.append(_summary("all", lines, rules))
    return columns(rows, right=range(1, len(head)))


def _summary(name: str, lines: Sequence[Line], rules: dict[int, dict[str, float]]) -> list[str]:
    deviations = np.concatenate([line.deviations for line in lines])
    first = [line.excess(1) for line in lines]
    skill = _skill(lines, rules[1])
    return [
        name,
        f"{len(lines)}/{len(deviations)}",
        percent(float(np.nanmedian(np.abs(deviations)))),
        percent(float(np.nanquantile(np.abs(deviations), 0.9))),
        signed(float(np.nanmean(deviations))),
        _number(_mean(line.tau for line in lines)),
        percent(_mean(line.pairs for line in lines)),
        *(
            f"{percent(_mean(x.loss(k) for x in lines))}/{percent(max(x.loss(k) for x in lines))}"
            for k in KS
        ),
        f"{percent(_mean(first))} ({percent(_bound(first, [x.subject for x in lines]))})",
        percent(_mean(line.excess(3) for line in lines)),
        *(percent(_mean(rules[k].get(x.name) for x in lines)) for k in (1, 3)),
        "-" if skill is None else f"{skill[0]:.2f} ({skill[1]:.1f} to {skill[2]:.1f})",
        percent(_mean(line.folds.floor() for line in lines)),
        percent(_mean(line.inside for line in lines)),
        percent(statistics.median(line.width for line in lines)),
        percent(_mean(line.score for line in lines)),
    ]


def _families(lines: Sequence[Line]) -> str:
    """The signed errors of candidates by kind of transformation; one may be in several rows."""
    groups = _groups(lines)
    rows = [["mean signed error (n)", *groups, f"within {_BIAS:.0%}"]]
    for kind in ["none", *sorted({k for line in lines for kinds in line.kinds for k in kinds})]:
        means, row = [], [kind]
        for members in groups.values():
            errors = [
                float(e)
                for line in members
                for e, kinds in zip(line.deviations, line.kinds, strict=True)
                if (kind in kinds or (kind == "none" and not kinds)) and not math.isnan(e)
            ]
            means += [statistics.fmean(errors)] if errors else []
            row.append(f"{signed(means[-1])} ({len(errors)})" if errors else "-")
        met = sum(abs(mean) <= _BIAS for mean in means)
        rows.append([*row, f"{met} of {len(means)}"])
    return columns(rows, right=range(1, len(rows[0])))


def _goals(lines: Sequence[Line]) -> str:
    """What was aimed at in the regimes cache and memory, what was reached."""
    rows = [["goal", "reached", ""]]
    for group, members in _groups(lines).items():
        if group.split()[0] in _GOALS:
            rows += _goals_of(group, members, _ruled(members, 1))
    return columns(rows)


def _goals_of(group: str, lines: Sequence[Line], rule: dict[str, float]) -> list[list[str]]:
    middle, outer, pairs, excess = _GOALS[group.split()[0]]
    deviations = np.concatenate([line.deviations for line in lines])
    ours = _mean(line.excess(1) for line in lines) or 0.0
    floor = _mean(line.folds.floor() for line in lines) or 0.0
    found = [
        (f"median deviation <= {middle:.0%}", float(np.nanmedian(np.abs(deviations))), middle),
        (f"90th percentile <= {outer:.0%}", float(np.nanquantile(np.abs(deviations), 0.9)), outer),
        (f"excess of the first choice <= {excess:.0%}", ours, excess),
    ]
    rows = [[f"{group}: {words}", percent(v), _met(v <= most)] for words, v, most in found]
    ordered = _mean(line.pairs for line in lines)
    if ordered is not None:
        words = f"{group}: pairs in order >= {pairs:.0%}"
        rows.append([words, percent(ordered), _met(ordered >= pairs)])
    bias = float(np.nanmean(deviations))
    rows.append([f"{group}: bias within {_BIAS:.0%}", signed(bias), _met(abs(bias) <= _BIAS)])
    lost, skill = _mean(rule.values()) or 0.0, _skill(lines, rule)
    if skill is not None:
        told = f"{skill[0]:.2f} ({skill[1]:.1f} to {skill[2]:.1f})"
        if lost > floor:
            words = f"{group}: skill >= {_SKILL:g} (the rule loses more than twice the floor)"
            rows.append([words, told, _met(skill[0] >= _SKILL)])
        rows.append(
            [f"{group}: skill not below 0 by more than its error", told, _met(skill[2] >= 0)]
        )
    return rows


def _tell_unpredicted(lines: Sequence[Line]) -> None:
    for line in lines:
        missing = [n for n, e in zip(line.times, line.deviations, strict=True) if math.isnan(e)]
        if missing:
            print(f"{line.name}: no prediction for {', '.join(missing)}")


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


def percent(value: float | None) -> str:
    """A share, in percent."""
    return "-" if value is None else f"{100 * value:.1f}%"


def signed(value: float) -> str:
    """A signed error, in percent."""
    return f"{100 * value:+.1f}%"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _met(met: bool) -> str:
    return "MET" if met else "MISSED"
