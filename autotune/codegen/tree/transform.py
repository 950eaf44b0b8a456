"""Transformations of loop nests: each is a pure function from tree to tree with its legality rule.

A transformation that is not legal raises ``IllegalTransformation`` with the reason.
"""

from dataclasses import replace

from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    Nest,
    NestLoop,
    Node,
    Nodes,
    ReduceStatement,
    Statement,
    StoreStatement,
    TileNest,
    expressions,
    nests,
    on_expressions,
    reads,
    reads_around,
    rebuild,
    statements,
    walk,
    writes,
)
from autotune.codegen.tree.loop_tree import Comm, Swap, Sync
from autotune.language.expression import Expr, Ref, references
from autotune.language.expression import rebuild as rebuild_expression


class IllegalTransformation(Exception):
    """Raised where a transformation is not applicable or would change the result; ``reason`` says
    why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def interchange(tree: Nodes, kernel: str, order: tuple[str, ...]) -> Nodes:
    """The loops of a kernel in another order, outermost first.

    Legal where the kernel is a perfect nest: loops directly inside one another around a single
    statement. Its iterations must be independent except for a sum: the statement reads neither its
    target nor, at another point, the array that it writes. For each element the terms of a sum are
    added in the same order, whatever the order of the loops.
    """
    _require(tree, kernel)

    def change(node: Node) -> Nodes:
        if not (isinstance(node, Nest) and node.kernel == kernel):
            return (node,)
        loops, statement = _perfect(node)
        named = {loop.variable: loop for loop in loops}
        if set(order) != set(named) or len(order) != len(named):
            raise IllegalTransformation(
                f"{kernel} has the loops {', '.join(named)}: {', '.join(order)} is no order of them"
            )
        if _carried(statement):
            raise IllegalTransformation(
                f"{kernel} reads the array {statement.target.array} that it writes"
            )
        body: Nodes = (statement,)
        for variable in reversed(order):
            body = (replace(named[variable], body=body),)
        return (Nest(kernel, body),)

    return rebuild(tree, change)


def fuse(tree: Nodes, first: str, second: str) -> Nodes:
    """Two neighbouring kernels in one long loop; values that only the second reads stay in
    registers.

    Legal where the kernels follow one another directly, the long loop is the outermost of both, and
    neither evaluates the right-hand side. Then both access stored arrays only at the current point
    of the long loop, so the points are independent. An array that the first writes and only the
    second reads needs no storage: it becomes a scalar per point.
    """
    _require(tree, first)
    _require(tree, second)
    fused = _fuse_neighbours(tree, first, second)
    if not any(nest.kernel == f"{first}+{second}" for nest in nests(fused)):
        raise IllegalTransformation(f"{second} does not follow {first} directly")
    return _contract(fused, f"{first}+{second}")


def _fuse_neighbours(nodes: Nodes, first: str, second: str) -> Nodes:
    done: list[Node] = []
    for node in nodes:
        if isinstance(node, NestLoop | TileNest):
            node = replace(node, body=_fuse_neighbours(node.body, first, second))
        last = done[-1] if done else None
        if (
            isinstance(last, Nest)
            and last.kernel == first
            and isinstance(node, Nest)
            and node.kernel == second
        ):
            left, right = _long_loop(last), _long_loop(node)
            if left.variable != right.variable:
                raise IllegalTransformation(f"{first} and {second} run over different dimensions")
            done[-1] = Nest(f"{first}+{second}", (replace(left, body=left.body + right.body),))
        else:
            done.append(node)
    return tuple(done)


def _long_loop(nest: Nest) -> NestLoop:
    if reads_around(nest.body):
        raise IllegalTransformation(
            f"{nest.kernel} evaluates the right-hand side: its points are not apart"
        )
    match nest.body:
        case (NestLoop(end=None) as loop,):
            return loop
    raise IllegalTransformation(f"the long loop is not the outermost loop of {nest.kernel}")


def _contract(tree: Nodes, kernel: str) -> Nodes:
    """The nodes with arrays that only the nest ``kernel`` uses replaced by scalars.

    The nest must write these arrays before it reads them.
    """
    inside = [nest for nest in nests(tree) if nest.kernel == kernel]
    apart = rebuild(tree, lambda node: () if node in inside else (node,))
    elsewhere = reads(apart) | reads_around(apart) | writes(apart)
    local = frozenset(
        s.target.array
        for nest in inside
        for s in statements(nest.body)
        if len(s.target.indices) == 1 and s.target.array not in elsewhere
        and _written_first(nest, s.target.array)
    )  # fmt: skip

    def scalar(expr: Expr) -> Expr:
        return Ref(expr.array, ()) if isinstance(expr, Ref) and expr.array in local else expr

    def change(node: Node) -> Nodes:
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            return (
                on_expressions(
                    node,
                    lambda e: rebuild_expression(e, scalar),
                    lambda r: Ref(r.array, ()) if r.array in local else r,
                ),
            )
        return (node,)

    return rebuild(tree, change)


def _written_first(nest: Nest, array: str) -> bool:
    for statement in statements(nest.body):
        if array in reads((statement,)):
            return False
        if statement.target.array == array:
            return True
    return False


def tile(tree: Nodes, kernel: str, size: int) -> Nodes:
    """The kernel run on one tile of the long dimension after another, with all its sweeps.

    It is strip-mining, with the loop over tiles interchanged to the outside. Legal where no point
    of the kernel reads what another point writes. A kernel with a single sweep gains nothing and is
    refused.
    """
    _require(tree, kernel)

    def change(node: Node) -> Nodes:
        if not (isinstance(node, Nest) and node.kernel == kernel):
            return (node,)
        if reads_around(node.body) & writes(node.body):
            raise IllegalTransformation(f"{kernel} reads what it writes at other points")
        if isinstance(node.body[0], NestLoop) and node.body[0].long:
            raise IllegalTransformation(
                f"{kernel} is a single sweep in this order: tiles would change nothing"
            )
        return (TileNest(size, (node,)),)

    if any(isinstance(n, TileNest) and _holds(n.body, kernel) for n in walk(tree)):
        raise IllegalTransformation(f"{kernel} runs in tiles already")
    return rebuild(tree, change)


def fuse_tiles(tree: Nodes, first: str, second: str, size: int, buffer: str) -> Nodes:
    """``first`` and the ``second`` of the next iteration run tile by tile, across a counted loop.

        loop m { second; sync; first; sync }                          before
        second; sync; loop m-1 { first; second; sync }; first         rotated
        second'; swap; sync; loop m-1 { tiles { first; second' }; swap; sync }; first

    The rotation peels the first ``second`` and the last ``first``; a kernel before the loop that
    writes what ``first`` writes shares the tiles of the peeled one. ``second'`` writes a second
    ``buffer``, exchanged with the first after each iteration.

    Legal under three conditions. ``second`` reads what ``first`` writes at the same point only, so
    that a tile of ``second`` needs no more than the same tile of ``first``. At other points
    ``first`` reads nothing but ``buffer``, which stays unchanged during the iteration because
    ``second'`` writes the other buffer. Only ``second`` writes ``buffer``, all of it. Within an
    iteration threads then read only what was written before the last sync, and write what nobody
    else reads before the next: one sync per iteration is enough, none is needed in between.
    """
    _require(tree, first)
    _require(tree, second)
    for position, node in enumerate(tree):
        if isinstance(node, NestLoop) and _holds(node.body, first) and _holds(node.body, second):
            before, after = tree[:position], tree[position + 1 :]
            return _rotate(before, node, first, second, size, buffer) + after
    raise IllegalTransformation(f"{first} and {second} are not in one counted loop")


def _rotate(
    before: Nodes, loop: NestLoop, first: str, second: str, size: int, buffer: str
) -> Nodes:
    lead, comms, follow = _iteration(loop, first, second)
    if reads_around((lead,)) or not reads_around((follow,)) <= {buffer}:
        raise IllegalTransformation(f"{first} may read, at other points, nothing but {buffer}")
    if writes((lead,)) != {buffer} or buffer in reads((lead,)) | writes((follow,)):
        raise IllegalTransformation(f"{second} must write {buffer}, alone, and not read it")
    twin = f"{buffer}_next"
    other = _renamed(lead, buffer, twin)
    shift: Nodes = (Swap(buffer, twin), Sync())
    start: Nodes = (other,)
    previous = before[-1] if before else None
    if isinstance(previous, Nest) and writes((previous,)) == writes((follow,)):
        before, start = before[:-1], (TileNest(size, (previous, other)),)
    assert loop.end is not None
    middle: Nodes = ()
    if loop.end - loop.first > 1:
        body = (*comms, TileNest(size, (follow, other)), *shift)
        middle = (NestLoop(loop.variable, loop.first, loop.end - 1, body),)
    return (*before, *start, *shift, *middle, *comms, follow)


def _iteration(loop: NestLoop, first: str, second: str) -> tuple[Nest, Nodes, Nest]:
    """The parts of a loop ``second; sync; comm; first; sync``: the nest of ``second``, the Comm
    nodes, the nest of ``first``.
    """
    parts = [node for node in loop.body if not isinstance(node, Sync | Comm)]
    match parts:
        case [Nest() as lead, Nest() as follow] if (lead.kernel, follow.kernel) == (second, first):
            comms = tuple(node for node in loop.body if isinstance(node, Comm))
            return lead, comms, follow
    raise IllegalTransformation(
        f"the loop must hold {second}, then {first}, and no other kernel or tile"
    )


def _renamed(nest: Nest, old: str, new: str) -> Nest:
    def target(ref: Ref) -> Ref:
        return Ref(new, ref.indices) if ref.array == old else ref

    def change(node: Node) -> Nodes:
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            return (on_expressions(node, lambda e: e, target),)
        return (node,)

    return Nest(nest.kernel, rebuild(nest.body, change))


def _perfect(nest: Nest) -> tuple[list[NestLoop], Statement]:
    loops: list[NestLoop] = []
    body: Nodes = nest.body
    while len(body) == 1 and isinstance(body[0], NestLoop):
        loops.append(body[0])
        body = body[0].body
    if len(body) == 1 and isinstance(body[0], ReduceStatement | StoreStatement | EvaluateStatement):
        return loops, body[0]
    raise IllegalTransformation(f"{nest.kernel} is not a perfect nest")


def _carried(statement: Statement) -> bool:
    """Whether a statement may read what another iteration of the long loop writes."""
    return any(
        ref.array == statement.target.array and ref.indices != statement.target.indices
        for expr in expressions(statement)
        for ref in references(expr)
    )


def _require(tree: Nodes, kernel: str) -> None:
    if not any(nest.kernel == kernel for nest in nests(tree)):
        kernels = ", ".join(dict.fromkeys(nest.kernel for nest in nests(tree)))
        raise IllegalTransformation(f"there is no kernel {kernel} (there are {kernels})")


def _holds(nodes: Nodes, kernel: str) -> bool:
    return any(nest.kernel == kernel for nest in nests(nodes))
