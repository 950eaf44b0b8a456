"""Turns loop nests into sweeps: sums are written out, short loops unrolled, long loops outlined."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.codegen.tree import callback, loop_nests, loop_tree, regions
from autotune.codegen.tree.coefficients import Coefficients
from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    Nest,
    NestLoop,
    Node,
    Nodes,
    PipelineNest,
    ReduceStatement,
    StageNest,
    StoreStatement,
    TileNest,
)
from autotune.codegen.tree.strips import plane_strips
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp
from autotune.language.expression import (
    Bin,
    Expr,
    Num,
    Ref,
    Sym,
    rebuild,
    references,
    substitute,
    symbols,
)

_SUM = Ref("sum", ())
_LONG = Sym("j")


# --- sums -----------------------------------------------------------------------------------


def write_out_sums(nodes: Nodes) -> Nodes:
    """Every ``ReduceStatement`` replaced by stores, for any order of its loops.

    If no loop is inside that of the sum, the sum is one expression, kept in a scalar. Otherwise the
    target itself accumulates the sum: the first term is peeled and assigned, the others are added,
    those whose coefficients are 0 left out. The result is computed where the sum is complete, in
    loops of its own, the long one outermost.
    """

    def change(node: Node) -> Nodes:
        if not isinstance(node, NestLoop):
            return (node,)
        inside, last = _chain(node.body)
        if not (isinstance(last, ReduceStatement) and last.over == node.variable):
            return (node,)
        return _gathered(node, inside, last) if inside else _expression(node, last)

    return loop_nests.rebuild(nodes, change)


def _chain(body: Nodes) -> tuple[list[NestLoop], Node | None]:
    loops: list[NestLoop] = []
    while len(body) == 1 and isinstance(body[0], NestLoop):
        loops.append(body[0])
        body = body[0].body
    return loops, body[0] if len(body) == 1 else None


def _expression(loop: NestLoop, reduce: ReduceStatement) -> Nodes:
    terms = [substitute(reduce.term, {loop.variable: Num(i)}) for i in reduce.added(loop)]
    total = terms[0]
    for term in terms[1:]:
        total = Bin("+", total, term)
    if reduce.result == Sym("sum"):
        return (StoreStatement(reduce.target, total),)
    return (
        StoreStatement(_SUM, total),
        StoreStatement(reduce.target, substitute(reduce.result, {"sum": _SUM})),
    )


def _gathered(loop: NestLoop, inside: list[NestLoop], reduce: ReduceStatement) -> Nodes:
    target = reduce.target
    first, *others = reduce.added(loop)
    adding = _around(inside, StoreStatement(target, reduce.term, add=True))
    parts: list[Node] = [
        replace(
            loop,
            first=first,
            end=first + 1,
            body=_around(inside, StoreStatement(target, reduce.term)),
        ),
        *(replace(loop, first=run[0], end=run[-1] + 1, body=adding) for run in _runs(others)),
    ]
    if reduce.result != Sym("sum"):
        long_first = sorted(inside, key=lambda part: not part.long)
        finish = StoreStatement(target, substitute(reduce.result, {"sum": target}))
        parts.extend(_around(long_first, finish))
    return tuple(parts)


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers as runs of consecutive ones.

    >>> _runs([1, 2, 4])
    [[1, 2], [4]]
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _around(loops: list[NestLoop], statement: StoreStatement) -> Nodes:
    body: Nodes = (statement,)
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


# --- unrolling ------------------------------------------------------------------------------


def unroll(nodes: Nodes) -> Nodes:
    """The nodes with short loops unrolled; a scalar gets another name in each iteration."""
    done: list[Node] = []
    for node in nodes:
        if not isinstance(node, NestLoop):
            done.append(node)
            continue
        if node.end is None:
            raise IllegalTransformation(f"a long loop over {node.variable} lies inside another")
        for i in range(node.first, node.end):
            body = _renamed(loop_nests.put(node.body, node.variable, Num(i)), f"_{i}")
            done.extend(unroll(body))
    return tuple(done)


def _renamed(nodes: Nodes, suffix: str) -> Nodes:
    scalars = {s.target.array for s in loop_nests.statements(nodes) if not s.target.indices}

    def with_suffix(ref: Ref) -> Ref:
        return Ref(ref.array + suffix, ()) if not ref.indices and ref.array in scalars else ref

    def value(expr: Expr) -> Expr:
        return rebuild(expr, lambda e: with_suffix(e) if isinstance(e, Ref) else e)

    def change(node: Node) -> Nodes:
        if isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            return (loop_nests.on_expressions(node, value, with_suffix),)
        return (node,)

    return loop_nests.rebuild(nodes, change) if scalars else nodes


# --- outlining ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outliner:
    """Turns loop nests into sweeps of one problem."""

    ivp: Ivp
    coefficients: Coefficients
    stored: frozenset[str]
    """Arrays with one element per component."""
    windows: frozenset[str] = frozenset()
    """Arrays of a pipeline of which a thread keeps a part."""
    called: bool = False
    """A function of the caller evaluates the right-hand side."""

    def block(self, nodes: Nodes) -> loop_tree.NodeBlock:
        """The outlined tree of one time step."""
        return loop_tree.NodeBlock(tuple(self._outline(nodes)))

    def _outline(self, nodes: Nodes, parent: Nest | None = None) -> list[loop_tree.Node]:
        done: list[loop_tree.Node] = []
        for node in nodes:
            match node:
                case Nest():
                    done += self._outline(write_out_sums(node.body), node)
                case NestLoop(end=None):
                    assert parent is not None
                    done += self._sweeps(node, parent)
                case NestLoop():
                    done += self._repeat(node, parent)
                case TileNest(size=size, body=body):
                    done.append(
                        loop_tree.Tiles(
                            size, loop_tree.NodeBlock(tuple(self._outline(body, parent)))
                        )
                    )
                case PipelineNest():
                    done.append(self._pipeline(node))
                case loop_tree.Sync() | loop_tree.Comm() | loop_tree.Swap() | loop_tree.PutBack():
                    done.append(node)
                case _:
                    raise IllegalTransformation("a statement lies outside every long loop")
        return done

    def _pipeline(self, nest: PipelineNest) -> loop_tree.PipelineLoop:
        """The stages outlined; every version of the buffer becomes an array of its own."""
        stages: list[loop_tree.Node] = []
        outlined: dict[Nodes, loop_tree.NodeBlock] = {}
        kept = {row.array for row in nest.kept}
        for number, stage in enumerate(nest.body):
            assert isinstance(stage, StageNest)
            if stage.body not in outlined:
                outlined[stage.body] = self.block(stage.body)
            block = outlined[stage.body]

            names = {
                nest.buffer: version_name(nest.buffer, number - 1),
                f"{nest.buffer}_next": version_name(nest.buffer, number),
            }

            def version(
                row: loop_tree.StoredRow, names: Mapping[str, str] = names
            ) -> loop_tree.StoredRow:
                if row.array in kept:
                    row = _row_of_its_own(row)
                array = names.get(row.array, row.array)
                return replace(row, array=array, window=array in self.windows)

            stages.append(loop_tree.PipelineStage(number, _with_rows(block, version)))
        distance = self.ivp.access_distance
        body = loop_tree.NodeBlock(tuple(stages))
        strips = None if nest.strip is None else plane_strips(self.ivp, nest.strip)
        return loop_tree.PipelineLoop(nest.block, distance, body, nest.in_place, strips)

    def _repeat(self, loop: NestLoop, parent: Nest | None) -> list[loop_tree.Node]:
        assert loop.end is not None
        trips = loop.end - loop.first
        nodes = _numbered(loop) if trips == 1 and parent is None else loop.body
        body = loop_tree.NodeBlock(tuple(self._outline(nodes, parent)))
        if trips > 1:
            return [loop_tree.Repeat(loop.variable, loop.first, loop.end, body)]
        return list(_bound(body, loop.variable, Num(loop.first)).nodes) if trips else []

    def _sweeps(self, loop: NestLoop, parent: Nest) -> list[loop_tree.Sweep]:
        body = unroll(loop_nests.put(loop.body, loop.variable, _LONG))
        if parent.contracted:
            if self.called:
                raise IllegalTransformation(
                    f"a function computes a block of components: {parent.kernel} cannot hold it"
                )
            return PointStatements(self, parent, body).sweeps()
        match body:
            case (EvaluateStatement(target=target, argument=argument, time=time),):
                rows = _row(target), _row_of_vector(argument)
                if self.called:
                    return [callback.evaluation(self.ivp, parent.kernel, *rows, time)]
                return regions.evaluation(self.ivp, parent.kernel, *rows, time)
        stores = [node for node in body if isinstance(node, StoreStatement)]
        if len(stores) != len(body):
            raise IllegalTransformation(
                f"{parent.kernel} must evaluate one right-hand side per long loop"
            )
        return [self._sweep(stores, _name(loop, parent), parent.kernel)]

    def _sweep(self, stores: list[StoreStatement], name: str, kernel: str) -> loop_tree.Sweep:
        rows = RowParameters(stores, self.stored)
        scalars: dict[str, Expr] = {}
        statements = self.assignments(stores, rows, scalars)
        return loop_tree.Sweep(
            name=name,
            kernel=kernel,
            rows=rows.bound(),
            scalars=tuple(scalars.items()),
            stretches=(loop_tree.SweepStretch(Num(0), Sym("n"), statements),),
        )

    def assignments(
        self, stores: Sequence[StoreStatement], rows: "RowParameters", scalars: dict[str, Expr]
    ) -> tuple[loop_tree.Statement, ...]:
        """The stores in terms of the parameters of a sweep; scalars that they need are added."""

        def reference(expr: Expr) -> Expr:
            match expr:
                case Ref(array=array, indices=()):
                    return Sym(array)
                case Ref(array=array, indices=indices) if array in self.stored:
                    return Ref(rows.name(expr), (indices[-1],))
                case Ref():
                    return self._coefficient(expr, scalars)
            return expr

        def value(expr: Expr) -> Expr:
            done = rebuild(expr, reference)
            temporary = {ref.array for ref in references(expr) if not ref.indices}
            for symbol in sorted(symbols(done) - {"j"} - temporary):
                scalars.setdefault(symbol, Sym(symbol))
            return done

        statements: list[loop_tree.Statement] = []
        for store in stores:
            if store.target.indices:
                parameter = rows.name(store.target)
                statements.append(loop_tree.Assign(parameter, value(store.value), store.add))
            else:
                statements.append(loop_tree.Local(store.target.array, value(store.value)))
        return tuple(statements)

    def _coefficient(self, ref: Ref, scalars: dict[str, Expr]) -> Expr:
        if ref.array not in self.coefficients:
            raise IllegalTransformation(f"{ref.array} is no array of the method")
        value: object = self.coefficients[ref.array]
        for index in ref.indices:
            if not isinstance(index, Num):
                name = "_".join([ref.array, *(_text(i) for i in ref.indices)])
                scalars[name] = ref
                return Sym(name)
            assert isinstance(value, Sequence)
            value = value[int(index.value)]
        assert isinstance(value, float | int)
        return Num(float(value))


def version_name(buffer: str, stage: int) -> str:
    """The name of the version of a pipeline's buffer that a stage writes: ``Y_stage0``."""
    return f"{buffer}_stage{stage}"


