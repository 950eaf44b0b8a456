"""What the ``comm`` commands print for a person."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from autotune.domain.cost_curve import CostCurve
from autotune.domain.network import Network
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.curve_validation import ValidationErrors
from autotune.measuring.network.foreign_output import TOOLS, ImportedSamples
from autotune.measuring.network.mpi_benchmark import BenchmarkResult
from autotune.measuring.network.source_factors import SourceFactor
from autotune.results.report.text_table import columns
from autotune.units import counted, show

_OUTLIERS = 3
"""Outliers of a curve that are listed."""


def benched(result: BenchmarkResult) -> str:
    """What was measured, where the samples are kept, and what to do with them."""
    run = result.run
    lines = [
        f"{counted(result.samples, 'sample')} of {run.ranks} ranks on"
        f" {counted(run.nodes, 'node')} in"
        f" {result.launches} launch{'es' if result.launches != 1 else ''}, {result.seconds:.0f} s,"
        f" {result.contended} contended; {run.mpi}, {run.program}, priority {run.priority}",
        *(f"note: {note}" for note in result.notes),
        f"kept in {result.path};"
        f" now: autotune comm fit {shlex.quote(str(result.path))} --machine host",
    ]
    return "\n".join(lines)


def fitted(curves: Sequence[FittedCurve], written: Path | None) -> str:
    """The fitted curves, their errors, and the samples that were left out as outliers."""
    rows = [
        (
            "operation", "ranks", "nodes", "samples", "contended", "outliers", "repeats",
            "between repeats", "pieces", "error", "with outliers", "one line",
            "repeats alone", "interval",
        )
    ]  # fmt: skip
    for curve in curves:
        line = curve.validated.errors.get(1)
        rows.append(
            (
                curve.curve.operation,
                str(curve.curve.ranks),
                str(curve.curve.nodes),
                str(curve.used),
                str(curve.contended),
                str(len(curve.outliers)),
                str(curve.repeats),
                _percent(curve.spread),
                str(len(curve.curve.segments)),
                _both(curve.chosen),
                _both(curve.disturbed) if curve.outliers else "the same",
                _both(line) if len(curve.curve.segments) > 1 else "",
                _both(curve.validated.floor),
                _interval(curve.curve),
            )
        )
    lines = [
        "cost curves; errors: cross-validated, median and 90th percentile, repeats and octaves of"
        " size left out; the same errors chose the number of pieces, so they are a little too good;"
        " outliers enter no fit, and count as errors in the second column only; repeats alone: how"
        " well other repeats tell one at the same size",
        columns(rows, right=range(1, 13), matrix=True),
        "",
        pieces([curve.curve for curve in curves]),
    ]
    for curve in curves:
        name = f"{curve.curve.operation} of {curve.curve.ranks} ranks"
        lines += [f"sources: {name}: {_source(source)}" for source in curve.sources]
        lines += [f"note: {name}: {note}" for note in curve.notes]
        lines += _outliers(name, curve)
    if written is not None:
        lines.append(f"written to {written}")
    return "\n".join(lines)


def _source(source: SourceFactor) -> str:
    return (
        f"times of {source.benchmark} are {source.factor:.3g} times the level that the curve is"
        f" fitted at, {source.lowest:.3g} to {source.highest:.3g} at"
        f" {counted(source.sizes, 'common size')}"
    )


def _outliers(name: str, curve: FittedCurve) -> list[str]:
    worst = sorted(curve.outliers, key=lambda o: -abs(o.ratio - 1))[:_OUTLIERS]
    if not worst:
        return []
    listed = ", ".join(
        f"{show(o.seconds, 'time')} at {show(o.bytes, 'size')} ({o.ratio:.2g} times its median,"
        f" repeat {o.repeat + 1})"
        for o in worst
    )
    rest = len(curve.outliers) - len(worst)
    return [f"outliers: {name}: {listed}" + (f", and {rest} more" if rest else "")]


def pieces(curves: Sequence[CostCurve]) -> str:
    """Every piece of every curve: its range of sizes and its line, intercept + bytes/bandwidth."""
    rows = [("operation", "ranks", "nodes", "from", "intercept", "bandwidth", "measured", "source")]
    for curve in curves:
        low, high = (show(size, "size") for size in curve.measured)
        for number, segment in enumerate(curve.segments):
            first = number == 0
            bandwidth = show(segment.bandwidth, "bandwidth") if segment.bandwidth else "any"
            rows.append(
                (
                    curve.operation if first else "",
                    str(curve.ranks) if first else "",
                    str(curve.nodes) if first else "",
                    show(segment.lower, "size") if curve.operation != "barrier" else "",
                    show(segment.latency, "time"),
                    bandwidth if curve.operation != "barrier" else "",
                    f"{low} to {high}" if first and curve.operation != "barrier" else "",
                    f"{curve.benchmark}: {curve.source}" if first else "",
                )
            )
    return columns(rows, right=range(1, 6))


def shown(title: str, network: Network) -> str:
    """The cost curves of a machine as a table, under a title."""
    lines = [title, pieces(network.curves)]
    lines += [
        f"note: {curve.operation} of {curve.ranks} ranks on {counted(curve.nodes, 'node')}"
        f" was fitted to {', '.join(curve.fitted_to)}: it is not scored on them"
        for curve in network.curves
        if curve.fitted_to
    ]
    return "\n".join(lines)


def imported(imports: Sequence[ImportedSamples], output: Path) -> str:
    """How many samples were read from which benchmark output, and which lines were left out."""
    lines = []
    for samples in imports:
        for recorded in samples.recorded:
            operations = dict.fromkeys(s.operation for s in recorded.samples)
            lines.append(
                f"{TOOLS[samples.tool]} {recorded.run.program}:"
                f" {counted(len(recorded.samples), 'sample')} of {', '.join(operations)},"
                f" {recorded.run.ranks} ranks on {counted(recorded.run.nodes, 'node')}"
            )
        lines += [f"note: {note}" for note in samples.notes]
    command = f"autotune comm fit {shlex.quote(str(output))} -o network.yaml"
    lines.append(f"kept in {output}; now: {command}")
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _both(errors: ValidationErrors | None) -> str:
    return "-" if errors is None else f"{_percent(errors.median)}, {_percent(errors.p90)}"


def _interval(curve: CostCurve) -> str:
    low, high = curve.residual
    return f"{low:.2f} to {high:.2f}"
