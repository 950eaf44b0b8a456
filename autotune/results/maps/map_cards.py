"""Decision maps as cards of a page."""

from autotune.domain.decision_map import DecisionMap
from autotune.results.maps import figure, text
from autotune.results.page.frame import (
    Card,
    Drawing,
    PageFigure,
    PageRow,
    plain,
    table,
)


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
            PageFigure(drawing=drawing, caption=" ".join(text.summary(chart)), plate=True),
            table("What to run where", titles, rows, right=1),
        ),
        wide=True,
    )