def _row_of_its_own(row: loop_tree.StoredRow) -> loop_tree.StoredRow:
    """A row that outlives a stage, as an array of its own."""
    if not isinstance(row.index, Num):
        raise IllegalTransformation(
            f"rows of {row.array} outlive a stage: a loop over them cannot be around a sweep"
        )
    return loop_tree.StoredRow(version_name(row.array, int(row.index.value)))


def _with_rows(
    block: loop_tree.NodeBlock,
    change: Callable[[loop_tree.StoredRow], loop_tree.StoredRow],
) -> loop_tree.NodeBlock:
    """The block with the rows of all calls changed."""
    return loop_tree.on_sweeps(
        block, lambda sweep: replace(sweep, rows=tuple((n, change(row)) for n, row in sweep.rows))
    )


def _numbered(loop: NestLoop) -> Nodes:
    """The body of a loop of one iteration around kernels, with its number in the place of its
    variable where a sum is one expression: its coefficients are numbers then.
    """

    def change(node: Node) -> Nodes:
        if not (isinstance(node, Nest) and any(map(_innermost_sum, loop_nests.walk(node.body)))):
            return (node,)
        return loop_nests.put((node,), loop.variable, Num(loop.first))

    return loop_nests.rebuild(loop.body, change)


def _innermost_sum(node: Node) -> bool:
    """Whether a node is the loop of a sum that is one expression: no loop is inside it."""
    return isinstance(node, NestLoop) and any(
        isinstance(statement, ReduceStatement) and statement.over == node.variable
        for statement in node.body
    )


