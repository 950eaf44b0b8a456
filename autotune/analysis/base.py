"""What an in-core analysis gives, for everything above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.codegen.emit import SweepCode
from autotune.units import Cycles
from autotune.variant import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class InCoreResult:
    """In-core time of the hot loop of a sweep, in cycles per *source* iteration (one component)."""

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


class InCoreAnalyser(Protocol):
    """Finds the in-core time of sweeps."""

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        """One result per sweep, in order; known results come from the cache by content hash."""
