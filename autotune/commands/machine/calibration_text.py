"""The results of a calibration, as lines of text."""

from collections.abc import Mapping, Sequence

from autotune.domain.calibration import CONSTANTS, BandwidthCurve, Calibration, Constant
from autotune.units import counted, show

TITLES: Mapping[str, str] = {
    "line_crossing": "load across lines",
    "vector_load": "vector load",
    "vector_store": "vector store",
    "vector_add": "vector addition",
    "vector_multiply": "vector multiplication",
    "vector_fused": "vector multiply-add",
    "vector_divide": "vector division",
    "vector_shuffle": "vector shuffle",
    "vector_window": "vector operations that can wait",
    "vector_unaligned": "unaligned vector store beyond an aligned one",
    "vector_apart": "vector store where rows take turns",
    "vector_mixed": "vector micro-operation where loads and arithmetic take turns",
    "vector_narrow": "reload of a pointer to a row",
    "library_call": "call of the mathematical library",
    "store_forward": "store forwarding",
    "blocked_forward": "blocked store forwarding",
    "loop_entry": "loop entry",
    "predicted_exit": "part of loop entry that a predicted exit saves",
    "set_conflict": "set conflict",
    "core_to_core": "line of another core",
    "ownership": "write to a line that another core has read",
    "stream_start": "start of a stream",
    "stream_resume": "start of a stream where it ended before",
    "outbound": "dirty line out",
    "allocate": "line of a pure store stream",
    "load_again": "loads of a line still on the way",
    "again_loop": "loop time for a line of components that hides these loads",
    "crossing_stores": "whole loop per store across lines",
    "crossing_loads": "wait of stores across lines per line loaded meanwhile",
    "exposed": "exposed share beside loads",
    "overlap_ol": "exposed share beside arithmetic",
    "barrier": "barrier",
    "waiting": "lateness of the last thread at a barrier as a share of the time before",
    "core_cycle": "cycles of the calibrated clock per cycle of a core with vectors",
}
"""Constant to what a line about it begins with; a comma and its place follow."""

QUIETER = (
    "autotune machine calibrate --budget-seconds 180 finds more undisturbed rounds, --usual-load"
    " takes this load for the usual one"
)
"""What helps against a contended calibration."""

_SHOWN = 3
"""Constants that a summary names: those with the widest intervals, and those that changed most."""


def summary(calibration: Calibration, before: Calibration | None) -> list[str]:
    """What was measured, how undisturbed, what is least sure, and what changed since ``before``."""
    measured = calibration.constants
    samples = sorted(constant.samples for constant in measured.values())
    lines = [
        f"calibrated {calibration.taken} in {calibration.seconds:.0f} s:"
        f" clock {show(calibration.clock, 'frequency')} (spread {calibration.clock_spread:.1%}),"
        f" {counted(len(calibration.curves), 'bandwidth curve')},"
        f" {counted(len(measured), 'constant')}"
        + (f" of {samples[0]} to {samples[-1]} samples each" if samples else ""),
        f"CONTENDED: other processes ran, so intervals are wider; {QUIETER}"
        if calibration.contended
        else "taken beside the usual load of this host, as was said"
        if calibration.usual_load
        else "no other process disturbed what counts",
    ]
    widest = sorted(measured, key=lambda name: -_width(measured[name]))[:_SHOWN]
    if widest:
        lines += ["widest intervals:", *(f"  {_name(n)}: {_value(measured[n])}" for n in widest)]
    return lines if before is None else [*lines, *_changes(before, calibration)]


def _changes(before: Calibration, after: Calibration) -> list[str]:
    """The clocks of two calibrations, and the constants whose intervals lie apart."""
    both = [
        (name, before.constants[name], constant)
        for name, constant in after.constants.items()
        if name in before.constants
    ]
    apart = [
        (name, old, new) for name, old, new in both if old.high < new.low or new.high < old.low
    ]
    apart.sort(key=lambda change: -abs(change[2].value - change[1].value) / _scale(change[2]))
    clocks = (show(calibration.clock, "frequency") for calibration in (before, after))
    return [
        f"since the calibration of {before.taken}: clock {' -> '.join(clocks)},"
        f" {len(apart)} of {counted(len(both), 'constant')} outside both intervals"
        + (", most:" if len(apart) > _SHOWN else ":" if apart else ""),
        *(
            f"  {_name(n)}: {_figures(old)[0]} -> {_figures(new)[0]}"
            for n, old, new in apart[:_SHOWN]
        ),
    ]


