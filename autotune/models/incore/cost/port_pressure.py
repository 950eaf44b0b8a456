"""The least time that a set of ports needs for given work, divided as well as possible.

Each piece of work takes some cycles on any of several ports and may be divided among them. The
busiest port then needs, at best, the largest of: work that can only run on a set of ports, over
the number of ports in the set (Hall's theorem; for processors: Abel and Reineke, uops.info, 2019).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

Uop = tuple[float, frozenset[str]]
"""Cycles, and the ports that they may be spent on."""


@dataclass(frozen=True, slots=True)
class PortPressure:
    """Cycles of the busiest ports, and their names."""

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
    """Work that only ``data`` ports can do, and all other work."""
    inside = frozenset(data)
    return [u for u in uops if u[1] <= inside], [u for u in uops if not u[1] <= inside]
