"""What an in-core analysis gives, for everything above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.codegen.c.emit import SweepCode
from autotune.domain.variant import Build
from autotune.units import Cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainderLoop:
    """A loop of a sweep, in the order in which they take what the one before leaves."""

    iterations: float
    """Source iterations per pass; shorter remainders are left to the next."""
    T_OL: Cycles
    """Per source iteration."""
    T_nOL: Cycles
    """Per source iteration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InCoreResult:
    """In-core time of the hot loop of a sweep, in cycles per *source* iteration.

    A source iteration is one component of the long dimension, one point of a grid. Several loops
    over the same components, one after the other, are added up.
    """

    T_OL: Cycles
    """Work that overlaps with data transfers: arithmetic, front end, loop-carried chain."""
    T_nOL: Cycles
    """Loads and stores of L1 (Scherg et al. 2019, Eq. 6)."""
    chain: Cycles
    """Length of the longest loop-carried dependency; part of T_OL."""
    bottleneck: str
    """The busiest port, ``chain`` or ``front end``."""
    iterations: float
    """Source iterations per pass of the assembly loop: SIMD width x unrolling."""
    route: str
    """``osaca:ZEN3``, ``osaca:ZEN4 (nearest)``, ``ports``: how it was found."""
    approximate: bool
    crowded: Cycles | None = None
    """T_OL when the cores that have units in common with this one run too; None: as ``T_OL``."""
    notes: tuple[str, ...] = ()
    assembly: str = ""
    vector: int = 8
    """Bytes of the widest vectors that the loop works on; 8 for scalar code."""
    loads: float = 0.0
    """Load instructions of rows per component (constants and spills left out); 0 if not known."""
    stores: float = 0.0
    """Store instructions of rows per component; 0 if not known."""
    crossing: float = 0.0
    """Vector loads that cross a line, expected, where all rows begin where the code says."""
    crossings: tuple[float, ...] = ()
    """The same for rows whose first stored component lies 0, 1 ... 7 doubles after the start of a
    line; empty where it is not known."""
    crossing_stores: float = 0.0
    """Vector stores that cross a line, as ``crossing``."""
    crossings_stores: tuple[float, ...] = ()
    """The same by the place of the first stored component, as ``crossings``."""
    forwards: float = 0.0
    """Loads that read what the loop stored at most eight passes before."""
    chain_forwards: float = 0.0
    """Of these, those that lie on the loop-carried dependency."""
    forward_latency: Cycles | None = None
    """What ``chain`` holds for each of these beyond an ordinary load; None: no figure (zero)."""
    blocked: float = 0.0
    """Loads that read bytes which the store before them alone does not have."""
    gathers: float = 0.0
    """Gather instructions, and loads from places that the loop computes."""
    calls: float = 0.0
    """Calls of library functions; their time is in T_OL where a figure is known."""
    unknown: tuple[str, ...] = ()
    """Instructions that OSACA does not know: bounded from below by a port table."""
    width: float = 0.3
    """Relative half-width of the interval of the in-core time."""
    remainder: Cycles = Cycles(0.0)
    """Cycles of a source iteration in the last loop, which takes what the others leave."""
    ladder: tuple[RemainderLoop, ...] = ()
    """The hot loop and the loops that take its remainder; empty where they are not known."""
    entry: Cycles = Cycles(0.0)
    """Cycles to issue the instructions around the hot loop, once per entry into it."""
    hot_loops: int = 1
    """Loops that are added up."""
    annotated: str = ""
    """The assembly with what each instruction puts on the ports, and marks; see
    ``incore_annotate``."""


class InCoreAnalyser(Protocol):
    """Finds the in-core time of sweeps."""

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        """One result per sweep, in order; known results come from the cache by content hash."""