def _bound(block: loop_tree.NodeBlock, variable: str, value: Expr) -> loop_tree.NodeBlock:
    """The block with a loop variable replaced by its only value in the arguments of calls."""

    def put(expr: Expr) -> Expr:
        return substitute(expr, {variable: value})

    def row(stored: loop_tree.StoredRow) -> loop_tree.StoredRow:
        return stored if stored.index is None else replace(stored, index=put(stored.index))

    def change(sweep: loop_tree.Sweep) -> loop_tree.Sweep:
        return replace(
            sweep,
            rows=tuple((name, row(stored)) for name, stored in sweep.rows),
            scalars=tuple((name, put(expr)) for name, expr in sweep.scalars),
        )

    return loop_tree.on_sweeps(block, change)


@dataclass(frozen=True, slots=True)
class PointStatements:
    """The statements of one point of a sweep that evaluates right-hand sides into scalars."""

    outliner: Outliner
    parent: Nest
    body: Nodes

    def sweeps(self) -> list[loop_tree.Sweep]:
        """A sweep for each band of regions of the right-hand side."""
        ivp = self.outliner.ivp
        evaluations = [node for node in self.body if isinstance(node, EvaluateStatement)]
        given = [node for node in self.body if isinstance(node, StoreStatement)]
        stored = {store.target for store in given}
        scalars_of = {
            e.target: _scalar(e.target) + ("_" if e.target in stored else "") for e in evaluations
        }
        stores = [self._store(store, scalars_of) for store in given]
        if len(stores) + len(evaluations) < len(self.body):
            raise IllegalTransformation(f"{self.parent.kernel} has a sum that is not written out")
        arguments = [Ref(e.argument.array, (*e.argument.indices, _LONG)) for e in evaluations]
        rows = RowParameters(stores, self.outliner.stored, arguments)
        scalars: dict[str, Expr] = {}
        assignments = self.outliner.assignments(stores, rows, scalars)
        parts = [
            regions.PointEvaluation(scalars_of[e.target], rows.name(argument), f"_{place}", e.time)
            for place, (e, argument) in enumerate(zip(evaluations, arguments, strict=True))
        ]
        taken = {*scalars, *(name for name, _ in rows.bound()), *(p.target for p in parts)}
        taken |= {s.name for s in assignments if isinstance(s, loop_tree.Local)}
        taken |= {f"{name}{p.suffix}" for name in ("t", *ivp.locals, *ivp.sums) for p in parts}
        indices = (total.index for total in ivp.sums.values())
        for name in (*ivp.constants, *ivp.locals, *ivp.sums, *indices, *ivp.indices):
            if name in taken:
                raise IllegalTransformation(
                    f"{ivp.name} has the name {name}, which the method has too"
                )
        name = self.parent.kernel.replace("+", "_")
        return regions.fused(
            ivp, name, self.parent.kernel, parts, assignments, (rows.bound(), scalars)
        )

    def _store(self, store: StoreStatement, scalars: Mapping[Ref, str]) -> StoreStatement:
        """The store with elements of contracted arrays that are evaluated here as scalars."""

        def scalar(expr: Expr) -> Expr:
            contracted = isinstance(expr, Ref) and expr.array in self.parent.contracted
            if not (contracted and isinstance(expr, Ref) and expr in scalars):
                return expr
            return Ref(scalars[expr], ())

        return replace(store, value=rebuild(store.value, scalar))


