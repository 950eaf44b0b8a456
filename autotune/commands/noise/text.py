"""What ``autotune noise`` prints."""

from autotune.commands.noise.advice import advice
from autotune.commands.noise.flow import NoiseResult
from autotune.commands.noise.resolution import ResolvedDifference, TwinFigures
from autotune.results.report.number_words import NONE, duration, interval, percent, seconds
from autotune.results.report.text_table import columns
from autotune.statistics.drift import POWER
from autotune.units import counted


def noise(result: NoiseResult, config: str = "the config") -> str:
    """An A/A run in words: the load, the spread, A over B, and what can be told apart.

    ``config``: its file.
    """
    candidate = result.run.prepared.candidate
    lines = [f"{candidate.label} of {config}", f"host     {result.load}"]
    if result.run.status != "ok":
        lines += [f"status   {result.run.status}", result.run.detail]
    if result.figures is None:
        return "\n".join([*lines, "no round was finished: nothing is known of the noise"])
    per = candidate.problem.facts().per
    lines += [*_spread(result.figures, per), "", *_resolution(result.figures, config)]
    helpful = advice(result.figures, result.load, config)
    return "\n".join([*lines, *(["what helps:"] if helpful else []), *(f"- {x}" for x in helpful)])


def _spread(figures: TwinFigures, per: str) -> list[str]:
    disturbed = percent(figures.disturbed / figures.samples)
    goal = figures.objective
    measured = seconds(goal.cost(figures.value), goal) + (f" per {per}" if goal.timed else "")
    ends = figures.interval
    spread = interval(ends and (goal.cost(ends[0]), goal.cost(ends[1])), goal)
    direction = "" if goal.timed else f", the {goal.better} the better"
    spreads = [
        *([f"{percent(figures.within)} within launches"] if figures.within is not None else []),
        f"{percent(figures.between)} between launches",
        f"{percent(figures.noise)} between those of one round",
    ]
    twins = figures.twins
    verdict = (
        "holds 1, as it should"
        if figures.holds
        else "does not hold 1, although both are one program: measure when less else runs"
    )
    return [
        f"{goal.name:<8} {f'{measured} {spread}'.rstrip()}{direction}",
        f"samples  {figures.samples} in {counted(figures.rounds, 'round')}, {disturbed} disturbed",
        f"spread   {', '.join(spreads)}",
        f"A over B {twins.ratio:.4f}, 99 % interval [{twins.low:.4f}, {twins.high:.4f}] {verdict}",
    ]


def _resolution(figures: TwinFigures, config: str) -> list[str]:
    rows = [("difference", "rounds", "time")]
    rows += [(_share(row), _rounds(row), duration(row.seconds)) for row in figures.differences]
    usual, close = figures.usual, figures.close
    return [
        f"to tell two candidates apart in {100 * POWER:.0f} % of cases, 99 % sure:",
        columns(rows, right=(0, 1, 2)),
        f"The {counted(usual.rounds or 0, 'round')} of {config} tell apart what differs by"
        f" {percent(usual.difference)}; close candidates get up to {close.rounds}:"
        f" {percent(close.difference)}.",
    ]


def _share(row: ResolvedDifference) -> str:
    return f"{100 * row.difference:g} %"


def _rounds(row: ResolvedDifference) -> str:
    return NONE if row.rounds is None else str(row.rounds)
