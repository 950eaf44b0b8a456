"""The results of a calibration, as lines of text."""

from collections.abc import Sequence

from autotune.domain.calibration import CONSTANTS, BandwidthCurve, Calibration, Constant
from autotune.units import counted, show

_WORDS = {
    "line_crossing": "load across lines",
    "vector_load": "vector load",
    "vector_store": "vector store",
    "vector_add": "vector addition",
    "vector_multiply": "vector multiplication",
    "vector_fused": "vector multiply-add",
    "vector_divide": "vector division",
    "vector_shuffle": "vector shuffle",
    "vector_window": "vector operations that can wait",
    "vector_unaligned": "more for a vector store at no multiple of its width",
    "vector_apart": "vector store, rows in turn",
    "vector_mixed": "vector micro-operation, loads and arithmetic in turn",
    "vector_narrow": "reload of a pointer to a row",
    "library_call": "call of the mathematical library",
    "store_forward": "store forwarding",
    "blocked_forward": "store forwarding, blocked",
    "loop_entry": "loop entry",
    "predicted_exit": "of it with a predicted exit less",
    "set_conflict": "set conflict, per line",
    "core_to_core": "line of another core",
    "stream_start": "start of a stream",
    "stream_resume": "start of a stream where it ended",
    "outbound": "dirty line out",
    "allocate": "line of a pure store stream",
    "load_again": "line that several loads read while it comes",
    "again_loop": "a loop that takes so long for such a line loses nothing",
    "crossing_stores": "store across lines, where loops load much",
    "crossing_loop": "a whole loop per store across lines, where it loads much",
    "exposed": "exposed share beside loads",
    "overlap_ol": "exposed share beside arithmetic",
    "barrier": "barrier",
    "waiting": "last thread late at a barrier, share of the time before",
    "core_cycle": "cycles of that clock per cycle of a core, with vectors",
}


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
    text = _WORDS.get(base, base) + (f", {place}" if place else "")
    return text + (f", {threads} threads" if threads > 1 else "")


def _value(constant: Constant) -> str:
    numbers = constant.value, constant.low, constant.high
    match constant.unit:
        case "s":
            value, low, high = (show(number, "time") for number in numbers)
        case "1":
            value, low, high = (f"{number:.2f}" for number in numbers)
        case unit:
            value, low, high = (f"{number:.3g} {unit}" for number in numbers)
    return f"{value}  [{low}, {high}], {constant.samples} samples"
