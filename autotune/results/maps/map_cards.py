"""Decision maps on a page: the decision of each, and its card."""

from autotune.domain.decision_map import DecisionMap, MapCell
from autotune.results.maps import figure, text
from autotune.results.page.frame import (
    Card,
    CopyLine,
    Decision,
    Drawing,
    KeyNumber,
    PageFigure,
    PageRow,
    plain,
    table,
)

_FEW = 3
"""Cells that are named where the winner is unsure."""


def card(chart: DecisionMap) -> Card:
    """A map: its figure, what following it costs, and what to run where."""
    rows = [
        PageRow(
            cells=plain(
                chart.contenders[winner].label,
                f"{first} to {last}" if last != first else str(first),
                str(threads),
                numbers={1: float(first), 2: float(threads)},
            )
        )
        for threads, first, last, winner in chart.regions()
    ]
    drawing = Drawing(figure.svg(chart, f"Decision map of {chart.label}"))
    titles = ("candidate", chart.size_name, "threads")
    return Card(
        title=f"{chart.label}: {chart.title}",
        blocks=(
            PageFigure(drawing=drawing, caption=" ".join(text.summary(chart))),
            table("What to run where", titles, rows, right=1),
        ),
        wide=True,
    )


def decision(chart: DecisionMap, study: str, anchor: str) -> Decision:
    """What a map decides: which candidates to ship, what that may cost, where it is unsure.

    It is decided if measurements bound the loss of the winners in every cell by what was tolerated.
    """
    kept = [chart.contenders[k].label for k in chart.kept]
    measured = sum(bool(cell.measured) for cell in chart.cells)
    unsure = [cell for cell in chart.cells if not cell.sure]
    decided = bool(measured) and chart.whole.max_bound <= chart.tolerance
    several = f"{len(kept)} candidates, by {chart.size_name} and threads"
    choice = f"{kept[0]} everywhere" if len(kept) == 1 else several
    what, *further = text.summary(chart)
    return Decision(
        about=chart.label,
        title=chart.title,
        verdict=choice if decided else f"No decision yet; most likely {choice}",
        state="decided" if decided else "open",
        detail=", ".join(kept),
        numbers=_numbers(chart, measured),
        sure=" ".join((what, *_unsure(chart, unsure), *further)),
        advice=_advice(chart, decided=decided, measured=measured),
        lines=(CopyLine("choose by size and threads in a program", f"autotune export {study}"),),
        link=anchor,
    )


def _numbers(chart: DecisionMap, measured: int) -> tuple[KeyNumber, ...]:
    level = text.percent(chart.level)
    mean, bound = text.percent(chart.merged.mean), text.percent(chart.merged.mean_bound)
    sure = sum(cell.sure for cell in chart.cells)
    return (
        KeyNumber(mean, "lost on average by this choice", f"less than {bound} with {level}"),
        KeyNumber(text.percent(chart.merged.max_bound), f"bounds the loss in a cell, with {level}"),
        KeyNumber(f"{sure} of {len(chart.cells)}", "cells with a sure winner"),
        KeyNumber(f"{measured} of {len(chart.cells)}", "cells measured"),
    )


def _unsure(chart: DecisionMap, cells: list[MapCell]) -> list[str]:
    """Where the winner is the fastest with less than 90 %."""
    if not cells:
        return []
    where = [f"{chart.size_name} = {c.size} with T = {c.threads}" for c in cells[:_FEW]]
    more = f" and {len(cells) - _FEW} more" if len(cells) > _FEW else ""
    return [f"The winner is unsure at {', '.join(where)}{more}."]


def _advice(chart: DecisionMap, *, decided: bool, measured: int) -> str:
    if not measured:
        return "Nothing was measured here: run autotune map with a budget before you rely on it."
    if not decided:
        tolerance = text.percent(chart.tolerance)
        return (
            f"Use it where it is sure; autotune map CONFIG --resume measures more, until no cell"
            f" may lose more than {tolerance}."
        )
    return "Run in each range of sizes what the table of the map says."
