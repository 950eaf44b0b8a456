"""What is read from the output of a program: its time and further metrics."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from autotune.domain.annotations import Bounds, Derived, InNotation, Text
from autotune.domain.metric import Direction, Metric

Keys = Annotated[tuple[str, ...], InNotation("keys")]
Pattern = Annotated[str, InNotation("pattern")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The place in a program's output from which a value is read, in one of several ways.

    Standard output is searched first; if nothing matches there, standard error is.
    """

    WAYS: ClassVar[tuple[str, ...]] = ("pattern", "json", "csv")
    WORDS: ClassVar[str] = "a value"
    pattern: Pattern | None = None
    """A regular expression with one group, searched line by line: ``time (\\S+) s``."""
    json: Keys | None = None
    """A path of keys joined by dots, looked up in every line that is a JSON object."""
    csv: Text | None = None
    """The name of a column of a table with a header: a value in every row. Columns are separated by
    commas, semicolons or tabs."""

    def __post_init__(self) -> None:
        if sum(bool(getattr(self, way)) for way in self.WAYS) != 1:
            *ways, last = self.WAYS
            raise ValueError(f"{self.WORDS} is read by one of {', '.join(ways)} and {last}")

    def __str__(self) -> str:
        if self.pattern:
            return f"the pattern {self.pattern!r} in its output"
        return (
            f"the column {self.csv!r} in its output"
            if self.csv
            else (f"{'.'.join(self.json or ())} in its output")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReading(Reading):
    """How the time of a run is read."""

    WAYS: ClassVar[tuple[str, ...]] = ("pattern", "json", "csv", "wall")
    WORDS: ClassVar[str] = "a time"
    wall: bool = False
    """No output, but the time from the start of the process to its end."""
    unit: Annotated[float, InNotation("unit of time")] = 1.0
    """What was read, times this, is in seconds."""
    warm_ups: Annotated[int, Bounds(least=0)] = 0
    """Times at the start of each run that are kept but never counted."""

    def __str__(self) -> str:
        return "the time of the process" if self.wall else Reading.__str__(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedMetric(Reading):
    """A quantity that a program prints: a rate, a ratio, an error, an energy."""

    name: Annotated[str, Derived()]
    unit: str = ""
    """The unit of the printed numbers: MB/s, GFLOP/s, J or any other."""
    better: Direction
    """Whether more or less of it is better."""
    warm_ups: Annotated[int, Bounds(least=0)] = 0
    """Values at the start of each run that are kept but never counted."""

    @property
    def metric(self) -> Metric:
        """The metric that is read."""
        return Metric(self.name, self.unit, self.better)