def _scalar(ref: Ref) -> str:
    """The name of the scalar that stands for an element of a contracted array: ``F_2``."""
    return "_".join([ref.array, *(_text(index) for index in ref.indices[:-1])])


class RowParameters:
    """The names of the row parameters of a sweep: written rows first, then the others in the order
    of reading.
    """

    def __init__(
        self,
        stores: Sequence[StoreStatement],
        stored: frozenset[str],
        arguments: Sequence[Ref] = (),
    ) -> None:
        targets = [store.target for store in stores if store.target.indices]
        read = [*arguments, *(ref for store in stores for ref in references(store.value))]
        rows = list(
            dict.fromkeys(
                _row(ref) for ref in (*targets, *read) if ref.indices and ref.array in stored
            )
        )
        families = {row.array.removesuffix("_next") for row in rows}
        plain = len(families) == len({row.array for row in rows})
        self._names: dict[loop_tree.StoredRow, str] = {}
        for row in rows:
            family = row.array.removesuffix("_next") if plain else row.array
            name = family if row.index is None else f"{family}_{_text(row.index)}"
            self._names[row] = name
        written = {_row(ref) for ref in targets}
        for row in written:
            for other in rows:
                if other != row and other.array == row.array and not _apart(row, other):
                    raise IllegalTransformation(f"rows of {row.array} may overlap in one sweep")

    def name(self, ref: Ref) -> str:
        return self._names[_row(ref)]

    def bound(self) -> tuple[tuple[str, loop_tree.StoredRow], ...]:
        return tuple((name, row) for row, name in self._names.items())


