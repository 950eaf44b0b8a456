"""Whether the times that a program prints can be true, from one run of its process."""

import re
import time
from collections.abc import Mapping, Sequence

from autotune.domain.metric import TIME
from autotune.domain.program import Program
from autotune.domain.readings import TimeReading
from autotune.toolchain.child_process import ProcessOutcome
from autotune.units import show
from autotune.workloads.program.measuring import printed_output

_ROUNDING = 1.01
"""A time may exceed the life of its process by one percent, ..."""
_LATE = 1e-3
"""... and by so many seconds: the clocks of both begin and are rounded differently."""
RESOLUTION = time.get_clock_info("perf_counter").resolution
"""Seconds: the finest clock of this host."""

_RATE = r"(?:[\w%]+ ?/ ?s(?:ec(?:onds?)?)?|[\w%]+ per s(?:ec(?:onds?)?)?|[kMGTP]?(?:FLOPS|bps|Bps))"
_RATE_AFTER = re.compile(rf"\s*({_RATE})(?![A-Za-z])(?!\s*[=:])", re.IGNORECASE)
_TIME_BEFORE = re.compile(r"(?:time|seconds?|secs?|elapsed)\W*$", re.IGNORECASE)
_NUMBER_AFTER = re.compile(r"\s+[-+.]?\d")
_TIME_NAME = re.compile(
    r"time$|(?<!per[ _])(?:seconds|secs)$"
    r"|(?<!per)(?<![kmgtp]b)(?<!bit)(?<!byte)(?<!flop)(?<![bteop]s)[ _][mun]?s$",
    re.IGNORECASE,
)
"""The end of a name of a time, whatever else the name says."""
_RATE_NAME = re.compile(
    r"(?<![a-z])(?:[kmgtp]?(?:b|bit|byte|flop|op|it|iter|item|call|point|cell|row|edge|update)s?"
    r" ?/ ?s(?:ec(?:ond)?)?|[kmgtp]i?(?:b|bit|byte|flop)s?_s|[kmgtp]flops?"
    r"|\w+(?<!time)(?<!second)(?<!seconds)[ _]per[ _]s(?:ec(?:onds?)?)?|throughput|bandwidth)"
    r"(?![a-z])",
    re.IGNORECASE,
)


def impossible_time(values: Sequence[Mapping[str, float]], outcome: ProcessOutcome) -> str:
    """Why a printed time of a run cannot be true, in words; empty if all can.

    ``values``: the metrics of each sample of the run.
    """
    wall = outcome.usage.wall if outcome.usage else outcome.seconds
    for sample in values:
        seconds = sample[TIME.name]
        if seconds > wall * _ROUNDING + _LATE:
            return (
                f"it printed a time of {show(seconds, 'time')}, its process took {_wall(wall)};"
                " a rate, of which more is better, is a metric, and a time may state its unit: ms"
            )
        if seconds < RESOLUTION:
            return (
                f"it printed a time of {seconds:.3g} s, below the resolution of the clock,"
                f" {show(RESOLUTION, 'time')}; a mean over many calls is a metric, not a time"
            )
    return ""


def _wall(seconds: float) -> str:
    return show(seconds, "time")


def rate_as_time(program: Program, outcome: ProcessOutcome) -> str:
    """The text which says that the number read as the time is a rate; empty if none does.

    It is the name under which the number is found, or what follows the number in its line.
    """
    reading = program.time
    if reading.json or reading.csv:
        name = reading.csv or (reading.json or ("",))[-1]
        return name if _RATE_NAME.search(name) and not _TIME_NAME.search(name) else ""
    return _after(reading, outcome) if reading.pattern else ""


def _after(reading: TimeReading, outcome: ProcessOutcome) -> str:
    for line in re.split(r"[\r\n]", outcome.out or outcome.err):
        match = next(printed_output.line_matches(reading, line[:4096]), None)
        rate = _RATE_AFTER.match(line, match.end(1)) if match else None
        if match and rate:
            # "time 0.15 gflops 0.7": what follows is the name of the next number
            named = _TIME_BEFORE.search(line[: match.start(1)])
            if not (named and _NUMBER_AFTER.match(line, rate.end(1))):
                return f"{match.group(1)} {rate.group(1)}"
    return ""
