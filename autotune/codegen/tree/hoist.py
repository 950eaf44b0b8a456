"""Loop-invariant code motion: what the iterations of a loop over stages compute alike, once.

    for l: F[l] = f(y);  for l: Y[l] = y + h sum_i A[l][i] F[i]       before
    F[0] = f(y);         for l: Y[l] = y + h (sum_i A[l][i]) F[0]     hoisted

So the first corrector step of a PIRK method, whose stages all begin with y, needs one evaluation of
the right-hand side, and no sums.
"""

from dataclasses import dataclass, replace
from functools import reduce

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
    nests,
    on_expressions,
    put,
    reads,
    reads_around,
    statements,
    writes,
)
from autotune.codegen.tree.loop_nests import (
    rebuild as rebuild_nodes,
)
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.language.expression import (
    Bin,
    Expr,
    Num,
    Ref,
    Sym,
    rebuild,
    substitute,
    symbols,
)


def hoist(tree: Nodes, kernel: str, loop: str) -> Nodes:
    """The tree with the evaluation of ``kernel`` out of its loop over ``loop``.

    The rows that it wrote are equal, so one is written and read in place of all, up to where
    another kernel writes them. The first iteration of a loop that reads them before it writes them
    is peeled. A sum over the rows becomes a product: (sum_i a_i) F[0].

    Legal where the argument does not depend on ``loop``; that the right-hand side does not depend
    on the time of the stage is up to the caller. No right-hand side may read the rows.
    """
    evaluations = [nest for nest in nests(tree) if kernel in nest.kernel.split("+")]
    if not evaluations:
        kernels = ", ".join(dict.fromkeys(nest.kernel for nest in nests(tree)))
        raise IllegalTransformation(f"there is no kernel {kernel} (there are {kernels})")
    evaluated = [
        statement
        for nest in evaluations
        for statement in statements(nest.body)
        if isinstance(statement, EvaluateStatement)
    ]
    if len(evaluated) != 1:
        raise IllegalTransformation(f"{kernel} is not a single evaluation of a right-hand side")
    array = evaluated[0].target.array
    if array in reads_around(tree):
        raise IllegalTransformation(f"a right-hand side reads {array} at other points")
    return _Hoist(kernel, loop, array).nodes(tree, shared=False)[0]


