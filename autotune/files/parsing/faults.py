"""The faults of a file of another tool, collected; of a thousand wrong rows only the first few are
named.
"""

import unicodedata
from dataclasses import dataclass, field

from autotune.errors import Fault, InputError

_SHOWN = 8
_LONGEST = 200


_CONTROL = ("Cc", "Cs")
"""Characters that no terminal shows as such: control characters, halves of surrogate pairs."""


def printable(text: str, longest: int = _LONGEST) -> str:
    r"""Text of a file made safe to print: control characters are escaped, long text is cut.

    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    cut = text if len(text) <= longest else text[:longest] + "..."
    if cut.isprintable():
        return cut
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in _CONTROL else c for c in cut)


@dataclass(slots=True)
class Faults:
    """Collects the faults of one file."""

    file: str
    faults: list[Fault] = field(default_factory=list)

    def add(self, place: str, found: str, expected: str = "", hint: str = "") -> None:
        """Add a fault at a place inside the file; an empty place means the file as a whole."""
        where = f"{self.file}:{place}" if place else self.file
        fault = Fault(where=where, found=printable(found), expected=expected, hint=hint)
        self.faults.append(fault)

    def settle(self) -> None:
        """Raise InputError if any fault was added."""
        if not self.faults:
            return
        more = len(self.faults) - _SHOWN
        rest = [Fault(where=self.file, found=f"{more} more faults")] if more > 0 else []
        raise InputError(*self.faults[:_SHOWN], *rest)

    def fail(self, place: str, found: str, expected: str = "", hint: str = "") -> InputError:
        """The InputError to raise for a fault that ends the reading at once."""
        self.add(place, found, expected, hint)
        return InputError(self.faults[-1])
