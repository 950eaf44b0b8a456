"""Transformations, variants, candidates: what may be chosen, and its identity."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from autotune.domain.annotations import Text
from autotune.domain.candidate_names import named
from autotune.domain.misfit import Misfit, refuse
from autotune.domain.problem import AnyProblem
from autotune.domain.stencil import check_dimension
from autotune.language import constraint

# --- transformations ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interchange:
    """Transformation: put the loops of a kernel in this order, outermost first."""

    kernel: str
    order: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.order or len(set(self.order)) != len(self.order):
            raise ValueError(f"an order names each loop once, not {''.join(self.order)!r}")


@dataclass(frozen=True, slots=True)
class Fuse:
    """Transformation: compute two neighbouring kernels in one sweep over the long dimension."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Tile:
    """Transformation: run all sweeps of a kernel tile by tile over its long dimension."""

    kernel: str
    size: int

    def __post_init__(self) -> None:
        _check_tile(self.size)


@dataclass(frozen=True, slots=True)
class FuseTiles:
    """Transformation: run two kernels tile by tile, one after the other on each tile.

    They may lie on both sides of the end of the corrector loop. ``buffer`` names the array that the
    second kernel writes and the first reads beyond its tile; this array is double-buffered.
    """

    first: str
    second: str
    size: int
    buffer: str

    def __post_init__(self) -> None:
        _check_tile(self.size)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Transformation: run the iterations of a counted loop as a pipeline over the long dimension.

    Every iteration follows the one before it by the access distance, ``block`` components at a
    time. Then the rows between the iterations need no storage but windows of that distance, and the
    data of a time step pass through the memory once (Korch, Rauber 2010, on embedded Runge-Kutta
    methods). Threads compute the borders of their blocks redundantly.
    """

    loop: str
    """The variable of the loop."""
    block: int

    def __post_init__(self) -> None:
        _check_tile(self.block, "block")


@dataclass(frozen=True, slots=True)
class Contract:
    """Transformation: compute the kernels of a stage of a pipeline that write and read an array in
    one sweep, so that its elements stay in registers.
    """

    array: str


@dataclass(frozen=True, slots=True)
class InPlace:
    """Transformation: write an array of a pipeline where it lies, not into a second copy.

    The last stage is so far behind the first that nothing reads what it overwrites. Then a time
    step reads and writes the array once, and the caches hold one copy. Components at the ends of
    the block of a thread, which its neighbours read, are kept apart until they have.
    """

    array: str


@dataclass(frozen=True, slots=True)
class StripPlanes:
    """Transformation: run a pipeline on one strip of the rows of all planes after another.

    Its windows then hold parts of planes, so that they fit in a cache where whole planes do not.
    Stages compute the rows at the borders of their strips redundantly (overlapped tiles,
    Krishnamoorthy et al., PLDI 2007).
    """

    rows: int
    """The most rows of a strip; the strips of a plane are as equal as possible."""

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"a strip needs at least one row, not {self.rows}")


@dataclass(frozen=True, slots=True)
class Hoist:
    """Transformation: evaluate a right-hand side once in place of once for each iteration of a
    short loop that does not change it (loop-invariant code motion).

    The rows that the iterations wrote are equal; sums over them become products.
    """

    kernel: str
    loop: str
    """The variable of the loop."""


@dataclass(frozen=True, slots=True)
class Pad:
    """Transformation: ``lines`` more cache lines from one stored row to the next.

    Components of an IVP: rows are whole pages plus the padding; without one, whole lines. Grids:
    rows of the last dimension are whole lines plus the padding.
    """

    lines: int

    def __post_init__(self) -> None:
        if self.lines < 0:
            raise ValueError(f"a padding must not be negative, but is {self.lines} lines")


@dataclass(frozen=True, slots=True)
class Jam:
    """Transformation: compute ``factor`` iterations of a short loop of a kernel in one sweep.

    The loop is one around sweeps over the components: a row that several iterations read is loaded
    once for all of them, and a sum is kept in registers over them (unroll-and-jam: Callahan, Cocke,
    Kennedy 1988).
    """

    kernel: str
    loop: str
    """The variable of the loop."""
    factor: int

    def __post_init__(self) -> None:
        if self.factor < 2:
            raise ValueError(f"at least two iterations are jammed, not {self.factor}")


@dataclass(frozen=True, slots=True)
class Align:
    """Transformation: begin the vector loops of an IVP's sweeps at multiples of ``doubles``.

    Rows of components begin at cache lines. The components before the first multiple run one by
    one, so that no aligned access of the vector loop crosses a line.
    """

    doubles: int

    def __post_init__(self) -> None:
        if self.doubles not in ALIGNMENTS:
            allowed = ", ".join(map(str, ALIGNMENTS))
            raise ValueError(f"loops begin at multiples of {allowed} doubles, not {self.doubles}")


ALIGNMENTS = (2, 4, 8)
"""Numbers of doubles at whose multiples a vector loop may begin; 8 are a cache line."""


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Transformation: the vector loops of an IVP's sweeps work on ``lanes`` doubles at once.

    Without it the compiler chooses. Narrow vectors cross fewer cache lines where a right-hand side
    reads its neighbours; wide ones take fewer instructions.
    """

    lanes: int

    def __post_init__(self) -> None:
        if self.lanes not in LANES:
            allowed = ", ".join(map(str, LANES))
            raise ValueError(f"vectors have {allowed} doubles, not {self.lanes}")


