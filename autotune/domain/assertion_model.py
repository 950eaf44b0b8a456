"""The model of a program that asserts its counts: the tree of its loops, blocks and messages.

The expressions are those of ``autotune.language.counts``. A node is visited ``repeat`` times in
each visit of the node above it, or in each trip where that is a loop; the product of all trips and
repeats above a block times its own count is its part of the whole program. Within a loop with an
``index`` the inner expressions may use the index, which runs from 0 to trips - 1.

Reference: Alam and Vetter 2006, figures 4, 6 and 11.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from autotune.domain.assertion_record import Count, NamedVariable, PathKind

MODEL_SCHEMA = "autotune.assertion-model/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNode:
    """A region, loop, subroutine, counted block or message."""

    kind: PathKind
    name: str
    expression: str = ""
    """Of a loop its trips, of a counted block its count for a visit, of a message its bytes."""
    repeat: str = "1"
    """How often a visit or trip of the node above visits it; of a message, how many of them."""
    repeat_measured: bool = False
    """``repeat`` was counted in a run; no expression of the program states it."""
    index: str = ""
    """Of a loop: the name of its index; empty: it has none."""
    operation: str = ""
    """Of a coll: ``allreduce``, ``barrier``, ..."""
    nonblocking: bool = False
    """Of a send or recv: it is started and waited for later."""
    peer: str = ""
    """Of a send or recv: the rank of the partner as an expression; empty: it is not stated."""
    inner: tuple["ModelNode", ...] = ()

    def walk(self) -> Iterator["ModelNode"]:
        """The node and all below it, parents first."""
        yield self
        for node in self.inner:
            yield from node.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionModel:
    """The model of a program: versioned, kept as JSON."""

    schema: str = MODEL_SCHEMA
    name: str
    ranks: str = "nprocs"
    """The variable that holds the number of ranks."""
    rank: str = "rank"
    """The variable that holds the rank, where expressions differ from rank to rank."""
    variables: tuple[NamedVariable, ...] = ()
    values: Mapping[str, Count] = field(default_factory=dict)
    """The inputs in the run that the model was made of; a model may have none."""
    nodes: tuple[ModelNode, ...] = ()
    """What one rank does, in order."""
    sources: tuple[str, ...] = ()
    """Where it comes from: runs, files, publications."""

    def __post_init__(self) -> None:
        if self.schema != MODEL_SCHEMA:
            raise ValueError(f"schema {self.schema!r}, expected {MODEL_SCHEMA!r}")
        names = [variable.name for variable in self.variables]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"variable {name!r} is listed twice")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Variables that need a value, without the rank and the number of ranks."""
        return tuple(
            variable.name
            for variable in self.variables
            if not variable.expression and variable.name not in (self.rank, self.ranks)
        )
