"""Readable names of candidates: how they are made, shortened to what tells them apart, and read."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from autotune.language.constraint import Value

_LONGEST = 90
"""Characters of a label; further values are counted."""
_DIGITS = 4
"""The fewest digits of an identity that tell candidates with the same label apart."""


def named(parameters: Mapping[str, Value]) -> str:
    """The label of a variant with these parameter values."""
    parts = [part for name, value in parameters.items() if (part := _in_words(name, value))]
    shown = len(parts)
    while shown > 3 and len("-".join(parts[:shown])) > _LONGEST:
        shown -= 1
    more = f"-and-{len(parts) - shown}-more" if shown < len(parts) else ""
    return "-".join(parts[:shown]) + more or "plain"


@lru_cache(maxsize=4096, typed=True)
def _in_words(name: str, value: Value) -> str:
    """A parameter value as a part of a label; empty where it says nothing.

    A value that cannot be mistaken stands alone (``jli``, ``long`` of the option ``--long``), a
    whole number behind its name (``t256``). Where name and number would run together, an equals
    sign is between them (``l1=65536``, ``x=-5``, ``grid=2x4``).
    """
    if value in (None, False, 0, "none"):
        return ""
    if value is True:
        text = name.lstrip("-")
    elif isinstance(value, str):
        option = value.lstrip("-")
        text = option if option[:1].isalpha() else f"{name}={value}"
    else:
        whole = isinstance(value, int) and value > 0 and not name[-1:].isdigit()
        text = f"{name}{value}" if whole else f"{name}={value}"
    return re.sub(r"[^\w.+=-]+", "_", text)


class CandidateNames(Protocol):
    """What a candidate is called."""

    @property
    def identity(self) -> str:
        """Hexadecimal digits that no other candidate has."""

    @property
    def label(self) -> str:
        """Its variant, problem and layout; builds are not part of it."""


def short_names(candidates: Iterable[CandidateNames], *, several: bool = False) -> dict[str, str]:
    """The shortest name of each candidate that is not that of another one, by identity.

    It is the label. Candidates with the same label also get the first digits of their identities,
    ``jli@heat2d-N256-T2:3f0a``. ``several``: there are further candidates of the same labels, in
    other builds, so that all get digits.
    """
    candidates = list(candidates)
    counts = Counter(candidate.label for candidate in candidates)
    alike: dict[str, set[str]] = {}
    for candidate in candidates:
        if several or counts[candidate.label] > 1:
            alike.setdefault(candidate.label, set()).add(candidate.identity)
    digits = {label: _digits(sorted(identities)) for label, identities in alike.items()}
    return {
        c.identity: f"{c.label}:{c.identity[: digits[c.label]]}" if c.label in digits else c.label
        for c in candidates
    }


def _digits(identities: Sequence[str]) -> int:
    """How many first digits tell identities apart."""
    longest = max((len(identity) for identity in identities), default=_DIGITS)
    for count in range(_DIGITS, longest):
        if len({identity[:count] for identity in identities}) == len(identities):
            return count
    return longest
