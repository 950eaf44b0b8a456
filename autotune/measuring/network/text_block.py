"""What the text output of a benchmark is read into."""

from dataclasses import dataclass, field

from autotune.domain.network import Operation


class MalformedLine(Exception):
    """A line that cannot be right; the message says why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One line of a table."""

    line: int
    bytes: int
    seconds: float
    count: int
    """Repetitions; 1 where the table does not say."""


@dataclass(slots=True, kw_only=True)
class BenchmarkTable:
    """One benchmark of a text."""

    line: int
    title: str
    operation: Operation | None
    """None: it times none of our operations."""
    why: str = ""
    """Why not."""
    version: str = ""
    ranks: int | None = None
    """None: the text does not say."""
    rows: list[BenchmarkRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def whole(text: str, line: int) -> int:
    """A count or size of a table."""
    if not text.isdigit():
        raise MalformedLine(line, f"{text!r} is not a whole number")
    return int(text)


def microseconds(text: str, line: int) -> float:
    """A time of a table, in seconds; positive."""
    try:
        value = float(text) * 1e-6
    except ValueError:
        raise MalformedLine(line, f"{text!r} is not a time in microseconds") from None
    if not 0 < value < 1e9:
        raise MalformedLine(line, f"a time of {text} us is not positive")
    return value
