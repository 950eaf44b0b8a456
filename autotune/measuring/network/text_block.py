"""What the text output of a benchmark is read into."""

from dataclasses import dataclass, field

from autotune.domain.network import Operation


class Refused(Exception):
    """A line that cannot be right; the message says why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    line: int
    bytes: int
    seconds: float
    count: int
    """Repetitions; 1 where the table does not say."""


@dataclass(slots=True, kw_only=True)
class Block:
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
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def whole(text: str, line: int) -> int:
    """A count or size of a table."""
    if not text.isdigit():
        raise Refused(line, f"{text!r} is not a whole number")
    return int(text)


def microseconds(text: str, line: int) -> float:
    """A time of a table, in seconds; positive."""
    try:
        value = float(text) * 1e-6
    except ValueError:
        raise Refused(line, f"{text!r} is not a time in microseconds") from None
    if not 0 < value < 1e9:
        raise Refused(line, f"a time of {text} us is not positive")
    return value