@dataclass(frozen=True, slots=True)
class _Hoist:
    """The walk through a tree in the order in which it runs."""

    kernel: str
    loop: str
    array: str
    """Whose rows are equal behind the evaluation."""

    def nodes(self, nodes: Nodes, shared: bool) -> tuple[Nodes, bool]:
        """The nodes changed, and whether the rows are equal behind them; ``shared``: before."""
        done: list[Node] = []
        for node in nodes:
            match node:
                case Nest():
                    changed, shared = self._nest(node, shared)
                    done.append(changed)
                case NestLoop():
                    parts, shared = self._counted(node, shared)
                    done += parts
                case TileNest() | StageNest() | PipelineNest():
                    body, shared = self.nodes(node.body, shared)
                    done.append(replace(node, body=body))
                case _:
                    done.append(node)
        return tuple(done), shared

    def _counted(self, node: NestLoop, shared: bool) -> tuple[Nodes, bool]:
        """A counted loop around kernels; its first iteration alone where only that is changed."""
        assert node.end is not None
        first, behind = self.nodes(node.body, shared)
        if behind and not shared:
            raise IllegalTransformation(f"{self.kernel} lies in a loop")
        if node.end == node.first:
            return (node,), shared
        if first == node.body or behind:
            return (replace(node, body=first),), behind
        peeled = put(first, node.variable, Num(node.first))
        if node.end == node.first + 1:
            return peeled, behind
        return (*peeled, replace(node, first=node.first + 1)), behind

    def _nest(self, nest: Nest, shared: bool) -> tuple[Nest, bool]:
        """The kernel with the evaluation once, or reading one row where the rows are equal."""
        if self.kernel in nest.kernel.split("+"):
            return replace(nest, body=self._once(nest.body)), True
        if not shared:
            return nest, False
        if self.array in writes((nest,)):
            first = next(s for s in statements((nest,)) if self._uses(s))
            if first.target.array == self.array and self.array not in reads((first,)):
                return nest, False
            raise IllegalTransformation(f"{nest.kernel} reads {self.array} before it writes it")
        return replace(nest, body=self._reading_one(nest.body)), True

    def _uses(self, statement: Statement) -> bool:
        return self.array in reads((statement,)) | writes((statement,))

    def _once(self, nodes: Nodes) -> Nodes:
        """The nodes of the kernel without the loop around the evaluation."""
        done: list[Node] = []
        hoisted = False
        for node in nodes:
            inside = [s for s in statements((node,)) if isinstance(s, EvaluateStatement)]
            if not inside:
                done += self._reading_one((node,)) if hoisted else (node,)
            elif isinstance(node, NestLoop) and node.variable == self.loop:
                done += put(self._invariant(node), self.loop, Num(node.first))
                hoisted = True
            elif isinstance(node, NestLoop):
                done.append(replace(node, body=self._once(node.body)))
            else:
                raise IllegalTransformation(f"no loop over {self.loop} is around {self.kernel}")
        return tuple(done)

    def _invariant(self, loop: NestLoop) -> Nodes:
        """The body of the loop, of which no iteration computes anything else than the others."""
        for statement in statements(loop.body):
            depends = not isinstance(statement, EvaluateStatement) or any(
                self.loop in symbols(index) for index in statement.argument.indices
            )
            if depends:
                raise IllegalTransformation(
                    f"iterations of {self.kernel} over {self.loop} do not compute the same"
                )
        return loop.body

    def _reading_one(self, nodes: Nodes) -> Nodes:
        """The nodes with the first row read in place of any; sums over the rows are products."""
        done: list[Node] = []
        for node in nodes:
            if isinstance(node, NestLoop):
                inside = [s for s in statements(node.body) if self._summed(s, node)]
                if inside and len(inside) == len(list(statements(node.body))):
                    done += self._products(node)
                else:
                    done.append(replace(node, body=self._reading_one(node.body)))
            elif isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
                done.append(on_expressions(node, self._first_row, lambda target: target))
            else:
                done.append(node)
        return tuple(done)

    def _summed(self, statement: Statement, loop: NestLoop) -> bool:
        """Whether a statement is a sum of the rows over a loop."""
        return (
            isinstance(statement, ReduceStatement)
            and statement.over == loop.variable
            and self._uses(statement)
        )

    def _products(self, loop: NestLoop) -> Nodes:
        """The body of a loop that sums equal rows, without the loop."""

        def product(node: Node) -> Nodes:
            return (self._product(node, loop),)

        return rebuild_nodes(loop.body, product)

    def _product(self, node: Node, loop: NestLoop) -> Node:
        """A sum of equal rows over a loop: the sum of its coefficients times the row."""
        if not isinstance(node, ReduceStatement):
            return node
        assert loop.end is not None
        indices = range(loop.first, loop.end)
        factor, row = _factored(self._first_row(node.term), loop.variable, indices)

        def multiplied(expr: Expr) -> Expr:
            match expr:
                case Bin("*", left, Sym("sum")):  # what does not depend on j comes first
                    return Bin("*", Bin("*", left, factor), row)
            return expr

        result = rebuild(node.result, multiplied)
        return StoreStatement(node.target, substitute(result, {"sum": Bin("*", factor, row)}))

    def _first_row(self, expr: Expr) -> Expr:
        def first(part: Expr) -> Expr:
            match part:
                case Ref(array=self.array, indices=(_, *rest)) if rest:
                    return Ref(self.array, (Num(0), *rest))
            return part

        return rebuild(expr, first)


def _factored(term: Expr, variable: str, indices: range) -> tuple[Expr, Expr]:
    """The sum of a term over the values of a variable as a product: what depends on the variable,
    summed, and what does not.
    """
    match term:
        case Bin("*", left, right) if variable not in symbols(right):
            factor, rest = _factored(left, variable, indices)
            return factor, right if rest == Num(1) else Bin("*", rest, right)
        case Bin("*", left, right) if variable not in symbols(left):
            factor, rest = _factored(right, variable, indices)
            return factor, left if rest == Num(1) else Bin("*", left, rest)
    terms = [substitute(term, {variable: Num(i)}) for i in indices]
    return reduce(lambda total, other: Bin("+", total, other), terms), Num(1)