def _apart(row: loop_tree.StoredRow, other: loop_tree.StoredRow) -> bool:
    return isinstance(row.index, Num) and isinstance(other.index, Num)


def _row(ref: Ref) -> loop_tree.StoredRow:
    return loop_tree.StoredRow(ref.array, ref.indices[0] if len(ref.indices) > 1 else None)


def _row_of_vector(ref: Ref) -> loop_tree.StoredRow:
    return loop_tree.StoredRow(ref.array, ref.indices[0] if ref.indices else None)


def _text(index: Expr) -> str:
    match index:
        case Sym(name=name):
            return name
        case Num(value=value):
            return str(value)
    raise IllegalTransformation("an index of a row must be a loop variable or a number")


def _name(loop: NestLoop, parent: Nest) -> str:
    """The name of a sweep, made of its kernel, its loops, and whether it sets, adds to or finishes
    a sum.
    """
    order = [node.variable for node in loop_nests.walk(parent.body) if isinstance(node, NestLoop)]
    tail = list(dict.fromkeys(order[order.index(loop.variable) :]))
    written = list(loop_nests.statements((loop,)))
    variables = [n.variable for n in loop_nests.walk((loop,)) if isinstance(n, NestLoop)]
    part = ""
    lowered = [
        n
        for n in loop_nests.walk(write_out_sums(parent.body))
        if isinstance(n, NestLoop) and n.long
    ]
    if len(lowered) > 1:
        tail = list(dict.fromkeys(variables))
        first = written[0]
        assert isinstance(first, StoreStatement)
        finish = first.target.array in loop_nests.reads((first,))
        part = "_add" if first.add else "_finish" if finish else "_set"
    return f"{parent.kernel.replace('+', '_')}_{''.join(tail)}{part}"
