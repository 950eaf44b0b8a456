"""Fits cost curves to samples: number of pieces by cross-validation, intervals, outliers.

The curve is fitted to the pooled repeats without contended samples and outliers. Its interval
covers all samples that were not contended.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from autotune.domain.cost_curve import OPERATIONS, CostCurve, CurvePoint, Operation, Segment
from autotune.domain.curve_reach import LAUNCH
from autotune.errors import Fault, InputError
from autotune.measuring.network import curve_validation, piecewise_regression
from autotune.measuring.network.curve_validation import CurveValidation, ValidationErrors, medians
from autotune.measuring.network.outliers import Outlier, SamplePoints, far_off, outliers, spread
from autotune.measuring.network.piecewise_regression import LinearPiece
from autotune.measuring.network.samples import BenchmarkRun, BenchmarkSample, RecordedRun
from autotune.measuring.network.source_factors import (
    JOINED,
    NoCommonSizes,
    SourceFactor,
    source_factors,
    without_factors,
)
from autotune.units import Bytes, BytesPerSecond, Seconds, parse, readable, show

_QUANTILES = (0.05, 0.95)
_OF_TOOL = ("benchmark", "program")
"""Conditions that differ between tools that time the same operations."""

Key = tuple[Operation, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCurve:
    """A fitted cost curve, with the conditions and the quality of its fit."""

    curve: CostCurve
    run: BenchmarkRun
    """Conditions of the first run."""
    used: int
    """Number of samples in the fit."""
    repeats: int
    contended: int
    outliers: tuple[Outlier, ...]
    validated: CurveValidation
    """Cross-validated errors by number of pieces; 1 is the line weighted by 1/y^2."""
    sources: tuple[SourceFactor, ...] = ()
    """How the benchmarks differ, where samples of several were fitted together; else empty."""
    spread: float | None
    """Spread between repeats: median over sizes of the coefficient of variation; None for one
    repeat."""
    notes: tuple[str, ...]

    @property
    def chosen(self) -> ValidationErrors | None:
        """The cross-validated errors of the chosen number of pieces, without outliers.

        They are computed on the folds that chose the number of pieces. None where there was no
        cross-validation.
        """
        return self.validated.errors.get(len(self.curve.segments))

    @property
    def disturbed(self) -> ValidationErrors | None:
        """The cross-validated errors of the chosen number of pieces, with outliers counted."""
        return self.validated.disturbed.get(len(self.curve.segments))


def fit(recorded: Sequence[RecordedRun], *, contended: bool = False) -> list[FittedCurve]:
    """A curve for each operation, number of nodes and ranks; with ``contended``, contended samples
    are used too.

    Raises InputError with all faults at once: for samples that must not enter one curve, for
    where every sample was contended.
    """
    faults: list[Fault] = []
    curves: list[FittedCurve] = []
    for key, members in sorted(_grouped(recorded).items(), key=lambda item: _order(item[0])):
        try:
            _must_agree(key, [run for run, _, _ in members])
            curves.append(_fitted(key, members, contended=contended))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(*faults)
    return curves


Member = tuple[BenchmarkRun, int, BenchmarkSample]
"""Conditions of a run, number of its repeat, and one of its samples."""


def _grouped(recorded: Sequence[RecordedRun]) -> dict[Key, list[Member]]:
    groups: dict[Key, list[Member]] = {}
    repeats: dict[tuple[int, int], int] = {}
    for number, recording in enumerate(recorded):
        for sample in recording.samples:
            repeat = repeats.setdefault((number, sample.launch), len(repeats))
            key = (sample.operation, recording.run.nodes, recording.run.ranks)
            groups.setdefault(key, []).append((recording.run, repeat, sample))
    return groups


def _order(key: Key) -> tuple[int, int, int]:
    return OPERATIONS.index(key[0]), key[1], key[2]


def _must_agree(key: Key, runs: Iterable[BenchmarkRun]) -> None:
    first: BenchmarkRun | None = None
    for run in runs:
        first = first or run
        if run is first:
            continue
        joined = {run.benchmark, first.benchmark} == set(JOINED)
        for name, value in run.conditions.items():
            if value != first.conditions[name] and not (joined and name in _OF_TOOL):
                fault = Fault(
                    where=_named(key),
                    found=f"samples with different {name}: {first.conditions[name]!r} and"
                    f" {value!r}",
                    expected="the same conditions in all samples of a curve",
                    hint="fit the files apart",
                )
                raise InputError(fault)


def _fitted(key: Key, members: Sequence[Member], *, contended: bool) -> FittedCurve:
    run = members[0][0]
    usable = [m for m in members if contended or not m[2].contended(m[0])]
    if not usable:
        fault = Fault(
            where=_named(key),
            found=f"all {len(members)} samples were contended: other processes ran",
            hint="measure again on an idle machine, or use them all the same: --contended",
        )
        raise InputError(fault)
    points = SamplePoints(
        np.array([float(m[2].bytes) for m in usable]),
        np.array([m[2].seconds for m in usable]),
        np.array([m[1] for m in usable], dtype=np.intp),
        np.array([m[2].taken for m in usable]),
    )
    names = [m[0].benchmark for m in usable]
    factors = _factors(key, points, names)
    as_measured = points
    if factors:
        points = replace(points, y=without_factors(points.y, names, factors))
    far = far_off(points)
    inner = points.only(~far)
    sized = key[0] != "barrier"
    if sized and len(np.unique(inner.x)) < 2:
        validated = curve_validation.CurveValidation()
        chosen: tuple[LinearPiece, ...] = (_through_one_size(inner),)
    elif sized:
        validated = curve_validation.validated(points, far)
        chosen = piecewise_regression.pieces(inner.x, inner.y, validated.chosen)[-1]
    else:
        validated = curve_validation.level_errors(points, far)
        chosen = (curve_validation.level(inner),)
    segments = _segments(chosen)
    curve = CostCurve(
        operation=key[0],
        benchmark="+".join(f.benchmark for f in factors) or run.benchmark,
        nodes=key[1],
        ranks=key[2],
        segments=segments,
        measured=(Bytes(int(points.x.min())), Bytes(int(points.x.max()))),
        residual=_residual(segments, as_measured),
        repeats=len(np.unique(points.repeat)),
        cores=run.cores,
        points=_medians(points),
        source=_source(members),
    )
    left = len(members) - len(usable)
    return FittedCurve(
        curve=curve,
        run=run,
        used=len(inner.x),
        repeats=len(np.unique(points.repeat)),
        contended=sum(m[2].contended(m[0]) for m in members),
        outliers=outliers(points, far),
        validated=validated,
        sources=factors,
        spread=spread(points),
        notes=_notes(run, inner, chosen, left, len(members)),
    )


def _factors(key: Key, points: SamplePoints, names: Sequence[str]) -> tuple[SourceFactor, ...]:
    """The factors of several benchmarks; empty for one."""
    if len(set(names)) < 2:
        return ()
    try:
        return source_factors(points.x, points.y, names)
    except NoCommonSizes as error:
        tools = " and ".join(sorted(set(names)))
        fault = Fault(
            where=_named(key),
            found=f"samples of {tools}, of which {error}",
            expected="sizes that both measured: their difference is not known",
            hint="fit the files apart",
        )
        raise InputError(fault) from error


def _through_one_size(points: SamplePoints) -> LinearPiece:
    """The line through the samples of one size, half of them latency: nothing tells the slope.

    The interval of the curve says so for every other size.
    """
    size = float(points.x[0])
    seconds = curve_validation.level(points).intercept
    slope = seconds / (2 * size)
    return LinearPiece(first=size, last=size, intercept=seconds / 2, slope=slope, free_slope=slope)


# --- the fit ------------------------------------------------------------------------------------


def _segments(pieces: Sequence[LinearPiece]) -> tuple[Segment, ...]:
    segments = []
    for lower, piece in zip(piecewise_regression.joints(pieces), pieces, strict=True):
        bandwidth = _rounded(1 / piece.slope, "bandwidth") if piece.slope > 0 else None
        # a line through the origin is one but for the last digits
        through = abs(piece.intercept) <= 1e-9 * piece.at(piece.first)
        latency = 0.0 if through else piece.intercept
        if bandwidth is not None and latency < 0:
            # rounding must not carry a small difference of large numbers below zero
            latency = piece.at(piece.first) - piece.first / bandwidth
        segments.append(
            Segment(
                lower=Bytes(int(lower)),
                latency=Seconds(_rounded(latency, "time")),
                bandwidth=None if bandwidth is None else BytesPerSecond(bandwidth),
            )
        )
    return tuple(segments)


def _residual(segments: Sequence[Segment], points: SamplePoints) -> tuple[float, float]:
    lowers = [segment.lower for segment in segments]
    which = np.searchsorted(lowers, points.x, side="right") - 1
    fitted = np.array([segments[k].at(x) for k, x in zip(which, points.x, strict=True)])
    low, high = np.quantile(points.y / fitted, _QUANTILES)
    return min(float(f"{low:.4g}"), 1.0), max(float(f"{high:.4g}"), 1.0)


def _medians(points: SamplePoints) -> tuple[CurvePoint, ...]:
    """The median time of each size."""
    return tuple(
        CurvePoint(Bytes(int(size)), Seconds(_rounded(float(time), "time")))
        for size, time in zip(*medians(points), strict=True)
    )


def _rounded(value: float, dimension: Literal["time", "bandwidth"]) -> float:
    """The value rounded to the digits that a file shows."""
    return parse(readable(value, dimension), dimension)


# --- words --------------------------------------------------------------------------------------


def _notes(
    run: BenchmarkRun, points: SamplePoints, chosen: Sequence[LinearPiece], left: int, total: int
) -> tuple[str, ...]:
    notes = []
    if left:
        notes.append(f"{left} of {total} samples left out: contended")
    if run.oversubscribed:
        notes.append(
            f"oversubscribed: {run.ranks // run.nodes} ranks took turns on {run.cores} cores"
        )
    if run.program == "mpi4py":
        notes.append("measured through mpi4py: small messages carry the cost of Python calls")
    if len(np.unique(points.repeat)) == 1:
        notes.append(
            f"one repeat: launches are taken to differ by {100 * LAUNCH:.0f} %, as elsewhere"
        )
    sizes = np.unique(points.x)
    if len(sizes) == 1 and sizes[0] > 0:
        notes.append(
            f"one size, {_shown(sizes[0])}: other sizes are uncertain between constant and"
            " proportional; measure at least 8 B and the largest message too"
        )
    for piece in chosen:
        if piece.free_slope < 0:
            ends = points.only((points.x == piece.first) | (points.x == piece.last))
            x, y = medians(ends)
            notes.append(
                f"from {_shown(x[0])} to {_shown(x[-1])} larger messages were faster"
                f" ({show(float(y[0]), 'time')} to {show(float(y[-1]), 'time')}): a constant"
                " instead of a negative slope"
            )
    return tuple(notes)


def _source(members: Sequence[Member]) -> str:
    tools = {
        "autotune": "autotune comm bench",
        "osu": "OSU Micro-Benchmarks",
        "imb": "Intel MPI Benchmarks",
    }
    repeats = len({repeat for _, repeat, _ in members})
    run = members[0][0]
    versions = sorted({(m[0].benchmark, m[0].program) for m in members if m[0].program})
    parts = [
        *(f"{tools.get(benchmark, benchmark)} ({program})" for benchmark, program in versions),
        run.mpi,
        f"{run.buffers} buffers in turn" if run.buffers else "",
        run.taken,
        f"{len(members)} samples in {repeats} repeat{'s' if repeats > 1 else ''}",
    ]
    return ", ".join(part for part in parts if part)


def _named(key: Key) -> str:
    nodes = "1 node" if key[1] == 1 else f"{key[1]} nodes"
    return f"{key[0]} of {key[2]} ranks on {nodes}"


def _shown(x: float) -> str:
    return show(int(x), "size")
