"""The cache-miss model of stencils: lines from every level, counted in planes of the grid.

    S_total  = P S_read + S_write, P = 2 l + 1               (3)   without write-allocate: P S_read
    T        = T_L1 + ... + T_Ln + T_mem                     (5)
    T_Li     = T_data,Li Hits_Li, Hits_Li = Misses_L(i-1) - Misses_Li        (6)
    Misses_Li = ceil(II / W) JJ KK nplanes_Li NB             (7), (15)

with S_read = II JJ, S_write = I J in elements, II, JJ, KK with ghosts and per block, NB blocks, W
elements per line. In a grid that is cut into blocks, and only there, Eq. 15 rounds I and II up to
whole lines before planes are counted; Eq. 3 to 7 take them as they are. nplanes goes from 1 (all
planes stay) to 2 P - 1 (none does), linear in the size of the cache in between:

    nplanes   2P-1 |--.                      C in elements, R = P / (2 P - 1)
                 P |    '--.
               P-1 |         '--.            C = P II / R   S_read / R   S_total   S_total / R
                 1 |              '------

Source: Ibeid, Meng, Dobon, Olson, Gropp: Learning with Analytical Models, IPDPS workshops 2019,
section IV.A and Eq. 15. What the paper leaves open is decided here: cache sizes count elements (the
conditions as printed divide by elements per line); NB is a product of ceilings; Misses_L0 are the
2 P - 1 planes of lines that the loop refers to; T_mem takes Misses_Ln. Kept as printed: R2 is '>'
where the others are '>='; Eq. 7 omits the written plane that S_total has, so that the traffic of
write-allocate is under-counted by one plane.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from autotune.learning.formulas.base import Floats, FormulaTerm, Values, column, positive
from autotune.learning.formulas.term_polynomial import Polynomial, constant, power


@dataclass(frozen=True, slots=True, kw_only=True)
class Grids:
    """Grids with their blocks, one element for each grid, as one thread sees them; sizes are in
    elements.
    """

    extents: Floats
    """(n, 3): I, J, K."""
    blocks: Floats
    """(n, 3): TI, TJ, TK, at most the extents."""
    order: Floats
    """(n,): l, the largest offset."""
    planar: npt.NDArray[np.bool_]
    """(n,): two dimensions, rows in place of planes: J is 1 and has no ghosts."""

    @property
    def blocked(self) -> npt.NDArray[np.bool_]:
        """(n,): whether a block is smaller than the grid in some dimension."""
        return np.asarray((self.blocks < self.extents).any(axis=1))


def planes_read(grids: Grids, caches: Floats, allocates: Sequence[bool], W: int) -> Floats:
    """nplanes: (n, levels), planes of lines that each cache misses per plane computed.

    ``caches``: (n, levels) sizes in elements.
    """
    l, P = grids.order, 2 * grids.order + 1  # noqa: E741
    I = _row(grids, grids.blocks[:, 0], W)  # noqa: E741
    II = _row(grids, grids.blocks[:, 0] + 2 * l, W)
    J, JJ = grids.blocks[:, 1], grids.blocks[:, 1] + 2 * l * ~grids.planar
    S_read, R_col = II * JJ, P / (2 * P - 1)
    planes = np.empty_like(caches)
    for level, allocate in enumerate(allocates):
        S_total = P * S_read + allocate * I * J
        corners = np.stack([P * II / R_col, S_read / R_col, S_total, S_total / R_col])
        corners = np.minimum(corners, np.append(corners[1:], corners[-1:], axis=0))
        values = np.stack([_referred(grids), P, P - 1, np.ones_like(P)])
        planes[:, level] = _piecewise(caches[:, level], corners, values)
    return planes


def _row(grids: Grids, elements: Floats, W: int) -> Floats:
    """(n,) the elements of a row, in whole lines where the grid is cut into blocks (Eq. 15)."""
    return np.asarray(np.where(grids.blocked, np.ceil(elements / W) * W, elements))


def _referred(grids: Grids) -> Floats:
    """(n,) the number of planes of lines that the loop refers to: 2 P - 1, or P rows in two
    dimensions.
    """
    P = 2 * grids.order + 1
    return np.asarray(np.where(grids.planar, P, 2 * P - 1), dtype=np.float64)


def _piecewise(at: Floats, corners: Floats, values: Floats) -> Floats:
    """A function that is linear between corners, (corners, n) each, and constant outside; a step
    where corners coincide.
    """
    result: Floats = values[0].copy()
    for left, right, low, high in zip(corners, corners[1:], values, values[1:], strict=False):
        width = np.where(right > left, right - left, 1.0)
        share = np.where(right > left, np.clip((at - left) / width, 0.0, 1.0), at >= right)
        result += share * (high - low)
    return result


def misses(grids: Grids, nplanes: Floats, W: int) -> Floats:
    """(n, levels) lines per sweep that miss each level (Eq. 15), from the planes per plane
    computed.
    """
    ghosts = 2 * grids.order
    II = np.ceil((grids.blocks[:, 0] + ghosts) / W)
    JJ = grids.blocks[:, 1] + ghosts * ~grids.planar
    KK = grids.blocks[:, 2] + ghosts
    NB = np.ceil(grids.extents / grids.blocks).prod(axis=1)
    result: Floats = (II * JJ * KK * NB)[:, None] * nplanes
    return result


def hits(grids: Grids, caches: Floats, allocates: Sequence[bool], W: int) -> Floats:
    """(n, levels + 1) lines per sweep that each level delivers (Eq. 6), memory last."""
    inner = np.column_stack([_referred(grids), planes_read(grids, caches, allocates, W)])
    missed = misses(grids, np.minimum.accumulate(inner, axis=1), W)
    return np.asarray(-np.diff(missed, axis=1, append=0.0), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """The time of one sweep on one core, times ``scale``.

    Parameters I, J, K are the elements without ghosts. Values may also hold the block sizes TI, TJ,
    TK.
    """

    order: int
    """l, the largest offset."""
    elements_per_line: int
    """W."""
    caches: tuple[float, ...]
    """Elements that each cache holds, innermost first."""
    write_allocate: tuple[bool, ...]
    """For each cache."""
    costs: tuple[float, ...]
    """Seconds per line from each level, innermost first, the memory last."""
    scale: float = 1.0
    at: Mapping[str, float] = field(default_factory=lambda: {"I": 200.0, "J": 200.0, "K": 200.0})
    """Where the terms are taken: how many planes each level delivers."""

    def __post_init__(self) -> None:
        sizes = {f"cache {i + 1}": size for i, size in enumerate(self.caches)}
        positive(
            self.name, order=self.order, scale=self.scale, **sizes,
            elements_per_line=self.elements_per_line,
        )  # fmt: skip
        levels = len(self.caches)
        if len(self.write_allocate) != levels or len(self.costs) != levels + 1:
            raise ValueError("planes: write_allocate for each cache, costs for the memory too")
        if min(self.costs) < 0 or max(self.costs) <= 0:
            raise ValueError("planes: costs cannot be negative, nor all of them zero")

    @property
    def name(self) -> str:
        """The name of the formula, ``planes``."""
        return "planes"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters: the extents I, J and K of the grid."""
        return ("I", "J", "K")

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds of one sweep."""
        time: Floats = self.scale * (self.lines(values) @ np.array(self.costs))
        return time

    def lines(self, values: Values) -> Floats:
        """(n, levels + 1) lines that each level delivers per sweep (Eq. 6), memory last."""
        extents = np.broadcast_arrays(*(column(values, q, self.name) for q in self.parameters))
        whole = np.column_stack([np.atleast_1d(extent) for extent in extents])
        count = len(whole)
        blocks = whole.copy()
        for place, name in enumerate(("TI", "TJ", "TK")):
            if name in values:
                blocks[:, place] = np.clip(column(values, name, self.name), 1, whole[:, place])
        grids = Grids(
            extents=whole,
            blocks=blocks,
            order=np.full(count, float(self.order)),
            planar=np.zeros(count, dtype=bool),
        )
        caches = np.tile(np.array(self.caches), (count, 1))
        return hits(grids, caches, self.write_allocate, self.elements_per_line)

    def terms(self) -> tuple[FormulaTerm, ...]:
        """(I + 2l)/W (J + 2l) (K + 2l) sum over levels of planes x cost, multiplied out.

        Exact where whole lines fill the rows and the planes that stay are those at ``at``.
        """
        ghosts = constant(2.0 * self.order)
        lines = 1 / self.elements_per_line * (power("I") + ghosts)
        swept = lines * (power("J") + ghosts) * (power("K") + ghosts)
        planes: Polynomial = swept * float(self._planes() @ np.array(self.costs) * self.scale)
        return planes.terms()

    def __str__(self) -> str:
        factor = "" if self.scale == 1 else f"{self.scale:.4g} "
        l2 = 2 * self.order
        point = ", ".join(f"{name} = {self.at[name]:g}" for name in self.parameters)
        names = [f"L{i + 1}" for i in range(len(self.caches))] + ["memory"]
        parts = zip(self._planes(), self.costs, names, strict=True)
        terms = " + ".join(f"{n:.3g} x {cost:.4g} s ({name})" for n, cost, name in parts)
        return (
            f"T = {factor}ceil((I+{l2})/{self.elements_per_line}) (J+{l2}) (K+{l2}) ({terms}),"
            f" the planes at {point}"
        )

    def _planes(self) -> Floats:
        """(levels + 1,) planes that each level delivers per plane computed, at the reference point
        ``at``.
        """
        point = {name: np.array([self.at[name]]) for name in self.parameters}
        lines = self.lines(point)[0]
        planes: Floats = lines / lines.sum() * (4 * self.order + 1)
        return planes
