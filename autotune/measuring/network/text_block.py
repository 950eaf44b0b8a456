"""The tables in the text output of a benchmark, and the numbers in them."""

from dataclasses import dataclass, field

from autotune.domain.cost_curve import Operation


class MalformedLine(Exception):
    """Raised for an output line that cannot be right; the message says why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One line of a benchmark's table."""

    line: int
    bytes: int
    seconds: float
    count: int
    """Repetitions; 1 where the table does not say."""


@dataclass(slots=True, kw_only=True)
class BenchmarkTable:
    """One benchmark in a text output."""

    line: int
    title: str
    operation: Operation | None
    """None: the benchmark times none of our operations."""
    why: str = ""
    """Why ``operation`` is None."""
    version: str = ""
    ranks: int | None = None
    """Number of ranks; None: the text does not state it."""
    waiting: int = 0
    """Ranks of the job that did not take part."""
    rows: list[BenchmarkRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def whole(text: str, line: int) -> int:
    """A count or size in a table; ``MalformedLine`` if it is no whole number."""
    if not text.isdigit():
        raise MalformedLine(line, f"{text!r} is not a whole number")
    return int(text)


def microseconds(text: str, line: int) -> float:
    """A positive time in a table, converted from microseconds to seconds."""
    try:
        value = float(text) * 1e-6
    except ValueError:
        raise MalformedLine(line, f"{text!r} is not a time in microseconds") from None
    if not 0 < value < 1e9:
        raise MalformedLine(line, f"a time of {text} us is not positive")
    return value