@dataclass(frozen=True, slots=True)
class NeighbourSync:
    """Transformation: threads synchronise among neighbours only, not at barriers of all threads.

    Where the access distance is limited, a thread needs no more than that the threads whose
    components it reads, and those that read its own, have come as far (point-to-point
    synchronisation by flags; Park et al., ISC 2014, on sparse triangular solvers).
    """

    among: str

    def __post_init__(self) -> None:
        if self.among != "neighbours":
            raise ValueError(f"threads synchronise among neighbours, not among {self.among!r}")


LANES = (2, 4, 8)
"""Numbers of doubles in a vector: 16, 32 and 64 bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Transformation: run a grid kernel block by block of one dimension.

    The loops over blocks are outside all loops over points, in the order of the dimensions.
    """

    kernel: str
    dimension: str
    size: int

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        if self.size < 1:
            raise ValueError(f"a block needs at least one point, not {self.size}")


@dataclass(frozen=True, slots=True)
class Unroll:
    """Transformation: repeat the body of a grid kernel's innermost loop ``factor`` times.

    ``dimension`` is the one with unit stride; remaining points run one by one afterwards. The
    unrolling is that of Ibeid et al. 2019, section III.B, where 0 stands for none; here 1 does.
    """

    kernel: str
    dimension: str
    factor: int

    def __post_init__(self) -> None:
        check_dimension(self.dimension)
        if self.factor < 1:
            raise ValueError(f"a loop is unrolled at least once, not {self.factor} times")


@dataclass(frozen=True, slots=True)
class SeveralSweeps:
    """Transformation: run ``sweeps`` time steps of a grid kernel in one pass over the grid.

    Threads and blocks compute the points around their part that later sweeps need, so one barrier
    per pass is enough.
    """

    kernel: str
    sweeps: int

    def __post_init__(self) -> None:
        if not 1 <= self.sweeps <= MOST_SWEEPS:
            raise ValueError(f"a pass has 1 to {MOST_SWEEPS} sweeps, not {self.sweeps}")


class Wavefront(SeveralSweeps):
    """Transformation: several sweeps in one pass, plane by plane.

    The sweeps follow one another plane by plane along the slowest dimension, each a radius behind
    the one before. The planes in between stay in rings of a thread. (3.5-D blocking: Nguyen et
    al., SC 2010.)
    """

    __slots__ = ()


