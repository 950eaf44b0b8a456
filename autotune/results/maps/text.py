"""A decision map as text: who wins where, what choosing few contenders costs, what is unsure."""

from collections.abc import Sequence

from autotune.domain.decision_map import DecisionMap, MapCell
from autotune.results.report import number_words
from autotune.results.report.text_table import columns

_WINNER, _SHIPPED = 2, 6
"""The columns with names of candidates."""
MARK = "?"
"""Behind a winner that is the fastest with less than 90 %."""


def text(maps: Sequence[DecisionMap], study: str, *, store: str = "") -> str:
    """All maps of a study as text, one below the other."""
    place = f" --store {store}" if store else ""
    last = f"autotune report {study}{place} draws it; autotune export {study}{place} uses it."
    return "\n\n".join([*(_map_text(decision_map) for decision_map in maps), last])


def _map_text(chart: DecisionMap) -> str:
    lines = [
        f"{chart.label}: which of {len(chart.contenders)} candidates wins over"
        f" {chart.size_name} x threads" + (f", by engine {chart.engine}" if chart.engine else ""),
        "",
        _table(chart),
        "",
        *summary(chart),
    ]
    return "\n".join(lines)


def summary(chart: DecisionMap) -> list[str]:
    """One map in sentences."""
    level = percent(chart.level)
    few = not chart.same
    values = "times" if chart.goal.timed else f"values of {chart.goal.name}"
    between = (
        f"Between the cells the nearest {chart.size_name} counts, by ratio: as far as {values}"
        f" change smoothly from one size to the next, the loss at any size is less than"
        f" {percent(chart.between[0])} with {level}"
    )
    pairs = sum(len(cell.measured) for cell in chart.cells)
    sentences = [
        f"Following the winners loses {percent(chart.whole.mean)} on average over the cells;"
        f" with {level} it is less than {percent(chart.whole.mean_bound)} on average and"
        f" less than {percent(chart.whole.max_bound)} in the worst cell.",
        *_shipping(chart, level),
        f"Measured: {pairs} of {chart.pairs} pairs of candidate and cell"
        f" ({percent(pairs / chart.pairs)}) in {chart.evaluations} visits, in"
        f" {sum(bool(cell.measured) for cell in chart.cells)} of {len(chart.cells)} cells;"
        f" ended because {chart.stopped}.",
        between + (f", with the few less than {percent(chart.between[1])}." if few else "."),
    ]
    failed = {k for cell in chart.cells for k in cell.failed}
    if failed:
        names = ", ".join(chart.contenders[k].label for k in sorted(failed))
        sentences.append(f"Failed in some cells: {names}.")
    if chart.left_out:
        sentences.append(
            f"{chart.left_out} more candidates were not looked at: "
            + (
                "by prediction they are the furthest from the fastest everywhere."
                if chart.engine
                else "nothing is predicted, and they are too many."
            )
        )
    return sentences


def _shipping(chart: DecisionMap, level: str) -> list[str]:
    """What shipping fewer candidates than winners costs, in words; empty without such a cost."""
    if chart.same:
        return []
    kept = ", ".join(chart.contenders[k].label for k in chart.kept)
    few = len(chart.kept)
    return [
        f"Shipping {few} candidate{'s' if few > 1 else ''} ({kept}) in place of"
        f" {len(chart.winners)} costs {percent(chart.price[0])} more on average, at most"
        f" {percent(chart.price[1])} in a cell; less than {percent(chart.merged.mean_bound)} is"
        f" lost on average with {level}, in the worst cell less than"
        f" {percent(chart.merged.max_bound)}."
    ]


def _table(chart: DecisionMap) -> str:
    value = chart.goal.name
    head = [chart.size_name, "T", "winner", "sure", value, "loss <", "shipped", "loss <"]
    rows = [head]
    for cell in sorted(chart.cells, key=lambda cell: (cell.threads, cell.size)):
        rows.append(_row(chart, cell))
    right = [k for k in range(len(head)) if k not in (_WINNER, _SHIPPED)]
    return columns(rows, right=right, fold=(7, _SHIPPED, 5, 3, 4))


def _row(chart: DecisionMap, cell: MapCell) -> list[str]:
    winner = chart.contenders[cell.winner.contender].label
    same = cell.merged.contender == cell.winner.contender
    here = "*" if cell.winner.contender in cell.measured else " "
    return [
        str(cell.size),
        str(cell.threads),
        f"{here}{winner}" + ("" if cell.sure else f" {MARK}"),
        percent(cell.probability),
        number_words.seconds(cell.winner.seconds, chart.goal),
        percent(cell.winner.bound),
        "the same" if same else chart.contenders[cell.merged.contender].label,
        percent(cell.merged.bound),
    ]


def percent(value: float) -> str:
    """A share as text with two digits: 0.34 %, 4.1 %, 87 %."""
    value *= 100
    if value < 0.005:
        return "0 %"
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %"
