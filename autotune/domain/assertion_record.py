"""The record of one rank: what it asserted and what was counted, by call path.

A program states, at points of its code, how often a loop turns, how many operations a block does,
how large its messages are: as expressions of named variables. The library that is loaded with it
evaluates each expression when the point is reached, and keeps sums by *call path*: one
``PathRecord`` for every chain of regions, loops and subroutines that leads to a point. A record has
bounded size however long the run; what did not fit is named in ``losses``.

Reference: Alam and Vetter 2006, *A Framework to Develop Symbolic Performance Models of Parallel
Applications*, sections 3.1 to 3.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

RECORD_SCHEMA = "autotune.assertion-record/1"

PathKind = Literal["region", "loop", "sub", "flop", "load", "store", "send", "recv", "coll"]
"""What a point asserts. A region and a subroutine assert nothing but lend their name; a loop
asserts its trips; flop, load and store count floating-point operations, bytes read and bytes
written; send, recv and coll assert messages."""
COUNTED: tuple[PathKind, ...] = ("flop", "load", "store")
MESSAGES: tuple[PathKind, ...] = ("send", "recv", "coll")

Count = int | float
"""A sum of counts; a real number where an expression is not exact."""


class SizeCount(NamedTuple):
    """Messages of one size, in bytes."""

    size: Count
    messages: int


class PeerCount(NamedTuple):
    """Messages to or from one rank of MPI_COMM_WORLD."""

    rank: int
    messages: int
    size: int
    """Bytes of all of them."""


class DifferenceCount(NamedTuple):
    """Visits whose measured count differs from the asserted one by ``difference``."""

    difference: Count
    """Asserted minus measured."""
    visits: int


class UnevaluatedVisits(NamedTuple):
    """Visits at which an expression had no value."""

    reason: str
    visits: int


class RecordLoss(NamedTuple):
    """What a record does not hold, for it would have been too large or could not be known."""

    what: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstVisit:
    """The visit of the largest difference, with the variables that its expression uses."""

    asserted: Count
    measured: Count
    binding: Mapping[str, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """The calls of one function of MPI directly within a path."""

    call: str
    """``MPI_Isend``; a pickled call of mpi4py is counted by the functions of MPI that it uses, as
    ``MPI_Send (pickled)`` where the program says which communicator to watch."""
    kind: PathKind
    """``send``, ``recv`` or ``coll``."""
    messages: int
    size: int
    """Bytes: of a send or receive, of the message that came; of a collective, what this rank
    contributes, and of a broadcast or scatter what it gets of the root: the message, the block."""
    to_self: int
    """Messages whose peer is the rank itself; the network does not carry them."""
    sizes: tuple[SizeCount, ...]
    """By size, ascending; to_self ones included."""
    other_sizes: int
    """Messages of sizes that did not fit."""
    peers: tuple[PeerCount, ...]
    other_peers: int
    unasserted: int
    """Messages that no assertion foretold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRecord:
    """One point of the program reached by one call path."""

    id: int
    parent: int
    """The id of the path that it lies in; -1: the program itself."""
    kind: PathKind
    name: str
    expression: str = ""
    """Of a loop its trips, of a counted block its count for a visit, of a message its bytes."""
    repeat: str = "1"
    """Of a message: how many of these a visit asserts."""
    operation: str = ""
    """Of a coll: ``allreduce``, ``barrier``, ... as in the name of MPI's function."""
    file: str = ""
    """The source file of the point, as the compiler or interpreter names it; empty: not known."""
    first_line: int = 0
    last_line: int = 0
    """The lines between begin and end; 0: not known."""
    visits: int
    asserted: Count
    """The sum over all visits that could be evaluated: trips, operations, bytes, bytes sent."""
    measured: Count | None
    """The same as counted; None where a counter outside of the run says it (``counter``)."""
    counter: str = ""
    """Who counted: ``trips``, ``mpi``, ``papi:NAME``, ``program`` (the program gave the number),
    ``source-operators`` (line counts of the compiler, read after the run); empty: nobody."""
    passes: int
    failures: int
    """Visits whose counts were equal, and unequal. Neither holds a visit without a value."""
    unevaluated: tuple[UnevaluatedVisits, ...] = ()
    worst: WorstVisit | None = None
    differences: tuple[DifferenceCount, ...] = ()
    """By difference, ascending; those of 0 are the passes."""
    other_differences: int = 0
    """Visits whose differences did not fit."""
    least: Count | None = None
    most: Count | None = None
    """Of the measured counts of a visit."""
    zero: int = 0
    """Visits with a measured count of zero, such as loops that never turned."""
    deepest: int = 1
    """Visits that were open at once, at most: more than 1 where a subroutine calls itself. The
    inner ones are visits of the same path."""
    seconds: float = 0.0
    """Time between begin and end, of all visits, that of inner paths included."""
    asserted_sizes: tuple[SizeCount, ...] = ()
    """Of a message: what was asserted by size, ascending."""
    asserted_other_sizes: int = 0
    missing: int = 0
    """Of a message: asserted ones that did not come before the enclosing path ended."""
    calls: tuple[CallRecord, ...] = ()
    """Calls of MPI directly within a region, loop, subroutine or counted block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedVariable:
    """A variable that a program names: an input, or derived from others by an expression."""

    name: str
    unit: str = ""
    domain: str = ""
    """``power of two``, ``square``, ``whole``, ``even``, a range as ``[1, 64]``; several with ``;``
    between; empty: any number."""
    expression: str = ""
    """Of a derived variable, with variables named before it; empty: an input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRecord:
    """The values that a variable had in a run."""

    variable: NamedVariable
    first: Count
    last: Count
    changes: int
    """How often the value changed after the first."""
    violations: int = 0
    """Values outside the domain."""
    worst_value: Count | None = None
    """The first value outside the domain."""
    passes: int = 0
    failures: int = 0
    """Of a derived variable whose value the program gave too: how often both were equal, or not."""
    unevaluated: tuple[UnevaluatedVisits, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionRecord:
    """All that one rank recorded."""

    schema: str = RECORD_SCHEMA
    run: str
    """The same for all ranks of a run, and of no other run."""
    rank: int
    ranks: int
    program: str
    host: str
    started: float
    """Seconds since 1970-01-01 UTC."""
    seconds: float
    complete: bool
    """The program ended by its own will: it returned or called exit."""
    variables: tuple[VariableRecord, ...]
    paths: tuple[PathRecord, ...]
    """Parents before children."""
    calls: tuple[CallRecord, ...]
    """Calls of MPI outside of every path."""
    losses: tuple[RecordLoss, ...]

    def __post_init__(self) -> None:
        if self.schema != RECORD_SCHEMA:
            raise ValueError(f"schema {self.schema!r}, expected {RECORD_SCHEMA!r}")
        if not 0 <= self.rank < self.ranks:
            raise ValueError(f"rank {self.rank} of {self.ranks}")
        ids: set[int] = {-1}
        for path in self.paths:
            if path.parent not in ids or path.id in ids:
                raise ValueError(f"path {path.id} ({path.name}): its parent comes after it")
            ids.add(path.id)
