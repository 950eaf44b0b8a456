"""Claims of Scherg et al. (ICPE 2019) about figures 4, 7, 10 and 14 beside our predictions.

The points of these curves are only in images. `published/scherg-2019.yaml` holds what the text says
of them; for `icpe19.py` each claim is judged on the times that are predicted for Heat2D at N = 4800
to 6000:

    holds            as the text says; of a time: within 10 % of it
    within rounding  not of the numbers as printed, but within what their rounding allows
    tied             the order named is first together with another
    does not hold
    not predictable  what it needs is only in an image

A claim marked fitted is about times that rest on a cost curve of the machine file that was fitted
to figures 12 and 13: it is counted apart. Orders do not rest on these curves, which cost every
order the same; the growth and the ratio of 4 to 8 nodes do in part, and no curve is of 4 nodes.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reproduce_rows import Number, load

from autotune.commands.options import EngineName
from autotune.commands.rank import ranked_space
from autotune.domain.problem import Problem
from autotune.domain.ranking import Ranking
from autotune.errors import WorkFailed
from autotune.results.report import number_words
from autotune.results.report.text_table import columns
from autotune.statistics import estimators

FIGURES = ("4", "7", "10", "14")
GOAL = 0.10
_HALF_DIGIT = 0.05
"""Half a unit of the last digit of the measured ranges, s."""
_POINT = 5984
"""N at which shares of figures 12 and 13 are printed."""

Verdict = Literal["holds", "within rounding", "tied", "does not hold", "not predictable"]
Times = Mapping[int, Mapping[str, float]]
"""Seconds per step by N, then by loop order."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim as it comes out here: our prediction in words, and whether the claim holds."""

    predicted: str
    verdict: Verdict
    fitted: bool = False


def figures(words: str) -> list[str]:
    """The figures of a list with commas; ValueError for one without claims."""
    names = [name for name in words.split(",") if name]
    if not set(names) <= set(FIGURES):
        raise ValueError(f"expected some of {', '.join(FIGURES)}")
    return names


def text(names: Sequence[str], engine: EngineName) -> str:
    """The predicted orders of the figures, their claims, and how many of these hold."""
    try:
        eight = _predicted("icpe19-heat2d-sizes-8", engine)
        four = _predicted("icpe19-heat2d-sizes-4", engine)
    except WorkFailed as error:
        return str(error)
    curves = {"4": eight["allgather"], "7": eight["neighbour"], "10": four["neighbour"]}
    shapes = [f"figure {name}: {shape(curves[name])}" for name in names if name in curves]
    return "\n".join([*shapes, claims(names, curves)])


def _predicted(config: str, engine: EngineName) -> dict[str, Times]:
    """The predicted times of a config, by communication."""
    ranked = ranked_space.rank_space(ranked_space.load(Path(config)), _silent, [engine])
    ranked_space.require_predictions(ranked)
    return {
        kind: {_size(ranking): _of_kind(ranking, kind) for ranking in ranked.rankings}
        for kind in ranked.setup.communications
    }


def _size(ranking: Ranking) -> int:
    assert isinstance(ranking.problem, Problem), "the configs of the paper are IVPs"
    return ranking.problem.size


def _of_kind(ranking: Ranking, communication: str) -> dict[str, float]:
    """Seconds per step by loop order; WorkFailed if one has no prediction."""
    times: dict[str, float] = {}
    for entry in ranking.entries:
        if entry.candidate.layout.communication != communication:
            continue
        if entry.prediction.seconds is None:
            raise WorkFailed(f"{entry.candidate.id}: {entry.prediction.reason}")
        times[str(entry.candidate.variant.parameters["order"])] = entry.prediction.seconds
    return times


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    pass


def shape(times: Times) -> str:
    """Who wins: the orders from fastest to slowest, size by size where that changes."""
    by_order: dict[str, list[int]] = {}
    for size in times:
        by_order.setdefault(_order(times[size]), []).append(size)
    orders = "; ".join(
        f"{order} at N = {', '.join(map(str, sizes))}" if len(by_order) > 1 else order
        for order, sizes in by_order.items()
    )
    ends = [
        f"{number_words.span((min(row.values()), max(row.values())))} at N = {size}"
        for size in (min(times), max(times))
        for row in [times[size]]
    ]
    return f"{orders}; {', '.join(ends)}"