class OverlappedTiles(SeveralSweeps):
    """Transformation: several sweeps in one pass, tile by tile.

    A tile is a block of the grid. Its sweeps go from one buffer of the thread to another, each over
    fewer points around the tile. (Ghost zones, overlapped tiles: Krishnamoorthy et al., PLDI 2007;
    Meng, Skadron, ICS 2009.)
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class StreamStores:
    """Transformation: store the result of a kernel past the caches, a cache line at a time.

    Lines are not read before they are written, and the caches do not keep them. Points beside the
    whole lines of a row are stored as usual. Where the target has no such stores, all are plain.
    (Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores.)
    """

    kernel: str


@dataclass(frozen=True, slots=True)
class WholeLines:
    """Transformation: run the vector loops of an initial value problem ``lines`` lines at a time.

    The components of so many cache lines are an inner loop of constant length. Where fields
    alternate, all their formulas are evaluated for each component, which takes its own (select in
    the place of shuffles). Results do not change.
    """

    lines: int

    def __post_init__(self) -> None:
        if self.lines not in (1, 2, 4):
            raise ValueError(f"loops run 1, 2 or 4 cache lines at a time, not {self.lines}")


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Transformation: fetch the rows of an initial value problem ``lines`` cache lines ahead.

    Loops run a cache line at a time and first ask for the lines that they need later. What a
    pipeline hands on is in the caches and is not asked for. Results do not change.
    (Callahan, Kennedy, Porterfield, ASPLOS 1991.)
    """

    lines: int

    def __post_init__(self) -> None:
        if not 1 <= self.lines <= MOST_LINES_AHEAD:
            raise ValueError(
                f"rows are fetched 1 to {MOST_LINES_AHEAD} cache lines ahead, not {self.lines}"
            )


MOST_LINES_AHEAD = 4096
"""The largest distance of a prefetch in cache lines."""
MOST_SWEEPS = 32
"""The largest number of sweeps that one pass over a grid computes."""

Transformation = (
    Interchange
    | Fuse
    | Tile
    | FuseTiles
    | Pipeline
    | StripPlanes
    | Contract
    | InPlace
    | Hoist
    | Jam
    | Align
    | Vectorize
    | WholeLines
    | Prefetch
    | NeighbourSync
    | Pad
    | Block
    | Unroll
    | Wavefront
    | OverlappedTiles
    | StreamStores
)


LARGEST_TILE = 2**40
"""Components of the largest tile or block: more than a node holds, and far from overflow in C."""


def _check_tile(size: int, what: str = "tile") -> None:
    if size < 1:
        raise ValueError(f"a {what} needs at least one component, not {size}")
    if size > LARGEST_TILE:
        raise ValueError(f"a {what} has at most {LARGEST_TILE} components, not {size}")


# --- variants and candidates ----------------------------------------------------------------

Value = constraint.Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A skeleton with transformations, and the parameter values that define them."""

    skeleton: str
    definition: str = ""
    """Digest of what the skeleton computes."""
    transformations: tuple[Transformation, ...]
    parameters: Mapping[str, Value]
    coordinates: Mapping[str, Value] = field(default_factory=dict, compare=False, repr=False)
    """What a search sees in their place, by name; empty: the values themselves."""

    @property
    def label(self) -> str:
        """The parameter values as readable text: ``jli``, ``ilj-t256-au``, ``l1=65536``."""
        return named(self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A compiler with its flags as written; the toolchain resolves flags and version."""

    compiler: Text = "gcc"
    """A command on the path, or a path."""
    flags: tuple[Text, ...] = ("-O3", "-march=native")
    """One option each; the baseline is built with those of the first build."""

    def __post_init__(self) -> None:
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """Every level of optimisation that gcc and clang refuse, where the compiler is one."""
        if not _GNU_LIKE.match(self.compiler):
            return
        for i, flag in enumerate(self.flags):
            if flag.startswith("-O") and not _LEVEL.fullmatch(flag):
                yield Misfit(("flags", i), f"{flag} is no level of optimisation", _LEVELS)

    @property
    def words(self) -> str:
        """The compiler with its flags: ``gcc -O3 -march=native``."""
        return " ".join((self.compiler, *self.flags))


_GNU_LIKE = re.compile(r"(.*/)?(gcc|g\+\+|clang)")
_LEVEL = re.compile(r"-O(\d*|s|g|z|fast|.*\{.*)")
"""Levels, and those with a place that a parameter fills."""
_LEVELS = "-O0, -O1, -O2, -O3, -Os, -Og or -Ofast"

NO_COMPILER = Build(compiler="none", flags=())
"""Of programs that are built, if at all, by other means."""


Exchange = Literal["allgather", "neighbour", "sparse"]
Communication = Literal["none"] | Exchange
EXCHANGES: tuple[Exchange, ...] = ("allgather", "neighbour", "sparse")
"""How ranks exchange what the right-hand side reads: every component by MPI_Allgatherv, those
within the access distance with both neighbours, or exactly what is read with whoever owns it."""


