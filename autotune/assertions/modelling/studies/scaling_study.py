"""Totals of a model over the values of some variables: strong and weak scaling."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from autotune.assertions.modelling.binding import ModelBinding, bind
from autotune.assertions.modelling.parsed_model import ParsedModel, ParsedNode
from autotune.assertions.modelling.tree_walk import METRICS, Metric, RankCounts, rank_counts
from autotune.domain.assertion_record import Count
from autotune.errors import Fault, InputError
from autotune.language.counts import Value

MOST_RANKS = 4096
"""Ranks that are walked one by one; of more, so many evenly spread ones stand for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledTotal:
    """One total of a model at one point of a study."""

    metric: Metric
    everywhere: Count
    """Of all ranks together."""
    least: Count
    most: Count
    """Of a single rank."""
    busiest: int
    """The first rank that has the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPoint:
    """The totals of a model for one set of values."""

    values: Mapping[str, Count]
    ranks: int
    ranks_walked: int
    """Fewer than ``ranks`` where so many evenly spread ranks stand for all."""
    totals: tuple[ScaledTotal, ...]

    def total(self, metric: Metric) -> ScaledTotal | None:
        """The total of a metric; None where nothing of it is counted."""
        return next((total for total in self.totals if total.metric == metric), None)


def scaling_study(
    model: ParsedModel,
    given: Mapping[str, Value],
    over: Mapping[str, Sequence[Value]],
    weak: Iterable[str] = (),
    node: ParsedNode | None = None,
) -> tuple[ScalingPoint, ...]:
    """The totals for every combination of the values ``over`` which the model is studied.

    ``weak``: variables that grow in proportion to the ranks, from their value at the first point.
    InputError with every combination that is not valid, each with the nearest valid values.
    """
    unknown = [name for name in (*over, *weak) if name not in model.inputs]
    if unknown:
        bind(model, {**given, **dict.fromkeys(unknown, 1)}, "--over")
    bindings: list[ModelBinding] = []
    faults: list[Fault] = []
    start: Mapping[str, Value] | None = None
    for combination in itertools.product(*over.values()):
        values = {**given, **dict(zip(over, combination, strict=True))}
        if start is not None:
            values |= _grown(model, values, start, weak)
        try:
            bindings.append(bind(model, values, "--over"))
        except InputError as error:
            faults.extend(error.faults)
            continue
        start = start or bindings[-1].given
    if faults:
        raise InputError(*dict.fromkeys(faults))
    return tuple(scaling_point(binding, node) for binding in bindings)


def _grown(
    model: ParsedModel, values: Mapping[str, Value], start: Mapping[str, Value], weak: Iterable[str]
) -> dict[str, Value]:
    """The variables that grow with the ranks, from those of the first point."""
    ranks = model.model.ranks
    grown = {}
    for name in weak:
        product = start[name] * values.get(ranks, start[ranks])
        quotient = product // start[ranks] if isinstance(product, int) else product / start[ranks]
        grown[name] = quotient
    return grown


def scaling_point(binding: ModelBinding, node: ParsedNode | None = None) -> ScalingPoint:
    """The totals of all ranks, and of those with the least and the most."""
    walked = spread_ranks(binding)
    nodes = None if node is None else (node,)
    counts = {rank: rank_counts(binding, rank, nodes) for rank in walked}
    totals = [_total(metric, counts, binding.ranks) for metric in METRICS]
    return ScalingPoint(
        values={name: number(value) for name, value in binding.given.items()},
        ranks=binding.ranks,
        ranks_walked=len(walked) if binding.model.by_rank else binding.ranks,
        totals=tuple(total for total in totals if total.everywhere),
    )


def spread_ranks(binding: ModelBinding) -> tuple[int, ...]:
    """The ranks whose counts stand for all: one where none depends on the rank."""
    if not binding.model.by_rank:
        return (0,)
    count = min(binding.ranks, MOST_RANKS)
    return tuple(place * binding.ranks // count for place in range(count))


def _total(metric: Metric, counts: Mapping[int, RankCounts], ranks: int) -> ScaledTotal:
    by_rank = {rank: count[metric] for rank, count in counts.items()}
    busiest = max(by_rank, key=lambda rank: by_rank[rank])
    everywhere = sum(by_rank.values()) * Fraction(ranks, len(by_rank))
    return ScaledTotal(
        metric=metric,
        everywhere=number(everywhere),
        least=number(min(by_rank.values())),
        most=number(by_rank[busiest]),
        busiest=busiest,
    )


def number(value: Value) -> Count:
    """A value as it is kept in documents: whole numbers stay whole."""
    return int(value) if value == int(value) and not isinstance(value, float) else float(value)
