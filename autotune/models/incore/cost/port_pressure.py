"""The least time that a set of ports needs for given work, under the best division of the work.

Each piece of work takes some cycles on any of several ports and may be divided among them. For a
set of ports, divide the work that can only run there by the number of these ports. The largest
quotient over all sets is the time of the busiest port (Hall's theorem; for processors: Abel and
Reineke, uops.info, 2019).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

Uop = tuple[float, frozenset[str]]
"""Cycles, and the ports that they may be spent on."""


@dataclass(frozen=True, slots=True)
class PortPressure:
    """The cycles of the busiest ports, and the names of these ports."""

    cycles: float
    ports: tuple[str, ...]


def least(uops: Sequence[Uop]) -> PortPressure:
    """The busiest ports under the best division of the work.

    >>> a, b = frozenset("a"), frozenset("ab")
    >>> least([(1.0, a), (1.0, b), (1.0, b)])
    PortPressure(cycles=1.5, ports=('a', 'b'))
    """
    work: dict[frozenset[str], float] = {}
    for cycles, ports in uops:
        if cycles > 0 and ports:
            work[ports] = work.get(ports, 0.0) + cycles
    unions: set[frozenset[str]] = set()
    for ports in work:
        unions |= {ports} | {ports | other for other in unions}
    best = PortPressure(0.0, ())
    for union in sorted(unions, key=lambda u: (len(u), sorted(u))):
        cycles = sum(c for ports, c in work.items() if ports <= union) / len(union)
        if cycles > best.cycles + 1e-9:
            best = PortPressure(cycles, tuple(sorted(union, key=lambda p: (len(p), p))))
    return best


def split(uops: Sequence[Uop], data: Collection[str]) -> tuple[list[Uop], list[Uop]]:
    """The work that only the ports ``data`` can do, and all other work."""
    inside = frozenset(data)
    return [u for u in uops if u[1] <= inside], [u for u in uops if not u[1] <= inside]
