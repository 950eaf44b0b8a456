"""Transformations of loop nests: each is a pure function from tree to tree with its legality rule.

A transformation that is not legal raises ``IllegalTransformation`` with the reason.
"""

from collections.abc import Sequence
from dataclasses import replace

from autotune.codegen.tree.kept_rows import kept_rows
from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    Nest,
    NestLoop,
    Node,
    Nodes,
    PipelineNest,
    ReduceStatement,
    StageNest,
    Statement,
    StoreStatement,
    TileNest,
    expressions,
    nests,
    on_expressions,
    put,
    reads,
    reads_around,
    rebuild,
    statements,
    walk,
    writes,
)
from autotune.codegen.tree.loop_tree import Comm, PutBack, Swap, Sync
from autotune.language.expression import Expr, Num, Ref, references
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
    if any(isinstance(n, PipelineNest) and _holds(n.body, kernel) for n in walk(tree)):
        raise IllegalTransformation(f"{kernel} runs in the blocks of a pipeline already")
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
    for node in tree:
        if isinstance(node, NestLoop) and _holds(node.body, first) and _holds(node.body, second):
            before, loops, after = _loops_over(tree, node.variable)
            return _rotate(before, loops, (first, second), size, buffer) + after
    raise IllegalTransformation(f"{first} and {second} are not in one counted loop")


def _loops_over(tree: Nodes, variable: str) -> tuple[Nodes, tuple[NestLoop, ...], Nodes]:
    """The counted loops over a variable, one behind the other, with what is before and behind them:
    one loop, or one of a single iteration for each stage, with its number in the place of the
    variable.
    """
    places = [
        i for i, node in enumerate(tree) if isinstance(node, NestLoop) and node.variable == variable
    ]
    if not places:
        raise IllegalTransformation(f"there is no counted loop over {variable}")
    first, end = places[0], places[-1] + 1
    if len(places) < end - first:
        raise IllegalTransformation(f"the loops over {variable} do not follow one another")
    loops = tuple(node for node in tree[first:end] if isinstance(node, NestLoop))
    numbered = tuple(
        replace(loop, body=put(loop.body, variable, Num(loop.first)))
        if loop.end == loop.first + 1
        else loop
        for loop in loops
    )
    return tree[:first], numbered, tree[end:]


def _rotate(
    before: Nodes, loops: tuple[NestLoop, ...], kernels: tuple[str, str], size: int, buffer: str
) -> Nodes:
    first, second = kernels
    iterations = [_iteration(loop, first, second) for loop in loops]
    leads = tuple(lead for lead, _, _ in iterations)
    follows = tuple(follow for _, _, follow in iterations)
    if reads_around(leads) or not reads_around(follows) <= {buffer}:
        raise IllegalTransformation(f"{first} may read, at other points, nothing but {buffer}")
    if writes(leads) != {buffer} or buffer in reads(leads) | writes(follows):
        raise IllegalTransformation(f"{second} must write {buffer}, alone, and not read it")
    twin = f"{buffer}_next"
    others = [_renamed(lead, buffer, twin) for lead in leads]
    shift: Nodes = (Swap(buffer, twin), Sync())
    start: Nodes = (others[0],)
    previous = before[-1] if before else None
    if isinstance(previous, Nest) and writes((previous,)) == writes(follows):
        before, start = before[:-1], (TileNest(size, (previous, others[0])),)

    def passed(place: int) -> Nodes:
        """The first kernel of an iteration with the second one of the next."""
        _, comms, follow = iterations[place]
        return (*comms, TileNest(size, (follow, others[min(place + 1, len(others) - 1)])), *shift)

    middle: Nodes = tuple(node for k in range(len(loops) - 1) for node in passed(k))
    loop = loops[-1]
    assert loop.end is not None
    if loop.end - loop.first > 1:
        middle = (NestLoop(loop.variable, loop.first, loop.end - 1, passed(0)),)
    _, comms, follow = iterations[-1]
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