def _order(row: Mapping[str, float]) -> str:
    names = sorted(row, key=lambda name: (row[name], name))
    pairs = itertools.pairwise(names)
    signs = [" = " if row[fast] == row[slow] else " < " for fast, slow in pairs]
    return "".join(name + sign for name, sign in zip(names, [*signs, ""], strict=True))


# --- claims -----------------------------------------------------------------------------------


def claims(names: Sequence[str], curves: Mapping[str, Times]) -> str:
    """Each claim of the text about the figures, ours beside it, the verdict; and how many hold."""
    _, numbers = load("scherg-2019")
    outcomes = judged(curves, {number.id: number.printed for number in numbers})
    lines = [("where", "claim", "paper", "predicted", "")]
    counts: Counter[str] = Counter()
    for number in numbers:
        if number.id.partition("-")[0].removeprefix("figure") not in names:
            continue
        outcome = outcomes.get(number.id) or Judged(number.irreproducible, "not predictable")
        mark = " (fitted)" if outcome.fitted else ""
        counts[f"fitted: {outcome.verdict}" if outcome.fitted else outcome.verdict] += 1
        lines.append(_line(number, outcome.predicted, outcome.verdict + mark))
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{columns(lines)}\n{total}"


def _line(number: Number, predicted: str, verdict: str) -> tuple[str, str, str, str, str]:
    printed = f"{number.printed} {number.unit}".rstrip()
    return number.where, number.what, printed, predicted, verdict


def judged(curves: Mapping[str, Times], printed: Mapping[str, str]) -> dict[str, Judged]:
    """Every claim that can be judged, by its id.

    ``curves``: the predicted times by the figure that shows those of the paper: 4, 7, 10.
    ``printed``: what the paper says, by id.
    """
    dense, near, half = curves["4"], curves["7"], curves["10"]
    return {
        "figure4-first": _first(dense, printed["figure4-first"]),
        "figure4-last": _last(dense, printed["figure4-last"].split(", ")),
        "figure4-order": _unchanged(dense),
        "figure4-growth": _proportional(dense),
        "figure4-below": _below(dense, printed),
        "figure4-deviation": _deviation(dense, printed, "jil", "figure4-deviation"),
        "figure4-deviation-ilj": _deviation(dense, printed, "ilj", "figure4-deviation-ilj"),
        "figure4-point": _point(dense, printed["figure4-point"]),
        "figure7-order": _same_order(near, dense),
        "figure7-growth": _rising(near),
        "figure7-lower": _lower(near, dense),
        "figure7-point": _point(near, printed["figure7-point"]),
        "figure10-ratio": _twice(half, near, float(printed["figure10-ratio"])),
        "figure14-close": _close(near),
    }


def _judged(predicted: str, holds: bool, *, fitted: bool = False) -> Judged:
    return Judged(predicted, "holds" if holds else "does not hold", fitted)


def _first(times: Times, order: str) -> Judged:
    firsts = {name for row in times.values() for name in row if row[name] == min(row.values())}
    always = all(row[order] == min(row.values()) for row in times.values())
    words = ", ".join(sorted(firsts))
    if always and len(firsts) > 1:
        return Judged(words, "tied")
    return _judged(words, always)


def _last(times: Times, orders: Sequence[str]) -> Judged:
    lasts = [set(sorted(row, key=row.__getitem__)[-len(orders) :]) for row in times.values()]
    words = ", ".join(sorted(set.union(*lasts)))
    return _judged(words, all(last == set(orders) for last in lasts))


def _unchanged(times: Times) -> Judged:
    orders = {_order(row) for row in times.values()}
    return _judged("none" if len(orders) == 1 else f"{len(orders)} orders", len(orders) == 1)


def _same_order(times: Times, others: Times) -> Judged:
    same = all(_order(times[size]) == _order(others[size]) for size in times)
    return _judged("the same order, all exchanges cost alike" if same else "another order", same)


