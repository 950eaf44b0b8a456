"""The result of an in-core analysis, and the interface of analysers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.codegen.c.emit import SweepCode
from autotune.domain.variant import Build
from autotune.units import Cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainderLoop:
    """A loop of a sweep that processes the components that the loop before it leaves."""

    iterations: float
    """Source iterations per pass; a shorter remainder is left to the next loop."""
    T_OL: Cycles
    """Overlapping time in cycles per source iteration."""
    T_nOL: Cycles
    """Non-overlapping time in cycles per source iteration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InCoreResult:
    """In-core time of the hot loop of a sweep, in cycles per *source* iteration.

    A source iteration is one component of the long dimension, one point of a grid. Several loops
    over the same components, one after the other, are added up.
    """

    T_OL: Cycles
    """Work that overlaps with data transfers: arithmetic, front end, loop-carried chain."""
    T_nOL: Cycles
    """Loads and stores of L1 (Scherg et al. 2019, Eq. 6), or all operations on vectors where these
    are measured to take longer; library calls besides."""
    chain: Cycles
    """Length of the longest loop-carried dependency; part of T_OL."""
    bottleneck: str
    """What takes longest: a port, ``chain``, ``front end``, ``window``, ``vector operations``, or
    ``calls``."""
    iterations: float
    """Source iterations per pass of the assembly loop: SIMD width x unrolling."""
    route: str
    """Source of the result: ``osaca:ZEN3``, ``osaca:ZEN4 (nearest)``, ``ports``."""
    approximate: bool
    crowded: Cycles | None = None
    """T_OL while the cores that share units with this one are running too; None: as ``T_OL``."""
    notes: tuple[str, ...] = ()
    assembly: str = ""
    vector: int = 8
    """Bytes of the widest vectors that the loop works on; 8 for scalar code."""
    loads: float = 0.0
    """Load instructions of rows per component (constants and spills left out); 0 if not known."""
    stores: float = 0.0
    """Store instructions of rows per component; 0 if not known."""
    window: tuple[float, float] = (0.0, 0.0)
    """Cycles per source iteration of the hot loops in which their operations wait for one another:
    the least T_OL with no access across lines, and more per access that crosses one."""
    crossing: float = 0.0
    """Expected number of vector loads that cross a line, if all rows begin where the code says."""
    crossings: tuple[float, ...] = ()
    """The number of loads that cross a line, for rows whose first stored component lies 0, 1 ... 7
    doubles after the start of a line; empty where it is not known."""
    crossing_stores: float = 0.0
    """Expected number of vector stores that cross a line, as ``crossing``."""
    crossings_stores: tuple[float, ...] = ()
    """The number of stores that cross a line by the first component's place, as ``crossings``."""
    stored: tuple[float, ...] = ()
    """The least cycles of the stores, by the first component's place, as ``crossings``; empty where
    stores at no multiple of their width were not measured."""
    forwards: float = 0.0
    """Number of loads that read what the loop stored at most eight passes before."""
    chain_forwards: float = 0.0
    """Number of these loads that lie on the loop-carried dependency."""
    forward_latency: Cycles | None = None
    """Cycles in ``chain`` for each of these beyond an ordinary load; None: no figure (zero)."""
    blocked: float = 0.0
    """Number of loads that read bytes of which the last store has only a part."""
    gathers: float = 0.0
    """Number of gather instructions, and of loads from addresses that the loop computes."""
    calls: float = 0.0
    """Number of library calls; their time is in T_OL and in T_nOL, where a figure is known."""
    unknown: tuple[str, ...] = ()
    """Instructions unknown to OSACA: a port table bounds their time from below."""
    width: float = 0.3
    """Relative half-width of the interval of the in-core time."""
    remainder: Cycles = Cycles(0.0)
    """Cycles per source iteration in the last loop, which takes the components that are left."""
    ladder: tuple[RemainderLoop, ...] = ()
    """The hot loop and the loops for its remainder; empty where they are not known."""
    leaves: bool = False
    """Whether the hot loop always leaves some components to the loops after it."""
    head: RemainderLoop | None = None
    """The loop over single components before the hot loop; None where there is none."""
    entry: Cycles = Cycles(0.0)
    """Cycles to issue the instructions around the hot loop, once per entry into it."""
    hot_loops: int = 1
    """Number of loops that are added up."""
    annotated: str = ""
    """The assembly with the port use and marks of each instruction; see ``annotate``."""


class InCoreAnalyser(Protocol):
    """The interface of analysers of the in-core time of sweeps."""

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        """One result per sweep, in order; stored results are reused by content hash."""