def _width(constant: Constant) -> float:
    """Half the width of an interval over the value, or over one cycle where that is more."""
    return (constant.high - constant.low) / 2 / _scale(constant)


def _scale(constant: Constant) -> float:
    least = 1e-9 if constant.unit == "s" else 1.0
    return max(constant.value, least)


def constants(calibration: Calibration) -> list[str]:
    """A line for each constant in the order of their definitions, with its interval."""
    order = {name: place for place, name in enumerate(CONSTANTS)}
    listed = sorted(
        calibration.constants.items(),
        key=lambda entry: (order.get(_parts(entry[0])[0], len(order)), _parts(entry[0])[2]),
    )
    lines = [f"  {_name(name)}: {_value(constant)}" for name, constant in listed]
    if not calibration.constants:  # a file of an earlier version
        for threads, barrier in sorted(calibration.barriers.items()):
            lines.append(f"  barrier, {counted(threads, 'thread')}: {show(barrier, 'time')}")
        for level, share in calibration.exposed.items():
            lines.append(f"  exposed share beside loads, {level}: {share:.2f}")
    for name, change in calibration.refined.items():
        lines.append(
            f"  refined by {change.study}: {name} {change.before:.4g} -> {change.after:.4g}"
            f" [{change.low:.4g}, {change.high:.4g}]"
        )
    return lines


def bandwidths(calibration: Calibration) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Titles and tables of bandwidth per thread: over threads, and over streams."""
    several = [curve for curve in calibration.curves if curve.streams > 1]
    tables = [
        (
            "load bandwidth per thread over working set per thread",
            _table(
                calibration.loads,
                [counted(curve.threads, "thread") for curve in calibration.loads],
            ),
        )
    ]
    for load in calibration.loads:
        alike = [curve for curve in several if curve.threads == load.threads]
        if alike:
            title = f"the same of several streams at once, {counted(load.threads, 'thread')}"
            tables.append((title, _table(alike, [f"{curve.streams} streams" for curve in alike])))
    return tables


def _table(curves: Sequence[BandwidthCurve], headings: Sequence[str]) -> list[tuple[str, ...]]:
    rows = [("working set", *headings)]
    for size in sorted({size for curve in curves for size in curve.working_set}):
        cells = [
            f"{c.bandwidth[c.working_set.index(size)]:.1f} B/cy" if size in c.working_set else ""
            for c in curves
        ]
        rows.append((show(size, "size"), *cells))
    return rows


def _parts(name: str) -> tuple[str, str, int]:
    """Base name, cache level and number of threads from the name of a constant."""
    left, _, threads = name.partition("@")
    base, _, level = left.partition(".")
    return base, level, int(threads) if threads.isdigit() else 1


def _name(name: str) -> str:
    base, level, threads = _parts(name)
    place = f"{level} B" if level.isdigit() else level  # bytes of a vector, or a cache level
    text = TITLES.get(base, base) + (f", {place}" if place else "")
    return text + (f", {threads} threads" if threads > 1 else "")


def _value(constant: Constant) -> str:
    value, low, high = _figures(constant)
    return f"{value}  [{low}, {high}], {constant.samples} samples"


def _figures(constant: Constant) -> list[str]:
    """A constant and the ends of its interval, with their unit."""
    numbers = constant.value, constant.low, constant.high
    match constant.unit:
        case "s":
            return [show(number, "time") for number in numbers]
        case "1":
            return [f"{number:.2f}" for number in numbers]
        case unit:
            return [f"{number:.3g} {unit}" for number in numbers]
