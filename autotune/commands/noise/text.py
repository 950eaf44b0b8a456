"""What ``autotune noise`` prints."""

from autotune.commands.noise.flow import NoiseResult
from autotune.commands.noise.resolution import POWER, ResolvedDifference, TwinFigures
from autotune.results.report.text_table import columns
from autotune.results.report.words import NONE, interval, percent, seconds
from autotune.units import counted

_MINUTE, _HOUR = 60.0, 3600.0


def noise(result: NoiseResult) -> str:
    """An A/A run in words: the load, the spread, A over B, and what can be told apart."""
    candidate = result.run.prepared.candidate
    lines = [candidate.id, f"host     {result.load}"]
    if result.run.status != "ok":
        lines += [f"status   {result.run.status}", result.run.detail]
    if result.figures is None:
        return "\n".join([*lines, "no round was finished: nothing is known of the noise"])
    lines += _spread(result.figures, candidate.problem.facts().per)
    return "\n".join([*lines, "", *_resolution(result.figures)])


def _spread(figures: TwinFigures, per: str) -> list[str]:
    disturbed = percent(figures.disturbed / figures.samples)
    time = f"{seconds(figures.step_s)} per {per} {interval(figures.step_interval_s)}"
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
        f"time     {time}".rstrip(),
        f"samples  {figures.samples} in {counted(figures.rounds, 'round')}, {disturbed} disturbed",
        f"spread   {', '.join(spreads)}",
        f"A over B {twins.ratio:.4f}, 99 % interval [{twins.low:.4f}, {twins.high:.4f}] {verdict}",
    ]


def _resolution(figures: TwinFigures) -> list[str]:
    rows = [("difference", "rounds", "time")]
    rows += [(_share(row), _rounds(row), _duration(row.seconds)) for row in figures.differences]
    usual, close = figures.usual, figures.close
    return [
        f"to tell two candidates apart in {100 * POWER:.0f} % of cases, 99 % sure:",
        columns(rows, right=(0, 1, 2)),
        f"The {counted(usual.rounds or 0, 'round')} of this config tell apart what differs by"
        f" {percent(usual.difference)}; close candidates get up to {close.rounds}:"
        f" {percent(close.difference)}.",
    ]


def _share(row: ResolvedDifference) -> str:
    return f"{100 * row.difference:g} %"


def _rounds(row: ResolvedDifference) -> str:
    return NONE if row.rounds is None else str(row.rounds)


def _duration(value: float | None) -> str:
    """A wall time in seconds, minutes or hours."""
    if value is None:
        return NONE
    if value < 2 * _MINUTE:
        return f"{value:.1f} s"
    return f"{value / _MINUTE:.0f} min" if value < 2 * _HOUR else f"{value / _HOUR:.1f} h"
