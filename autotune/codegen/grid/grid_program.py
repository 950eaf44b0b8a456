"""Makes the program of a variant on a grid: sweeps of a stencil, blocked, unrolled, checked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autotune.codegen.grid import in_place, plane_sweep
from autotune.codegen.grid.grid_text import own_names
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.kernel import Application, Kernel
from autotune.domain.problem import StencilProblem
from autotune.domain.skeleton import (
    CallStep,
    CommStep,
    LoopStep,
    Skeleton,
    Step,
    SwapStep,
    SyncStep,
)
from autotune.domain.stencil import SOURCE, TARGET, Stencil
from autotune.domain.variant import (
    Block,
    OverlappedTiles,
    Pad,
    SeveralSweeps,
    StreamStores,
    Transformation,
    Unroll,
    Variant,
)
from autotune.language.expression import Expr, Ref, Sym, number, rebuild, symbols

MOST_UNROLLED = 8
"""The largest number of times that the body of the innermost loop is written out."""


def program(variant: Variant, skeleton: Skeleton, problem: StencilProblem) -> loop_tree.StepProgram:
    """The unpadded program of a variant for a stencil; ``IllegalTransformation`` where there is
    none.

    It depends only on the stencil, not on the extents of the grid.
    """
    stencil = problem.stencil
    kernels = _chosen(variant.transformations, skeleton, stencil)
    body = _block(skeleton.steps, kernels, coloured=stencil.order == "red-black")
    result = loop_tree.StepProgram(
        body=body,
        arrays=_arrays(skeleton, stencil),
        pad_lines=0,
        stages=1,
        granule=1,
        grid=loop_tree.GridStorage(stencil.dimensions, stencil.radius),
    )
    plane_sweep.check(body)
    conflicts = races(result)
    if conflicts:
        raise IllegalTransformation(str(conflicts[0]))
    return result


# --- kernels --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _BlockedSweep:
    """The sweep of a kernel with the blocks around it, as transformations have changed
    it so far.
    """

    sweep: loop_tree.GridSweep
    blocks: Mapping[str, int] = field(default_factory=dict)
    sweeps: int = 1
    """Sweeps of one pass over the grid."""
    tiles: bool = False
    """Whether these go from tile to tile, and not from plane to plane."""

    def node(self) -> loop_tree.Node:
        """The sweep inside its loops over blocks, in the order of the dimensions."""
        node: loop_tree.Node = self.sweep
        in_place.check(self.sweep, self.blocks, self.sweeps)
        if self.sweep.streamed and self.sweeps > 1:
            raise IllegalTransformation(
                f"{self.sweep.kernel} stores past the caches what the next sweep of the same pass"
                " reads from them"
            )
        if self.sweep.streamed and self.sweep.unroll:
            raise IllegalTransformation(
                f"{self.sweep.kernel} stores whole cache lines: its loop is written out already"
            )
        if self.sweeps > 1:
            plane_sweep.check_blocks(self.sweep, self.blocks, self.sweeps, tiles=self.tiles)
            made = plane_sweep.overlapped_tile if self.tiles else plane_sweep.plane_front
            node = made(self.sweep, self.sweeps)
        for dimension in reversed(self.sweep.dimensions):
            if dimension in self.blocks:
                node = loop_tree.Tiles(
                    self.blocks[dimension], loop_tree.NodeBlock((node,)), dimension
                )
        return node

    def blocked(self, dimension: str, size: int) -> "_BlockedSweep":
        """The sweep with one more loop over blocks around it."""
        self._check(dimension)
        if dimension in self.blocks:
            raise IllegalTransformation(f"{self.sweep.kernel} is blocked in {dimension} twice")
        return replace(self, blocks={**self.blocks, dimension: size})

    def repeated(self, sweeps: int, *, tiles: bool) -> "_BlockedSweep":
        """So many sweeps in one pass over the grid, on every tile or plane by plane."""
        if self.sweeps > 1:
            raise IllegalTransformation(f"{self.sweep.kernel} has several sweeps in a pass twice")
        return replace(self, sweeps=sweeps, tiles=tiles)

    def unrolled(self, dimension: str, factor: int) -> "_BlockedSweep":
        """The sweep with the body of its innermost loop written out ``factor`` times."""
        self._check(dimension)
        innermost = self.sweep.dimensions[-1]
        if dimension != innermost:
            raise IllegalTransformation(
                f"only the innermost loop, {innermost}, is unrolled, not {dimension}"
            )
        if self.sweep.unroll:
            raise IllegalTransformation(f"{self.sweep.kernel} is unrolled in {dimension} twice")
        if factor > MOST_UNROLLED:
            raise IllegalTransformation(
                f"a loop is unrolled {MOST_UNROLLED} times at most, not {factor} times"
            )
        if factor == 1:
            return self
        name = f"{self.sweep.name}_u{factor}"
        return replace(self, sweep=replace(self.sweep, name=name, unroll=((dimension, factor),)))

    def streamed(self) -> "_BlockedSweep":
        """The sweep with its whole lines stored past the caches."""
        sweep = self.sweep
        if sweep.streamed:
            raise IllegalTransformation(f"{sweep.kernel} stores past the caches twice")
        if sweep.in_place:
            raise IllegalTransformation(
                f"{sweep.kernel} reads the array that it writes: its lines are in the caches"
            )
        return replace(self, sweep=replace(sweep, name=f"{sweep.name}_nt", streamed=True))

    def coloured(self) -> loop_tree.NodeBlock:
        """The sweep over the points of one colour, a barrier, and that over the others, which reads
        the first colour of other ranks."""
        if self.sweep.unroll:
            raise IllegalTransformation(
                f"{self.sweep.kernel} updates every second point: its loop is not unrolled"
            )
        halves = [
            replace(
                self, sweep=replace(self.sweep, name=f"{self.sweep.name}_{name}", colour=colour)
            )
            for colour, name in enumerate(("red", "black"))
        ]
        red, black = (half.node() for half in halves)
        fetched = loop_tree.Comm(dict(self.sweep.rows)[self.sweep.target].array)
        return loop_tree.NodeBlock((red, loop_tree.Sync(), fetched, black))

    def _check(self, dimension: str) -> None:
        dimensions = self.sweep.dimensions
        if dimension not in dimensions:
            raise IllegalTransformation(
                f"the grid has the dimensions {', '.join(dimensions)}, not {dimension}"
            )


def _chosen(
    transformations: Sequence[Transformation], skeleton: Skeleton, stencil: Stencil
) -> dict[str, _BlockedSweep]:
    kernels = {
        name: _BlockedSweep(_sweep(kernel, skeleton, stencil))
        for name, kernel in skeleton.kernels.items()
    }
    for transformation in transformations:
        match transformation:
            case Pad():
                continue  # storage only
            case (
                Block(kernel=kernel)
                | Unroll(kernel=kernel)
                | SeveralSweeps(kernel=kernel)
                | StreamStores(kernel=kernel)
            ) if kernel not in kernels:
                raise IllegalTransformation(f"there is no kernel {kernel}")
            case Block(kernel=kernel, dimension=dimension, size=size):
                kernels[kernel] = kernels[kernel].blocked(dimension, size)
            case Unroll(kernel=kernel, dimension=dimension, factor=factor):
                kernels[kernel] = kernels[kernel].unrolled(dimension, factor)
            case SeveralSweeps(kernel=kernel, sweeps=sweeps):
                tiles = isinstance(transformation, OverlappedTiles)
                kernels[kernel] = kernels[kernel].repeated(sweeps, tiles=tiles)
            case StreamStores(kernel=kernel):
                kernels[kernel] = kernels[kernel].streamed()
            case _:
                what = type(transformation).__name__
                raise IllegalTransformation(
                    f"{what} is for kernels on components, not for sweeps over a grid"
                )
    return kernels


def _sweep(kernel: Kernel, skeleton: Skeleton, stencil: Stencil) -> loop_tree.GridSweep:
    if not isinstance(kernel.evaluation, Application):
        raise IllegalTransformation(f"kernel {kernel.name} applies no stencil")
    if kernel.evaluation.in_place != stencil.in_place:
        wanted = "reads one array and writes another" if stencil.in_place else "is in place"
        raise IllegalTransformation(
            f"{stencil.name} has the order {stencil.order}, and kernel {kernel.name} {wanted}"
        )
    stored = coefficient_arrays(stencil, skeleton.arrays)
    rows = [(TARGET, loop_tree.StoredRow(kernel.target.array))]
    if not stencil.in_place:
        rows.append((SOURCE, loop_tree.StoredRow(kernel.evaluation.argument)))
    rows += [(renamed(stencil, name), loop_tree.StoredRow(array)) for name, array in stored.items()]
    return point_sweep(stencil, identifier(stencil), kernel.name, tuple(rows), _body(stencil))


def _body(stencil: Stencil) -> Expr:
    """The value at a point; in place the array that is read is the one that is written."""
    if not stencil.in_place:
        return stencil.body

    def change(part: Expr) -> Expr:
        if isinstance(part, Ref) and part.array == SOURCE:
            return Ref(TARGET, part.indices)
        return part

    return rebuild(stencil.body, change)


def point_sweep(
    stencil: Stencil,
    name: str,
    kernel: str,
    rows: tuple[tuple[str, loop_tree.StoredRow], ...],
    value: Expr,
) -> loop_tree.GridSweep:
    """The sweep that assigns ``value`` to the first of ``rows`` at every point."""
    return loop_tree.GridSweep(
        name=name,
        kernel=kernel,
        rows=rows,
        constants=constants(stencil, symbols(value)),
        dimensions=stencil.dimensions,
        value=_in_code(stencil, value),
        target=rows[0][0],
        radius=stencil.radius,
    )


def constants(stencil: Stencil, used: Collection[str]) -> tuple[tuple[str, Expr], ...]:
    """The constants of the stencil that are used, in order, under their names in the code."""
    return tuple(
        (renamed(stencil, name), _in_code(stencil, value))
        for name, value in stencil.constants.items()
        if name in used
    )


def _in_code(stencil: Stencil, expr: Expr) -> Expr:
    def change(part: Expr) -> Expr:
        match part:
            case Sym(name=symbol):
                return Sym(renamed(stencil, symbol))
            case Ref(array=array, indices=indices):
                return Ref(renamed(stencil, array), indices)
        return part

    return rebuild(expr, change)


def renamed(stencil: Stencil, name: str) -> str:
    """The name of a stencil's symbol in generated code; it is changed where the code has this name
    itself.
    """
    if name in (*stencil.constants, *stencil.coefficients):
        reserved = own_names(stencil.dimensions)
        while name in reserved:
            reserved |= {*stencil.constants, *stencil.coefficients}
            name += "_"
    return name


def coefficient_arrays(stencil: Stencil, arrays: Mapping[str, object]) -> dict[str, str]:
    """The coefficients that the body reads, each with the name of its stored array, distinct from
    ``arrays``.
    """
    names: dict[str, str] = {}
    for name in stencil.coefficients_read:
        array = name
        while array in arrays or array in names.values():
            array += "_"
        names[name] = array
    return names


def identifier(stencil: Stencil) -> str:
    """The name of the stencil, usable as a part of a C identifier."""
    return "".join(c if c.isalnum() else "_" for c in stencil.name)


# --- steps ----------------------------------------------------------------------------------


def _block(
    steps: tuple[Step, ...], kernels: Mapping[str, _BlockedSweep], *, coloured: bool
) -> loop_tree.NodeBlock:
    nodes: list[loop_tree.Node] = []
    for step in steps:
        nodes += _step(step, kernels, coloured=coloured)
    return loop_tree.NodeBlock(tuple(nodes))


def _step(
    step: Step, kernels: Mapping[str, _BlockedSweep], *, coloured: bool
) -> Sequence[loop_tree.Node]:
    match step:
        case CallStep(kernel=name) if coloured:
            return kernels[name].coloured().nodes
        case CallStep(kernel=name):
            return (kernels[name].node(),)
        case SyncStep():
            return (loop_tree.Sync(),)
        case SwapStep(first=first, second=second):
            return (loop_tree.Swap(first, second),)
        case LoopStep(variable=variable, count=count, body=body):
            try:
                times = int(number(count, {}))
            except ValueError as error:
                raise IllegalTransformation(
                    f"loop {variable} of a grid program: {error}"
                ) from error
            inner = _block(body, kernels, coloured=coloured)
            return (loop_tree.Repeat(variable, 0, times, inner),)
        case CommStep(array=array):
            return (loop_tree.Comm(array),)
        case _:
            raise IllegalTransformation(f"a grid program has no step {type(step).__name__}")


def _arrays(skeleton: Skeleton, stencil: Stencil) -> tuple[tuple[str, int], ...]:
    """The arrays of the skeleton and then those of coefficients, with their numbers of rows."""
    coefficients = coefficient_arrays(stencil, skeleton.arrays)
    return tuple((name, 1) for name in (*skeleton.arrays, *coefficients.values()))
