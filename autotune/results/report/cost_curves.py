"""The numbers of the figures of cost curves, without their drawing: bytes and seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autotune.domain.cost_curve import CostCurve
from autotune.domain.network import Network
from autotune.measuring.network.curve_fit import FittedCurve

BEYOND = 4.0
"""How far a curve is drawn beyond the sizes that it was fitted to, as a factor."""
_STEPS = 24
"""Points of a line in a logarithmic figure."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A piece of a curve, with its interval."""

    size: tuple[float, ...]
    seconds: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """The content of the figure of one curve: points, lines, breakpoints between its pieces."""

    title: str
    points: tuple[tuple[float, float], ...]
    """Median of the samples at each size."""
    outliers: tuple[tuple[float, float], ...]
    lines: tuple[CurveLine, ...]
    breakpoints: tuple[float, ...]
    has_size: bool
    """False for a barrier."""


def panels(network: Network, fitted: Sequence[FittedCurve] = ()) -> tuple[Panel, ...]:
    """A panel for each curve, operation by operation."""
    fits = {fitted_curve.curve.key: fitted_curve for fitted_curve in fitted}
    return tuple(_panel(curve, fits.get(curve.key)) for curve in network.curves)


def _panel(curve: CostCurve, fit: FittedCurve | None) -> Panel:
    where = "1 node" if curve.nodes == 1 else f"{curve.nodes} nodes"
    sized = curve.operation != "barrier"
    return Panel(
        title=f"{curve.operation}, {curve.ranks} ranks on {where} ({curve.benchmark})",
        points=tuple((float(size), float(seconds)) for size, seconds in curve.points),
        outliers=tuple((float(o.bytes), float(o.seconds)) for o in fit.outliers) if fit else (),
        lines=tuple(_lines(curve)) if sized else (_level(curve),),
        breakpoints=tuple(float(segment.lower) for segment in curve.segments[1:]),
        has_size=sized,
    )


def _level(curve: CostCurve) -> CurveLine:
    return _line(curve, [0.0, 1.0], 0, extrapolated=False)


def _lines(curve: CostCurve) -> list[CurveLine]:
    low, high = max(1.0, curve.measured[0]), max(1.0, curve.measured[1])
    ends = [low / BEYOND, *_within(curve, low / BEYOND, high * BEYOND), high * BEYOND]
    cuts = sorted({*ends, low, high})
    lines = []
    for a, b in pairwise(cuts):
        ratio = b / a
        sizes = [a * ratio ** (k / _STEPS) for k in range(_STEPS + 1)]
        # a piece ends where the next begins: both lines reach the breakpoint
        piece = curve.segments.index(curve.segment(sizes[_STEPS // 2]))
        lines.append(_line(curve, sizes, piece, extrapolated=b <= low or a >= high))
    return lines


def _within(curve: CostCurve, low: float, high: float) -> list[float]:
    return [float(s.lower) for s in curve.segments if low < s.lower < high]


def _line(curve: CostCurve, sizes: Sequence[float], piece: int, *, extrapolated: bool) -> CurveLine:
    seconds = tuple(max(curve.segments[piece].at(size), 0.0) for size in sizes)
    low, high = curve.residual
    return CurveLine(
        size=tuple(sizes),
        seconds=seconds,
        low=tuple(low * value for value in seconds),
        high=tuple(high * value for value in seconds),
        extrapolated=extrapolated,
    )
