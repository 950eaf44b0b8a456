"""Skeletons: the kernel calls, loops, communication and synchronisation of one time step."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from autotune.domain.annotations import Bounds, Derived, OneOf, Text
from autotune.domain.kernel import Application, Evaluation, Kernel
from autotune.domain.misfit import Keys, Misfit, MisfitError, refuse, unknown, unknown_symbols
from autotune.language.expression import Expr, Ref, Sym, references, show, symbols

Extent = Annotated[str, OneOf(("s", "n", "grid"))]
EMBEDDED = "embedded"
"""The kernel and the array of the embedded approximation of a controlled step."""
GRID = "grid"
"""The extent of dimensions and arrays that are the problem's grid."""


_SCALARS = {"s", "n", "m", "h", "t"}
"""Stages, components, correctors, step size, time."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A step of a skeleton that runs a kernel over the whole block of the thread."""

    kernel: Text


@dataclass(frozen=True, slots=True)
class CommStep:
    """A step that fetches the remote parts of an array that the next right-hand side reads."""

    array: Text


@dataclass(frozen=True, slots=True)
class SyncStep:
    """A step at which all threads wait for one another."""


@dataclass(frozen=True, slots=True)
class SwapStep:
    """A step at which two arrays of the grid exchange their storage."""

    first: Text
    second: Text

    def __post_init__(self) -> None:
        if self.first == self.second:
            found = f"{self.first} is exchanged with itself"
            raise MisfitError(Misfit(("swap",), found, "two arrays"))


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A step that repeats other steps ``count`` times (an expression of s and m)."""

    variable: Text
    """Its name in the indices of what is repeated."""
    count: Expr
    """How often."""
    body: Annotated[tuple["Step", ...], Bounds(least=1)]
    """The steps that are repeated."""


Step = CallStep | CommStep | SyncStep | SwapStep | LoopStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """The kernel calls, loops, communication and synchronisation of one time step.

    ``dimensions`` maps loop names to extents: ``s`` (short, known when code is generated) or ``n``
    (long, distributed blockwise). ``arrays`` maps array names to the extents of their dimensions.
    Arrays whose last extent is ``n`` are stored; the others are coefficients of the method. If
    stencils are applied, the only extent is ``grid``: all points of the problem's grid.
    """

    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    source: Text
    """Where it was published."""
    dimensions: Annotated[Mapping[str, Extent], Bounds(least=1)]
    """Loops by name, with their extents: s, n or grid."""
    arrays: Annotated[Mapping[str, tuple[Extent, ...]], Bounds(least=1)]
    """Arrays by name, with the extents of their dimensions."""
    kernels: Annotated[Mapping[str, Kernel], Bounds(least=1)]
    """What a step computes, by name."""
    steps: Annotated[tuple[Step, ...], Bounds(least=1)]
    """Calls of kernels, communication, synchronisation, exchanges of arrays, and loops of these."""
    embedded: Expr | None = None
    """Component j of an approximation of lower order than y at the end of a step, as one of its
    arrays holds it. Its distance from y estimates the error of the step."""
    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what a step computes, whatever its name."""

    def __post_init__(self) -> None:
        essence = repr((self.dimensions, self.arrays, self.kernels, self.steps))
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """Every extent that does not go with the others, every unknown name, and every wrong index
        of an array.
        """
        yield from self._mixed_extents()
        for name, kernel in self.kernels.items():
            yield from self._misnamed_in(name, kernel)
        yield from self._wrong_names(("embedded",), self.embedded, {"s", *self.dimensions})
        yield from self._wrong_steps(self.steps, ("steps",))

    def controlled(self) -> "Skeleton | None":
        """The skeleton whose steps also keep the embedded approximation, in the array ``embedded``,
        so that the step size can be controlled; None where there is none.
        """
        if self.embedded is None:
            return None
        long = next(name for name, extent in self.dimensions.items() if extent == "n")
        target = Ref(EMBEDDED, (Sym(long),))
        kernel = Kernel(name=EMBEDDED, loops=(long,), target=target, value=self.embedded)
        last = len(self.steps) - isinstance(self.steps[-1], SyncStep)
        return replace(
            self,
            arrays={**self.arrays, EMBEDDED: ("n",)},
            kernels={**self.kernels, EMBEDDED: kernel},
            steps=(*self.steps[:last], CallStep(EMBEDDED), *self.steps[last:]),
            embedded=None,
        )

    def _misnamed_in(self, name: str, kernel: Kernel) -> Iterator[Misfit]:
        """What a kernel names that the skeleton lacks, with the keys that lead there."""
        keys: Keys = ("kernels", name)
        for i, loop in enumerate(kernel.loops):
            yield from unknown((*keys, "loops", i), "dimension", loop, self.dimensions)
            if loop in kernel.loops[:i]:
                found = f"the loop {loop!r} is here again"
                yield Misfit((*keys, "loops", i), found, "each loop once")
        names = _SCALARS | set(kernel.loops)
        yield from self._wrong_names((*keys, "target"), kernel.target, names)
        yield from self._wrong_names((*keys, "value"), kernel.value, names)
        yield from self._wrong_names((*keys, "result"), kernel.result, names | {"sum"})
        if isinstance(kernel.evaluation, Evaluation):
            argument = (*keys, "evaluate", "argument")
            yield from self._wrong_element(argument, kernel.evaluation.argument, whole=True)
            for index in kernel.evaluation.argument.indices:
                yield from self._wrong_names(argument, index, names)
            time = (*keys, "evaluate", "time")
            yield from self._wrong_names(time, kernel.evaluation.time, names)
        if isinstance(kernel.evaluation, Application):
            argument, array = (*keys, "stencil", "argument"), kernel.evaluation.argument
            yield from unknown(argument, "array", array, self.arrays)
            if array == kernel.target.array and not kernel.evaluation.in_place:
                found = f"{name} reads and writes {array}"
                expected = "another array: points would be read that were written"
                yield Misfit(argument, found, expected)
            if array != kernel.target.array and kernel.evaluation.in_place:
                found = f"{name} is in place, and reads {array} but writes {kernel.target.array}"
                yield Misfit(argument, found, "one array")

    def _wrong_names(
        self, keys: Keys, expression: Expr | None, names: set[str]
    ) -> Iterator[Misfit]:
        """Unknown symbols and wrong array elements of an expression."""
        if expression is not None:
            yield from unknown_symbols(keys, expression, names)
            for ref in references(expression):
                yield from self._wrong_element(keys, ref)

    def _wrong_element(self, keys: Keys, ref: Ref, *, whole: bool = False) -> Iterator[Misfit]:
        """What is wrong with an array element; with ``whole`` a whole vector, without its last
        index.
        """
        if ref.array not in self.arrays:
            yield from unknown(keys, "array", ref.array, self.arrays)
            return
        extents = self.arrays[ref.array]
        needed = len(extents) - whole
        if whole and extents[-1:] != ("n",):
            yield Misfit(keys, f"{ref.array} is not stored", "an array whose last extent is n")
        elif len(ref.indices) != needed:
            found = f"{show(ref)} has {len(ref.indices)} indices"
            yield Misfit(keys, found, f"{needed} for {ref.array} of {' x '.join(extents)}")
        for index, extent in zip(ref.indices, extents, strict=False):
            for name in symbols(index):
                runs_to = self.dimensions.get(name, extent)
                if runs_to != extent:
                    found = f"{show(ref)}: {name} runs to {runs_to}"
                    yield Misfit(keys, found, f"an index of extent {extent}")

    def _wrong_steps(self, steps: tuple[Step, ...], keys: Keys) -> Iterator[Misfit]:
        """What steps name that the skeleton lacks."""
        stored = [name for name, extents in self.arrays.items() if extents[-1:] == ("n",)]
        grids = [name for name, extents in self.arrays.items() if extents == (GRID,)]
        for i, step in enumerate(steps):
            here = (*keys, i)
            match step:
                case CallStep(kernel=kernel):
                    yield from unknown((*here, "call"), "kernel", kernel, self.kernels)
                case CommStep(array=array):
                    yield from unknown((*here, "comm"), "stored array", array, (*stored, *grids))
                case SwapStep(first=first, second=second):
                    for k, name in enumerate((first, second)):
                        yield from unknown((*here, "swap", k), "array of the grid", name, grids)
                case LoopStep(count=count, body=body):
                    yield from self._wrong_names((*here, "loop", "count"), count, {"s", "m"})
                    yield from self._wrong_steps(body, (*here, "loop", "body"))

    def _mixed_extents(self) -> Iterator[Misfit]:
        """Every place where grids are used without stencils, or the extents s and n with them."""
        if not self._has_grid():
            for name, kernel in self.kernels.items():
                if kernel.on_grid:
                    found = "a stencil is applied, but no dimension is the grid"
                    keys = ("kernels", name, "stencil")
                    yield Misfit(keys, found, "a dimension of extent grid")
            return
        for name, extent in self.dimensions.items():
            if extent != GRID:
                found = f"{name}: {extent} beside a grid"
                yield Misfit(("dimensions", name), found, "grid everywhere")
        for name, extents in self.arrays.items():
            if extents != (GRID,):
                found = f"{name}: [{', '.join(extents)}] beside a grid"
                yield Misfit(("arrays", name), found, "[grid] everywhere")
        for name, kernel in self.kernels.items():
            if not kernel.on_grid:
                found = f"{name} applies no stencil"
                yield Misfit(("kernels", name), found, "the key stencil")

    def _has_grid(self) -> bool:
        return any(GRID in extents for extents in (self.dimensions.values(), *self.arrays.values()))

    @property
    def family(self) -> Literal["ivp", "stencil"]:
        """The family of the problems that the skeleton is for."""
        return "stencil" if GRID in self.dimensions.values() else "ivp"
