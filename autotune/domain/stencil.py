"""Stencils: one Jacobi sweep over a grid with fixed ghost layers, as data."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from autotune.domain.annotations import Bounds, Derived, Text
from autotune.language.expression import Expr, Ref, Sym, children, number, references, show, symbols

SOURCE = "u"
"""The array that a sweep reads."""
TARGET = "v"
"""The array that a sweep writes."""
LINE = 8
"""Doubles of a cache line, to which rows of a grid are rounded up."""
_PROBES = (0, 1, 2, 1_000_003)
"""Indices at which an offset is tried: it must be the same at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stencil:
    """One Jacobi sweep v = f(u) over the interior of a grid with fixed ghost layers, as data.

    Bodies use ``u[k][j][i+1]``, coefficient arrays such as ``C[k][j][i]``, the constants and the
    extents (interior points of a dimension, its name in upper case: K, J, I). Ghost layers as thick
    as the radius surround the interior on all sides; they keep their initial values.
    """

    name: Annotated[str, Derived()]
    title: Text
    source: Text
    dimensions: Annotated[tuple[Text, ...], Bounds(least=2, most=3)]
    """Slowest first: ``("k", "j", "i")``; the last has unit stride."""
    constants: Mapping[str, Expr] = field(default_factory=dict)
    """In order; each may use the extents and those before it."""
    coefficients: Mapping[str, Expr] = field(default_factory=dict)
    """Read-only arrays of the grid: name to value at a point, ghosts too."""
    body: Expr
    """Value of v at a point."""
    initial: Expr
    """u at a point, ghosts too: indices run from -radius to extent + radius - 1."""

    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what the stencil computes, whatever its name."""
    reads: Mapping[str, tuple[tuple[int, ...], ...]] = field(init=False, compare=False, repr=False)
    """Array to the offsets at which the body reads it, each once, descending lexicographically."""
    radius: int = field(init=False, compare=False, repr=False)
    """The largest absolute offset: layers of ghost points on each side of each dimension."""

    def __post_init__(self) -> None:
        _check_dimensions(self.dimensions)
        points = set(self.dimensions)
        names = set(self.extent_names)
        for name, expr in self.constants.items():
            _check_free(name, names | points | {SOURCE, TARGET})
            _check_scalar(f"constant {name}", expr, names)
            names.add(name)
        for name, expr in self.coefficients.items():
            _check_free(name, names | points | {SOURCE, TARGET})
            _check_scalar(f"coefficient {name}", expr, names | points)
        _check_scalar("the initial value", self.initial, names | points)
        reads = self._reads(names)
        object.__setattr__(self, "reads", reads)
        radius = max(
            abs(step) for offsets in reads.values() for offset in offsets for step in offset
        )
        if radius < 1:
            raise ValueError("the body reads no neighbour: a stencil has a radius of at least 1")
        object.__setattr__(self, "radius", radius)
        tables = dict(self.constants), dict(self.coefficients)
        essence = repr((self.dimensions, *tables, self.body, self.initial))
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])

    def _reads(self, scalars: set[str]) -> dict[str, tuple[tuple[int, ...], ...]]:
        arrays = (SOURCE, *self.coefficients)
        for name in sorted(bare_symbols(self.body) - scalars):
            raise ValueError(f"the body: unknown name {name!r}")
        reads: dict[str, set[tuple[int, ...]]] = {}
        for ref in references(self.body):
            if ref.array == TARGET:
                raise ValueError(f"the body reads {show(ref)}, its target: a sweep reads u only")
            if ref.array not in arrays:
                raise ValueError(f"the body: unknown array {ref.array!r}")
            reads.setdefault(ref.array, set()).add(offsets(ref, self.dimensions))
        if SOURCE not in reads:
            raise ValueError(f"the body reads no element of {SOURCE}")
        return {name: tuple(sorted(reads[name], reverse=True)) for name in arrays if name in reads}

    @property
    def extent_names(self) -> tuple[str, ...]:
        """The names of the extents in the order of the dimensions: ``("K", "J", "I")``."""
        return tuple(name.upper() for name in self.dimensions)

    @property
    def minimum(self) -> int:
        """The smallest allowed number of interior points of a dimension."""
        return self.radius

    def values(self, extents: tuple[int, ...]) -> dict[str, float | int]:
        """Extents and constants by name; ValueError if one has no value."""
        if len(extents) != len(self.dimensions):
            wanted = ", ".join(self.dimensions)
            raise ValueError(f"{self.name} needs an extent for each of {wanted}, not {extents}")
        values: dict[str, float | int] = dict(zip(self.extent_names, extents, strict=True))
        for name, expression in self.constants.items():
            values[name] = number(expression, values)
        return values


def bare_symbols(expr: Expr) -> frozenset[str]:
    """The names that stand for numbers: those of symbols outside indices.

    >>> from autotune.language.expression import parse
    >>> sorted(bare_symbols(parse("c*u[j][i+1]")))
    ['c']
    """
    if isinstance(expr, Sym):
        return frozenset({expr.name})
    inner = () if isinstance(expr, Ref) else children(expr)
    return frozenset(name for part in inner for name in bare_symbols(part))


def offsets(ref: Ref, dimensions: tuple[str, ...]) -> tuple[int, ...]:
    """The offsets of a grid reference; ValueError unless each index is a loop variable + number.

    >>> from autotune.language.expression import parse
    >>> offsets(parse("u[k][j-1][i+2]"), ("k", "j", "i"))
    (0, -1, 2)
    """
    form = "".join(f"[{name}+number]" for name in dimensions)
    if len(ref.indices) != len(dimensions):
        raise ValueError(f"{show(ref)} has {len(ref.indices)} indices, not {len(dimensions)}")
    distances: list[int] = []
    for name, index in zip(dimensions, ref.indices, strict=True):
        try:
            steps = {number(index, {name: at}) - at for at in _PROBES}
        except ValueError as error:
            raise ValueError(f"{show(ref)} is not {ref.array}{form}: {error}") from error
        step = steps.pop()
        if steps or step != int(step):
            raise ValueError(f"{show(ref)} is not {ref.array}{form} with whole numbers")
        distances.append(int(step))
    return tuple(distances)


def strides(extents: tuple[int, ...], radius: int, lines: int = 0) -> tuple[int, ...]:
    """Elements from a point to its neighbour in each dimension, in stored arrays.

    Each dimension has its ghosts; rows are rounded up to whole cache lines, plus ``lines`` of
    padding.

    >>> strides((4, 10, 30), 1)
    (384, 32, 1)
    """
    products = [1]
    whole = -(-(extents[-1] + 2 * radius) // LINE) * LINE + lines * LINE
    for extent in reversed(extents[:-1]):
        products.append(whole)
        whole *= extent + 2 * radius
    return tuple(reversed(products))


def _check_dimensions(names: tuple[str, ...]) -> None:
    if not 2 <= len(names) <= 3:
        raise ValueError(f"a grid has two or three dimensions, not {len(names)}")
    for i, name in enumerate(names):
        check_dimension(name)
        if name in names[:i]:
            raise ValueError(f"the dimension {name!r} is named twice")


def check_dimension(name: str) -> None:
    """Raise ValueError unless a dimension may have this name."""
    if not (len(name) == 1 and name.isascii() and name.islower()):
        raise ValueError(f"a dimension is named by one small letter, not {name!r}")
    if name in (SOURCE, TARGET):
        raise ValueError(f"the dimension {name!r} has the name of an array")


def _check_free(name: str, taken: set[str]) -> None:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a name")
    if name in taken:
        raise ValueError(f"the name {name!r} is taken")


def _check_scalar(what: str, expr: Expr, names: set[str]) -> None:
    for ref in references(expr):
        raise ValueError(f"{what}: {show(ref)} is an array element")
    for name in sorted(symbols(expr) - names):
        raise ValueError(f"{what}: unknown name {name!r}")
