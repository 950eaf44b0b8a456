"""Methods and problems: IVPs, stencils or a user's programs, each problem at one size."""

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Annotated, ClassVar, Literal, Protocol, Self

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileHalf,
    FileKey,
    FileKeys,
    InNotation,
    Text,
)
from autotune.domain.least_work import LeastWork, operations, varies
from autotune.domain.misfit import (
    Keys,
    Misfit,
    MisfitError,
    definitions,
    new_name,
    no_numbers,
    refuse,
    scalar,
    unknown_symbols,
)
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.program import Given, Program, written
from autotune.domain.stencil import Stencil
from autotune.language.constraint import Value
from autotune.language.expression import (
    Expr,
    Num,
    Ref,
    Sym,
    number,
    references,
    show,
    substitute,
    symbols,
)
from autotune.units import Bytes

Coefficient = Annotated[float, InNotation("coefficient")]
"""A number, or an exact expression such as ``(4 - sqrt(6))/10``."""
_LARGEST = 2**53
"""Of the sizes of programs: whole numbers that every double tells apart."""
ROW_SUM_TOLERANCE = 1e-14
"""How far a row sum of A may differ from c, from rounding of the coefficients."""
_ORDER_TOLERANCE = 1e-13
_LARGEST_CHECK = 1_000_000
"""Components at most at the small sizes where regions are checked."""
_LOOKED = 1000
"""Elements of an index array that are looked at near each end, and in between."""
_SIZES = {"N": "the size", "n": "the number of components"}
_OF_COMPONENTS = {"j": "the index of a component", "t": "the time"}
_SOLUTION = {"y": "the solution"}
"""Names that expressions use, and what they are."""
_OUTERMOST = 2
"""Rows at each end of a region whose columns may reach over its range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ButcherTableau:
    """A Runge-Kutta method: implicit, as the corrector of a PIRK method, or explicit.

        c | A        s stages; A is s x s, b and c have s elements
        --+---
          | b        with embedded weights (b-hat) a row more, for the error estimate

    Checked: shapes, row sums of A equal c, and the orders by the order conditions themselves.
    """

    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    order: Count
    A: Annotated[tuple[tuple[Coefficient, ...], ...], Bounds(least=1)]
    b: Annotated[tuple[Coefficient, ...], Bounds(least=1)]
    c: Annotated[tuple[Coefficient, ...], Bounds(least=1)]
    embedded: Annotated[tuple[Coefficient, ...], Bounds(least=1)] | None = None
    """b-hat: weights of an approximation of lower order, whose distance from that of b estimates
    the error of a step."""
    embedded_order: Count | None = None
    """The order of the method with these weights."""
    source: Text
    """Where it was published."""

    def __post_init__(self) -> None:
        refuse(self.misfits())
        refuse(self._misstated_order("order", self.order, self.b))
        if self.embedded is not None:
            refuse(self._misstated_order("embedded_order", self.embedded_order, self.embedded))

    def misfits(self) -> Iterator[Misfit]:
        """Every element too few or too many, and every row sum of A that is not c."""
        s = self.stages
        if s < 1:
            yield Misfit(("b",), "a tableau needs at least one stage")
        if self.embedded is None and self.embedded_order is not None:
            yield Misfit(("embedded_order",), "an order without weights", "the key embedded")
        elif self.embedded is not None and len(self.embedded) != s:
            found = f"embedded has {len(self.embedded)} elements"
            yield Misfit(("embedded",), found, f"{s}, as b has")
        elif self.embedded is not None and self.embedded_order is None:
            yield Misfit(("embedded",), "weights without their order", "the key embedded_order")
        elif self.embedded_order is not None and self.embedded_order >= self.order:
            found = f"embedded_order {self.embedded_order} is not below the order {self.order}"
            yield Misfit(("embedded_order",), found, "b has the higher order of the two")
        if len(self.c) != s:
            yield Misfit(("c",), f"c has {len(self.c)} elements", f"{s}, as b has")
        if len(self.A) != s:
            yield Misfit(("A",), f"A has {len(self.A)} rows", f"{s}, as b has elements")
        for i, (row, c) in enumerate(zip_longest(self.A, self.c[: len(self.A)])):
            if len(row) != s:
                found = f"row {i + 1} of A has {len(row)} elements"
                yield Misfit(("A", i), found, f"{s}, as b has")
            elif c is not None and not abs(sum(row) - c) <= ROW_SUM_TOLERANCE:
                found = f"row {i + 1} of A sums to {sum(row)!r}"
                yield Misfit(("A", i), found, f"c[{i + 1}] = {c!r}: row sums of A must equal c")

    def _misstated_order(
        self, key: str, stated: int | None, weights: tuple[float, ...]
    ) -> Iterator[Misfit]:
        proven = self.proven_order(weights)
        if stated != proven:
            yield Misfit((key,), f"order {stated} is stated, the coefficients give {proven}")

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return len(self.b)

    @property
    def explicit(self) -> bool:
        """Whether every stage needs earlier ones only: A is strictly lower triangular."""
        return not any(a for i, row in enumerate(self.A) for a in row[i:])

    @property
    def usual_correctors(self) -> int:
        """The corrector steps m of a PIRK method: the order less one (Scherg et al. 2019), at least
        one; none of an explicit method, whose stages are not iterated.
        """
        return 0 if self.explicit else max(1, self.order - 1)

    @property
    def advancing(self) -> "ButcherTableau":
        """The method without the stages that only its embedded weights use, directly or not."""
        used = {0, *(i for i, weight in enumerate(self.b) if weight)}
        for i in reversed(range(self.stages)):
            used |= {k for k, a in enumerate(self.A[i]) if a} if i in used else set()
        if len(used) == self.stages or not self.explicit:
            return self

        def of_used(row: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(value for i, value in enumerate(row) if i in used)

        rows = tuple(of_used(row) for i, row in enumerate(self.A) if i in used)
        b, c = of_used(self.b), of_used(self.c)
        return replace(self, A=rows, b=b, c=c, embedded=None, embedded_order=None)

    def proven_order(self, weights: tuple[float, ...] | None = None) -> int:
        """The order of the method: the largest p for which the order conditions hold up to p.

        With ``weights`` of s elements it is that of the method with these in the place of b.

        One condition per rooted tree: sum_i b_i u_i = 1/gamma, where u is the product of A u over
        the branches at the root and gamma the number of nodes times the gamma of the branches
        (Hairer, Norsett, Wanner, Solving ODEs I, theorem II.2.13). No method of s stages has an
        order above 2s. The trees double in number and more with each order: milliseconds up to
        order 8, half a second at order 12. So the simplifying assumptions speak first.
        """
        b = self.b if weights is None else weights
        order = self._order_by_assumptions(b)
        return self._order_by_trees(b) if order is None else order

    def _order_by_trees(self, b: tuple[float, ...]) -> int:
        trees: list[_Tree] = []
        for order in range(1, 2 * self.stages + 2):
            grown = list(self._grow(order, trees))
            for weights, gamma in grown:
                value = sum(w * u for w, u in zip(b, weights, strict=True))
                if not abs(value - 1 / gamma) <= _ORDER_TOLERANCE:
                    return order - 1
            for weights, gamma in grown:
                branch = tuple(
                    sum(a * u for a, u in zip(row, weights, strict=True)) for row in self.A
                )
                trees.append(_Tree(order, gamma, branch))
        return 2 * self.stages

    def _order_by_assumptions(self, b: tuple[float, ...]) -> int | None:
        """The order of the method if the simplifying assumptions determine it, else None.

        B(p), C(q), D(r) with p <= q + r + 1 and p <= 2q + 2 give order p (Butcher 1964; Hairer,
        Wanner, Solving ODEs II, theorem IV.5.1), and B(p + 1) is a condition of order p + 1.
        """
        c = self.c

        def holds(pairs: Iterator[tuple[float, float]]) -> bool:
            return all(abs(left - right) <= _ORDER_TOLERANCE for left, right in pairs)

        def quadrature(k: int) -> bool:
            total = sum(w * x ** (k - 1) for w, x in zip(b, c, strict=True))
            return holds(iter([(total, 1 / k)]))

        def stages(k: int) -> bool:
            rows = zip(self.A, c, strict=True)
            return holds(
                (sum(a * x ** (k - 1) for a, x in zip(row, c, strict=True)), ci**k / k)
                for row, ci in rows
            )

        def adjoint(k: int) -> bool:
            return holds(
                (
                    sum(b[i] * c[i] ** (k - 1) * self.A[i][j] for i in range(self.stages)),
                    b[j] / k * (1 - c[j] ** k),
                )
                for j in range(self.stages)
            )

        def largest(condition: Callable[[int], bool]) -> int:
            k = 0
            while k <= 2 * self.stages and condition(k + 1):
                k += 1
            return k

        p, q, r = largest(quadrature), largest(stages), largest(adjoint)
        return p if 0 < p <= min(q + r + 1, 2 * q + 2) else None

    def _grow(self, order: int, trees: list["_Tree"]) -> Iterator[tuple[tuple[float, ...], int]]:
        """(u, gamma) of every rooted tree with ``order`` nodes, from all smaller ``trees``."""
        pending = [(order - 1, 0, (1.0,) * self.stages, order)]
        while pending:
            nodes, first, weights, gamma = pending.pop()
            if nodes == 0:
                yield weights, gamma
            for i in range(first, len(trees)):
                tree = trees[i]
                if tree.order > nodes:
                    break
                product = tuple(u * v for u, v in zip(weights, tree.branch, strict=True))
                pending.append((nodes - tree.order, i, product, gamma * tree.gamma))


@dataclass(frozen=True, slots=True)
class _Tree:
    """A rooted tree: its number of nodes, its gamma, and its factor A u as a branch."""

    order: int
    gamma: int
    branch: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The components for which one body of a right-hand side (or of the initial values) holds.

    These are the components j with ``lower <= j < upper``. With ``columns``, only those whose
    position in their row (j % row length of the problem) lies in ``columns[0] <= position <
    columns[1]``. With ``rows``, only those whose row within their plane (j % plane size // row
    length) lies in ``rows[0] <= row < rows[1]``.
    """

    lower: Annotated[Expr, FileHalf("range", 0)]
    upper: Annotated[Expr, FileHalf("range", 1)]
    columns: Annotated[tuple[Expr, Expr], InNotation("range")] | None = None
    """Positions in a row; without this key all of them."""
    rows: Annotated[tuple[Expr, Expr], InNotation("range")] | None = field(default=None, repr=False)
    """Rows of a plane; without this key all of them."""
    body: Expr
    """An expression of the component."""

    def bounds(self) -> Iterator[tuple[str, Expr]]:
        """The bounds of the region, each with the key of a file that states it."""
        yield from (("range", self.lower), ("range", self.upper))
        yield from (("columns", bound) for bound in self.columns or ())
        yield from (("rows", bound) for bound in self.rows or ())

    def __str__(self) -> str:
        text = f"[{show(self.lower)}, {show(self.upper)})"
        if self.rows:
            text += f" rows [{show(self.rows[0])}, {show(self.rows[1])})"
        if self.columns:
            text += f" columns [{show(self.columns[0])}, {show(self.columns[1])})"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSum:
    """A sum over an index k of a body that may read ``y[k + offset]``: lower <= k < upper.

    The bounds depend on N alone, so every component has as many terms. Of its component the body
    may use all that the body of a region may use but sums.
    """

    index: Text
    """One small letter, such as ``k``."""
    lower: Annotated[Expr, FileHalf("range", 0)]
    upper: Annotated[Expr, FileHalf("range", 1)]
    body: Expr
    """One term."""

    def elements(self) -> tuple[Ref, ...]:
        """The elements that terms read at the index."""
        return tuple(ref for ref in references(self.body) if self._indexed(ref))

    def reach(self, ref: Ref, values: Mapping[str, float | int]) -> int | None:
        """The offset d of an element ``y[k + d]`` at given sizes; None where it is not one."""
        if "j" in symbols(ref.indices[0]):
            return None
        return _reach(Ref(ref.array, (substitute(ref.indices[0], {self.index: Sym("j")}),)), values)

    def around(self) -> tuple[Ref, ...]:
        """The elements that terms read at the component, whatever the index."""
        return tuple(ref for ref in references(self.body) if not self._indexed(ref))

    def _indexed(self, ref: Ref) -> bool:
        return any(self.index in symbols(index) for index in ref.indices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ivp:
    """An initial value problem y' = f(t, y), y(t0) = y0, of n components, as data.

    Bodies use ``y[j+offset]``, ``j``, ``t``, the size ``N`` and the constants by name; ``locals``
    are per-component temporaries (name to expression, in order) that bodies may use; those that
    read y are not for initial values. Bodies of regions also use ``sums`` by name, and elements
    ``y[name[j]]`` through an index array.
    """

    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    source: Text
    """Where it was published."""
    dimension: Expr
    """n as a function of the size N."""
    constants: Mapping[str, Expr] = field(default_factory=dict)
    """In order; each may use N and those before it."""
    locals: Mapping[str, Expr] = field(default_factory=dict)
    sums: Mapping[str, IndexSum] = field(default_factory=dict)
    """Sums over an index, which the bodies of regions may use by name."""
    indices: Mapping[str, Expr] = field(default_factory=dict)
    """Index arrays: element j, a whole number from 0 to n - 1. Bodies read ``y[name[j]]``."""
    row: Expr | None = None
    """Components per row, where regions name columns."""
    plane: Expr | None = None
    """Components per plane, where regions name rows: a multiple of ``row``."""
    access_distance: Expr
    """d(f): f_j reads only y[j-d] .. y[j+d]."""
    limited: bool
    """The access distance is limited: small against n (Scherg et al. 2019, section 3.2)."""
    periodic: bool = False
    """Distances count around the ends: y[n-1] is beside y[0], and y[j+n-1] is at distance 1."""
    regions: Annotated[tuple[Region, ...], Bounds(least=1)]
    initial: Annotated[tuple[Region, ...], Bounds(least=1)]
    start: float = 0.0
    stability: Expr
    """An upper bound of |lambda| over the spectrum of the Jacobian, in 1/seconds of t."""
    minimum: Annotated[int, Bounds(least=2, most=64)] = 2
    """The smallest sensible size N."""

    def __post_init__(self) -> None:
        refuse(self.misfits())
        for size in self._small_sizes():
            refuse(self._misnumbered(size))
        sizes = self._small_sizes()
        covers = next((wrong for size in sizes if (wrong := [*self.miscovered(size)])), [])
        places = {misfit.keys for misfit in covers}
        refuse([*covers, *(m for m in self._misreads() if m.keys[:2] not in places)])

    def misfits(self) -> Iterator[Misfit]:
        """Every name that is unknown where it stands, and every element that must not be read."""
        yield from scalar(("dimension",), self.dimension, {"N"})
        yield from definitions("constants", self.constants, _SIZES, _OF_COMPONENTS | _SOLUTION)
        scalars = {**dict.fromkeys(self.constants, "a constant"), **_SIZES}
        for key in ("row", "plane", "access_distance", "stability"):
            if getattr(self, key) is not None:
                yield from scalar((key,), getattr(self, key), scalars)
        names = scalars | _OF_COMPONENTS
        for name, expression in self.locals.items():
            yield from new_name(("locals", name), names | _SOLUTION)
            yield from self._unreadable(("locals", name), expression, names)
            yield from no_numbers(("locals", name), expression, self.constants)
            names = {name: "a local", **names}
        yield from self._sum_misfits(names)
        yield from self._index_misfits(names)
        if self.plane is not None and self.row is None:
            yield Misfit(("plane",), "planes without a row length", "the key row")
        for keys, region in self._regions():
            for part, bound in region.bounds():
                yield from scalar((*keys, part), bound, scalars)
            if region.columns is not None and self.row is None:
                yield Misfit((*keys, "columns"), "columns without a row length", "the key row")
            if region.rows is not None and self.plane is None:
                yield Misfit((*keys, "rows"), "rows without the size of a plane", "the key plane")
            yield from no_numbers((*keys, "body"), region.body, self.constants)
            if keys[0] == "initial":
                yield from scalar((*keys, "body"), region.body, names)
                for ref in (
                    *self.reads(region.body)[len(references(region.body)) :],
                    *self.gathers(region.body),
                ):
                    found = f"a local reads {show(ref)}, which initial values set"
                    yield Misfit((*keys, "body"), found, "a term that reads no element")
                continue
            yield from self._unreadable((*keys, "body"), region.body, {*names, *self.sums})

    def _index_misfits(self, names: Mapping[str, str]) -> Iterator[Misfit]:
        """What is wrong with index arrays at every size; ``names``: what those are that are
        taken.
        """
        sums = dict.fromkeys(self.sums, "a sum")
        for name, element in self.indices.items():
            yield from new_name(("indices", name), {**sums, **names, **_SOLUTION})
            yield from scalar(("indices", name), element, {"N", "n", "j", *self.constants})
        for key in ("limited", "periodic"):
            if self.indices and getattr(self, key):
                found = f"{key}, but index arrays may lead to every component"
                yield Misfit((key,), found, "false")

    def _sum_misfits(self, names: Mapping[str, str]) -> Iterator[Misfit]:
        """What is wrong with sums at every size; ``names``: what those are that a term may use."""
        scalars = {"N", "n", *self.constants}
        taken = {**dict.fromkeys(self.sums, "a sum"), **names, **_SOLUTION, "h": "the step size"}
        for name, total in self.sums.items():
            keys: Keys = ("sums", name)
            yield from new_name(keys, {**names, **_SOLUTION})
            index = total.index
            if not re.fullmatch("[a-z]", index):
                yield Misfit((*keys, "index"), f"{index!r} is not an index", "one small letter")
            elif index in taken:
                found = f"the name {index!r} is taken by {taken[index]}"
                yield Misfit((*keys, "index"), found, "another letter")
            for bound in (total.lower, total.upper):
                yield from scalar((*keys, "range"), bound, scalars)
            yield from self._unreadable((*keys, "body"), total.body, {*names, index})
            for ref in self._gathered(total.body):
                yield Misfit((*keys, "body"), f"{show(ref)} in a sum", f"y[{index} + offset]")
            yield from no_numbers((*keys, "body"), total.body, self.constants)
            if total.elements() and self.limited:
                found = f"limited, but the sum {name} reads y[{index}] wherever j is"
                yield Misfit(("limited",), found, "false")
            if total.elements() and self.periodic:
                found = f"periodic, but the sum {name} reads y[{index}] wherever j is"
                yield Misfit(("periodic",), found, "false")

    def _unreadable(self, keys: Keys, expression: Expr, names: Collection[str]) -> Iterator[Misfit]:
        """The unknown names of an expression, and the elements that are none of y."""
        yield from unknown_symbols(keys, expression, names)
        inner = {id(ref.indices[0]) for ref in self._gathered(expression)}
        for ref in references(expression):
            if (ref.array != "y" or len(ref.indices) != 1) and id(ref) not in inner:
                arrays = "".join(f", y[{name}[j]]" for name in self.indices)
                yield Misfit(keys, f"{show(ref)} is not known", f"elements of y: y[j - 1]{arrays}")

    def _gathered(self, expression: Expr) -> tuple[Ref, ...]:
        """The elements that an expression reads through an index array."""
        elements = {Ref(name, (Sym("j"),)) for name in self.indices}
        return tuple(
            ref
            for ref in (references(expression) if elements else ())
            if ref.array == "y" and len(ref.indices) == 1 and ref.indices[0] in elements
        )

    def gathers(self, body: Expr) -> tuple[Ref, ...]:
        """The elements that a body and the locals it uses read through an index array."""
        elements = list(self._gathered(body))
        used = symbols(body)
        for name, value in reversed(tuple(self.locals.items())):
            if name in used:
                used |= symbols(value)
                elements += self._gathered(value)
        return tuple(elements)

    def reads(self, body: Expr) -> tuple[Ref, ...]:
        """The elements around a component that a body reads, then those that the sums and the
        locals it uses read.
        """
        elements = list(self._direct(body))
        used = symbols(body)
        for total in self.used_sums(body).values():
            used |= symbols(total.body)
            elements += total.around()
        for name, value in reversed(tuple(self.locals.items())):
            if name in used:
                used |= symbols(value)
                elements += self._direct(value)
        return tuple(elements)

    def _direct(self, expression: Expr) -> tuple[Ref, ...]:
        """The references of an expression without those through index arrays."""
        through = self._gathered(expression)
        skipped = {*through, *(ref.indices[0] for ref in through)}
        return tuple(ref for ref in references(expression) if ref not in skipped)

    def used_sums(self, body: Expr) -> Mapping[str, IndexSum]:
        """The sums that a body uses, by name."""
        used = symbols(body) if self.sums else frozenset()
        return {name: total for name, total in self.sums.items() if name in used}

    @property
    def reads_anywhere(self) -> bool:
        """Whether sums or index arrays read elements of y, however far from the component."""
        return bool(self.indices) or any(total.elements() for total in self.sums.values())

    @property
    def autonomous(self) -> bool:
        """Whether the right-hand side does not depend on the time ``t``."""
        bodies = [region.body for region in self.regions]
        totals = [total.body for total in self.sums.values()]
        return not any("t" in symbols(body) for body in (*bodies, *self.locals.values(), *totals))

    def planes(self) -> tuple[object, ...]:
        """The plane and the rows of every region, in order; empty without planes."""
        if self.plane is None:
            return ()
        return self.plane, tuple(region.rows for _, region in self._regions())

    def _regions(self) -> Iterator[tuple[Keys, Region]]:
        for key, regions in (("regions", self.regions), ("initial", self.initial)):
            for i, region in enumerate(regions):
                yield (key, i), region

    def _small_sizes(self) -> list[int]:
        """Some small sizes, even and odd ones, from ``minimum`` on."""
        return sorted({self.minimum, self.minimum + 1, max(self.minimum, 5)})

    def _misnumbered(self, size: int) -> Iterator[Misfit]:
        """The first number of the whole problem that is not whole or not plausible at a size; where
        there is none, all such bounds of regions.
        """
        values: dict[str, float | int] = {"N": size}
        keys: Keys = ("dimension",)
        try:
            n = _whole(self.dimension, values)
            if not 1 <= n <= _LARGEST_CHECK:
                raise ValueError(f"n = {n}, not in 1 .. {_LARGEST_CHECK}")
            values["n"] = n
            for name, expression in self.constants.items():
                keys = ("constants", name)
                values[name] = number(expression, values)
            for key in ("row", "plane", "access_distance"):
                keys, bound = (key,), getattr(self, key)
                if bound is not None and _whole(bound, values) < (key != "access_distance"):
                    raise ValueError(f"{show(bound)} = {_whole(bound, values)} is too small")
            if self.periodic and 2 * _whole(self.access_distance, values) >= n:
                distance = _whole(self.access_distance, values)
                raise ValueError(
                    f"{show(self.access_distance)} = {distance} on either side is the whole y,"
                    f" which has {n} components: a larger minimum is needed"
                )
            keys = ("plane",)
            plane = self._whole_planes(values)
            for name, total in self.sums.items():
                keys = ("sums", name, "range")
                lower, upper = _whole(total.lower, values), _whole(total.upper, values)
                if lower >= upper:
                    raise ValueError(
                        f"the range {lower} .. {upper - 1} of {total.index} is empty: at least one"
                        " index is needed"
                    )
            yield from self._wrong_indices(values, range(n))
            keys = ("stability",)
            if not number(self.stability, values) > 0:
                raise ValueError(f"{show(self.stability)} is not positive")
        except ValueError as error:
            yield Misfit(keys, f"at N = {size}: {error}")
            return
        for place, region in self._regions():
            yield from self._misbounded(place, region, values, plane)

    def _misbounded(
        self, place: Keys, region: Region, values: Mapping[str, float | int], plane: int
    ) -> Iterator[Misfit]:
        """The bounds of a region that are not whole at a size, or not whole planes."""
        for part, bound in region.bounds():
            try:
                limit = _whole(bound, values)
            except ValueError as error:
                yield Misfit((*place, part), f"at N = {values['N']}: {error}")
                continue
            if part == "range" and region.rows is not None and limit % plane:
                found = f"{show(bound)} = {limit} is not a multiple of the plane, {plane}"
                yield Misfit((*place, part), f"at N = {values['N']}: {found}")

    def _wrong_indices(
        self, values: Mapping[str, float | int], components: Iterable[int]
    ) -> Iterator[Misfit]:
        """The first element of each index array that is outside y at a size, or far away."""
        n, limit = int(values["n"]), _whole(self.access_distance, values)
        for name, expression in self.indices.items():
            for j in components:
                at = number(expression, {**values, "j": j})
                place = f"{name}[{j}] = {at} at N = {values['N']}"
                if at != int(at) or not 0 <= at < n:
                    yield Misfit(("indices", name), place, f"whole numbers from 0 to {n - 1}")
                    break
                if abs(at - j) > limit:
                    found = f"{place} is farther from {j} than the access distance {limit}"
                    yield Misfit(("indices", name), found)
                    break

    def _whole_planes(self, values: Mapping[str, float | int]) -> int:
        """The components of a plane, 1 without planes; ValueError unless planes are whole rows."""
        if self.plane is None or self.row is None:
            return 1
        plane, row = _whole(self.plane, values), _whole(self.row, values)
        if plane % row:
            raise ValueError(f"{show(self.plane)} = {plane} is not a multiple of the row, {row}")
        return plane

    def _misreads(self) -> Iterator[Misfit]:
        """Every element that a body reads beyond the access distance or outside y."""
        tables = {size: self.values(size) for size in self._small_sizes()}
        distances = {size: self.distance(size) for size in tables}
        reaches: dict[tuple[Ref, int], int | None] = {}
        for i, region in enumerate(self.regions):
            parts = {size: [p for p in self.members(region, size) if p] for size in tables}
            for ref in dict.fromkeys(self.reads(region.body)):
                for size, values in tables.items():
                    if (ref, size) not in reaches:
                        reaches[ref, size] = _reach(ref, values)
                    reach, n = reaches[ref, size], int(values["n"])
                    fault = self._misread(reach, n, distances[size], parts[size])
                    if fault:
                        found = f"region {region}: {show(ref)} {fault} at N = {size}"
                        yield Misfit(("regions", i, "body"), found)
                        break

        for name, total in self.sums.items():
            for ref in dict.fromkeys(total.elements()):
                for size, values in tables.items():
                    fault = self._misread_sum(total, ref, size, values)
                    if fault:
                        found = f"{show(ref)} {fault} at N = {size}"
                        yield Misfit(("sums", name, "body"), found)
                        break

    def misread_at(self, size: int) -> Iterator[str]:
        """What bodies and index arrays read beyond the access distance, or outside y, at a size.

        Small sizes are checked when an IVP is made. Of an index array the first, the last and some
        other elements are looked at.
        """
        values, limit = self.values(size), self.distance(size)
        n = int(values["n"])
        for region in self.regions:
            for ref in dict.fromkeys(self.reads(region.body)):
                fault = self._misread(_reach(ref, values), n, limit, ())
                if fault:
                    yield f"region {region}: {show(ref)} {fault} at N = {size}"
        if self.indices:
            looked = {*range(0, n, max(1, n // _LOOKED)), *range(max(0, n - _LOOKED), n)}
            for wrong in self._wrong_indices(values, sorted({*range(min(n, _LOOKED)), *looked})):
                allowed = f"; expected {wrong.expected}" if wrong.expected else ""
                yield f"index array {wrong.found}{allowed}"

    def _misread_sum(
        self, total: IndexSum, ref: Ref, size: int, values: Mapping[str, float | int]
    ) -> str:
        """What is wrong with an element that the terms of a sum read; empty: nothing."""
        reach, n, index = total.reach(ref, values), int(values["n"]), total.index
        if reach is None:
            return f"is not y[{index} + a number that does not depend on {index}, j or t]"
        first, last = int(number(total.lower, values)), int(number(total.upper, values)) - 1
        if first + reach < 0 or last + reach >= n:
            return f"is y[{first + reach}] .. y[{last + reach}], allowed: y[0] .. y[{n - 1}],"
        name = next(name for name, other in self.sums.items() if other is total)
        for region in self.regions:
            parts = [part for part in self.members(region, size) if part]
            if name in symbols(region.body) and parts:
                far = max(last + reach - parts[0].start, parts[-1][-1] - first - reach)
                if far > self.distance(size):
                    limit = self.distance(size)
                    return f"reaches {far}, farther than the access distance {limit},"
        return ""

    def _misread(self, reach: int | None, n: int, distance: int, parts: Sequence[range]) -> str:
        """What is wrong with y[j + reach] for the components in ``parts``; empty: nothing."""
        if reach is None:
            return "is not y[j + a number that does not depend on j or t]"
        far = abs(reach)
        if self.periodic:
            far = min(far, abs(n - far))
        if far > distance:
            return f"reaches {far}, farther than the access distance {distance},"
        if parts and not 0 <= parts[0].start + reach <= parts[-1][-1] + reach < n:
            return f"leaves y[0] .. y[{n - 1}]"
        return ""

    def values(self, size: int) -> dict[str, float | int]:
        """The values of N, n and all constants at a size."""
        values: dict[str, float | int] = {"N": size}
        values["n"] = int(number(self.dimension, values))
        for name, expression in self.constants.items():
            values[name] = number(expression, values)
        return values

    def row_length(self, size: int) -> int | None:
        """The number of components per row at a size."""
        return None if self.row is None else int(number(self.row, self.values(size)))

    def plane_length(self, size: int) -> int | None:
        """The number of components per plane at a size."""
        return None if self.plane is None else int(number(self.plane, self.values(size)))

    def distance(self, size: int) -> int:
        """The access distance d(f) at a size."""
        return int(number(self.access_distance, self.values(size)))

    def bounds(self, region: Region, size: int) -> tuple[int, int, int, int]:
        """Lower and upper bound, first and end column of a region at a size.

        A region that states no columns has the columns 0 and 1 here; whole rows where it states
        rows.
        """
        values = self.values(size)
        whole = region.rows is not None and self.row is not None
        columns = region.columns or (Num(0), self.row if whole and self.row else Num(1))
        lower, upper, first, end = (
            int(number(e, values)) for e in (region.lower, region.upper, *columns)
        )
        return lower, upper, first, end

    def row_bounds(self, region: Region, size: int) -> tuple[int, int] | None:
        """The first and end row of each plane of a region at a size; None where it states none."""
        if region.rows is None:
            return None
        values = self.values(size)
        first, end = region.rows
        return int(number(first, values)), int(number(end, values))

    def members(self, region: Region, size: int) -> list[range]:
        """The components of a region at a size, as ranges."""
        lower, upper, first, end = self.bounds(region, size)
        row, plane = self.row_length(size), self.plane_length(size)
        within = self.row_bounds(region, size)
        if row is None or (region.columns is None and within is None):
            return [range(lower, upper)]
        starts: Sequence[int] = range(lower // row * row, upper, row)
        if within is not None and plane is not None:
            corners = range(lower // plane * plane, upper, plane)
            starts = [corner + r * row for corner in corners for r in range(*within)]
        return [range(max(lower, start + first), min(upper, start + end)) for start in starts]

    def count(self, region: Region, size: int) -> int:
        """The number of components of a region at a size."""
        lower, upper, first, end = self.bounds(region, size)
        row, plane = self.row_length(size), self.plane_length(size)
        within = self.row_bounds(region, size)
        if row is None or (region.columns is None and within is None):
            return max(0, upper - lower)
        if within is None or plane is None:
            rows = range(lower // row * row, upper, row)
            return _inside(rows, (first, end), (lower, upper))
        planes = range(lower // plane * plane, upper, plane)
        # Bounds of regions that name rows are whole planes, so all planes have as many.
        rows = range(lower + within[0] * row, lower + within[1] * row, row)
        return len(planes) * _inside(rows, (first, end), (lower, lower + plane))

    def operations(self, size: int) -> tuple[int, int]:
        """Operations of one evaluation for all components, and the number of components whose
        derivative depends on y.

        A sum over an index counts its terms if they depend on the component.
        """
        values, total, moving = self.values(size), 0, 0
        for region in self.regions:
            components = self.count(region, size)
            sums = self.used_sums(region.body)
            definitions = {**self.locals, **{name: part.body for name, part in sums.items()}}
            if varies(region.body, definitions):
                moving += components
            total += components * operations(region.body, self.locals)
            for part in sums.values():
                if any("j" in symbols(ref) for ref in references(part.body)):
                    terms = _whole(part.upper, values) - _whole(part.lower, values)
                    total += components * terms * operations(part.body, self.locals)
        return total, moving

    def miscovered(self, size: int) -> Iterator[Misfit]:
        """The regions that leave 0..n-1 or overlap others, and the first component in none; one
        fault of each region.
        """
        n = int(self.values(size)["n"])
        for key, what, regions in (
            ("regions", "regions", self.regions), ("initial", "initial regions", self.initial)
        ):  # fmt: skip
            owner = bytearray(n)
            for i, region in enumerate(regions):
                outside = again = None
                for part in self.members(region, size):
                    if part.start < 0 or part.stop > n:
                        outside = outside or part
                    for j in range(max(part.start, 0), min(part.stop, n)):
                        again = j if again is None and owner[j] else again
                        owner[j] = 1
                if outside is not None:
                    found = f"{what}: {region} leaves [0, {n}) at N = {size}: {outside}"
                    yield Misfit((key, i), found)
                elif again is not None:
                    found = f"{what} overlap: {region} covers component {again} again"
                    yield Misfit((key, i), f"{found} (N = {size})")
            if 0 in owner:
                found = f"{what}: no region covers component {owner.index(0)} (N = {size})"
                yield Misfit((key,), found)


def _inside(starts: range, part: tuple[int, int], limits: tuple[int, int]) -> int:
    """The components from ``part[0]`` to before ``part[1]`` behind each start that lie within
    limits.
    """

    def length(start: int) -> int:
        return max(0, min(limits[1], start + part[1]) - max(limits[0], start + part[0]))

    # Only the outermost rows reach over a limit.
    if len(starts) <= 2 * _OUTERMOST:
        return sum(map(length, starts))
    inner = starts[_OUTERMOST:-_OUTERMOST]
    outer = [*starts[:_OUTERMOST], *starts[-_OUTERMOST:]]
    return sum(map(length, outer)) + len(inner) * length(inner[0])


def _whole(expression: Expr, values: Mapping[str, float | int]) -> int:
    value = number(expression, values)
    if value != int(value):
        raise ValueError(f"{show(expression)} = {value!r} is not a whole number")
    return int(value)


def offset(ref: Ref, values: Mapping[str, float | int]) -> int:
    """The offset d of a reference y[j + d] at given sizes; ValueError for any other reference.

    >>> from autotune.language.expression import parse
    >>> offset(parse("y[j - N]"), {"N": 8})
    -8
    """
    index = ref.indices[-1]
    at_zero = number(index, {**values, "j": 0})
    shifts = (number(index, {**values, "j": j}) - j for j in (1, 2, 1_000_003))
    if at_zero != int(at_zero) or any(shift != at_zero for shift in shifts):
        raise ValueError(f"{show(ref)} is not y[j + offset] with a whole offset")
    return int(at_zero)


def _reach(ref: Ref, values: Mapping[str, float | int]) -> int | None:
    """The offset of a reference; None where it is not y[j + offset]."""
    try:
        return offset(ref, values)
    except ValueError:
        return None


class AnyProblem(Protocol):
    """What a candidate computes at one size: an IVP, a stencil, a program or another kind.

    Equal problems have equal keys. A problem is frozen. Whatever depends on its kind is one of its
    own properties.
    """

    @property
    def family(self) -> str:
        """The workload that the problem belongs to: ``ivp``, ``stencil``, ``program`` or
        another.
        """

    @property
    def name(self) -> str:
        """The name of the IVP, the stencil or the program, whatever the size."""

    @property
    def title(self) -> str:
        """A description of the problem in one line."""

    @property
    def label(self) -> str:
        """A readable name, unique within a study."""

    @property
    def key(self) -> str:
        """A text that is equal for problems that compute the same."""

    @property
    def definition(self) -> str:
        """A digest of what is computed, whatever its name and size: 12 hexadecimal digits."""

    @property
    def n(self) -> int:
        """The size as a number: components, points, or the argument that counts as size."""

    @property
    def size_text(self) -> str:
        """The size in the form in which a program takes it."""

    @property
    def size_name(self) -> str:
        """The size with its symbol, as text."""

    @property
    def arguments(self) -> Mapping[str, Value]:
        """The arguments of the problem's program by name; empty if they have no names."""

    @property
    def state_bytes(self) -> int:
        """Bytes of one array of the state; 0 if unknown."""

    @property
    def h(self) -> float | None:
        """The step size; None if the problem has no steps of a size."""

    def least_work(self) -> LeastWork | None:
        """What every program has to do in a time step; None if that is not known."""

    # --- one problem at several sizes -----------------------------------------------------------

    @property
    def method_key(self) -> tuple[object, ...]:
        """A key that is equal for problems with the same computation and method, at any size."""

    @property
    def shape(self) -> tuple[float, ...]:
        """The proportions of a grid, 1 for the dimension of the size; empty without a grid."""

    @property
    def size_symbol(self) -> str:
        """The name of the size on the axis of a map; empty without a size."""

    @property
    def map_size(self) -> int | None:
        """The size on the axis of a map; None without a size."""

    def resized(self, size: int) -> Self:
        """The same problem with ``map_size`` equal to ``size``; ValueError if that is
        impossible.
        """

    # --- what is kept ---------------------------------------------------------------------------

    def canonical(self) -> dict[str, object]:
        """The problem's part of a candidate's identity, in plain values."""

    def facts(self) -> ProblemFacts:
        """The facts of the problem that the results store keeps."""


Extent = Annotated[int, Bounds(least=1, most=2**31 - 1)]
"""A size, or the points of a grid in one dimension: larger ones overflow in products."""
NO_ARGUMENTS: Mapping[str, Value] = {}
"""The arguments of problems whose code is generated: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An IVP at a size, solved by a PIRK method with m corrector steps or by an explicit method."""

    family: ClassVar[Literal["ivp"]] = "ivp"
    arguments: ClassVar[Mapping[str, Value]] = NO_ARGUMENTS
    shape: ClassVar[tuple[float, ...]] = ()
    size_symbol: ClassVar[str] = "N"
    ivp: Ivp
    """By name or path."""
    method: ButcherTableau
    """The Runge-Kutta method by name or path: an implicit one, whose stages are iterated, or an
    explicit one."""
    correctors: Annotated[Count, FileKey(optional=True)]
    """m; Scherg et al. 2019 use m = order - 1. Not for an explicit method: 0."""
    size: Extent
    """N."""
    step_fraction: Annotated[float, Bounds(above=0, most=1)] = 0.1
    """Step size h as a fraction of 1 / stability bound."""

    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what the IVP and the method compute, whatever their names."""

    def __post_init__(self) -> None:
        if self.method.explicit and self.correctors:
            found = f"correctors: {self.correctors}, and {self.method.name} is explicit"
            expected = "no correctors: only the stages of implicit methods are iterated"
            raise MisfitError(Misfit(("correctors",), found, expected))
        if not self.method.explicit and self.correctors < 1:
            raise ValueError(f"correctors must be at least 1, not {self.correctors}")
        if self.size < self.ivp.minimum:
            found = f"size: {self.size} is below the smallest size of {self.ivp.name}"
            raise MisfitError(Misfit(("size",), found, f"at least {self.ivp.minimum}"))
        for fault in self.ivp.misread_at(self.size):
            raise MisfitError(Misfit(("size",), f"size: {self.ivp.name}: {fault}"))
        if not 0 < self.step_fraction <= 1:
            raise ValueError(f"step_fraction must be in (0, 1], not {self.step_fraction}")

        ivp, method = self.ivp, self.method
        essence = repr(
            (
                *(method.A, method.b, method.c),
                *(ivp.dimension, ivp.constants, ivp.locals, ivp.row, ivp.regions, ivp.initial),
                *(ivp.start, ivp.stability),
                *ivp.planes(),
                *((tuple(ivp.sums.items()),) if ivp.sums else ()),
                *((tuple(ivp.indices.items()),) if ivp.indices else ()),
                *((method.embedded,) if method.embedded else ()),
            )
        )
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])

    @property
    def n(self) -> int:
        """Number of components."""
        return int(self.ivp.values(self.size)["n"])

    @property
    def name(self) -> str:
        """The name of the IVP."""
        return self.ivp.name

    @property
    def state_bytes(self) -> int:
        """Bytes of one array of n components."""
        return 8 * self.n

    @property
    def method_key(self) -> tuple[object, ...]:
        """A key that is equal for problems that differ only in size: definition, correctors,
        step.
        """
        return self.definition, self.correctors, self.step_fraction

    @property
    def map_size(self) -> int:
        """The size on the axis of a map: N."""
        return self.size

    @property
    def h(self) -> float:
        """The step size."""
        return self.step_fraction / float(number(self.ivp.stability, self.ivp.values(self.size)))

    @property
    def key(self) -> str:
        """A text equal for problems that compute the same: definition, correctors, size, step."""
        return f"{self.definition} m{self.correctors} N{self.size} h{self.step_fraction!r}"

    @property
    def label(self) -> str:
        """A readable name, unique within a study: ``heat2d-N256``."""
        return f"{self.ivp.name}-N{self.size}"

    @property
    def title(self) -> str:
        """A description of the problem in one line."""
        return self.ivp.title

    @property
    def size_text(self) -> str:
        """The size in the form in which a program takes it."""
        return str(self.size)

    @property
    def size_name(self) -> str:
        """The size with its symbol, as text."""
        return f"N = {self.size}"

    def canonical(self) -> dict[str, object]:
        """The problem's part of a candidate's identity, in plain values."""
        return {
            "method": self.method.name,
            "correctors": self.correctors,
            "ivp": self.ivp.name,
            "definition": self.definition,
            "size": self.size,
            "step_fraction": self.step_fraction,
        }

    def least_work(self) -> LeastWork:
        """The right-hand side once for the first corrector step, whose stages all begin with y, and
        s times for each later one and the update, or once for each stage of an explicit method that
        the update needs; their linear combinations; y read and written.
        """
        ivp, method, m = self.ivp, self.method.advancing, self.correctors
        evaluation, moving = ivp.operations(self.size)
        entries = sum(a != 0 for row in method.A for a in row)
        first = sum(c != 0 for c in method.c)
        combined = entries if method.explicit else first + (m - 1) * entries
        combined += sum(b != 0 for b in method.b)
        evaluations = method.stages if method.explicit else 1 + m * method.stages
        return LeastWork(
            operations=evaluations * evaluation + 2 * combined * moving,
            read=Bytes(self.state_bytes),
            written=Bytes(self.state_bytes),
        )

    def facts(self) -> ProblemFacts:
        """The facts of the problem that the results store keeps."""
        return ProblemFacts(
            label=self.label,
            title=self.title,
            components=self.n,
            key=self.key,
            family=self.family,
            ivp=self.ivp.name,
            method=self.method.name,
            correctors=self.correctors,
            size=self.size,
            step_fraction=self.step_fraction,
        )

    def at(self, size: int) -> "Problem":
        """The same problem at another size."""
        return Problem(
            ivp=self.ivp,
            method=self.method,
            correctors=self.correctors,
            size=size,
            step_fraction=self.step_fraction,
        )

    resized = at


@dataclass(frozen=True, slots=True, kw_only=True)
class StencilProblem:
    """A stencil on a grid with given extents; a time step is one sweep."""

    family: ClassVar[Literal["stencil"]] = "stencil"
    h: ClassVar[None] = None
    arguments: ClassVar[Mapping[str, Value]] = NO_ARGUMENTS
    stencil: Stencil
    """By name or path."""
    extents: Annotated[
        tuple[int, ...],
        FileKeys(
            {
                "grid": Annotated[
                    Mapping[str, Extent], Bounds(least=1), FileKey(about="points by dimension")
                ],
                "size": Annotated[Extent, FileKey(about="points of every dimension")],
            }
        ),
    ]
    """Interior points in the order of the stencil's dimensions: K, J, I."""

    def __post_init__(self) -> None:
        stencil = self.stencil
        stencil.values(self.extents)
        for name, extent in zip(stencil.dimensions, self.extents, strict=True):
            if extent < stencil.minimum:
                raise ValueError(
                    f"{extent} points in {name} are fewer than the radius of {stencil.name},"
                    f" {stencil.minimum}"
                )

    @property
    def n(self) -> int:
        """Number of interior points."""
        return math.prod(self.extents)

    @property
    def name(self) -> str:
        """The name of the stencil."""
        return self.stencil.name

    @property
    def state_bytes(self) -> int:
        """Bytes of one grid of n interior points."""
        return 8 * self.n

    @property
    def method_key(self) -> tuple[object, ...]:
        """A key that is equal for all grids of one stencil: its definition."""
        return (self.definition,)

    @property
    def shape(self) -> tuple[float, ...]:
        """The extents relative to that of the dimension with unit stride."""
        return tuple(extent / self.extents[-1] for extent in self.extents)

    @property
    def size_symbol(self) -> str:
        """The name of the size: ``N`` for equal sides, else the extent with unit stride."""
        return "N" if len(set(self.extents)) == 1 else self.stencil.extent_names[-1]

    @property
    def map_size(self) -> int:
        """The number of points in the dimension with unit stride."""
        return self.extents[-1]

    @property
    def definition(self) -> str:
        """A digest of what the stencil computes, whatever its name: 12 hexadecimal digits."""
        return self.stencil.definition

    @property
    def key(self) -> str:
        """A text that is equal for problems that compute the same: definition and extents."""
        return f"{self.definition} {self.size_text}"

    @property
    def label(self) -> str:
        """Readable, unique within a study: ``star3d-7pt-N96``, ``star3d-7pt-K24-J1600-I1600``."""
        first = self.extents[0]
        if all(extent == first for extent in self.extents):
            return f"{self.stencil.name}-N{first}"
        sizes = zip(self.stencil.extent_names, self.extents, strict=True)
        return "-".join((self.stencil.name, *(f"{name}{extent}" for name, extent in sizes)))

    @property
    def title(self) -> str:
        """A description of the problem in one line."""
        return self.stencil.title

    @property
    def size_text(self) -> str:
        """The extents as a program takes them, slowest first: ``24x1600x1600``."""
        return "x".join(map(str, self.extents))

    @property
    def size_name(self) -> str:
        """The extents with their symbols, as text."""
        return f"{' x '.join(self.stencil.extent_names)} = {' x '.join(map(str, self.extents))}"

    def canonical(self) -> dict[str, object]:
        """The problem's part of a candidate's identity, in plain values."""
        return {
            "stencil": self.stencil.name,
            "definition": self.definition,
            "extents": list(self.extents),
        }

    def least_work(self) -> LeastWork:
        """The body at every interior point; u and the coefficient arrays read, v written."""
        arrays = len(self.stencil.reads)
        return LeastWork(
            operations=self.n * operations(self.stencil.body, {}),
            read=Bytes(arrays * self.state_bytes),
            written=Bytes(self.state_bytes),
        )

    def facts(self) -> ProblemFacts:
        """The facts of the problem that the results store keeps."""
        return ProblemFacts(
            label=self.label,
            title=self.title,
            components=self.n,
            key=self.key,
            family=self.family,
            stencil=self.stencil.name,
            grid=tuple(zip(self.stencil.dimensions, self.extents, strict=True)),
        )

    def at(self, extents: tuple[int, ...]) -> "StencilProblem":
        """The same stencil on another grid."""
        return StencilProblem(stencil=self.stencil, extents=extents)

    def resized(self, size: int) -> "StencilProblem":
        """The same stencil on a grid of the same shape, with ``size`` points of unit stride."""
        last = self.extents[-1]
        return self.at(tuple(max(1, round(extent * size / last)) for extent in self.extents))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramProblem:
    """A user's program with its arguments; a time step is one run, in the time it reports."""

    family: ClassVar[Literal["program"]] = "program"
    h: ClassVar[None] = None
    shape: ClassVar[tuple[float, ...]] = ()
    state_bytes: ClassVar[int] = 0
    program: Annotated[Program, Derived()]
    arguments: Annotated[Mapping[str, Given], FileKey(optional=True)]
    """A value for each argument of the program, in its order. In a file of some or none: the
    others have the values of the program's file."""

    def __post_init__(self) -> None:
        if list(self.arguments) != list(self.program.arguments):
            raise ValueError(
                f"{self.program.name} takes the arguments"
                f" {', '.join(self.program.arguments) or '(none)'}"
            )
        name = self.program.size
        size = None if name is None else self.arguments[name]
        if name is not None and not (isinstance(size, int | float) and 1 <= size <= _LARGEST):
            raise ValueError(f"{name} is the problem size: from 1 to 2**53, not {size!r}")

    @property
    def n(self) -> int:
        """The argument that counts as size; 1 if there is none."""
        size = self.arguments[self.program.size] if self.program.size else 1
        return int(size) if isinstance(size, int | float) else 1

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.name

    @property
    def method_key(self) -> tuple[object, ...]:
        """A key that is equal for all sizes of one program with the same other arguments."""
        rest = ((k, v) for k, v in self.arguments.items() if k != self.program.size)
        return (self.definition, *rest)

    @property
    def size_symbol(self) -> str:
        """The name of the argument that counts as size; empty if there is none."""
        return self.program.size or ""

    @property
    def map_size(self) -> int | None:
        """The argument that counts as size; None if there is none."""
        return self.n if self.program.size else None

    @property
    def definition(self) -> str:
        """A digest of the program and how its output is read, whatever its name.

        It has 12 hexadecimal digits.
        """
        return self.program.definition

    @property
    def key(self) -> str:
        """A text equal for problems that compute the same: definition and arguments."""
        return " ".join((self.definition, *self._pairs("=")))

    @property
    def label(self) -> str:
        """A readable name, unique within a study: ``matmul-n512``, ``sort-argument1_512``."""
        pairs = (
            name + ("_" if name[-1:].isdigit() and value[:1].isdigit() else "") + value
            for name, _, value in (pair.partition("=") for pair in self._pairs("="))
        )
        return re.sub(r"[^\w.+-]+", "_", "-".join((self.program.name, *pairs)))

    @property
    def title(self) -> str:
        """A description of the problem in one line."""
        return self.program.title

    @property
    def size_text(self) -> str:
        """The arguments as they appear on a command line."""
        return " ".join(self._pairs("="))

    @property
    def size_name(self) -> str:
        """The arguments with their names, as text."""
        return ", ".join(self._pairs(" = ")) or "no arguments"

    def canonical(self) -> dict[str, object]:
        """The problem's part of a candidate's identity, in plain values."""
        return {
            "program": self.program.name,
            "definition": self.definition,
            "arguments": dict(sorted(self.arguments.items())),
        }

    def least_work(self) -> None:
        """Not known of a program."""

    def facts(self) -> ProblemFacts:
        """The facts of the problem that the results store keeps."""
        return ProblemFacts(
            label=self.label,
            title=self.title,
            components=self.n,
            key=self.key,
            family=self.family,
            program=self.program.name,
            arguments=dict(self.arguments),
            size_argument=self.program.size or "",
            goal=self.program.goal,
            metrics=tuple(printed.metric for printed in self.program.metrics.values()),
        )

    def at(self, arguments: Mapping[str, Value]) -> "ProgramProblem":
        """The same program with some arguments replaced."""
        return ProgramProblem(program=self.program, arguments={**self.arguments, **arguments})

    def resized(self, size: int) -> "ProgramProblem":
        """The same program with ``size`` as the argument that counts as size."""
        if self.program.size is None:
            raise ValueError(f"{self.program.name} does not say which argument is its size")
        return self.at({self.program.size: size})

    def _pairs(self, between: str) -> list[str]:
        return [
            f"{name}{between}{'none' if value is None else written(value)}"
            for name, value in self.arguments.items()
        ]


GeneratedProblem = Problem | StencilProblem
"""Problems that C code is generated for."""


def generated(problem: AnyProblem) -> GeneratedProblem:
    """The problem itself if its code is generated (IVP, stencil); TypeError for any other kind."""
    if not isinstance(problem, Problem | StencilProblem):
        raise TypeError(f"{problem.label} is a {problem.family}: no code is generated for it")
    return problem
