"""What ``autotune reduce`` prints."""

from collections.abc import Iterator

from autotune.commands.reduce.flow import ReducedStudy
from autotune.domain.metric import Metric
from autotune.results.report.number_words import NONE, percent, signed
from autotune.results.report.text_table import columns
from autotune.statistics.drift import Contest
from autotune.tuning.elimination import Ablation
from autotune.units import counted

_ERRORS = 1.645
"""Standard errors from the middle to the end of a 90 % interval."""
_COMMON = {"same program": "same program", "forbidden": "a constraint keeps it"}


def text(result: ReducedStudy) -> str:
    """What each difference is worth, what is kept, and how fast that is."""
    reduction, label = result.reduction, result.problem.label
    number, kept = len(result.differences), reduction.kept
    named = f"{result.words} {reduction.winner.variant.label}"
    lines = [
        f"{label} of study {result.study}: {named} differs from the baseline in"
        f" {counted(number, 'setting')}",
        columns(_rows(result), right=(2, 3, 4, 5)),
    ]
    lines += [f"  {name}: {detail}" for name, detail in _failures(result)]
    left_out = number - len(reduction.ablations)
    if left_out:
        lines.append(f"  {counted(left_out, 'setting')} not left out one by one: see --most")
    names = [result.differences[name].words for name in kept]
    lines.append(f"kept: {len(kept)} of {number}{': ' if names else ''}{'; '.join(names)}")
    lines += [f"  {line}" for line in _speeds(result)]
    lines += [f"  {command}" for command in result.commands]
    if reduction.cut:
        lines.append(f"{reduction.cut}: this is what was known by then")
    return "\n".join(lines)


def _rows(result: ReducedStudy) -> Iterator[tuple[str, ...]]:
    goal = result.problem.problem.goal
    again = {a.difference: a.cost for a in result.reduction.later}
    title = f"{goal.name} without it"
    yield ("", "setting", title, "90 % interval", "of what was left", "by the model", "")
    for ablation in result.ablations:
        name = ablation.difference
        kept = name in result.reduction.kept
        share = result.shares.get(name)
        yield (
            "*" if kept else "",
            result.differences[name].words,
            _change(ablation.cost, goal) if ablation.cost else _COMMON.get(ablation.fate, NONE),
            _span(ablation.cost, goal),
            _change(again.get(name), goal),
            NONE if share is None else signed(_moved(1 + share, goal)),
            _word(ablation, kept=kept),
        )


def _word(ablation: Ablation, *, kept: bool) -> str:
    if not kept:
        return "dropped"
    if ablation.fate in ("failed", "not measured"):
        return f"kept ({ablation.fate})"
    return "kept"


def _failures(result: ReducedStudy) -> Iterator[tuple[str, str]]:
    for ablation in result.ablations:
        if ablation.fate == "failed":
            name = result.differences[ablation.difference].words
            yield f"without {name}", ablation.detail.strip().splitlines()[0]


def _speeds(result: ReducedStudy) -> Iterator[str]:
    """The comparisons of reduced winner, winner and baseline, in words."""
    reduction, goal = result.reduction, result.problem.problem.goal
    noun = "speed-up" if goal.timed else "improvement"
    same = "the same program as the baseline, or not compared with it"
    yield f"{noun} over the baseline: {_times(reduction.reduced_speed, same)}"
    yield f"{noun} of the whole winner: {_times(reduction.winner_speed, same)}"
    cost = reduction.reduced_cost
    if reduction.reduced == reduction.winner:
        yield "nothing is dropped"
        return
    if cost is None:
        yield "what is left is the same program as the winner, or was not compared with it"
        return
    low, high = cost.low - 1, cost.high - 1
    yield (
        f"cost of what is left over that of the whole winner: {signed(cost.ratio - 1)}"
        f" ({signed(low)} to {signed(high)}; a launch scatters by {percent(reduction.noise)})"
    )
    yield (
        "accepted for fewer settings: what the measurements do not show to be slower by more than"
        f" one standard error, here {percent(max(0.0, cost.high - cost.ratio) / _ERRORS)}"
    )
    if cost.slower:
        yield "what is left is slower than the whole winner: some of what was dropped matters"


def _times(ratio: Contest | None, otherwise: str) -> str:
    if ratio is None:
        return f"none, {otherwise}"
    return f"{ratio.ratio:.3f}x ({ratio.low:.3f} to {ratio.high:.3f})"


def _moved(ratio: float, goal: Metric) -> float:
    """The change of the value of an objective whose cost changes by a ratio."""
    return ratio - 1 if goal.better == "less" else 1 / ratio - 1


def _change(cost: Contest | None, goal: Metric) -> str:
    return NONE if cost is None else signed(_moved(cost.ratio, goal))


def _span(cost: Contest | None, goal: Metric) -> str:
    if cost is None:
        return NONE
    low, high = sorted(_moved(ratio, goal) for ratio in (cost.low, cost.high))
    return f"{signed(low)} to {signed(high)}"
