"""Methods and problems: Butcher tableaux, initial value problems, one of them at a size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autotune.expression import Expr, Num, Ref, number, references, show, symbols

_ROW_SUM_TOLERANCE = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class ButcherTableau:
    """An implicit Runge-Kutta method, the corrector of a PIRK method.

        c | A        s stages; A is s x s, b and c have s elements
        --+---
          | b

    Checked: shapes, row sums of A equal c, quadrature order B(order) and the simplifying
    assumptions C(eta) and D(zeta) from which the order follows by Butcher's theorem
    (Hairer, Norsett, Wanner, Solving ODEs I, theorem II.7.4).
    """

    name: str
    title: str
    order: int
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    source: str

    def __post_init__(self) -> None:
        s = self.stages
        if s < 1:
            raise ValueError("a tableau needs at least one stage")
        if len(self.c) != s or len(self.A) != s or any(len(row) != s for row in self.A):
            raise ValueError(f"A must be {s} x {s} and c must have {s} elements, as b has {s}")
        for i, row in enumerate(self.A):
            if abs(sum(row) - self.c[i]) > _ROW_SUM_TOLERANCE:
                raise ValueError(
                    f"row sums of A must equal c: row {i + 1} sums to {sum(row)!r},"
                    f" c[{i + 1}] is {self.c[i]!r}"
                )
        proven = self.proven_order()
        if self.order != proven:
            raise ValueError(f"order {self.order} is stated, the coefficients give {proven}")

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return len(self.b)

    def proven_order(self) -> int:
        """The order that the simplifying assumptions B, C and D prove: min(p, eta+zeta+1, 2eta+2).

        B(p): sum_i b_i c_i^(k-1) = 1/k; C(eta): sum_j a_ij c_j^(k-1) = c_i^k / k;
        D(zeta): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k, for k up to p, eta, zeta.
        """
        s, tolerance = range(self.stages), 1e-13

        def quadrature(k: int) -> bool:
            return abs(sum(self.b[i] * self.c[i] ** (k - 1) for i in s) - 1 / k) < tolerance

        def stage(k: int) -> bool:
            return all(
                abs(sum(self.A[i][j] * self.c[j] ** (k - 1) for j in s) - self.c[i] ** k / k)
                < tolerance
                for i in s
            )

        def adjoint(k: int) -> bool:
            return all(
                abs(
                    sum(self.b[i] * self.c[i] ** (k - 1) * self.A[i][j] for i in s)
                    - self.b[j] * (1 - self.c[j] ** k) / k
                )
                < tolerance
                for j in s
            )

        def highest(holds: Callable[[int], bool]) -> int:
            k = 0
            while k < 2 * self.stages and holds(k + 1):
                k += 1
            return k

        p, eta, zeta = highest(quadrature), highest(stage), highest(adjoint)
        return min(p, eta + zeta + 1, 2 * eta + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where one body of a right-hand side (or of the initial values) holds.

    The components j with ``lower <= j < upper``; with ``columns`` only those whose position in
    their row (j % row length of the problem) lies in ``columns[0] <= position < columns[1]``.
    """

    lower: Expr
    upper: Expr
    columns: tuple[Expr, Expr] | None = None
    body: Expr

    def __str__(self) -> str:
        text = f"[{show(self.lower)}, {show(self.upper)})"
        if self.columns:
            text += f" columns [{show(self.columns[0])}, {show(self.columns[1])})"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Ivp:
    """An initial value problem y' = f(t, y), y(t0) = y0, of n components, as data.

    Bodies use ``y[j+offset]``, ``j``, ``t``, the size ``N`` and the constants by name; ``locals``
    are per-component temporaries (name to expression, in order) that bodies may use.
    """

    name: str
    title: str
    source: str
    dimension: Expr
    """n as a function of the size N."""
    constants: Mapping[str, Expr]
    """In order; each may use N and those before it."""
    locals: Mapping[str, Expr] = field(default_factory=dict)
    row: Expr | None = None
    """Components per row, where regions name columns."""
    access_distance: Expr
    """d(f): f_j reads only y[j-d] .. y[j+d]."""
    limited: bool
    """The access distance is limited: small against n (Scherg et al. 2019, section 3.2)."""
    regions: tuple[Region, ...]
    initial: tuple[Region, ...]
    start: float = 0.0
    stability: Expr
    """An upper bound of |lambda| over the spectrum of the Jacobian, in 1/seconds of t."""
    minimum: int = 2
    """The smallest sensible size N."""

    def __post_init__(self) -> None:
        known = {"N", "n", "j", "t", *self.constants, *self.locals}
        for region in (*self.regions, *self.initial):
            unknown = symbols(region.body) - known
            if unknown:
                raise ValueError(f"region {region}: unknown name {sorted(unknown)[0]!r}")
            for ref in references(region.body):
                if ref.array != "y" or len(ref.indices) != 1:
                    raise ValueError(f"region {region}: {show(ref)} is not an element of y")
            if region.columns and self.row is None:
                raise ValueError(f"region {region}: columns need a row length (key row)")
        for region in self.initial:
            if references(region.body):
                raise ValueError(f"initial region {region}: must not read y")
        self.check_regions(max(self.minimum, 5))

    def values(self, size: int) -> dict[str, float | int]:
        """N, n and all constants at a size."""
        values: dict[str, float | int] = {"N": size}
        values["n"] = int(number(self.dimension, values))
        for name, expression in self.constants.items():
            values[name] = number(expression, values)
        return values

    def row_length(self, size: int) -> int | None:
        """Components per row at a size."""
        return None if self.row is None else int(number(self.row, self.values(size)))

    def distance(self, size: int) -> int:
        """The access distance d(f) at a size."""
        return int(number(self.access_distance, self.values(size)))

    def bounds(self, region: Region, size: int) -> tuple[int, int, int, int]:
        """(lower, upper, first column, end column) at a size; columns 0, 1 where there are none."""
        values = self.values(size)
        columns = region.columns or (Num(0), Num(1))
        lower, upper, first, end = (
            int(number(e, values)) for e in (region.lower, region.upper, *columns)
        )
        return lower, upper, first, end

    def members(self, region: Region, size: int) -> list[range]:
        """The components of a region at a size, as ranges."""
        lower, upper, first, end = self.bounds(region, size)
        row = self.row_length(size)
        if region.columns is None or row is None:
            return [range(lower, upper)]
        rows = range(lower // row, -(-upper // row))
        return [range(max(lower, r * row + first), min(upper, r * row + end)) for r in rows]

    def check_regions(self, size: int) -> None:
        """Regions must cover 0..n-1 without gap or overlap; ValueError says where they do not."""
        n = int(self.values(size)["n"])
        for what, regions in (("regions", self.regions), ("initial regions", self.initial)):
            owner = bytearray(n)
            for region in regions:
                for part in self.members(region, size):
                    if part.start < 0 or part.stop > n:
                        raise ValueError(f"{what}: {region} leaves [0, {n}) at N = {size}: {part}")
                    for j in part:
                        if owner[j]:
                            raise ValueError(
                                f"{what} overlap: {region} covers component {j} again (N = {size})"
                            )
                        owner[j] = 1
            if 0 in owner:
                raise ValueError(
                    f"{what}: no region covers component {owner.index(0)} (N = {size})"
                )


def offset(ref: Ref, values: Mapping[str, float | int]) -> int:
    """The offset d of a reference y[j + d] at given sizes."""
    at_zero = number(ref.indices[-1], {**values, "j": 0})
    if number(ref.indices[-1], {**values, "j": 1}) - at_zero != 1:
        raise ValueError(f"{show(ref)} is not y[j + offset]")
    return int(at_zero)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An IVP at a size, solved by a PIRK method with m corrector steps."""

    ivp: Ivp
    method: ButcherTableau
    correctors: int
    """m; Scherg et al. 2019 use m = order - 1."""
    size: int
    """N."""
    step_fraction: float = 0.1
    """Step size h as a fraction of 1 / stability bound."""

    def __post_init__(self) -> None:
        if self.correctors < 1:
            raise ValueError(f"correctors must be at least 1, not {self.correctors}")
        if self.size < self.ivp.minimum:
            raise ValueError(
                f"size N = {self.size} is below the smallest of {self.ivp.name}, {self.ivp.minimum}"
            )
        if not 0 < self.step_fraction <= 1:
            raise ValueError(f"step_fraction must be in (0, 1], not {self.step_fraction}")

    @property
    def n(self) -> int:
        """Number of components."""
        return int(self.ivp.values(self.size)["n"])

    @property
    def h(self) -> float:
        """Step size."""
        return self.step_fraction / float(number(self.ivp.stability, self.ivp.values(self.size)))

    @property
    def label(self) -> str:
        """Readable and unique within a study: ``heat2d-N256``."""
        return f"{self.ivp.name}-N{self.size}"

    def at(self, size: int) -> "Problem":
        """The same problem at another size."""
        return Problem(
            ivp=self.ivp,
            method=self.method,
            correctors=self.correctors,
            size=size,
            step_fraction=self.step_fraction,
        )