def pipeline(tree: Nodes, variable: str, block: int) -> Nodes:
    """The iterations of a counted loop as stages of a pipeline, with what lies around the loop.

        first; loop k { second; sync; third; sync }; last; sync         before
        pipeline { first second | third second | ... | third last }     stages

    Stage 0 is what precedes the loop and ``second``, stage k is ``third`` and the next ``second``,
    the last stage is ``third`` and what follows the loop. ``third`` evaluates the right-hand side
    of the buffer that ``second`` writes. A stage runs behind the one before it by the access
    distance, so the buffer is there where it is read.

    Legal under four conditions. ``third`` reads, at other points, nothing but the buffer; what
    precedes the loop reads, at other points, only arrays that the step writes in its last stage or
    not at all: these get a second copy, which is exchanged with the first after the step. Nothing
    else reads at other points. Every other array is written in a stage before it is read there, or
    every row of it is written once before later stages read it, by numbers: such rows are kept
    until the last stage that reads them has come as far.
    """
    before, loops, after = _loops_over(tree, variable)
    pairs = [_loop_kernels(loop) for loop in loops]
    trips = (loops[0].end or 0) - loops[0].first
    return _pipelined(before, pairs * trips if len(pairs) == 1 else pairs, after, block)


def _pipelined(
    before: Nodes, pairs: Sequence[tuple[Nest, Nest]], after: Nodes, block: int
) -> Nodes:
    """The stages of the pairs of kernels of all iterations."""
    buffer = _buffer(pairs)
    comms = tuple(node for node in before if isinstance(node, Comm))
    first = tuple(node for node in before if isinstance(node, Nest))
    last = tuple(node for node in after if isinstance(node, Nest))
    if len(comms) + len(first) < len(before) or any(
        not isinstance(node, Nest | Sync) for node in after
    ):
        raise IllegalTransformation("there are loops or tiles beside the loop of the pipeline")
    state = reads_around(first)
    if state & writes((*first, *(nest for pair in pairs for nest in pair))):
        raise IllegalTransformation(f"{', '.join(sorted(state))} must be written last")
    if reads_around(last):
        raise IllegalTransformation(f"{last[0].kernel} reads at other points what a stage writes")
    copied = sorted(state & writes(last))
    seconds = [_renamed(second, buffer, f"{buffer}_next") for second, _ in pairs]
    thirds = [third for _, third in pairs]
    for array in copied:
        last = tuple(_renamed(nest, array, f"{array}_next") for nest in last)
    middle = list(zip(thirds[:-1], seconds[1:], strict=True))
    stages = [(*first, seconds[0]), *middle, (thirds[-1], *last)]
    try:
        kept = kept_rows(stages)
    except ValueError as error:
        raise IllegalTransformation(str(error)) from error
    shared = frozenset({buffer, *(row.array for row in kept)}) | state
    for nests_ in stages:
        _check_stage(nests_, shared)
    body = tuple(StageNest(nests_) for nests_ in stages)
    shift = tuple(Swap(array, f"{array}_next") for array in copied)
    return (*comms, PipelineNest(block, buffer, body, kept=kept), *shift, Sync())


def contract(tree: Nodes, array: str) -> Nodes:
    """The kernels of every stage of a pipeline that use an array, in one sweep.

    The elements that a stage writes become scalars of one point; those that later stages read are
    stored too. Legal where nothing else uses the array, the stage writes it before it reads it (as
    in every pipeline), and the long loop of each of the kernels is, or can be made, its outermost
    loop. What a stage reads at other points it does not write, so its points are independent.
    """
    kept = [row for node in tree if isinstance(node, PipelineNest) for row in node.kept]
    if not any(isinstance(node, PipelineNest) for node in tree):
        raise IllegalTransformation(f"elements of {array} are scalars only in a pipeline")
    late = frozenset(row.index for row in kept if row.array == array and row.lags)

    def change(node: Node) -> Nodes:
        return (
            (replace(node, body=_one_sweep(node, array, late)),)
            if isinstance(node, StageNest)
            else (node,)
        )

    return rebuild(tree, change)


def in_place(tree: Nodes, array: str) -> Nodes:
    """The last stage of a pipeline writes an array where it lies, not into a second copy.

        pipeline { ... array_next ... }; swap array, array_next; sync          before
        pipeline { ... array ... }; sync; put back array; sync                 after

    The last of S stages is S - 1 access distances behind the first, which reads one distance around
    its block, and every other stage reads the array at its own components only: so no stage of the
    thread comes to a component that is written already. Other threads read within S distances of
    the ends of the block: these components are kept apart until all threads have come as far.
    Legal where a pipeline writes a second copy of the array.
    """
    twin = f"{array}_next"
    staged = any(isinstance(node, PipelineNest) for node in tree)
    if not staged or Swap(array, twin) not in tree:
        raise IllegalTransformation(f"no pipeline writes a second copy of {array}")

    def change(node: Node) -> Nodes:
        match node:
            case PipelineNest(strip=int()):
                raise IllegalTransformation(
                    f"a pipeline of strips needs a second copy of {array}: the next strip reads"
                    " the old values beside it"
                )
            case PipelineNest(body=(*stages, StageNest(body=body) as last)):
                renamed = tuple(_renamed(nest, twin, array) for nest in nests(body))
                body = (*stages, replace(last, body=renamed))
                return (replace(node, body=body, in_place=(array, twin)),)
            case Swap(first=first) if first == array:
                return (Sync(), PutBack(array, twin))
        return (node,)

    return rebuild(tree, change)


