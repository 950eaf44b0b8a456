"""The axes of a map as users write them: sizes and numbers of threads."""

import re
from collections.abc import Sequence
from typing import Literal

from autotune.errors import Fault, InputError

COUNT = 17
"""Sizes between two limits where no number is given: over six octaves a factor of 1.3 apart."""
MOST = 1000


def spaced(low: int, high: int, count: int) -> tuple[int, ...]:
    """At most ``count`` sizes from ``low`` to ``high``, by equal ratios, rounded, each once.

    >>> spaced(64, 1024, 5)
    (64, 128, 256, 512, 1024)
    """
    ratio = high / low
    steps = max(1, count - 1)
    return tuple(dict.fromkeys(round(low * ratio ** (k / steps)) for k in range(count)))


def sizes(text: str) -> tuple[int, ...]:
    """Sizes from text: ``64..4096`` or ``64..4096:17``, a range by equal ratios; ``64,128``, a
    list.

    InputError explains what is wrong with any other text.

    >>> sizes("64..256:3")
    (64, 128, 256)
    """
    where = "--sizes"
    span = re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*(?::\s*(\d+)\s*)?", text)
    if span is None:
        return _listed(text, where, "a range such as 64..4096:17, or sizes between commas")
    low, high = int(span[1]), int(span[2])
    count = int(span[3]) if span[3] else COUNT
    if low < 1 or high <= low:
        raise _wrong(where, f"{low}..{high} is empty", "a smaller and a larger size: 64..4096")
    if not 2 <= count <= MOST:
        raise _wrong(where, f"{count} sizes", f"from 2 to {MOST}")
    return spaced(low, high, count)


def threads(text: str, cores: int) -> tuple[int, ...]:
    """Numbers of threads from a list with commas; ``all`` means the cores of the machine."""
    where = "--threads"
    words = [word.strip() for word in text.split(",")]
    plain = ",".join(str(cores) if word == "all" else word for word in words)
    listed = _listed(plain, where, "numbers between commas, or all: 1,2,all")
    if listed[-1] > cores:
        raise _wrong(where, f"{listed[-1]} threads", f"from 1 to {cores}, the cores of the machine")
    return listed


def _listed(text: str, where: str, expected: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"\d+", word) and int(word) >= 1 for word in words):
        wrong = next((w for w in words if not re.fullmatch(r"\d+", w) or int(w) < 1), "")
        raise _wrong(where, f"{wrong!r}" if wrong else "an empty word", expected)
    if len(words) > MOST:
        raise _wrong(where, f"{len(words)} values", f"at most {MOST}")
    return tuple(sorted({int(word) for word in words}))


def _wrong(where: str, found: str, expected: str) -> InputError:
    return InputError(Fault(where=where, found=found, expected=expected))


Team = int | Literal["all"]


def teams(wanted: Sequence[Team], cores: int) -> tuple[int, ...]:
    """The distinct numbers of threads, ascending."""
    return tuple(sorted({cores if team == "all" else team for team in wanted}))