Placement = Literal["compact", "scatter"]
PLACEMENTS: tuple[Placement, ...] = ("compact", "scatter")
"""Where the threads of a program run: on cores side by side, or as far apart as they can be, over
all caches and memories of the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLayout:
    """How a candidate is run: nodes, ranks, threads, and one way to communicate."""

    threads: int = 1
    """OpenMP threads of each rank."""
    ranks: int = 1
    """MPI ranks on all nodes together; 1: a program without MPI."""
    nodes: int = 1
    communication: Communication = "none"
    placement: Placement = "compact"

    def __post_init__(self) -> None:
        if min(self.threads, self.ranks, self.nodes) < 1 or self.ranks % self.nodes:
            raise ValueError(
                f"{self.ranks} ranks of {self.threads} threads do not fit {self.nodes} nodes"
            )
        if (self.ranks == 1) != (self.communication == "none"):
            raise ValueError(f"{self.ranks} ranks and communication {self.communication}")
        if self.ranks > 1 and self.placement != "compact":
            raise ValueError("ranks are placed side by side: scatter is for programs of one rank")

    @property
    def serial(self) -> bool:
        """One thread of one rank."""
        return self.threads == self.ranks == 1

    @property
    def words(self) -> str:
        """Threads, ranks and nodes as text: ``2 ranks x 1 thread, neighbour``."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        if self.ranks == 1:
            return threads + (f", {self.placement}" if self.placement != "compact" else "")
        where = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{self.ranks} ranks x {threads}{where}, {self.communication}"


_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)  # without slots: its identity is computed once and kept
class Candidate:
    """What is predicted, built, measured and ranked: a variant of a problem, built and run one
    way.
    """

    variant: Variant
    problem: AnyProblem
    build: Build = field(default_factory=Build)
    layout: ExecutionLayout = field(default_factory=ExecutionLayout)

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The parameter values of its variant."""
        return self.variant.parameters

    @property
    def threads(self) -> int:
        """OpenMP threads of each rank."""
        return self.layout.threads

    @property
    def ranks(self) -> int:
        """The number of MPI ranks on all nodes together."""
        return self.layout.ranks

    @property
    def nodes(self) -> int:
        """The number of nodes that the ranks run on."""
        return self.layout.nodes

    @property
    def communication(self) -> Communication:
        """How ranks exchange data; ``none`` for one rank."""
        return self.layout.communication

    @property
    def placement(self) -> Placement:
        """The placement of the threads on cores."""
        return self.layout.placement

    @property
    def threads_per_node(self) -> int:
        """The number of threads of all ranks on a node."""
        return self.ranks // self.nodes * self.threads

    def canonical(self) -> dict[str, object]:
        """Everything that distinguishes this candidate from others, in plain values."""
        return {
            "skeleton": self.variant.skeleton,
            "step": self.variant.definition,
            "transformations": [
                {"kind": type(t).__name__}
                | {name: _plain(getattr(t, name)) for name in t.__dataclass_fields__}
                for t in self.variant.transformations
            ],
            "parameters": dict(sorted(self.variant.parameters.items())),
            "compiler": self.build.compiler,
            "flags": list(self.build.flags),
            **self.problem.canonical(),
            "threads": self.threads,
            "ranks": self.ranks,
            "communication": self.communication,
            **({"nodes": self.nodes} if self.nodes > 1 else {}),
            **({"placement": self.placement} if self.placement != "compact" else {}),
        }

    @cached_property
    def identity(self) -> str:
        """12 hexadecimal digits of SHA-256 over the canonical form."""
        text = _JSON.encode(self.canonical())
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """A readable name, which the identity makes unique: ``jli-au@heat2d-N256-T2``."""
        return f"{self.variant.label}{case_label(self.problem, self.layout)}"

    @property
    def id(self) -> str:
        """``label:identity``, as users name a candidate."""
        return f"{self.label}:{self.identity}"


def case_label(problem: AnyProblem, layout: ExecutionLayout) -> str:
    """The problem and the layout, as a candidate's label ends with them: ``@heat2d-N256-T2``."""
    text = f"@{problem.label}-T{layout.threads}"
    if layout.ranks > 1:
        nodes = f"-P{layout.nodes}" if layout.nodes > 1 else ""
        text += f"{nodes}-R{layout.ranks}-{layout.communication}"
    if layout.placement != "compact":
        text += f"-{layout.placement}"
    return text


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
