"""The network: the cost curves of a machine, and what they say of any layout of ranks."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from autotune.domain.annotations import FileKey
from autotune.domain.communication_cost import Cost, derived_cost, measured_cost, ring_cost
from autotune.domain.cost_curve import OPERATIONS, CostCurve, Operation
from autotune.domain.misfit import Misfit, refuse
from autotune.units import Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The cost curves of a machine, from its file or from measurements."""

    title: str = ""
    curves: Annotated[tuple[CostCurve, ...], FileKey(required=True)] = ()

    def __post_init__(self) -> None:
        refuse(self._doubled())

    def _doubled(self) -> Iterator[Misfit]:
        """Every curve of an operation, ranks and nodes that have one already."""
        seen: dict[tuple[Operation, int, int], int] = {}
        for i, curve in enumerate(self.curves):
            if seen.setdefault(curve.key, i) < i:
                ranks = f"{curve.ranks} ranks on {curve.nodes} nodes"
                found = f"a second curve for {curve.operation} of {ranks}"
                first = ("curves", seen[curve.key])
                yield Misfit(("curves", i), found, "one", first=first)

    @property
    def keys(self) -> frozenset[tuple[Operation, int, int]]:
        """The keys of all curves: operation, nodes and ranks."""
        return frozenset(curve.key for curve in self.curves)

    def exactly(self, key: tuple[Operation, int, int]) -> CostCurve | None:
        """The curve of an operation, nodes and ranks; None without one of this very layout."""
        return next((curve for curve in self.curves if curve.key == key), None)

    def curve(self, operation: Operation, nodes: int, ranks: int) -> CostCurve | None:
        """The curve of an operation whose nodes and ranks are nearest, by their ratios.

        A curve within a node never stands for one between nodes, nor the other way round.
        """
        return next(iter(self._nearest(operation, nodes, ranks)), None)

    def _nearest(self, operation: Operation, nodes: int, ranks: int) -> list[CostCurve]:
        """The curves that may stand for a layout, the nearest first, and those whose benchmarks
        compare with its own.
        """

        def distance(curve: CostCurve) -> tuple[float, int, int]:
            apart = abs(math.log(curve.ranks / ranks)) + abs(math.log(curve.nodes / nodes))
            return apart, curve.nodes, curve.ranks

        curves = sorted(
            (c for c in self.curves if c.operation == operation and (c.nodes > 1) == (nodes > 1)),
            key=distance,
        )
        return [curve for curve in curves if curve.tools & curves[0].tools]

    def cost(self, operation: Operation, size: float, nodes: int, ranks: int) -> Cost | None:
        """The cost of one operation of ``ranks`` ranks on ``nodes`` nodes; None without any curve.

        It comes from the curve of the very layout. Curves of other layouts are scaled like the
        operation's textbook formula (see ``steps``), and by how they deviate from it among
        themselves (``curve_reach``). If there is only a ping-pong, or only a ring of neighbours,
        the formula itself is used. Both cases count as extrapolated, a note says so, and the
        interval grows with the distance from what was measured.
        """
        if ranks == 1:
            return Cost(seconds=Seconds(0.0), interval=(0.0, 0.0))
        size = size if operation == "barrier" else max(size, 1.0)
        measured = self._nearest(operation, nodes, ranks)
        if measured:
            return measured_cost(measured, size, nodes, ranks)
        pair = self.curve("pingpong", nodes, ranks)
        if pair is not None:
            return derived_cost(pair, operation, size, nodes, ranks)
        ring = self.curve("neighbour", nodes, ranks)
        if ring is not None and operation != "pingpong":
            return ring_cost(ring, operation, size, nodes, ranks)
        return None

    def updated(self, curves: tuple[CostCurve, ...]) -> "Network":
        """The network with added curves; each replaces one of the same operation, nodes and
        ranks.
        """
        kept = {curve.key: curve for curve in (*self.curves, *curves)}
        order = sorted(kept, key=lambda k: (OPERATIONS.index(k[0]), k[1], k[2]))
        return replace(self, curves=tuple(kept[key] for key in order))
