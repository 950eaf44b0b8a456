"""Skeletons: the kernel calls, loops, communication and synchronisation of one time step."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from autotune.domain.annotations import Bounds, Derived, OneOf, Text
from autotune.domain.kernel import Application, Evaluation, Kernel
from autotune.domain.misfit import Keys, Misfit, MisfitError, refuse, unknown, unknown_symbols
from autotune.language.expression import Expr, Ref, Sym, number, references, show, symbols

Extent = Annotated[str, OneOf(("s", "n", "grid"))]
EMBEDDED = "embedded"
"""The kernel and the array of the embedded approximation of a controlled step."""
GRID = "grid"
"""The extent of dimensions and arrays that are the problem's grid."""


_SCALARS = {"s", "n", "m", "h", "t"}
"""Stages, components, correctors, step size, time."""
_STAGES = range(1, 17)
"""Numbers of stages at which loops over stages are checked."""


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
    """A step that repeats other steps ``count`` times (an expression of s and m).

    A loop whose variable is a dimension counts the stages of an explicit method: its kernels may
    use the variable, and its iterations are written out.
    """

    variable: Text
    """Its name in the indices of what is repeated."""
    count: Expr
    """How often."""
    body: Annotated[tuple["Step", ...], Bounds(least=1)]
    """The steps that are repeated."""
    first: Annotated[int, Bounds(least=0)] = field(default=0, repr=False)
    """The value of the variable at first."""


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
    arrays holds it. Its distance from y estimates the error of the step. Where none holds it, a
    kernel of the name ``embedded`` that no step calls computes it from y as it was."""
    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what a step computes, whatever its name."""

    def __post_init__(self) -> None:
        firsts = [loop.first for loop in self._loops(self.steps) if loop.first]
        essence = repr((self.dimensions, self.arrays, self.kernels, self.steps, *firsts))
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

        What an array holds is kept at the end of a step; what a kernel computes it computes behind
        the last loop, before y changes.
        """
        if EMBEDDED in self.kernels:
            loops = [i for i, step in enumerate(self.steps) if isinstance(step, LoopStep)]
            behind = max(loops, default=-1) + 1
            steps = (*self.steps[:behind], CallStep(EMBEDDED), *self.steps[behind:])
            return replace(self, steps=steps)
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

    @property
    def keeps_embedded(self) -> bool:
        """Whether a step keeps the embedded approximation."""
        return CallStep(EMBEDDED) in self.steps

    def lacking(self, *, explicit: bool, stages: int) -> str | None:
        """Why a step is none of an explicit (or of an implicit) method with so many stages;
        None where it is.
        """
        loops = list(self._loops(self.steps))
        if explicit and any("m" in symbols(loop.count) for loop in loops):
            return "needs an implicit method, whose stages are iterated"
        if not explicit and any(loop.variable in self.dimensions for loop in loops):
            return "needs an explicit method, whose stages follow one another"
        for loop in loops:
            if loop.variable in self.dimensions and number(loop.count, {"s": stages}) < 1:
                least = next(s for s in _STAGES if number(loop.count, {"s": s}) >= 1)
                return f"needs a method of {least} stages or more, not {stages}"
        return None

    def _loops(self, steps: tuple[Step, ...]) -> Iterator[LoopStep]:
        """Every loop of some steps, outer ones first."""
        for step in steps:
            if isinstance(step, LoopStep):
                yield step
                yield from self._loops(step.body)

    def _stages_around(self, kernel: str, steps: tuple[Step, ...]) -> frozenset[str] | None:
        """The variables of the loops over stages around every call of a kernel; None where no step
        calls it.
        """
        around: list[frozenset[str]] = []
        for step in steps:
            if step == CallStep(kernel):
                around.append(frozenset())
            elif isinstance(step, LoopStep):
                inside = self._stages_around(kernel, step.body)
                if inside is not None:
                    around.append(inside | ({step.variable} & set(self.dimensions)))
        return frozenset.intersection(*around) if around else None

    def _misnamed_in(self, name: str, kernel: Kernel) -> Iterator[Misfit]:
        """What a kernel names that the skeleton lacks, with the keys that lead there."""
        keys: Keys = ("kernels", name)
        for i, loop in enumerate(kernel.loops):
            yield from unknown((*keys, "loops", i), "dimension", loop, self.dimensions)
            if loop in kernel.loops[:i]:
                found = f"the loop {loop!r} is here again"
                yield Misfit((*keys, "loops", i), found, "each loop once")
        stages = self._stages_around(name, self.steps) or frozenset()
        names = _SCALARS | set(kernel.loops) | stages
        for loop in stages & set(kernel.loops):
            found = f"the loop {loop!r} is around a call of {name}"
            yield Misfit((*keys, "loops"), found, "each loop once")
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
                    yield from self._wrong_stages((*here, "loop"), step)
                    yield from self._wrong_steps(body, (*here, "loop", "body"))

    def _wrong_stages(self, keys: Keys, loop: LoopStep) -> Iterator[Misfit]:
        """What is wrong with a loop whose variable is a dimension."""
        if loop.variable not in self.dimensions:
            return
        if self.dimensions[loop.variable] != "s" or symbols(loop.count) - {"s"}:
            found = f"{loop.variable} runs to {self.dimensions[loop.variable]}"
            yield Misfit((*keys, "variable"), found, "a dimension of extent s, and a count of s")
            return
        for s in _STAGES:
            end = loop.first + number(loop.count, {"s": s})
            if end > s:
                found = f"{loop.variable} is {end - 1} at last where s is {s}"
                yield Misfit((*keys, "count"), found, "the numbers of stages, from 0 to s - 1")
                return

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
