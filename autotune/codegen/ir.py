"""The loop tree: frozen nodes that transformations rewrite and printers print.

A program is one time step of one thread over its block of the long dimension:

    Block     children in order
    Repeat    a C loop over a short or counted variable around calls (stages, correctors)
    Tiles     a loop over tiles of the thread's block around calls
    Sweep     one pass of one long loop over [first, last): a C function of its own
    Sync      a barrier
    Comm      communication of an array
    Swap      exchange of two buffers

**Canonical form.** Every stored element is accessed in a ``Sweep`` as a row (an array and the
value of its leading index) at an offset of the long variable; scalars that change between calls
are parameters of the sweep. So a sweep is compiled, analysed and cached on its own: its C text
depends on the method, the right-hand side and the loop order, never on sizes, tiles or threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autotune.expression import Expr


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a stored array: ``Y`` and the index of the stage (None for a vector)."""

    array: str
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """``target[j] = value``, or ``+=`` with ``add``.

    ``target`` is the name of a row parameter of the sweep. In ``value`` rows are ``Ref(parameter,
    (j + offset,))``, scalars ``Sym``; constants of the method are numbers.
    """

    target: str
    value: Expr
    add: bool = False


@dataclass(frozen=True, slots=True)
class Local:
    """A temporary per point: ``const double name = value``."""

    name: str
    value: Expr


Statement = Assign | Local


@dataclass(frozen=True, slots=True)
class Stretch:
    """Statements for a stretch of the long dimension (expressions of N and n).

    ``columns`` and ``row`` restrict it to positions within rows of ``row`` components.
    """

    lower: Expr
    upper: Expr
    statements: tuple[Statement, ...]
    columns: tuple[Expr, Expr] | None = None
    row: Expr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One pass over the block: ``stretches`` that share bounds and row length, in column order.

    ``rows`` and ``scalars`` map the names of the parameters to what is passed by the call.
    Without boundaries there is one stretch, [0, n).
    """

    name: str
    """Unique in the program for equal text: kernel, loop order, part (``lc_ijl_add``)."""
    kernel: str
    """RHS, LC, APPROX, UPDATE ...: the kernel that this is part of, for per-phase times."""
    rows: tuple[tuple[str, Row], ...]
    scalars: tuple[tuple[str, Expr], ...]
    stretches: tuple[Stretch, ...]
    constants: tuple[tuple[str, Expr], ...] = ()
    """Constants of the problem that statements and bounds use, in order, as functions of N."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """``for (variable = first; variable < end; variable++) body`` with whole numbers known here."""

    variable: str
    first: int
    end: int
    body: "Block"


@dataclass(frozen=True, slots=True)
class Tiles:
    """The body runs for one tile of ``size`` components after another; its sweeps see the tile."""

    size: int
    body: "Block"


@dataclass(frozen=True, slots=True)
class Sync:
    """A barrier of all threads."""


@dataclass(frozen=True, slots=True)
class Comm:
    """The remote parts of an array are fetched."""

    array: str


@dataclass(frozen=True, slots=True)
class Swap:
    """Two arrays exchange their storage."""

    first: str
    second: str


Node = Sweep | Repeat | Tiles | Sync | Comm | Swap


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes in order."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One time step, ready to print, with the storage that it needs."""

    body: Block
    arrays: tuple[tuple[str, int], ...]
    """Stored arrays and their number of rows."""
    pad_lines: int
    """Cache lines added to the leading dimension of arrays with several rows."""
    stages: int
    granule: int = 8
    """Blocks of threads and tiles are multiples of this many components."""


def sweeps(block: Block) -> Iterator[Sweep]:
    """Every sweep node in program order, once each, loops not repeated."""
    for node in block.nodes:
        if isinstance(node, Sweep):
            yield node
        elif isinstance(node, Repeat | Tiles):
            yield from sweeps(node.body)
