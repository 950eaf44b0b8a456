"""The loop tree: frozen nodes that transformations rewrite and printers print.

A program is one time step of one thread over its block of the long dimension:

    Block     children in order
    Repeat    a C loop over a short or counted variable around calls (stages, correctors)
    Tiles     a loop over tiles of the thread's block, or over blocks of a grid, around calls
    PipelineLoop   a loop over blocks around stages, each of which follows the one before it
    PipelineStage  the calls of one stage of a pipeline
    Sweep     one pass of one long loop over [first, last): a C function of its own
    GridSweep one pass over a box of points of a grid: a C function of its own
    PlaneFront several sweeps over a grid that follow one another plane by plane
    OverlappedTile several sweeps over a tile of a grid, each over fewer points around it
    Sync      a barrier
    Wait      a thread waits for its neighbours
    Comm      communication of an array
    Swap      exchange of two buffers
    PutBack   the components that a pipeline in place has kept apart

**Canonical form.** Every stored element is accessed in a ``Sweep`` as a row (an array and the
value of its leading index) at an offset of the long variable; scalars that change between calls
are parameters of the sweep. So a sweep is compiled, analysed and cached on its own: its C text
depends on the method, the right-hand side and the loop order, never on sizes, tiles or threads.
In a ``GridSweep`` an element is accessed at constant offsets of the point; its C text depends on
the stencil and on how far the innermost loop is unrolled, never on extents, blocks or threads.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autotune.language.expression import Expr, Ref, number, references, symbols


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row of a stored array: array ``Y``, stage ``index``; None for an array of one row.

    ``window``: the array is one of the program's windows.
    """

    array: str
    index: Expr | None = None
    window: bool = False


@dataclass(frozen=True, slots=True)
class Assign:
    """The assignment ``target[j] = value``; with ``add``, ``target[j] += value``.

    ``target`` is the name of a row parameter of the sweep. In ``value`` rows are ``Ref(parameter,
    (j + offset,))`` and scalars are ``Sym``; constants of the method are numbers.
    """

    target: str
    value: Expr
    add: bool = False


@dataclass(frozen=True, slots=True)
class Local:
    """A temporary for one point: ``const double name = value``."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class SumLoop:
    """A temporary for one point: the sum ``name`` of ``value`` over lower <= index < upper.

    In ``value`` rows are also ``Ref(parameter, (index + offset,))``.
    """

    name: str
    index: str
    lower: Expr
    upper: Expr
    value: Expr

    def near(self) -> tuple[Ref, ...]:
        """The elements of a term at the point itself, not at the index."""
        return tuple(r for r in references(self.value) if self.index not in symbols(r.indices[-1]))

    def far(self) -> tuple[Ref, ...]:
        """The elements of a term at the index."""
        return tuple(r for r in references(self.value) if self.index in symbols(r.indices[-1]))


Statement = Assign | Local | SumLoop


def near(statement: Statement) -> tuple[Ref, ...]:
    """The elements that a statement reads at offsets of the point."""
    if isinstance(statement, SumLoop):
        return statement.near()
    return tuple(r for r in references(statement.value) if not references(r.indices[-1]))


def gathered(statement: Statement) -> tuple[Ref, ...]:
    """The elements that a statement reads through index arrays: ``y[table[j]]``."""
    return tuple(r for r in references(statement.value) if references(r.indices[-1]))


@dataclass(frozen=True, slots=True)
class PlaneRows:
    """The rows [first, end) of every plane of ``size`` components."""

    first: Expr
    end: Expr
    size: Expr


@dataclass(frozen=True, slots=True)
class SweepStretch:
    """The statements of a sweep for one range of the long dimension, in terms of N and n.

    ``columns`` and ``row`` restrict the range to some positions within rows of ``row`` components,
    ``planes`` to some rows within planes.
    """

    lower: Expr
    upper: Expr
    statements: tuple[Statement, ...]
    columns: tuple[Expr, Expr] | None = None
    row: Expr | None = None
    planes: PlaneRows | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One pass over the block: ``stretches`` that share bounds, plane and row length, ordered by
    rows, then columns.

    ``rows`` and ``scalars`` map the names of the parameters to the arguments of the call. Without
    boundaries there is one stretch, [0, n).
    """

    name: str
    """Unique in the program for equal text: kernel, loop order, part (``lc_ijl_add``)."""
    kernel: str
    """RHS, LC, APPROX, UPDATE ...: the kernel that this is part of, for per-phase times."""
    rows: tuple[tuple[str, StoredRow], ...]
    scalars: tuple[tuple[str, Expr], ...]
    stretches: tuple[SweepStretch, ...]
    constants: tuple[tuple[str, Expr], ...] = ()
    """Constants of the problem that statements and bounds use, in order, as functions of N."""
    align: int = 1
    """Vector loops begin at multiples of this many components; those before run one by one."""
    lanes: int | None = None
    """Components in a vector; None: as the compiler chooses."""
    streamed: bool = False
    """Whether whole lines of the only row that is written are stored past the caches."""
    lines: int = 0
    """Cache lines that vector loops run at a time; 0: they run to the end of their components."""
    prefetched: tuple[Ref, ...] = ()
    """Elements at component j that are fetched when their sweep is as many lines before them."""
    ahead: int = 0
    """Cache lines from a component to the one whose elements are fetched."""
    tables: tuple[str, ...] = ()
    """Names of the index arrays that statements use."""
    called: bool = False
    """Whether a function of the caller of a library computes it; its statement then says no more
    than what that may read."""


