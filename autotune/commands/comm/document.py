"""Documents of the ``comm`` commands; times in seconds, sizes in bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from autotune.domain.network import CostCurve, Network
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.curve_validation import ValidationErrors
from autotune.measuring.network.foreign_output import ImportedSamples
from autotune.measuring.network.mpi_benchmark import BenchmarkResult


class SegmentRow(TypedDict):
    """seconds = latency_s + bytes / bandwidth, for sizes from ``lower`` on."""

    lower: int
    latency_s: float
    bandwidth: float | None
    """Bytes per second; null: the size does not matter."""


class CurveRow(TypedDict):
    """A cost curve."""

    operation: str
    benchmark: str
    nodes: int
    ranks: int
    """On all nodes together."""
    measured: list[int]
    """Smallest and largest size."""
    segments: list[SegmentRow]
    residual: list[float]
    """Measured over fitted: 5 % and 95 % quantiles."""
    points: list[list[float]]
    """Size, median of the samples in seconds."""
    source: str
    fitted_to: list[str]


class ErrorRow(TypedDict):
    """Relative errors, cross-validated: repeats and octaves of size left out."""

    median: float
    p90: float
    count: int


class FitRow(TypedDict):
    """A curve and what it rests on."""

    curve: CurveRow
    samples: int
    repeats: int
    contended: int
    outliers: list[dict[str, float]]
    """bytes, seconds, ratio (over the median of its size), repeat, taken."""
    outlier_count: int
    error: ErrorRow | None
    """Of the curve, scored without outliers; the same folds chose its number of pieces."""
    error_with_outliers: ErrorRow | None
    errors: dict[str, ErrorRow]
    """By number of pieces, scored without outliers."""
    disturbed: dict[str, ErrorRow]
    """The same, scored with outliers."""
    plain: ErrorRow | None
    """One ordinary least squares line."""
    floor: ErrorRow | None
    """The other repeats' median at the very size: what no fit can beat."""
    spread: float | None
    """Between repeats: coefficient of variation, median over sizes."""
    notes: list[str]


class CommBenchDocument(TypedDict):
    """``autotune comm bench --json``."""

    schema: str
    file: str
    ranks: int
    nodes: int
    mpi: str
    program: str
    launcher: str
    hosts: list[str]
    samples: int
    contended: int
    launches: int
    seconds: float
    notes: list[str]


class CommFitDocument(TypedDict):
    """``autotune comm fit --json``."""

    schema: str
    curves: list[FitRow]
    written: str | None


class CommShowDocument(TypedDict):
    """``autotune comm show --json``."""

    schema: str
    title: str
    curves: list[CurveRow]
    figure: str | None


class CommImportDocument(TypedDict):
    """``autotune comm import --json``."""

    schema: str
    file: str
    imported: list[dict[str, object]]
    """tool, program, ranks, nodes, operations, samples, of each file and layout."""
    notes: list[str]


def bench(found: BenchmarkResult) -> CommBenchDocument:
    """What was measured."""
    return {
        "schema": "autotune.comm.bench/1",
        "file": str(found.path),
        "ranks": found.run.ranks,
        "nodes": found.run.nodes,
        "mpi": found.run.mpi,
        "program": found.run.program,
        "launcher": found.run.launcher,
        "hosts": list(found.run.hosts),
        "samples": found.samples,
        "contended": found.contended,
        "launches": found.launches,
        "seconds": found.seconds,
        "notes": list(found.notes),
    }


def fit(found: Sequence[FittedCurve], written: Path | None) -> CommFitDocument:
    """The curves of some samples."""
    return {
        "schema": "autotune.comm.fit/1",
        "curves": [_fit(one) for one in found],
        "written": None if written is None else str(written),
    }


def show(title: str, network: Network, figure: Path | None) -> CommShowDocument:
    """The curves of a machine."""
    return {
        "schema": "autotune.comm.show/1",
        "title": title,
        "curves": [_curve(curve) for curve in network.curves],
        "figure": None if figure is None else str(figure),
    }


def load(found: Sequence[ImportedSamples], output: Path) -> CommImportDocument:
    """What was read from other benchmarks' output."""
    return {
        "schema": "autotune.comm.import/1",
        "file": str(output),
        "imported": [
            {
                "tool": one.tool,
                "program": recorded.run.program,
                "ranks": recorded.run.ranks,
                "nodes": recorded.run.nodes,
                "operations": list(dict.fromkeys(s.operation for s in recorded.samples)),
                "samples": len(recorded.samples),
            }
            for one in found
            for recorded in one.recorded
        ],
        "notes": [note for one in found for note in one.notes],
    }


def _fit(one: FittedCurve) -> FitRow:
    return {
        "curve": _curve(one.curve),
        "samples": one.used,
        "repeats": one.repeats,
        "contended": one.contended,
        "outliers": [
            {
                "bytes": o.bytes,
                "seconds": o.seconds,
                "ratio": o.ratio,
                "repeat": o.repeat,
                "taken": o.taken,
            }
            for o in one.outliers
        ],
        "outlier_count": len(one.outliers),
        "error": None if one.chosen is None else _error(one.chosen),
        "error_with_outliers": None if one.disturbed is None else _error(one.disturbed),
        "errors": {str(count): _error(e) for count, e in one.validated.errors.items()},
        "disturbed": {str(count): _error(e) for count, e in one.validated.disturbed.items()},
        "plain": None if one.validated.plain is None else _error(one.validated.plain),
        "floor": None if one.validated.floor is None else _error(one.validated.floor),
        "spread": one.spread,
        "notes": list(one.notes),
    }


def _error(errors: ValidationErrors) -> ErrorRow:
    return {"median": errors.median, "p90": errors.p90, "count": errors.count}


def _curve(curve: CostCurve) -> CurveRow:
    return {
        "operation": curve.operation,
        "benchmark": curve.benchmark,
        "nodes": curve.nodes,
        "ranks": curve.ranks,
        "measured": list(curve.measured),
        "segments": [
            {"lower": s.lower, "latency_s": s.latency, "bandwidth": s.bandwidth}
            for s in curve.segments
        ],
        "residual": list(curve.residual),
        "points": [[size, seconds] for size, seconds in curve.points],
        "source": curve.source,
        "fitted_to": list(curve.fitted_to),
    }
