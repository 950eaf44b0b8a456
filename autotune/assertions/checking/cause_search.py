"""Which named counts, or products and sums of two, are as large as a difference.

Every candidate is tested on all cases (call paths and ranks) at once: an explanation that holds in
one case by chance seldom holds in all. Sums and ratios are exact fractions.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from autotune.assertions.checking.verdicts import Cause

_MOST = 160
"""Named counts that are looked at, and ..."""
_MOST_PAIRS = 60
"""... those of which products and sums of two are."""
_SHOWN = 4
_ALIASES = 2
"""Names of the same count in one cause."""
_MULTIPLES = (2, 3, 4, 5, 6, 8)


class NamedCounts(NamedTuple):
    """A count of the program by name, in every case; None where it has no value."""

    words: str
    values: tuple[Fraction | None, ...]
    cost: float
    """The lower, the more likely it is the cause: own terms before counts of distant blocks."""


class CountCase(NamedTuple):
    """What was asserted and what was counted in one case."""

    asserted: Fraction
    measured: Fraction

    @property
    def difference(self) -> Fraction:
        """Asserted minus measured."""
        return self.asserted - self.measured


class _Candidate(NamedTuple):
    words: str
    cost: float
    holds: int


def search(
    cases: Sequence[CountCase],
    named: Sequence[NamedCounts],
    replaced: Sequence[NamedCounts] = (),
) -> tuple[Cause, ...]:
    """The causes of the first case's difference that hold in most cases, the simplest first.

    ``replaced``: what the assertion would count with another number in it. Only causes that hold in
    every case are given where there are some.
    """
    if not cases or not cases[0].difference:
        return ()
    quantities = _distinct([q for q in named if q.values[0] is not None])[:_MOST]
    best: dict[str, _Candidate] = {}
    candidates = (
        *_differences(cases, quantities),
        *_factors(cases, quantities),
        *_replacements(cases, replaced),
    )
    for candidate in candidates:
        if candidate.words not in best or candidate.cost < best[candidate.words].cost:
            best[candidate.words] = candidate
    ordered = sorted(best.values(), key=lambda c: (-c.holds, c.cost, c.words))
    everywhere = [candidate for candidate in ordered if candidate.holds == len(cases)]
    return tuple(Cause(words=c.words, holds=c.holds, cases=len(cases)) for c in (
        everywhere or ordered
    )[:_SHOWN])  # fmt: skip


def _distinct(named: Sequence[NamedCounts]) -> list[NamedCounts]:
    """Counts with equal values in all cases as one, by its likeliest names."""
    same: defaultdict[tuple[Fraction | None, ...], list[NamedCounts]] = defaultdict(list)
    for quantity in sorted(named, key=lambda q: (q.cost, len(q.words))):
        same[quantity.values].append(quantity)
    merged = [
        NamedCounts(
            " = ".join(list(dict.fromkeys(q.words for q in group))[:_ALIASES]),
            values,
            group[0].cost,
        )
        for values, group in same.items()
    ]
    return sorted(merged, key=lambda q: q.cost)


def _direction(case: CountCase) -> tuple[str, int]:
    sign = 1 if case.difference > 0 else -1
    return ("overpredicts" if sign > 0 else "underpredicts"), sign


def _differences(
    cases: Sequence[CountCase], quantities: Sequence[NamedCounts]
) -> Iterator[_Candidate]:
    """Causes of the form: the difference is a count, a multiple, a product or a sum of two."""
    direction, sign = _direction(cases[0])
    head = f"{direction} by {number(abs(cases[0].difference))} = "
    differences = [case.difference * sign for case in cases]
    if len(cases) > 1 and len({(c.asserted, c.measured) for c in cases}) > 1:
        same = sum(difference == differences[0] for difference in differences)
        if same > 1:
            words = f"{direction} by the same number, {number(differences[0])}, in other cases too"
            yield _Candidate(words, 3.0, same)
    for quantity in quantities:
        for factor in (1, *_MULTIPLES):
            holds = _holds(differences, [_times(v, factor) for v in quantity.values])
            if holds:
                times = "" if factor == 1 else f"{factor} * "
                yield _Candidate(head + times + quantity.words, quantity.cost + factor - 1, holds)
        for shift in (1, -1):
            holds = _holds(differences, [_plus(v, Fraction(shift)) for v in quantity.values])
            if holds and quantity.values[0] not in (0, 1, 2):
                words = f"{head}{quantity.words} {'+' if shift > 0 else '-'} 1"
                yield _Candidate(words, quantity.cost + 1.5, holds)
    yield from _pairs(differences, quantities[:_MOST_PAIRS], head)


def _pairs(
    differences: Sequence[Fraction], quantities: Sequence[NamedCounts], head: str
) -> Iterator[_Candidate]:
    for k, first in enumerate(quantities):
        for second in quantities[k:]:
            a, b = first.values[0], second.values[0]
            assert a is not None
            assert b is not None
            cost = first.cost + second.cost + 1
            pairs = list(zip(first.values, second.values, strict=True))
            if a * b == differences[0] and 1 not in (a, b):
                holds = _holds(differences, [x and y and x * y for x, y in pairs])
                yield _Candidate(f"{head}{first.words} * {second.words}", cost, holds)
            if a + b == differences[0] and 0 not in (a, b):
                holds = _holds(differences, [_plus(x, y) for x, y in pairs])
                yield _Candidate(f"{head}{first.words} + {second.words}", cost + 1, holds)
            if abs(a - b) == differences[0] and 0 not in (a, b):
                larger, smaller = (first, second) if a > b else (second, first)
                values = [_plus(x, y, -1 if a > b else 1) for x, y in pairs]
                holds = _holds(differences, [None if v is None else abs(v) for v in values])
                yield _Candidate(f"{head}{larger.words} - {smaller.words}", cost + 1.5, holds)


def _factors(cases: Sequence[CountCase], quantities: Sequence[NamedCounts]) -> Iterator[_Candidate]:
    """Causes of the form: counted is asserted times a count, or its inverse, or (q + 1) / q.

    Sums are left out: that 2 n + 1 counted is (2 n + 1) / (2 n + 2) of 2 n + 2 explains nothing.
    """
    if not cases[0].measured or not cases[0].asserted:
        return
    ratios = [c.measured / c.asserted if c.asserted else None for c in cases]
    head = f"counted is asserted times {number(ratios[0] or Fraction(0))} = "
    for quantity in quantities:
        q, values = quantity.values[0], quantity.values
        words = quantity.words.partition(" = ")[0]  # its likeliest name
        if q is None or q in (0, 1) or any(sign in words for sign in (" + ", " - ")):
            continue
        forms = (
            (words, list(values), 0.5),
            (f"1 / {_bracketed(words)}", [v and 1 / v for v in values], 0.5),
            (f"({words} + 1) / {_bracketed(words)}", [v and (v + 1) / v for v in values], 1.0),
            (f"({words} - 1) / {_bracketed(words)}", [v and (v - 1) / v for v in values], 1.0),
            (
                f"{_bracketed(words)} / ({words} + 1)",
                [v / (v + 1) if v is not None and v != -1 else None for v in values],
                1.2,
            ),
        )
        for text, form, cost in forms:
            holds = _holds(ratios, form)
            if holds:
                yield _Candidate(head + text, quantity.cost + cost, holds)


def _replacements(
    cases: Sequence[CountCase], replaced: Sequence[NamedCounts]
) -> Iterator[_Candidate]:
    """Causes of the form: counted is what the assertion says with another number in it."""
    measured = [case.measured for case in cases]
    for quantity in replaced:
        holds = _holds(measured, quantity.values)
        if holds:
            yield _Candidate(f"counted is as asserted with {quantity.words}", quantity.cost, holds)


def _holds(targets: Sequence[Fraction | None], values: Sequence[Fraction | None]) -> int:
    """In how many cases a value is the target; 0 where it is not in the first."""
    if values[0] is None or values[0] != targets[0]:
        return 0
    return sum(
        value is not None and value == target for target, value in zip(targets, values, strict=True)
    )


def _times(value: Fraction | None, factor: int) -> Fraction | None:
    return None if value is None else value * factor


def _plus(value: Fraction | None, more: Fraction | None, sign: int = 1) -> Fraction | None:
    return None if value is None or more is None else value + sign * more


def _bracketed(words: str) -> str:
    return f"({words})" if any(sign in words for sign in "*/") else words


def number(value: Fraction) -> str:
    """An exact number as text: whole, as a fraction of small numbers, or rounded.

    >>> number(Fraction(26, 25)), number(Fraction(7001))
    ('26/25', '7001')
    """
    if value.denominator == 1:
        return str(value.numerator)
    if value.denominator <= 10**6:
        return f"{value.numerator}/{value.denominator}"
    return f"{float(value):.6g}"
