"""The constants of a calibration that a study may shift, each independently.

| constant          | shifts as | bounds                                             |
| ----------------- | --------- | -------------------------------------------------- |
| ``inbound.L2@1``  | factor    | no level is faster than the one nearer to the core |
| ``barrier@2``     | factor    | positive                                           |
| ``exposed.L2``    | share     | 0 to 1                                             |
| other constants   | factor    | positive; added to where the interval reaches 0    |

A factor moves a bandwidth curve as a whole within one level, at one number of threads and any
number of streams. The prior is the 80 % interval of the measured value, never narrower than 5 % (a
single session on a shared host repeats better than sessions do), 15 % more after a disturbed
calibration. No constant belongs to a kernel.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from autotune.domain.calibration import Z80, BandwidthCurve, Calibration, Constant
from autotune.domain.machine import Machine
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.refinement.posterior_fit import ShiftPrior
from autotune.statistics.quantiles import RANGE_TO_DEVIATION
from autotune.units import BytesPerCycle, Seconds, Unbounded

Kind = Literal["factor", "share", "amount"]

_LEAST = 0.05
_CONTENDED = 0.15
_SHARE = 0.1
"""Standard deviation of a share without an interval."""
INBOUND, BARRIER, EXPOSED = "inbound", "barrier", "exposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftingConstant:
    """A calibrated constant that a study may shift: its measured value, and its kind of shift."""

    name: str
    """``inbound.L2@1``: constant, level, threads."""
    kind: Kind
    value: float
    sigma: float
    """Standard deviation of the shift: of the logarithm of a factor, else of the value."""
    unit: str
    threads: int = 0
    within: tuple[Unbounded, Unbounded] = (0.0, math.inf)
    """Range of working sets, in bytes, whose bandwidth it is."""

    def at(self, shift: float) -> float:
        """The value after a shift."""
        if self.kind == "factor":
            return self.value * math.exp(shift)
        top = 1.0 if self.kind == "share" else math.inf
        return min(max(self.value + shift, 0.0), top)

    def shift(self, value: float) -> float:
        """The shift that gives a value."""
        return math.log(value / self.value) if self.kind == "factor" else value - self.value

    def interval(self, shift: float, sigma: float) -> tuple[float, float]:
        """80 % interval of the value after a shift with standard deviation ``sigma``."""
        return self.at(shift - Z80 * sigma), self.at(shift + Z80 * sigma)


def shiftable_constants(machine: Machine) -> tuple[ShiftingConstant, ...]:
    """Every constant in the calibration of a machine that a study may refine.

    Raises ValueError for a machine that was not calibrated.
    """
    calibration = machine.calibration
    if calibration is None:
        raise ValueError(f"{machine.name} is not calibrated")
    constants = [*_inbound(machine, calibration), *_constants(calibration)]
    return tuple(replace(f, sigma=_earlier_sigma(f, calibration) or f.sigma) for f in constants)


def prior(constants: Sequence[ShiftingConstant]) -> ShiftPrior:
    """The prior of the shifts of constants, with their bounds."""
    lower = [-f.value if f.kind != "factor" else -math.inf for f in constants]
    upper = [1.0 - f.value if f.kind == "share" else math.inf for f in constants]
    sigma = [f.sigma for f in constants]
    return ShiftPrior(sigma=np.array(sigma), lower=np.array(lower), upper=np.array(upper))


def limited_shifts(constants: Sequence[ShiftingConstant], shifts: Sequence[float]) -> list[float]:
    """The shifts after limits: no level becomes faster than the level nearer to the core, and no
    value passes its bound.
    """
    limited: list[float] = []
    before: dict[int, tuple[float, float]] = {}
    for figure, shift in zip(constants, shifts, strict=True):
        value = figure.at(shift)
        if figure.name.startswith(INBOUND):
            inner = before.get(figure.threads)
            if inner is not None and inner[0] >= figure.value:
                value = min(value, inner[1])
            before[figure.threads] = figure.value, value
        limited.append(figure.shift(value) if value != figure.at(shift) else shift)
    return limited


def shifted(
    calibration: Calibration, constants: Sequence[ShiftingConstant], shifts: Sequence[float]
) -> Calibration:
    """The calibration with its constants shifted within their bounds."""
    return moved(calibration, constants, limited_shifts(constants, shifts))


def moved(
    calibration: Calibration, constants: Sequence[ShiftingConstant], shifts: Sequence[float]
) -> Calibration:
    """The calibration with its constants shifted, also where a level overtakes an inner one.

    So figures are put back that were measured in that order.
    """
    new = {
        figure.name: (figure, figure.at(shift))
        for figure, shift in zip(constants, shifts, strict=True)
        if shift
    }
    if not new:
        return calibration
    values = {name: value for name, (_, value) in new.items()}
    return replace(
        calibration,
        curves=tuple(_curve(curve, new) for curve in calibration.curves),
        barriers={
            t: Seconds(values.get(f"{BARRIER}@{t}", value))
            for t, value in calibration.barriers.items()
        },
        exposed={
            level: values.get(f"{EXPOSED}.{level}", value)
            for level, value in calibration.exposed.items()
        },
        constants={
            name: _at_value(constant, values[name]) if name in values else constant
            for name, constant in calibration.constants.items()
        },
    )


def _at_value(constant: Constant, value: float) -> Constant:
    """A constant with another value, its interval scaled by the same factor.

    A value of 0 has no factor; there the interval is stretched to contain the new value.
    """
    if constant.value <= 0:
        low, high = min(constant.low, value), max(constant.high, value)
        return replace(constant, value=value, low=low, high=high)
    factor = value / constant.value
    low, high = constant.low * factor, constant.high * factor
    if constant.unit == "1":  # shares
        high = max(value, min(high, 1.0))
    return replace(constant, value=value, low=low, high=high)


# --- bandwidths -----------------------------------------------------------------------------


def _inbound(machine: Machine, calibration: Calibration) -> Iterator[ShiftingConstant]:
    for threads in sorted({curve.threads for curve in calibration.curves}):
        costs = line_costs(machine, threads)
        edges = [*costs.borders.tolist(), math.inf]
        curve = calibration.curve(threads)
        for level, name in enumerate(costs.names[1:], start=1):
            inside = _inside(curve, (edges[level - 1], edges[level]))
            if not inside:
                continue
            spread = float(np.median([curve.spread[k] for k in inside])) / RANGE_TO_DEVIATION
            sigma = max(spread, _LEAST) + _CONTENDED * calibration.contended
            value = float(np.exp(np.mean(np.log([curve.bandwidth[k] for k in inside]))))
            yield ShiftingConstant(
                name=f"{INBOUND}.{name}@{threads}",
                kind="factor",
                value=value,
                sigma=sigma,
                unit="B/cy",
                threads=threads,
                within=(edges[level - 1], edges[level]),
            )


def _inside(curve: BandwidthCurve, within: tuple[float, float]) -> list[int]:
    low, high = within
    return [k for k, size in enumerate(curve.working_set) if low < size <= high]


def _curve(
    curve: BandwidthCurve, new: Mapping[str, tuple[ShiftingConstant, float]]
) -> BandwidthCurve:
    values = list(curve.bandwidth)
    for name, (figure, value) in new.items():
        if name.startswith(INBOUND) and figure.threads == curve.threads:
            for k in _inside(curve, figure.within):
                values[k] = BytesPerCycle(values[k] * value / figure.value)
    return replace(curve, bandwidth=tuple(values))


# --- constants ------------------------------------------------------------------------------


def _constants(calibration: Calibration) -> Iterator[ShiftingConstant]:
    constants = calibration.constants
    for threads, seconds in sorted(calibration.barriers.items()):
        name = f"{BARRIER}@{threads}"
        if seconds > 0:
            yield _of_constant(name, float(seconds), constants.get(name), "s", calibration)
    for level, share in calibration.exposed.items():
        name = f"{EXPOSED}.{level}"
        yield _of_constant(name, share, constants.get(name), "1", calibration)
    handled = {f"{BARRIER}@{t}" for t in calibration.barriers}
    handled |= {f"{EXPOSED}.{level}" for level in calibration.exposed}
    for name, constant in sorted(constants.items()):
        if name not in handled and constant.high > 0:
            yield _of_constant(name, constant.value, constant, constant.unit, calibration)


def _of_constant(
    name: str, value: float, constant: Constant | None, unit: str, calibration: Calibration
) -> ShiftingConstant:
    rough = _CONTENDED * calibration.contended
    kind: Kind
    if unit == "1":
        half = (constant.high - constant.low) / 2 / Z80 if constant else _SHARE
        sigma, kind = max(half, _LEAST) + rough, "share"
    elif constant is not None and constant.low <= 0:
        sigma, kind = (
            max((constant.high - constant.low) / 2 / Z80, _LEAST * constant.high),
            "amount",
        )
    else:
        wide = math.log(constant.high / constant.low) / 2 / Z80 if constant else 2 * _LEAST
        sigma, kind = max(wide, _LEAST) + rough, "factor"
    return ShiftingConstant(name=name, kind=kind, value=value, sigma=sigma, unit=unit)


def _earlier_sigma(figure: ShiftingConstant, calibration: Calibration) -> float | None:
    """The standard deviation of the constant after an earlier refinement, to be its prior; None
    without one.
    """
    earlier = calibration.refined.get(figure.name)
    if earlier is None or earlier.high <= earlier.low:
        return None
    if figure.kind == "factor" and earlier.low > 0:
        return math.log(earlier.high / earlier.low) / 2 / Z80
    return (earlier.high - earlier.low) / 2 / Z80
