"""How time and answer of a program are read, by the text of its source alone."""

from collections.abc import Callable

from autotune.commands.init.source_scan import SourceScan
from autotune.commands.init.yaml_text import LOOK_AT, quoted


def source_readings(seen: SourceScan, tolerance: str, free: Callable[[str], str]) -> list[str]:
    """The keys of a description that say how time and answer are read.

    ``free``: a valid name for a metric that is not taken.
    """
    lines = []
    if seen.time:
        unit = f", unit: {seen.unit}" if seen.unit != "s" else ""
        lines.append(
            f"time: {{pattern: {quoted(seen.time)}{unit}}}  {LOOK_AT}what its line looks like"
        )
    elif seen.rate is None:
        lines += [
            f"time: wall  {LOOK_AT}of the whole process; a time that it prints is better:",
            '# time: {pattern: "time ([-+0-9.eE]+) s", warm_ups: 1}',
        ]
    if seen.rate is not None:
        name = free(seen.rate.name)
        pattern, unit = quoted(seen.rate.pattern), quoted(seen.rate.unit)
        lines += [
            "metrics:",
            f"  {name}: {{pattern: {pattern}, unit: {unit}, better: more}}"
            f"  {LOOK_AT}what its line looks like",
            f"{'# ' if seen.time else ''}objective: {name}",
        ]
    if seen.check:
        lines.append(
            f"check: {{pattern: {quoted(seen.check)}, tolerance: {tolerance}}}"
            f"  {LOOK_AT}the value that must not change"
        )
    else:
        lines += [
            f"{LOOK_AT}without a check value wrong answers go unseen:",
            f'# check: {{pattern: "sum (\\\\S+)", tolerance: {tolerance}}}',
        ]
    return lines