def sums(sweep: Sweep) -> tuple[SumLoop, ...]:
    """The sums over an index in the statements of a sweep, in order."""
    return tuple(s for t in sweep.stretches for s in t.statements if isinstance(s, SumLoop))


@dataclass(frozen=True, slots=True, kw_only=True)
class GridSweep:
    """The assignment ``target = value`` at every point of a box of a grid.

    In ``value`` elements are ``Ref(parameter, (k + dk, j + dj, i + di))``; extents, constants and
    scalars are ``Sym``. The loops run in the order of ``dimensions``; the last has unit stride.
    """

    name: str
    """Unique in the program for equal text: stencil and unrolling (``star3d_7pt_u4``)."""
    kernel: str
    """The kernel that this computes, for per-phase times."""
    rows: tuple[tuple[str, StoredRow], ...]
    """Parameter to stored array, the written one first."""
    scalars: tuple[tuple[str, Expr], ...] = ()
    constants: tuple[tuple[str, Expr], ...] = ()
    """Constants of the stencil that ``value`` uses, in order, as functions of the extents."""
    dimensions: tuple[str, ...]
    """Loop dimensions, the slowest first."""
    value: Expr
    target: str
    """The name of the parameter that is written."""
    radius: int
    """Number of ghost points on each side of each dimension."""
    unroll: tuple[tuple[str, int], ...] = ()
    """Dimension and how many times the body of its loop is written out."""
    colour: int | None = None
    """0: the sweep updates the points whose indices have an even sum, 1: the others; None: all."""
    streamed: bool = False
    """Whether whole lines of the result are stored past the caches."""
    across: tuple[str, ...] = ()
    """Dimensions of the grid that the sweep does not loop over: it runs within one plane."""

    @property
    def in_place(self) -> bool:
        """Whether the sweep reads the array that it writes."""
        return any(ref.array == self.target for ref in references(self.value))

    @property
    def ordered(self) -> bool:
        """Whether the sweep reads points that it has updated itself, so that their order counts."""
        return self.in_place and self.colour is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneFront:
    """Sweeps that follow one another along the slowest dimension, each a radius behind the last.

    At front f the sweep s = 1, 2, ... computes plane f - radius*(s - 1). Sweep 1 reads the source,
    the last one writes the target, and those in between write rings of 2*radius + 1 planes:

        f        1  2  3  4  5  6        a sweep reads 2*radius + 1 planes of the one before;
        sweep 1  0  1  2  3  4  5        its plane replaces the oldest of its ring
        sweep 2     0  1  2  3  4

    A thread computes its planes and, for sweep s of t, radius*(t - s) planes on both sides; blocks
    around the node overlap in the same way.
    """

    sweep: GridSweep
    """The sweep over the grid that is repeated."""
    plane: GridSweep
    """The same within one plane; each plane that it reads or writes is a row parameter."""
    planes: tuple[tuple[str, int], ...]
    """Row parameter of ``plane`` to the offset of its plane."""
    source: str
    """The stored array that the first sweep reads."""
    sweeps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlappedTile:
    """Sweeps over a tile of a grid, one after the other: the blocks around the node.

    Sweep 1 reads the source, the last one writes the target, and those in between go from one of
    two buffers to the other. Sweep s of t computes, in every dimension, radius*(t - s) points
    around the tile on both sides: what the later ones need there.
    """

    sweep: GridSweep
    """The sweep over the grid that is repeated."""
    source: str
    """The stored array that the first sweep reads."""
    sweeps: int


