"""What one fit of a learned model is worth; tables over repeated fits with published anchors."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.tables.table import MeasurementTable
from autotune.learning.comparison.measures import mape, mdape
from autotune.learning.models.base import Forecast
from autotune.statistics.rank_correlation import kendall, top_loss

POOL = "pool"
LEVEL = 0.9
_VALUES = 16
"""A parameter of at most so many values splits the test rows into groups."""
_GROUP = 30
"""Rows that a group has in each test set, at least, to be counted."""

ANCHORS: Mapping[tuple[str, int], Mapping[str, float]] = {
    ("Dune", 49): {"SPL Conqueror": 20.1, "DeepPerf": 15.73},
    ("Dune", 78): {"SPL Conqueror": 22.1, "DeepPerf": 13.67},
    ("Dune", 240): {"SPL Conqueror": 10.6, "DeepPerf": 8.19},
    ("Dune", 375): {"SPL Conqueror": 18.8, "DeepPerf": 7.20},
}
"""Mean relative error in %, all other rows as test, means of 30 runs: DeepPerf (Ha and Zhang 2019),
table of its README."""

GOALS: Mapping[tuple[str, int], float] = {
    ("Dune", 49): 10.5,
    ("Dune", 240): 7.2,
    ("AMG", 32): 36.0,
    ("AMG", 64): 26.0,
}
"""Mean relative error of the pool in %."""
WIDTHS: Mapping[tuple[str, int], float] = {("Dune", 49): 30.0, ("AMG", 64): 90.0}
"""Half-width of the pool's intervals in %."""
FIT = 2.0
"""CPU seconds of a fit of the pool to 240 rows of 20 parameters."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model fitted to one training set and scored on rows that it had not seen."""

    data: str
    model: str
    size: int
    repeat: int
    mape: float
    mdape: float
    tau: float
    loss: float
    """Of the fastest of the ten best by prediction, against the fastest of the test rows."""
    coverage: float
    width: float
    """Median half-width over the median."""
    infinite: float
    """Share of infinite intervals."""
    outside: float
    silent: float
    """Share of rows without an answer; they are not in the errors."""
    fit: float
    """Seconds of CPU time to fit, on one core."""
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Rows covered and rows, by ``parameter=value``."""


def score(test: MeasurementTable, forecast: Forecast) -> dict[str, object]:
    """The figures of a forecast of test rows, by the names of ``Run``."""
    said = ~np.isnan(forecast.median)
    median, truth = forecast.median[said], test.response[said]
    covered = (forecast.low <= test.response) & (test.response <= forecast.high)
    tau, loss = kendall(median, truth), top_loss(median, truth, 10)
    return {
        "mape": mape(median, truth),
        "mdape": mdape(median, truth),
        "tau": math.nan if tau is None else tau,
        "loss": math.nan if loss is None else loss,
        "coverage": float(covered.mean()),
        "width": float(np.median(forecast.half_width[said])),
        "infinite": float(np.isinf(forecast.high).mean()),
        "outside": float(forecast.outside.mean()),
        "silent": float((~said).mean()),
        "groups": _groups(test, covered),
    }


def _groups(test: MeasurementTable, covered: np.ndarray) -> dict[str, tuple[int, int]]:
    found = {}
    for name in test.inputs.names:
        groups = test.groups(name)
        if len(groups) > _VALUES:
            continue
        for value, rows in groups.items():
            if len(rows) >= _GROUP:
                found[f"{name}={value}"] = (int(covered[rows].sum()), len(rows))
    return found


# --- tables -------------------------------------------------------------------------------------


def lines(runs: Sequence[Run]) -> list[str]:
    """Everything that is printed."""
    text: list[str] = []
    for data in dict.fromkeys(run.data for run in runs):
        own = [run for run in runs if run.data == data]
        sizes = sorted({run.size for run in own})
        text += [
            "",
            f"## {data}",
            "",
            "Mean relative error in %, mean +- deviation of repeats:",
            "",
        ]
        text += [*_errors(data, own, sizes), *_others(own, sizes)]
        text += ["", "The pool:", "", *_pool([r for r in own if r.model == POOL], sizes)]
    return [*text, "", *_goals(runs)]


def _errors(data: str, runs: Sequence[Run], sizes: Sequence[int]) -> list[str]:
    rows = [["rows", *(str(size) for size in sizes)]]
    for model in dict.fromkeys(run.model for run in runs):
        cells = [[r for r in runs if (r.model, r.size) == (model, size)] for size in sizes]
        row = [model, *(_spread(100 * run.mape for run in cell) for cell in cells)]
        rows.append(row)
    for peer in dict.fromkeys(p for (d, _), found in ANCHORS.items() if d == data for p in found):
        cells = [ANCHORS.get((data, size), {}).get(peer) for size in sizes]
        rows.append([f"{peer} (published)", *("-" if c is None else f"{c:g}" for c in cells)])
    return _columns(rows)


_MEASURES: Mapping[str, Callable[[Sequence[Run]], str]] = {
    "Loss of the fastest of the ten first in %": lambda own: _mean(100 * r.loss for r in own),
    "Covered by nominal 90 % intervals in %, and their half-width in %": lambda own: (
        f"{_mean(100 * r.coverage for r in own)}, {100 * np.median([r.width for r in own]):.0f}"
    ),
    "CPU time to fit in s": lambda own: f"{np.median([r.fit for r in own]):.2f}",
}
"""What is printed of every model beside its error, of the runs of a cell."""


def _others(runs: Sequence[Run], sizes: Sequence[int]) -> list[str]:
    text: list[str] = []
    for title, measure in _MEASURES.items():
        rows = [["rows", *(str(size) for size in sizes)]]
        for model in dict.fromkeys(run.model for run in runs):
            cells = [[r for r in runs if (r.model, r.size) == (model, size)] for size in sizes]
            rows.append([model, *(measure(cell) if cell else "-" for cell in cells)])
        text += ["", f"{title}:", "", *_columns(rows)]
    return text


def _pool(runs: Sequence[Run], sizes: Sequence[int]) -> list[str]:
    head = (
        "rows", "runs", "MAPE %", "MdAPE %", "tau-b", "top-10 loss %", "covers %", "worst group",
        "half-width %", "infinite %", "outside %", "fit CPU s",
    )  # fmt: skip
    rows = [list(head)]
    for size in sizes:
        own = [run for run in runs if run.size == size]
        if not own:
            continue
        rows.append(
            [
                str(size),
                str(len(own)),
                _mean(100 * run.mape for run in own),
                _mean(100 * run.mdape for run in own),
                f"{np.mean([run.tau for run in own]):.2f}",
                _mean(100 * run.loss for run in own),
                _mean(100 * run.coverage for run in own),
                "{} {:.0f} %".format(*_worst(own)),
                f"{100 * np.median([run.width for run in own]):.1f}",
                _mean(100 * run.infinite for run in own),
                _mean(100 * run.outside for run in own),
                f"{np.median([run.fit for run in own]):.2f}",
            ]
        )
    return _columns(rows)


def _worst(runs: Sequence[Run]) -> tuple[str, float]:
    """The group of the least coverage over all runs, and its coverage in %."""
    hits: dict[str, list[int]] = {}
    for run in runs:
        for name, (covered, count) in run.groups.items():
            total = hits.setdefault(name, [0, 0])
            total[0] += covered
            total[1] += count
    if not hits:
        return "-", math.nan
    name, (covered, count) = min(hits.items(), key=lambda item: item[1][0] / item[1][1])
    return name, 100 * covered / count


def _goals(runs: Sequence[Run]) -> list[str]:
    """Every goal with what was reached."""
    text = ["Goals:"]
    cells = sorted({(run.data, run.size) for run in runs if run.model == POOL})
    for data, size in cells:
        own = [run for run in runs if (run.data, run.size, run.model) == (data, size, POOL)]
        error = 100 * float(np.mean([run.mape for run in own]))
        where = f"{data}, {size} rows"
        if (data, size) in GOALS:
            noise = _noise([100 * run.mape for run in own])
            text.append(
                _goal(f"{where}: error {error:.2f} +- {noise:.2f} %", error, GOALS[data, size])
            )
        if (data, size) in WIDTHS:
            width = 100 * float(np.median([run.width for run in own]))
            text.append(_goal(f"{where}: half-width {width:.1f} %", width, WIDTHS[data, size]))
        best, least, noise = _best(runs, data, size)
        if best:
            verdict = "met" if error <= least + noise else "MISSED"
            text.append(
                f"  {where}: pool {error:.1f} %, best member {best} {least:.1f} % (noise"
                f" {noise:.1f}): {verdict}"
            )
        if size >= 32:
            covers = 100 * float(np.mean([run.coverage for run in own]))
            group, worst = _worst(own)
            noise = _noise([100 * run.coverage for run in own])
            verdict = "met" if 85 <= covers <= 97 and not worst < 75 else "MISSED"
            text.append(
                f"  {where}: covers {covers:.1f} +- {noise:.1f} % (goal 85 to 97), least {group}"
                f" {worst:.1f} % (goal 75): {verdict}"
            )
    return text


def fit_lines(seconds: Mapping[str, Sequence[float]]) -> list[str]:
    """CPU seconds of repeated fits of the pool to 240 rows of 20 parameters, by kind of table."""
    return [
        _goal(
            f"240 rows, 20 parameters, {kind}: pool fitted in {np.median(times):.2f} s of CPU"
            f" ({min(times):.2f} to {max(times):.2f})",
            float(np.median(times)),
            FIT,
        )
        for kind, times in seconds.items()
    ]


def _noise(values: Sequence[float]) -> float:
    """The standard error of the mean."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _goal(text: str, value: float, goal: float) -> str:
    return f"  {text} (goal {goal:g}): {'met' if value <= goal else 'MISSED'}"


def _best(runs: Sequence[Run], data: str, size: int) -> tuple[str, float, float]:
    """The best other model of as many repeats at a size, its error in %, and two standard errors of
    the paired difference between the pool and it."""
    found = {}
    for run in runs:
        if (run.data, run.size) == (data, size):
            found.setdefault(run.model, {})[run.repeat] = 100 * run.mape
    pool = found.pop(POOL, {})
    found = {model: errors for model, errors in found.items() if set(pool) <= set(errors)}
    if not found:
        return "", math.nan, math.nan
    best = min(found, key=lambda model: float(np.mean(list(found[model].values()))))
    common = sorted(set(pool) & set(found[best]))
    apart = np.array([pool[repeat] - found[best][repeat] for repeat in common])
    noise = 2 * float(apart.std(ddof=1)) / math.sqrt(len(apart)) if len(apart) > 1 else math.inf
    return best, float(np.mean(list(found[best].values()))), noise


def _spread(values: Iterable[float]) -> str:
    known = np.array(list(values))
    return f"{known.mean():.1f} +- {known.std():.1f}" if len(known) else "-"


def _mean(values: Iterable[float]) -> str:
    return f"{np.mean(list(values)):.1f}"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