def _growth(times: Times) -> tuple[list[float], float, str]:
    """From the smallest to the largest size: factors of the times and of n = N^2, in words too."""
    least, most = min(times), max(times)
    factors = [times[most][name] / times[least][name] for name in times[least]]
    components = (most / least) ** 2
    return factors, components, f"x {_ends(factors)} for {components:.2f} times the components"


def _ends(values: Iterable[float]) -> str:
    low, *_, high = sorted(values)
    return f"{low:.2f} to {high:.2f}"


def _proportional(times: Times) -> Judged:
    factors, components, words = _growth(times)
    apart = [estimators.deviation(factor, components) for factor in factors]
    return _judged(words, all(abs(value) <= GOAL for value in apart))


def _rising(times: Times) -> Judged:
    sizes = sorted(times)
    pairs = list(itertools.pairwise(sizes))
    rising = all(times[low][name] < times[high][name] for low, high in pairs for name in times[low])
    return _judged(_growth(times)[2], rising)


def _deviations(
    times: Times, printed: Mapping[str, str], order: str
) -> list[tuple[float, float, float]]:
    """Ours against the paper's measured time at both ends of the sizes: as printed, and the least
    and most that the rounding allows.
    """
    deviations = []
    for size, end in ((min(times), "smallest"), (max(times), "largest")):
        measured = float(printed[f"figure3-{order}-{end}"])
        as_printed, least, most = (
            estimators.deviation(times[size][order], measured + shift)
            for shift in (0.0, _HALF_DIGIT, -_HALF_DIGIT)
        )
        deviations.append((as_printed, least, most))
    return deviations


def _below(times: Times, printed: Mapping[str, str]) -> Judged:
    values = [
        as_printed
        for order in ("jil", "ilj")
        for as_printed, _, _ in _deviations(times, printed, order)
    ]
    words = ", ".join(map(number_words.signed, values))
    return _judged(f"jil, ilj, both ends: {words}", max(values) < 0, fitted=True)


def _deviation(times: Times, printed: Mapping[str, str], order: str, claim: str) -> Judged:
    """How far below the measured times, at both ends; ``claim``: "least to most" or "least", %."""
    limits = [float(word) / 100 for word in printed[claim].split(" to ")]
    near, far = -limits[0], -limits[1] if len(limits) > 1 else -1.0
    values = _deviations(times, printed, order)
    words = ", ".join(
        f"{number_words.signed(as_printed)} ({100 * least:.1f} to {100 * most:.1f})"
        for as_printed, least, most in values
    )
    if all(far <= as_printed <= near for as_printed, _, _ in values):
        return Judged(words, "holds", fitted=True)
    overlap = all(least <= near and most >= far for _, least, most in values)
    return Judged(words, "within rounding" if overlap else "does not hold", fitted=True)


def _point(times: Times, printed: str) -> Judged:
    ours = times[_POINT]["ijl"]
    apart = estimators.deviation(ours, float(printed))
    words = f"{number_words.seconds(ours)} ({number_words.signed(apart)})"
    return _judged(words, abs(apart) <= GOAL, fitted=True)


def _ratios(over: Times, under: Times) -> list[float]:
    return [over[size][name] / under[size][name] for size in over for name in over[size]]


def _lower(times: Times, others: Times) -> Judged:
    factors = _ratios(others, times)
    return _judged(f"{_ends(factors)} times lower", min(factors) > 1 + GOAL, fitted=True)


def _twice(half: Times, whole: Times, factor: float) -> Judged:
    """The time on half the nodes over that on all of them."""
    ratios = _ratios(half, whole)
    if all(abs(estimators.deviation(ratio, factor)) <= GOAL for ratio in ratios):
        return Judged(_ends(ratios), "holds")
    rounded = all(round(ratio) == factor for ratio in ratios)
    return Judged(_ends(ratios), "within rounding" if rounded else "does not hold")


def _close(times: Times) -> Judged:
    """Whether the second order lies nearer to the first than to the third."""
    second, third = [], []
    for row in times.values():
        best, *rest = sorted(row.values())
        second.append(estimators.loss(rest[0], best))
        third.append(estimators.loss(rest[1], best))
    apart, behind = number_words.percent(max(second)), number_words.percent(min(third))
    words = f"{apart} apart, the third {behind} behind"
    return _judged(words, max(second) < min(third) / 2)