SweepsOfPass = PlaneFront | OverlappedTile
"""Several sweeps in one pass over a grid."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The loop ``for (variable = first; variable < end; variable++) body`` with constant whole
    bounds.
    """

    variable: str
    first: int
    end: int
    body: "NodeBlock"


@dataclass(frozen=True, slots=True)
class Tiles:
    """A loop over tiles of ``size`` components; the sweeps of the body see one tile at a time.

    With ``dimension``, it is a loop over blocks of ``size`` points in that dimension of the grid.
    """

    size: int
    body: "NodeBlock"
    dimension: str | None = None


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """The calls of one stage of a pipeline; the first one has the number 0."""

    number: int
    body: "NodeBlock"


@dataclass(frozen=True, slots=True)
class PlaneStrips:
    """Strips of the rows of every plane, as equal as possible: a pipeline takes one strip of all
    planes after another.

    Of S stages, stage k computes (S - 1 - k) ``margin`` rows more than the strip on both sides, as
    far as the plane has rows.
    """

    rows: int
    """The most rows of a strip."""
    margin: int
    """Rows before and after a component that a right-hand side reads, in its plane and others."""
    row: Expr
    """Components of a row in terms of N and the constants of the problem."""
    plane: Expr
    """Components of a plane."""

    def shares(self, values: Mapping[str, float | int], later: int) -> list[float]:
        """What a stage computes of a plane, strip by strip, as shares of its components.

        ``values``: of N and the constants. ``later``: the number of stages after it.

        >>> from autotune.language.expression import Num
        >>> PlaneStrips(5, 1, Num(2), Num(16)).shares({}, 1)
        [0.625, 0.625]
        """
        rows = int(number(self.plane, values)) // int(number(self.row, values))
        width, more = -(-rows // -(-rows // self.rows)), later * self.margin
        return [
            (min(start + width + more, rows) - max(start - more, 0)) / rows
            for start in range(0, rows, width)
        ]


@dataclass(frozen=True, slots=True)
class PipelineLoop:
    """A loop over blocks of ``block`` components; stage k runs k lags behind stage 0.

    The lag is the access distance, rounded up to whole granules. Of S stages, stage k computes
    S - 1 - k lags more than the thread's block on both sides, as far as there are components: what
    the last stage needs there, the thread computes itself.
    """

    block: int
    distance: Expr
    """The access distance in terms of N, n and the constants of the problem."""
    body: "NodeBlock"
    """One ``PipelineStage`` after another."""
    in_place: tuple[str, str] | None = None
    """The array that stage 0 reads around its block and the last one writes where it lies, and the
    copy of it: there the last stage keeps components apart that other threads may still read, those
    within S lags of the ends of the thread's block."""
    strips: PlaneStrips | None = None
    """What a pipeline takes of each plane at a time; None: whole planes."""


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier of all threads."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread waits until its neighbours have come as far: those with components within ``lags``
    access distances of its block, around the ends of a periodic problem.

    In a pipeline a lag is the access distance rounded up to whole granules.
    """

    lags: int


@dataclass(frozen=True, slots=True)
class Comm:
    """The communication of an array: every rank fetches the remote parts of it."""

    array: str


@dataclass(frozen=True, slots=True)
class Swap:
    """The exchange of the storage of two arrays."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """The components of an array that a pipeline in place has kept apart go to their places."""

    array: str
    copy: str


AnySweep = Sweep | GridSweep
Node = (
    Sweep
    | GridSweep
    | PlaneFront
    | OverlappedTile
    | Repeat
    | Tiles
    | PipelineLoop
    | PipelineStage
    | Sync
    | Wait
    | Comm
    | Swap
    | PutBack
)
LoopNode = Repeat | Tiles | PipelineLoop | PipelineStage
"""The nodes that have a body."""


@dataclass(frozen=True, slots=True)
class NodeBlock:
    """A sequence of nodes."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class GridStorage:
    """How the arrays of a program lie in memory: row-major, with ghosts around the interior.

    Every dimension has ``radius`` ghosts on each side. Rows of the last dimension are rounded up to
    whole cache lines, plus the padding of the program.
    """

    dimensions: tuple[str, ...]
    radius: int


@dataclass(frozen=True, slots=True)
class Window:
    """An array of which a thread keeps the last components only, around the block of a stage.

    With ``neighbours`` it keeps as many as the next stage reads, else one block and the components
    by which a stage so many ``lags`` later, which reads them still, is behind.
    """

    array: str
    rows: int
    neighbours: bool
    lags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgram:
    """The program of one time step, ready to print, with the storage that it needs."""

    body: NodeBlock
    arrays: tuple[tuple[str, int], ...]
    """Stored arrays and their number of rows."""
    windows: tuple[Window, ...] = ()
    """Arrays of which every thread keeps a part of its own."""
    pad_lines: int
    """Cache lines of padding from one row to the next: after whole pages where rows are components,
    after whole lines where they are the last dimension of a grid; 0: none.
    """
    stages: int
    granule: int = 8
    """Blocks of threads and tiles are multiples of this many components."""
    grid: GridStorage | None = None
    """None: the arrays are rows of n components."""
    plain: "StepProgram | None" = field(default=None, compare=False, repr=False)
    """The program with the same sweeps in the same order, but with vectors as the compiler chooses;
    None: this one is."""


def sweeps(block: NodeBlock) -> Iterator[Sweep]:
    """Every sweep over components in program order, listed once however often loops repeat it."""
    return (node for node in every_sweep(block) if isinstance(node, Sweep))


def grid_sweeps(block: NodeBlock) -> Iterator[GridSweep]:
    """Every sweep over a grid in program order, listed once however often loops repeat it."""
    return (node for node in every_sweep(block) if isinstance(node, GridSweep))


def every_sweep(block: NodeBlock) -> Iterator[AnySweep]:
    """Every sweep of either kind in program order, listed once however often loops repeat it."""
    for node in block.nodes:
        if isinstance(node, Sweep | GridSweep):
            yield node
        elif isinstance(node, PlaneFront):
            yield node.plane
        elif isinstance(node, OverlappedTile):
            yield node.sweep
        elif isinstance(node, LoopNode):
            yield from every_sweep(node.body)


def on_sweeps(block: NodeBlock, change: Callable[[Sweep], Sweep]) -> NodeBlock:
    """The block with every sweep over components replaced by what ``change`` makes of it."""

    def changed(node: Node) -> Node:
        if isinstance(node, Sweep):
            return change(node)
        return (
            replace(node, body=on_sweeps(node.body, change)) if isinstance(node, LoopNode) else node
        )

    return NodeBlock(tuple(changed(node) for node in block.nodes))


def several_sweeps(block: NodeBlock) -> tuple[SweepsOfPass, tuple[tuple[str, int], ...]] | None:
    """The first sweeps in one pass of a program with the blocks around them, outermost first; None
    if there are none.
    """
    for node in block.nodes:
        if isinstance(node, SweepsOfPass):
            return node, ()
        if isinstance(node, Repeat | Tiles):
            inner = several_sweeps(node.body)
            if inner is not None:
                around = (
                    ((node.dimension, node.size),)
                    if isinstance(node, Tiles) and node.dimension is not None
                    else ()
                )
                return inner[0], (*around, *inner[1])
    return None


def changed_arrays(block: NodeBlock) -> set[str]:
    """The arrays that sweeps write or that change places."""
    changed: set[str] = set()
    for node in block.nodes:
        match node:
            case Swap(first=first, second=second) | PutBack(array=first, copy=second):
                changed |= {first, second}
            case Sweep(rows=rows, stretches=stretches):
                statements = [s for stretch in stretches for s in stretch.statements]
                changed |= {dict(rows)[s.target].array for s in statements if isinstance(s, Assign)}
            case (
                GridSweep(rows=rows, target=target)
                | PlaneFront(sweep=GridSweep(rows=rows, target=target))
                | OverlappedTile(sweep=GridSweep(rows=rows, target=target))
            ):
                changed.add(dict(rows)[target].array)
        if isinstance(node, LoopNode):
            changed |= changed_arrays(node.body)
    return changed


def pipelines(block: NodeBlock) -> Iterator[PipelineLoop]:
    """Every pipeline of a program."""
    for node in block.nodes:
        if isinstance(node, PipelineLoop):
            yield node
        elif isinstance(node, LoopNode):
            yield from pipelines(node.body)


def stages(block: NodeBlock) -> int:
    """The number of stages of the pipeline of a program, or of sweeps of a pass over a grid; 1
    without one.
    """
    several = several_sweeps(block)
    if several is not None:
        return several[0].sweeps
    return max((len(loop.body.nodes) for loop in pipelines(block)), default=1)


def waits(block: NodeBlock) -> Iterator[Wait]:
    """Every wait for neighbours, listed once however often loops repeat it."""
    for node in block.nodes:
        if isinstance(node, Wait):
            yield node
        elif isinstance(node, LoopNode):
            yield from waits(node.body)
