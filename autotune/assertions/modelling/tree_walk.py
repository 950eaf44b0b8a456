"""The counts of one rank by walking the tree of a model: exact, message sizes by number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.count_formula import MOST_TRIPS, shown, whole
from autotune.assertions.modelling.parsed_model import ParsedNode
from autotune.domain.assertion_record import COUNTED, PathKind
from autotune.errors import Fault, InputError
from autotune.language.counts import Value

LARGEST = 10**300
"""No total is larger: it would be no double any more."""
Metric = str
METRICS: Mapping[Metric, str] = {
    "flops": "floating-point operations",
    "loads": "bytes loaded",
    "stores": "bytes stored",
    "messages": "messages sent",
    "volume": "bytes sent",
    "receives": "messages received",
    "received": "bytes received",
    "collectives": "calls of collective operations",
    "contributed": "bytes contributed to collective operations",
}
"""What is totalled, with its meaning."""
COUNTED_METRIC: Mapping[PathKind, Metric] = {"flop": "flops", "load": "loads", "store": "stores"}
"""The metric of every kind of counted block."""
MESSAGE_METRICS: Mapping[PathKind, tuple[Metric, Metric]] = {
    "send": ("messages", "volume"),
    "recv": ("receives", "received"),
    "coll": ("collectives", "contributed"),
}
"""The metrics of every kind of message: how many, and their bytes."""


class SentSize(NamedTuple):
    """Messages of one kind and size."""

    kind: PathKind
    operation: str
    """Of a collective."""
    size: Value
    """Bytes."""


@dataclass(slots=True)
class RankCounts:
    """The counts of one rank, or of several added."""

    counted: dict[Metric, Value] = field(default_factory=dict)
    """Operations and bytes of counted blocks."""
    messages: dict[SentSize, Value] = field(default_factory=dict)
    """How many messages of each size."""

    def __getitem__(self, metric: Metric) -> Value:
        """A total by the name of its metric; InputError where it is too large."""
        total = self._total(metric)
        if not -LARGEST < total < LARGEST:
            raise InputError(Fault(where=metric, found="a total that is too large"))
        return total

    def _total(self, metric: Metric) -> Value:
        for kind, (number, volume) in MESSAGE_METRICS.items():
            if metric == number:
                return sum(n for sent, n in self.messages.items() if sent.kind == kind)
            if metric == volume:
                return sum(n * sent.size for sent, n in self.messages.items() if sent.kind == kind)
        return self.counted.get(metric, 0)

    def sizes(self, kind: PathKind) -> dict[Value, Value]:
        """How many messages of a kind have each size, ascending."""
        gathered: dict[Value, Value] = {}
        for sent, number in self.messages.items():
            if sent.kind == kind:
                gathered[sent.size] = gathered.get(sent.size, 0) + number
        return dict(sorted(gathered.items()))

    def add(self, other: "RankCounts", times: Value = 1) -> None:
        """Add other counts, so many times."""
        for metric, value in other.counted.items():
            self.counted[metric] = self.counted.get(metric, 0) + times * value
        for sent, number in other.messages.items():
            self.messages[sent] = self.messages.get(sent, 0) + times * number


def rank_counts(
    binding: ModelBinding, rank: int = 0, nodes: Iterable[ParsedNode] | None = None
) -> RankCounts:
    """The counts of one rank in all nodes at the top, or in one visit of each of some nodes.

    InputError with the path of the node where a count is negative, is not whole or has no value.
    """
    try:
        values = binding.at_rank(rank)
    except ValueError as error:
        raise InputError(Fault(where=f"rank {rank}", found=str(error))) from error
    return inside(binding.model.nodes if nodes is None else nodes, values)


def inside(nodes: Iterable[ParsedNode], values: dict[str, Value]) -> RankCounts:
    """The counts of some nodes with all that lies below them, each as often as it repeats."""
    total = RankCounts()
    _add(nodes, values, 1, total)
    return total


def _add(
    nodes: Iterable[ParsedNode], values: dict[str, Value], times: Value, total: RankCounts
) -> None:
    """Add the counts of some nodes, ``times`` times."""
    for node in nodes:
        visits = times * _checked(node, "repeat", values)
        if visits:
            _add_visits(node, values, visits, total)


def _add_visits(
    node: ParsedNode, values: dict[str, Value], visits: Value, total: RankCounts
) -> None:
    """Add the counts of so many visits of a node; of a message, of so many messages."""
    kind = node.node.kind
    if kind == "loop":
        _add_trips(node, values, visits, total)
        return
    if kind in MESSAGE_METRICS:
        sent = SentSize(kind, node.node.operation, _checked(node, "bytes", values))
        total.messages[sent] = total.messages.get(sent, 0) + visits
        return
    if kind in COUNTED:
        metric = COUNTED_METRIC[kind]
        amount = visits * _checked(node, "count", values)
        total.counted[metric] = total.counted.get(metric, 0) + amount
    _add(node.inner, values, visits, total)


def _add_trips(
    node: ParsedNode, values: dict[str, Value], visits: Value, total: RankCounts
) -> None:
    trips = _whole_trips(node, values)
    if not node.varying:
        if trips:
            _add(node.inner, values, visits * trips, total)
        return
    if trips > MOST_TRIPS:
        text = f"{trips} trips of a loop whose index is used inside"
        raise InputError(Fault(where=node.path, found=text, expected=f"at most {MOST_TRIPS}"))
    for number in range(trips):
        values[node.node.index] = number
        _add(node.inner, values, visits, total)
    values.pop(node.node.index, None)


def _whole_trips(node: ParsedNode, values: Mapping[str, Value]) -> int:
    try:
        return whole(node.amount.at(values), f"trips {node.amount}")
    except ValueError as error:
        raise _fault(node, str(error), values) from error


def _checked(node: ParsedNode, noun: str, values: Mapping[str, Value]) -> Value:
    """The repeat or the amount of a node; InputError for a negative one or one without a value."""
    if noun == "repeat" and node.node.repeat == "1":
        return 1
    formula = node.repeat if noun == "repeat" else node.amount
    try:
        value = formula.at(values)
    except ValueError as error:
        raise _fault(node, f"{noun}: {error}", values) from error
    if value < 0:
        raise _fault(node, f"{noun} {formula} is negative: {shown(value)}", values)
    return value


def _fault(node: ParsedNode, found: str, values: Mapping[str, Value]) -> InputError:
    names = sorted(node.amount.symbols | node.repeat.symbols)
    binding = ", ".join(f"{name} = {shown(values[name])}" for name in names if name in values)
    return InputError(Fault(where=node.path, found=found, hint=binding and f"with {binding}"))


@dataclass(slots=True)
class PathCounts:
    """The counts of one node itself, in the whole run of one rank."""

    visits: Value = 0
    own_counts: RankCounts = field(default_factory=RankCounts)


def path_counts(binding: ModelBinding, rank: int = 0) -> dict[str, PathCounts]:
    """The visits and counts of every node by its path, without those of the nodes inside."""
    results = {node.path: PathCounts() for node in binding.model.walk()}
    try:
        values = binding.at_rank(rank)
    except ValueError as error:
        raise InputError(Fault(where=f"rank {rank}", found=str(error))) from error
    _gather(binding.model.nodes, values, 1, results)
    return results


def _gather(
    nodes: Iterable[ParsedNode],
    values: dict[str, Value],
    times: Value,
    results: dict[str, PathCounts],
) -> None:
    for node in nodes:
        visits = times * _checked(node, "repeat", values)
        if not visits:
            continue
        counts = results[node.path]
        counts.visits += visits
        if node.node.kind == "loop":
            trips = _whole_trips(node, values)
            for number in range(trips if node.varying else 1):
                if node.varying:
                    values[node.node.index] = number
                inner_times = visits if node.varying else visits * trips
                _gather(node.inner, values, inner_times, results)
            continue
        if node.node.kind in COUNTED or node.node.kind in MESSAGE_METRICS:
            _add_visits(replace(node, inner=()), values, visits, counts.own_counts)
        _gather(node.inner, values, visits, results)
