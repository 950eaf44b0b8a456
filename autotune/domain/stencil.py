"""Stencils: one sweep over a grid with fixed ghost layers, as data."""

import hashlib
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Literal

from autotune.domain.annotations import Bounds, Derived, OneOf, Text
from autotune.domain.misfit import (
    Keys,
    Misfit,
    MisfitError,
    definitions,
    new_name,
    no_numbers,
    refuse,
    scalar,
    unknown,
)
from autotune.language.expression import (
    Bin,
    Cond,
    Expr,
    Num,
    Ref,
    Sym,
    children,
    number,
    references,
    show,
    symbols,
)

SOURCE = "u"
"""The array that a sweep reads."""
TARGET = "v"
"""The array that a sweep writes."""
_ARRAYS = {SOURCE: "the array that a sweep reads", TARGET: "the array that a sweep writes"}
LINE = 8
"""Doubles of a cache line, to which rows of a grid are rounded up."""
Order = Literal["jacobi", "lexicographic", "red-black"]
ORDERS: tuple[Order, ...] = ("jacobi", "lexicographic", "red-black")
"""In which order a sweep updates points: all from the values before it; or in place, point by point
in the order of the dimensions; or in place, first those whose indices have an even sum."""
LARGEST_RADIUS = 16
"""Ghost layers on a side: farther reads are taken for a slip of the pen."""
_SMALL = 5
"""Points per dimension at least where expressions are tried."""
_PROBES = (0, 1, 2, 1_000_003)
"""Indices at which an offset is tried: it must be the same at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stencil:
    """One sweep v = f(u) over the interior of a grid with fixed ghost layers, as data.

    A Jacobi sweep computes all points from the values before it. In the other orders u and v are
    one array, and a point reads those that were updated before it (Gauss-Seidel sweeps).

    Bodies use ``u[k][j][i+1]``, coefficient arrays such as ``C[k][j][i]``, the constants and the
    extents (interior points of a dimension, its name in upper case: K, J, I). Ghost layers as thick
    as the radius surround the interior on all sides; they keep their initial values.
    """

    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    source: Text
    """Where it was published."""
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
    order: Annotated[Order, OneOf(ORDERS)] = "jacobi"
    """jacobi: all points from the values before the sweep. lexicographic, red-black: in place."""

    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what the stencil computes, whatever its name."""
    reads: Mapping[str, tuple[tuple[int, ...], ...]] = field(init=False, compare=False, repr=False)
    """Array to the offsets at which the body reads it, each once, descending lexicographically."""
    radius: int = field(init=False, compare=False, repr=False)
    """The largest absolute offset: layers of ghost points on each side of each dimension."""

    def __post_init__(self) -> None:
        refuse(self.misfits())
        reads = self._reads()
        object.__setattr__(self, "reads", reads)
        radius = max(
            abs(step) for offsets in reads.values() for offset in offsets for step in offset
        )
        if radius < 1:
            found = "the body reads no neighbour: a stencil has a radius of at least 1"
            raise MisfitError(Misfit(("body",), found))
        object.__setattr__(self, "radius", radius)
        refuse(self._wrong_colours())
        refuse(self._wrong_values())
        tables = dict(self.constants), dict(self.coefficients)
        order = () if self.order == "jacobi" else (self.order,)
        essence = repr((self.dimensions, *tables, self.body, self.initial, *order))
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])

    def misfits(self) -> Iterator[Misfit]:
        """Every wrong dimension; else every name that is unknown where it stands, and every
        element that the body must not read.
        """
        dimensions = list(self._misnamed_dimensions())
        if dimensions:
            yield from dimensions
            return
        points, scalars = set(self.dimensions), {*self.extent_names, *self.constants}
        extents = {name.upper(): f"the extent of dimension {name}" for name in self.dimensions}
        taken = {name: f"the index of dimension {name}" for name in self.dimensions} | _ARRAYS
        constants = dict.fromkeys(self.constants, "a constant")
        yield from definitions("constants", self.constants, extents, taken)
        for name, expression in self.coefficients.items():
            yield from new_name(("coefficients", name), constants | extents | taken)
            yield from scalar(("coefficients", name), expression, scalars | points)
        yield from scalar(("initial",), self.initial, scalars | points)
        arrays = {SOURCE, *self.coefficients}
        form = f"an element such as {SOURCE}{_form(self.dimensions)}"
        for name in sorted(bare_symbols(self.body) - scalars):
            if name in arrays | points:
                yield Misfit(("body",), f"{name!r} alone is no value of a point", form)
            else:
                yield from unknown(("body",), "name", name, scalars)
        for ref in dict.fromkeys(references(self.body)):
            yield from self._misread(ref, arrays)
        yield from no_numbers(("body",), self.body, self.constants)

    def _misnamed_dimensions(self) -> Iterator[Misfit]:
        names = self.dimensions
        if not 2 <= len(names) <= 3:
            found = f"a grid has two or three dimensions, not {len(names)}"
            yield Misfit(("dimensions",), found)
        for i, name in enumerate(names):
            try:
                check_dimension(name)
            except ValueError as error:
                yield Misfit(("dimensions", i), str(error))
            if name in names[:i]:
                yield Misfit(
                    ("dimensions", i), f"the dimension {name!r} is here again", "each once"
                )

    def _misread(self, ref: Ref, arrays: set[str]) -> Iterator[Misfit]:
        """The misfit of an element that the body must not read."""
        keys: Keys = ("body",)
        if ref.array == TARGET:
            found = f"{show(ref)} is the target of the sweep: it must not be read"
            yield Misfit(keys, found, f"elements of {', '.join(sorted(arrays))}")
            return
        if ref.array not in arrays:
            yield from unknown(keys, "array", ref.array, arrays)
            return
        wrong = sorted({name for index in ref.indices for name in symbols(index)}
                       - set(self.dimensions))  # fmt: skip
        for name in wrong[:1]:
            for misfit in unknown(keys, "dimension", name, self.dimensions):
                yield misfit._replace(found=f"{show(ref)}: {misfit.found}")
        if wrong:
            return
        try:
            steps = offsets(ref, self.dimensions)
        except ValueError as error:
            yield Misfit(keys, str(error))
            return
        if max(map(abs, steps)) > LARGEST_RADIUS:
            yield Misfit(
                keys, f"{show(ref)} reads too far", f"at most {LARGEST_RADIUS} points away"
            )

    def _reads(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        reads: dict[str, set[tuple[int, ...]]] = {}
        for ref in references(self.body):
            reads.setdefault(ref.array, set()).add(offsets(ref, self.dimensions))
        if SOURCE not in reads:
            raise MisfitError(Misfit(("body",), f"the body reads no element of {SOURCE}"))
        arrays = (SOURCE, *self.coefficients)
        return {name: tuple(sorted(reads[name], reverse=True)) for name in arrays if name in reads}

    def _wrong_colours(self) -> Iterator[Misfit]:
        """The elements of a red-black stencil that have the colour of the point they are for."""
        if self.order != "red-black":
            return
        for steps in self.reads[SOURCE]:
            if any(steps) and sum(steps) % 2 == 0:
                places = zip(self.dimensions, steps, strict=True)
                element = SOURCE + "".join(
                    f"[{d}{step:+d}]" if step else f"[{d}]" for d, step in places
                )
                found = f"{element} has the colour of the point: no order of these is given"
                yield Misfit(("body",), found, "offsets with an odd sum, or order: lexicographic")

    def _wrong_values(self) -> Iterator[Misfit]:
        """The first constant, coefficient or initial value that is no sound number at the corners
        of a small grid.
        """
        extents = tuple(max(_SMALL, self.minimum) + n for n in range(len(self.dimensions)))
        keys: Keys = ("constants",)
        try:
            values: dict[str, float | int] = {}
            values.update(zip(self.extent_names, extents, strict=True))
            for name, expression in self.constants.items():
                keys = ("constants", name)
                values[name] = _sound(number(expression, values))
            ends = [(-self.radius, extent // 2, extent + self.radius - 1) for extent in extents]
            for point in product(*ends):
                here = {**values, **dict(zip(self.dimensions, point, strict=True))}
                for name, expression in self.coefficients.items():
                    keys = ("coefficients", name)
                    _try(expression, here, point)
                keys = ("initial",)
                _try(self.initial, here, point)
        except ValueError as error:
            yield Misfit(keys, f"on a grid of {' x '.join(map(str, extents))}: {error}")

    @property
    def in_place(self) -> bool:
        """Whether a point reads those that the same sweep has updated before."""
        return self.order != "jacobi"

    @property
    def coefficients_read(self) -> tuple[str, ...]:
        """The coefficient arrays that the body reads, in their order."""
        return tuple(name for name in self.reads if name != SOURCE)

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
    form = _form(dimensions)
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


def _try(expression: Expr, values: Mapping[str, float | int], point: tuple[int, ...]) -> None:
    try:
        _sound(number(expression, values))
        _require_signs(expression, values)
    except ValueError as error:
        raise ValueError(f"at {point}: {error}") from error


def _require_signs(expression: Expr, values: Mapping[str, float | int]) -> None:
    """ValueError for the remainder or quotient of a negative number, in which C and Python differ.

    The branch of a condition that does not count at these values is not looked at.
    """
    parts = children(expression)
    if isinstance(expression, Bin) and expression.op in ("%", "//"):
        value = min(number(part, values) for part in parts)
        if value < 0:
            raise ValueError(
                f"{show(expression)} is of {value}, and languages differ in that of negative"
                " numbers: shift the indices, as (i + 8) for i"
            )
    if isinstance(expression, Cond):
        holds = number(replace(expression, then=Num(1), other=Num(0)), values)
        parts = (expression.left, expression.right, expression.then if holds else expression.other)
    for part in parts:
        _require_signs(part, values)


def _sound(value: float) -> float:
    """The value itself; ValueError for one that is not finite or denormal."""
    if not math.isfinite(value):
        raise ValueError(f"the value is {value}")
    if value != 0 and abs(value) < sys.float_info.min:
        raise ValueError(f"the value {value!r} is denormal")
    return value


def _form(dimensions: tuple[str, ...]) -> str:
    return "".join(f"[{name}+number]" for name in dimensions)


def check_dimension(name: str) -> None:
    """Raise ValueError unless a dimension may have this name."""
    if not (len(name) == 1 and name.isascii() and name.islower()):
        raise ValueError(f"a dimension is named by one small letter, not {name!r}")
    if name in (SOURCE, TARGET):
        raise ValueError(f"the dimension {name!r} has the name of an array")
