"""The loop nests of one time step, before their long loops are outlined as sweeps.

    Nest               what one kernel computes, or several fused kernels: loops around statements
    NestLoop           ``for (variable = first; variable < end; variable++)``; without an end the
                       long loop
    TileNest           the nests inside run for one tile of the long dimension after another
    PipelineNest       its stages run block by block, each behind the one before it
    StageNest          the nests of one stage of a pipeline
    ReduceStatement    ``target = result(sum of term over the loop over)``: an unexpanded sum
    StoreStatement     ``target = value`` or ``target += value``
    EvaluateStatement  ``target = f(time, argument)``, component by component

A ``Ref`` without indices is a scalar that lives for one point of the loops around it. Sync, Comm,
Swap and PutBack are those of the outlined tree.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from autotune.codegen.tree.loop_tree import Comm, PutBack, Swap, Sync
from autotune.language.expression import Expr, Ref, references, substitute


@dataclass(frozen=True, slots=True)
class ReduceStatement:
    """``target = result``, with ``sum`` in the result replaced by the sum of ``term``.

    ``terms``: the values of the loop variable ``over`` whose terms are added; None: all of its
    loop. The others have a coefficient of 0.
    """

    target: Ref
    term: Expr
    over: str
    result: Expr
    terms: tuple[int, ...] | None = None

    def added(self, loop: "NestLoop") -> tuple[int, ...]:
        """The values of the variable of its loop whose terms are added."""
        assert loop.end is not None
        every = range(loop.first, loop.end)
        return tuple(every) if self.terms is None else tuple(i for i in every if i in self.terms)


@dataclass(frozen=True, slots=True)
class StoreStatement:
    """``target = value``; with ``add``, ``target += value``."""

    target: Ref
    value: Expr
    add: bool = False


@dataclass(frozen=True, slots=True)
class EvaluateStatement:
    """``target = f(time, argument)``; the argument is read within the access distance."""

    target: Ref
    argument: Ref
    time: Expr


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop over constant whole numbers or, with ``end`` None, over the long dimension."""

    variable: str
    first: int
    end: int | None
    body: tuple["Node", ...]

    @property
    def long(self) -> bool:
        """Whether the loop runs over the components of the long dimension that the thread owns."""
        return self.end is None


@dataclass(frozen=True, slots=True)
class TileNest:
    """The nests of ``body`` run one after the other on each tile of ``size`` components."""

    size: int
    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class StageNest:
    """The nests of one stage of a pipeline."""

    body: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A row of an array that a stage of a pipeline writes and that is read so many stages later at
    most, at the same components.
    """

    array: str
    index: int
    lags: int


@dataclass(frozen=True, slots=True)
class PipelineNest:
    """Stages that run block by block over the long dimension, each the access distance behind
    the one before it.
    """

    block: int
    buffer: str
    """The array that a stage reads within the access distance: what the stage before it wrote. The
    stage itself writes ``buffer_next``."""
    body: tuple["Node", ...]
    """One ``StageNest`` after another."""
    in_place: tuple[str, str] | None = None
    """The array that the first stage reads and the last one writes where it lies, and its copy."""
    strip: int | None = None
    """The most rows of a plane that it takes at a time; None: all."""
    kept: tuple[KeptRow, ...] = ()
    """The rows of arrays that outlive the stages that write them."""


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops and statements of one kernel.

    Elements of the arrays in ``contracted`` are scalars of one point of the long loop.
    """

    kernel: str
    body: tuple["Node", ...]
    contracted: frozenset[str] = frozenset()


Statement = ReduceStatement | StoreStatement | EvaluateStatement
Node = (
    Nest
    | NestLoop
    | TileNest
    | PipelineNest
    | StageNest
    | ReduceStatement
    | StoreStatement
    | EvaluateStatement
    | Sync
    | Comm
    | Swap
    | PutBack
)
Nodes = tuple[Node, ...]
_Inner = Nest | NestLoop | TileNest | PipelineNest | StageNest


def inner(node: Node) -> Nodes:
    """The child nodes of a node."""
    return node.body if isinstance(node, _Inner) else ()


def walk(nodes: Nodes) -> Iterator[Node]:
    """Every node in order, parents before children."""
    for node in nodes:
        yield node
        yield from walk(inner(node))


def rebuild(nodes: Nodes, change: Callable[[Node], Nodes]) -> Nodes:
    """The tree with every node replaced by the nodes that ``change`` returns, children first."""
    done: list[Node] = []
    for node in nodes:
        if isinstance(node, _Inner):
            node = replace(node, body=rebuild(node.body, change))
        done.extend(change(node))
    return tuple(done)


def nests(nodes: Nodes) -> Iterator[Nest]:
    """Every ``Nest`` of the tree, in order."""
    return (node for node in walk(nodes) if isinstance(node, Nest))


def statements(nodes: Nodes) -> Iterator[Statement]:
    """Every statement of the tree, in order."""
    return (
        node
        for node in walk(nodes)
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement)
    )


def writes(nodes: Nodes) -> frozenset[str]:
    """Names of the arrays that the nodes write."""
    return frozenset(s.target.array for s in statements(nodes) if s.target.indices)


def reads(nodes: Nodes) -> frozenset[str]:
    """Names of the arrays that the nodes read at the same point of the long loop."""
    return frozenset(
        ref.array
        for s in statements(nodes)
        if not isinstance(s, EvaluateStatement)
        for e in expressions(s)
        for ref in references(e)
        if ref.indices
    )


def reads_around(nodes: Nodes) -> frozenset[str]:
    """Names of the arrays that a right-hand side reads, possibly at other points of the
    long loop.
    """
    return frozenset(
        s.argument.array for s in statements(nodes) if isinstance(s, EvaluateStatement)
    )


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """The expressions that a statement computes, without its target."""
    match statement:
        case ReduceStatement(term=term, result=result):
            return (term, result)
        case StoreStatement(value=value):
            return (value,)
        case EvaluateStatement(argument=argument, time=time):
            return (argument, time)


def on_expressions(
    statement: Statement, value: Callable[[Expr], Expr], target: Callable[[Ref], Ref]
) -> Statement:
    """The statement with ``value`` applied to its expressions and ``target`` to its target."""
    match statement:
        case ReduceStatement():
            return replace(
                statement,
                target=target(statement.target),
                term=value(statement.term),
                result=value(statement.result),
            )
        case StoreStatement():
            return replace(statement, target=target(statement.target), value=value(statement.value))
        case EvaluateStatement():
            argument = value(statement.argument)
            assert isinstance(argument, Ref)
            return EvaluateStatement(target(statement.target), argument, value(statement.time))


def put(nodes: Nodes, variable: str, value: Expr) -> Nodes:
    """The nodes with a loop variable replaced by an expression."""

    def expression(expr: Expr) -> Expr:
        return substitute(expr, {variable: value})

    def target(ref: Ref) -> Ref:
        return Ref(ref.array, tuple(expression(index) for index in ref.indices))

    def change(node: Node) -> Nodes:
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            return (on_expressions(node, expression, target),)
        return (node,)

    return rebuild(nodes, change)
