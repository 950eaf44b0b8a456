"""What the commands on models print."""

import math
from collections.abc import Iterable, Mapping, Sequence

from autotune.assertions.modelling.studies.elasticities import Elasticity
from autotune.assertions.modelling.studies.message_sizes import MessageSizes
from autotune.assertions.modelling.studies.predicted_time import PredictedTime
from autotune.assertions.modelling.studies.residual_fit import ResidualFit
from autotune.assertions.modelling.studies.scaling_study import ScalingPoint
from autotune.assertions.modelling.tree_walk import METRICS
from autotune.commands.assertion.modelling.document import (
    AssertionModelDocument,
    AssertionSensitivityDocument,
    TotalFormula,
)
from autotune.domain.assertion_record import Count
from autotune.results.report.text_table import columns
from autotune.units import counted, rough_percent, show

_LONGEST = 240
"""Characters of a formula in a table."""


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows in columns, the first ``left`` columns aligned at their left."""
    return columns(rows, right=range(left, len(rows[0])), matrix=True)


def number(value: float | None) -> str:
    """A count or a real number, with few digits where it is large or not whole."""
    if value is None:
        return "-"
    if math.isinf(value) or math.isnan(value):
        return "?"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.5g}"


def bindings(values: Mapping[str, Count]) -> str:
    """Values as text: ``na = 1,400, nprocs = 4``."""
    return ", ".join(f"{name} = {number(value)}" for name, value in values.items())


def model(shown: AssertionModelDocument) -> str:
    """The variables of a model, its totals and ratios as formulas, and notes."""
    where = f", node {shown.node}" if shown.node else ""
    inputs = [
        f"{name} = {number(v)}" if v is not None else name for name, v in shown.inputs.items()
    ]
    lines = [f"{shown.name}{where}; inputs: {', '.join(inputs) or 'none'}"]
    lines += [f"  {name} = {formula}" for name, formula in shown.derived.items()]
    lines += ["totals of one rank:", *_formulas(shown.totals)] if shown.totals else []
    lines += ["ratios:", *_formulas(shown.ratios)] if shown.ratios else []
    lines += [f"note: {text}" for text in shown.notes]
    lines += [f"wrote {path}" for path in shown.written]
    return "\n".join(lines)


def _formulas(totals: Iterable[TotalFormula]) -> Iterable[str]:
    for total in totals:
        formula = total.formula
        if len(formula) > _LONGEST:
            formula = f"{formula[:_LONGEST]} ... ({len(formula)} characters; --json has all)"
        value = f"  [{number(total.value)}]" if total.value is not None else ""
        yield f"  {total.name} = {formula}{value}"


def scale(points: Sequence[ScalingPoint]) -> str:
    """A row for each point: totals of all ranks, and the most of a single one."""
    varying = [
        name
        for name in points[0].values
        if len({point.values[name] for point in points}) > 1 or len(points) == 1
    ]
    metrics = [m for m in METRICS if any(point.total(m) for point in points)]
    head = [*varying, *(text for m in metrics for text in (m, "most of a rank"))]
    rows = [head]
    for point in points:
        row = [number(point.values[name]) for name in varying]
        for metric in metrics:
            total = point.total(metric)
            row += [number(total.everywhere if total else 0), number(total.most if total else 0)]
        rows.append(row)
    spread = [p for p in points if p.ranks_walked < p.ranks]
    notes = [
        f"note: {p.ranks_walked} evenly spread ranks stand for {p.ranks:,}" for p in spread[:1]
    ]
    constant = {n: v for n, v in points[0].values.items() if n not in varying}
    above = [bindings(constant)] if constant else []
    return "\n".join([*above, table(rows, left=0), *notes])


def sensitivity(shown: AssertionSensitivityDocument) -> str:
    """The elasticities, and the indices where ranges were given."""
    lines = [f"{shown.name}, rank {shown.rank}: {bindings(shown.values)}"]
    rows = [["total", "variable", "d ln f / d ln x", "from", "to", "grows"]]
    rows += [_elasticity(item) for item in shown.elasticities]
    lines.append(table(rows, left=2))
    for metric in shown.shares:
        lines.append(f"{metric.metric} over the ranges: shares of its variance (Sobol)")
        share_rows = [["variable", "alone", "with others", "from", "to"]]
        for share in metric.shares:
            alone, together = (f"{v:.3f}" for v in (share.first_order, share.total))
            share_rows.append(
                [share.variable, alone, together, number(share.low), number(share.high)]
            )
        lines.append(table(share_rows))
    return "\n".join(lines)


def _elasticity(item: Elasticity) -> list[str]:
    growth = ", ".join(f"x{g.factor:.3g}: {number(g.ratio)}" for g in item.growth)
    slope = "?" if math.isnan(item.elasticity) else f"{item.elasticity + 0.0:.3f}"
    return [item.metric, item.variable, slope, number(item.low), number(item.high), growth]


def sizes(shown: MessageSizes) -> str:
    """A row for each size: its messages and bytes, alone and with all smaller ones."""
    volume = show(float(shown.volume), "size")
    lines = [f"{number(shown.messages)} messages, {volume}, of {counted(shown.ranks, 'rank')}"]
    rows = [
        ["bytes", "messages", "share", "bytes share", "up to here", "bytes up to here", "bound by"]
    ]
    for item in shown.sizes:
        shares = (
            item.message_share,
            item.byte_share,
            item.cumulative_messages,
            item.cumulative_bytes,
        )
        percents = [f"{100 * share:.2f} %" for share in shares]
        rows.append([number(item.size), number(item.messages), *percents, item.bound or "-"])
    lines.append(table(rows, left=0))
    if shown.half_size is not None and shown.latency_bound is not None:
        share = rough_percent(shown.latency_bound)
        text = f"n_1/2 = {number(shown.half_size)} B ({shown.curve}): {share} of the messages are"
        lines.append(f"{text} smaller, bound by latency")
    return "\n".join(lines)


def time(shown: PredictedTime, machine: str) -> str:
    """The time of the slowest rank, its parts, and what they come from."""
    seconds = show(shown.seconds, "time")
    ends = f"{show(shown.low, 'time')} to {show(shown.high, 'time')}"
    place = f"{counted(shown.ranks, 'rank')} on {counted(shown.nodes, 'node')}"
    lines = [f"{seconds} ({ends}) on {machine}, {place}; slowest: rank {shown.rank}"]
    parts = (("arithmetic", shown.arithmetic), ("memory", shown.memory))
    lines += [f"  {name} {show(value, 'time')}" for name, value in parts if value]
    lines.append(f"  communication {show(shown.communication, 'time')}")
    for term in shown.terms:
        mark = " (extrapolated)" if term.extrapolated else ""
        each = f"{number(term.messages)} x {term.operation} of {number(term.size)} B"
        lines.append(f"    {show(term.seconds, 'time')}  {each}{mark}")
    lines += [f"  {source}" for source in shown.rates.sources]
    lines += [f"note: {text}" for text in shown.notes]
    return "\n".join(lines)


def fit(fits: Sequence[ResidualFit]) -> str:
    """A row for each path: measured over asserted with its interval, and the next run."""
    rows = [["path", "kind", "counter", "runs", "measured / asserted", "interval"]]
    for item in fits:
        ratio = "equal" if item.exact else f"{item.ratio:.5g}"
        ends = "-" if item.exact else f"{number(item.low)} to {number(item.high)}"
        rows.append([item.path, item.kind, item.counter or "-", str(item.runs), ratio, ends])
    lines = [table(rows, left=3)]
    for item in fits:
        for slope in item.slopes:
            ends = f"{number(slope.low)} to {number(slope.high)}"
            lines.append(
                f"{item.path}: d ln ratio / d ln {slope.variable} = {slope.slope:.3g} ({ends})"
            )
        if item.next_run is not None:
            lines.append(
                f"{item.path}: least sure at {bindings(item.next_run.values)}: run that next"
            )
        lines += [f"note: {item.path}: {text}" for text in item.notes]
    return "\n".join(lines)