def _one_sweep(stage: StageNest, array: str, late: frozenset[int]) -> Nodes:
    """The kernels of a stage with those that use an array in one sweep; ``late``: the rows of it
    that later stages read.
    """
    users = tuple(
        nest
        for nest in nests(stage.body)
        if array in reads((nest,)) | writes((nest,)) | reads_around((nest,))
    )
    if not users or array in reads_around(users) or array not in writes(users[:1]):
        raise IllegalTransformation(f"no stage writes {array} and reads it at the same point")
    position = stage.body.index(users[0])
    if stage.body[position : position + len(users)] != users:
        raise IllegalTransformation(f"the kernels that use {array} are not neighbours")
    loops = [_long_outside(nest) for nest in users]
    rows: set[Expr] = {Num(row) for row in late}
    stores = tuple(
        StoreStatement(target, target)
        for target in (statement.target for statement in statements(users[:1]))
        if target.array == array and target.indices[0] in rows
    )
    body = (*loops[0].body, *stores, *(node for loop in loops[1:] for node in loop.body))
    kernel = "+".join(nest.kernel for nest in users)
    fused = Nest(kernel, (replace(loops[0], body=body),), frozenset({array}))
    return (*stage.body[:position], fused, *stage.body[position + len(users) :])


def _long_outside(nest: Nest) -> NestLoop:
    """The long loop of a kernel as its outermost loop."""
    if reads_around((nest,)):
        loops, statement = _perfect(nest)
        body: Nodes = (statement,)
        for loop in sorted(loops, key=lambda loop: loop.long):
            body = (replace(loop, body=body),)
        nest = replace(nest, body=body)
    match nest.body:
        case (NestLoop(end=None) as outer,):
            return outer
    raise IllegalTransformation(f"the long loop is not the outermost loop of {nest.kernel}")


def _loop_kernels(loop: NestLoop) -> tuple[Nest, Nest]:
    """The two nests of a loop ``second; sync; comm; third; sync``."""
    if loop.end is None or loop.end == loop.first:
        raise IllegalTransformation(f"the loop over {loop.variable} has no iterations")
    match [node for node in loop.body if not isinstance(node, Sync | Comm)]:
        case [Nest() as second, Nest() as third]:
            return second, third
    raise IllegalTransformation(
        f"the loop over {loop.variable} must hold two kernels, and neither loops nor tiles"
    )


def _buffer(pairs: Sequence[tuple[Nest, Nest]]) -> str:
    """The only array that every second kernel writes and every third reads at other points."""
    seconds, thirds = (tuple(nests_) for nests_ in zip(*pairs, strict=True))
    around = reads_around(thirds)
    if reads_around(seconds) or len(around) != 1 or writes(seconds) != around:
        raise IllegalTransformation(
            f"{thirds[0].kernel} must read, at other points, the one array that"
            f" {seconds[0].kernel} writes"
        )
    (buffer,) = around
    if buffer in writes(thirds) | reads(seconds):
        raise IllegalTransformation(f"{buffer} is read and written at the same points")
    return buffer


def _check_stage(stage: tuple[Nest, ...], shared: frozenset[str]) -> None:
    """Raise unless a stage writes every array, but the ``shared`` ones, before it reads it."""
    written: set[str] = set(shared)
    for nest in stage:
        for statement in statements(nest.body):
            later = writes(stage) - written - {statement.target.array}
            lacking = reads((statement,)) & later
            if lacking:
                raise IllegalTransformation(
                    f"{nest.kernel} reads {', '.join(sorted(lacking))} of an earlier stage"
                )
            if statement.target.indices:
                written.add(statement.target.array)


def _renamed(nest: Nest, old: str, new: str) -> Nest:
    def target(ref: Ref) -> Ref:
        return Ref(new, ref.indices) if ref.array == old else ref

    def change(node: Node) -> Nodes:
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            return (on_expressions(node, lambda e: e, target),)
        return (node,)

    return replace(nest, body=rebuild(nest.body, change))


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
