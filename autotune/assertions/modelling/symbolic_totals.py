"""Totals of a model as formulas of its variables: of the program, of a node, of all ranks.

    total(node)  = repeat * (count of a visit + sum over the nodes inside)
    total(loop)  = repeat * sum over the trips of (sum over the nodes inside)

Sums over an index that have no closed form stay sums.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.assertions.modelling.count_formula import CountFormula, substituted
from autotune.assertions.modelling.count_polynomial import (
    CountPolynomial,
    atom,
    constant,
    polynomial,
    total,
)
from autotune.assertions.modelling.parsed_model import ParsedModel, ParsedNode
from autotune.assertions.modelling.tree_walk import (
    COUNTED_METRIC,
    MESSAGE_METRICS,
    METRICS,
    Metric,
)
from autotune.language.expression import Bin, Expr, Sym

RATIOS: Mapping[str, tuple[tuple[Metric, ...], tuple[Metric, ...]]] = {
    "bytes per flop": (("loads", "stores"), ("flops",)),
    "sent bytes per flop": (("volume",), ("flops",)),
    "operational intensity": (("flops",), ("loads", "stores")),
    "bytes per message": (("volume",), ("messages",)),
}
"""Quotients of sums of totals; the operational intensity is in flops per byte loaded or stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicTotal:
    """A total as a formula of the variables of a model."""

    metric: Metric
    formula: CountFormula

    def __str__(self) -> str:
        return str(self.formula)


def symbolic_totals(
    model: ParsedModel,
    node: ParsedNode | None = None,
    *,
    inline: bool = False,
    all_ranks: bool = False,
) -> tuple[SymbolicTotal, ...]:
    """The totals of every metric that is not 0 throughout, of one rank or of all ranks.

    ``node``: of all visits in one visit of the node above. ``inline``: derived variables are
    replaced by their definitions.
    """
    nodes = model.nodes if node is None else (node,)
    totals = []
    for metric in METRICS:
        result = total(_total(part, metric) for part in nodes)
        if not result.terms:
            continue
        names = tuple(model.derived) if inline else ()
        if all_ranks:
            rank, ranks = model.model.rank, model.model.ranks
            by_rank = tuple(n for n in model.derived if rank in model.reach(frozenset({n})))
            result = polynomial(_inlined(model, result.expr(), (*names, *by_rank)))
            result = result.summed(rank, polynomial(Sym(ranks)))
        if inline:
            result = polynomial(_inlined(model, result.expr(), names))
        totals.append(SymbolicTotal(metric=metric, formula=CountFormula.of(result.expr())))
    return tuple(totals)


def _inlined(model: ParsedModel, expr: Expr, names: tuple[str, ...]) -> Expr:
    """An expression with some derived variables replaced, the last defined first."""
    for name in reversed(list(model.derived)):
        if name in names:
            expr = substituted(expr, {name: model.derived[name].expr})
    return expr


def _total(node: ParsedNode, metric: Metric) -> CountPolynomial:
    own_count = _count(node, metric)
    inner = total(_total(part, metric) for part in node.inner)
    if not own_count.terms and not inner.terms:
        return constant(0)
    if node.node.kind == "loop":
        trips = polynomial(node.amount.expr)
        index = node.node.index
        inner = inner.summed(index, trips) if index else _times(trips, inner)
    return _times(polynomial(node.repeat.expr), own_count + inner)


def _times(factor: CountPolynomial, inner: CountPolynomial) -> CountPolynomial:
    """A product in which a factor of several terms stays one, so that the tree is seen."""
    if len(factor.terms) > 1 and len(inner.terms) > 1:
        front, rest = factor.primitive()
        return front * atom(rest.expr()) * inner
    return factor * inner


def _count(node: ParsedNode, metric: Metric) -> CountPolynomial:
    """What one visit of a node counts by itself."""
    kind = node.node.kind
    if COUNTED_METRIC.get(kind) == metric:
        return polynomial(node.amount.expr)
    number, volume = MESSAGE_METRICS.get(kind, ("", ""))
    if metric == number:
        return constant(1)
    return polynomial(node.amount.expr) if metric == volume else constant(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicRatio:
    """A quotient of totals, such as bytes per flop."""

    name: str
    formula: CountFormula


def symbolic_ratios(totals: tuple[SymbolicTotal, ...]) -> tuple[SymbolicRatio, ...]:
    """The ratios of which numerator and denominator are counted."""
    formulas = {t.metric: t.formula.expr for t in totals}
    ratios = []
    for name, (over, under) in RATIOS.items():
        upper = [formulas[m] for m in over if m in formulas]
        lower = [formulas[m] for m in under if m in formulas]
        if upper and lower:
            quotient = _cancelled(_added(upper), _added(lower))
            ratios.append(SymbolicRatio(name=name, formula=CountFormula.of(quotient)))
    return tuple(ratios)


def _added(parts: list[Expr]) -> CountPolynomial:
    return total(_factored(part) for part in parts)


def _factored(expr: Expr) -> CountPolynomial:
    """The polynomial of an expression, in which factors of several terms stay factors."""
    match expr:
        case Bin(op="*", left=left, right=right):
            return _times(_factored(left), _factored(right))
        case Bin(op="/", left=left, right=right) if len(polynomial(right).terms) == 1:
            return _factored(left) * polynomial(right).reciprocal()
    return polynomial(expr)


def _cancelled(upper: CountPolynomial, lower: CountPolynomial) -> Expr:
    """The quotient without what all terms above and below share."""
    (front, rest), (under_front, under) = upper.primitive(), lower.primitive()
    over = front * under_front.reciprocal()
    if len(under.terms) == 1:
        return (over * rest * under.reciprocal()).expr()
    return Bin("/", _times(rest, over).expr(), under.expr())
