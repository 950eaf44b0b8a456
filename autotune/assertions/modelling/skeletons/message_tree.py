"""The part of a model that has messages, who sends to whom, and whether all of it is received."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from autotune.assertions.modelling import count_formula
from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.count_formula import CountFormula, shown, whole
from autotune.assertions.modelling.parsed_model import ParsedModel, ParsedNode
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.assertion_record import MESSAGES
from autotune.errors import Fault, InputError
from autotune.language.counts import Value

MOST_WALKED = 1_000_000
"""Messages of all ranks whose peers are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEvent:
    """A message of one rank."""

    rank: int
    node: ParsedNode
    size: int
    """Bytes."""
    peer: int
    """The rank of the partner; -1 of a collective."""


def message_nodes(nodes: Iterable[ParsedNode]) -> tuple[ParsedNode, ...]:
    """The nodes with messages and those above them; the others do not communicate."""
    kept = []
    for node in nodes:
        inner = message_nodes(node.inner)
        if inner or node.node.kind in MESSAGES:
            kept.append(replace(node, inner=inner))
    return tuple(kept)


def needed_variables(model: ParsedModel, nodes: Iterable[ParsedNode]) -> tuple[str, ...]:
    """The derived variables that some nodes need, in the order of their definition."""
    symbols: set[str] = set()
    for node in (part for top in nodes for part in top.walk()):
        symbols |= node.amount.symbols | node.repeat.symbols
        symbols |= node.peer.symbols if node.peer else frozenset()
    reached = model.reach(frozenset(symbols))
    return tuple(name for name in model.derived if name in reached)


def peer_of(model: ParsedModel, node: ParsedNode) -> CountFormula:
    """The peer of a message; where none is stated, the next rank of a ring, or the one before."""
    if node.peer is not None:
        return node.peer
    rank, ranks = model.model.rank, model.model.ranks
    sign = "+" if node.node.kind == "send" else "-"
    return count_formula.parse(f"({rank} {sign} 1) % {ranks}")


class Repeats:
    """How many visits are due, for repeats that need not be whole: 1/2 is due every other time."""

    def __init__(self) -> None:
        self._done: dict[str, Fraction] = {}

    def due(self, path: str, repeat: Value) -> int:
        """The whole visits that have become due with one more repeat."""
        if repeat < 0:
            raise ValueError(f"the repeat is negative: {shown(repeat)}")
        before = self._done.get(path, Fraction(0))
        after = before + Fraction(repeat)
        self._done[path] = after % 1
        return int(after)


def events(binding: ModelBinding, rank: int) -> Iterator[MessageEvent]:
    """The messages of one rank in order; InputError where a size or a peer is not possible."""
    values = binding.at_rank(rank)
    tree = message_nodes(binding.model.nodes)
    yield from _visited(binding.model, tree, values, rank, Repeats(), binding.ranks)


def _visited(
    model: ParsedModel,
    nodes: Iterable[ParsedNode],
    values: dict[str, Value],
    rank: int,
    repeats: Repeats,
    ranks: int,
) -> Iterator[MessageEvent]:
    for node in nodes:
        try:
            times = repeats.due(node.path, node.repeat.at(values))
            amount = node.amount.at(values) if times else 0
            if node.node.kind in MESSAGES and times:
                yield from [_event(model, node, values, rank, ranks)] * times
                continue
            trips = whole(amount, f"trips {node.amount}") if node.node.kind == "loop" else 1
        except ValueError as error:
            raise InputError(
                Fault(where=f"{node.path} on rank {rank}", found=str(error))
            ) from error
        for _ in range(times):
            for number in range(trips):
                if node.node.index:
                    values[node.node.index] = number
                yield from _visited(model, node.inner, values, rank, repeats, ranks)


def _event(
    model: ParsedModel, node: ParsedNode, values: dict[str, Value], rank: int, ranks: int
) -> MessageEvent:
    size = whole(node.amount.at(values), f"the size {node.amount}")
    if node.node.kind == "coll":
        return MessageEvent(rank=rank, node=node, size=size, peer=-1)
    peer = whole(peer_of(model, node).at(values), "the peer")
    if peer >= ranks:
        raise ValueError(f"the peer is rank {peer} of {ranks}")
    return MessageEvent(rank=rank, node=node, size=size, peer=peer)


def received_as_sent(binding: ModelBinding) -> tuple[bool, str]:
    """Whether every pair of ranks receives what it sends, in its order; and why not.

    More than ``MOST_WALKED`` messages are not compared, and so never match.
    """
    walked: Value = 0
    for rank in range(binding.ranks):
        walked += sum(rank_counts(binding, rank).messages.values())
        if walked > MOST_WALKED:
            return False, f"more than {MOST_WALKED:,} messages are not compared"
    sent: dict[tuple[int, int], list[int]] = {}
    received: dict[tuple[int, int], list[int]] = {}
    for rank in range(binding.ranks):
        for event in events(binding, rank):
            if event.node.node.kind == "send":
                sent.setdefault((rank, event.peer), []).append(event.size)
            elif event.node.node.kind == "recv":
                received.setdefault((event.peer, rank), []).append(event.size)
    for pair in sorted({*sent, *received}):
        first, second = sent.get(pair, []), received.get(pair, [])
        if first != second:
            left, right = Counter(first), Counter(second)
            odd = next(iter((left - right) + (right - left)), first[0] if first else second[0])
            text = f"rank {pair[0]} sends {left[odd]} messages of {odd} B to rank {pair[1]}"
            same = left == right
            return False, f"{text}, which receives {right[odd]}" + (", in other order" * same)
    return True, ""


def stated_peers(nodes: Iterable[ParsedNode]) -> bool:
    """Whether any send states its peer; otherwise all send to the next rank of a ring."""
    sends = (part for top in nodes for part in top.walk() if part.node.kind == "send")
    return any(node.peer is not None for node in sends)
