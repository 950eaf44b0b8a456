"""Readable names of candidates: how they are made, shortened to what tells them apart, and read."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from autotune.language.constraint import Value

_LONGEST = 90
"""Characters of a label; further values are counted."""
_DIGITS = 4
"""The fewest digits of an identity that tell candidates with the same label apart."""


def named(parameters: Mapping[str, Value]) -> str:
    """The label of a variant with these parameter values."""
    parts = _parts(parameters)
    shown = len(parts)
    while shown > 3 and len("-".join(parts[:shown])) > _LONGEST:
        shown -= 1
    more = f"-and-{len(parts) - shown}-more" if shown < len(parts) else ""
    return "-".join(parts[:shown]) + more or "plain"


def _parts(parameters: Mapping[str, Value]) -> list[str]:
    """The parts of a label, of the parameters that say something."""
    return [part for name, value in parameters.items() if (part := _in_words(name, value))]


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


def differing_first(
    parameters: Mapping[str, Value], usual: Mapping[str, Value], fixed: Collection[str] = ()
) -> Mapping[str, Value]:
    """The parameters in the order of a label that says most: as they are where it has them all,
    else those first that differ from the ``usual`` values, and the ``fixed`` ones last.
    """
    if len("-".join(_parts(parameters))) <= _LONGEST:
        return parameters
    names = sorted(parameters, key=lambda n: (n in fixed, parameters[n] == usual.get(n)))
    return {name: parameters[name] for name in names}


def is_shortened(label: str, parameters: Mapping[str, Value]) -> bool:
    """Whether a label has some of the parameters and counts the others."""
    match = re.fullmatch(r"(.+)-and-(\d+)-more", label)
    if match is None:
        return False
    parts = _parts(parameters)
    shown = sum(_place(part, match.group(1)) < len(match.group(1)) for part in parts)
    return shown + int(match.group(2)) == len(parts)


def in_order_of(label: str, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """The parameters in the order that gives the label; as they are, where none does.

    >>> in_order_of("jli-au-block8", {"au": True, "block": 8, "order": "jli"})
    {'order': 'jli', 'au': True, 'block': 8}
    """
    if named(parameters) == label:
        return parameters
    names = sorted(parameters, key=lambda name: _place(_in_words(name, parameters[name]), label))
    ordered = {name: parameters[name] for name in names}
    return ordered if named(ordered) == label else parameters


def _place(part: str, label: str) -> int:
    """Where a part stands in a label; the length of the label where it is not in it."""
    place = re.search(rf"(?:^|-){re.escape(part)}(?=-|$)", label) if part else None
    return place.start() if place else len(label)


class InWords(Protocol):
    """A build or a layout."""

    @property
    def words(self) -> str:
        """It as text."""


class NamedCandidate(Protocol):
    """A candidate with everything that a printed name may say of it."""

    @property
    def identity(self) -> str:
        """Hexadecimal digits that no other candidate has."""

    @property
    def label(self) -> str:
        """Its variant, problem and layout."""

    @property
    def id(self) -> str:
        """Label and identity."""

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The parameter values of its variant."""

    @property
    def build(self) -> InWords:
        """The way in which it is built."""

    @property
    def layout(self) -> InWords:
        """The way in which it is run."""


C = TypeVar("C", bound=NamedCandidate)


def matching(candidates: Iterable[C], name: str) -> list[C]:
    """The candidates with ``name`` as id or identity, else as label, else as label of the variant,
    else as the beginning of the id, else in any form in which names are printed.

    That is the first digits of the identity, or the label of the variant with its parts in any
    order, and then the problem, digits, the layout and the build, as far as they are there:
    ``au-jli@heat2d-N256-T2:3f0a``, ``jli:3f0a, 2 threads [gcc -O3]``.
    """
    candidates = list(candidates)
    identity = name.rpartition(":")[2]
    tests: tuple[Callable[[C], bool], ...] = (
        lambda c: c.identity == identity,
        lambda c: c.label == name,
        lambda c: named(c.parameters) == name,
        lambda c: c.id.startswith(name),
    )
    for fits in tests:
        if fitting := [candidate for candidate in candidates if fits(candidate)]:
            return fitting
    shared = _shared_parts(candidates)
    return [candidate for candidate in candidates if _says(name, candidate, shared)]


def _says(name: str, candidate: NamedCandidate, shared: Collection[str]) -> bool:
    """Whether a name as tables and pages show it is that of a candidate."""
    text = name
    for ending in (f" [{candidate.build.words}]", f" ({candidate.build.words})"):
        text = text.removesuffix(ending)
    text = text.removesuffix(f", {candidate.layout.words}")
    head, _, digits = text.rpartition(":")
    if len(digits) >= _DIGITS and candidate.identity.startswith(digits):
        if not head:
            return True
        text = head
    variant, mark, case = candidate.label.partition("@")
    label = text.removesuffix(f"{mark}{case}")
    return label == variant or _names_variant(label, candidate.parameters, shared)


def _names_variant(label: str, parameters: Mapping[str, Value], shared: Collection[str]) -> bool:
    """Whether a label has the parts of these parameters, in any order and with or without equals
    signs; the ``shared`` parts in their order, since they may belong to other parameters.
    """
    parts = _parts(parameters)
    places = [_place(part, label) for part in parts if part in shared]
    if places != sorted(places):
        return False
    by_name = named(dict(sorted(parameters.items())))
    return label in (named(parameters), by_name) or _words(label) == _words("-".join(parts))


def _words(label: str) -> list[str]:
    return sorted(label.replace("=", "").split("-"))


def _shared_parts(candidates: Iterable[NamedCandidate]) -> frozenset[str]:
    """The parts of labels that values of several parameters have."""
    parameters: dict[str, set[str]] = {}
    for candidate in candidates:
        for name, value in candidate.parameters.items():
            parameters.setdefault(_in_words(name, value), set()).add(name)
    return frozenset(part for part, names in parameters.items() if part and len(names) > 1)


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
