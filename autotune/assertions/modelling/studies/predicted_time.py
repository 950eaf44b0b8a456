"""The time of a model on a machine: messages by the curves of its network, work by a roofline.

    seconds of a rank = max(flops / peak, bytes / bandwidth) + messages one after the other

Nothing overlaps but arithmetic with memory. A roofline is a lower bound of the work; the interval
is that of the communication curves. The time of the program is that of its slowest rank.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.parsed_model import collective
from autotune.assertions.modelling.studies.message_sizes import pingpong
from autotune.assertions.modelling.studies.scaling_study import spread_ranks
from autotune.assertions.modelling.tree_walk import RankCounts, SentSize, rank_counts
from autotune.domain.communication_cost import Cost
from autotune.domain.cost_curve import Operation
from autotune.domain.machine import Machine, PortTable
from autotune.domain.network import Network
from autotune.errors import Fault, InputError
from autotune.units import Seconds, rough_percent

_DOUBLE = 8
_DIRECT: Mapping[str, Operation] = {"barrier": "barrier", "allgather": "allgather"}
"""Collectives with a curve of their own; the others are so many messages one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRates:
    """What one rank computes and moves at most."""

    peak: float | None
    """Floating-point operations per second; None: not known."""
    bandwidth: float | None
    """Bytes per second from memory; None: not known."""
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationTerm:
    """The time of the messages of one size, or of one collective operation."""

    operation: str
    size: float
    """Bytes of one message; of a collective, what a rank contributes."""
    messages: float
    seconds: float
    interval: tuple[float, float]
    extrapolated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedTime:
    """The time of the slowest rank of a model."""

    rank: int
    ranks: int
    nodes: int
    seconds: float
    low: float
    high: float
    arithmetic: float
    """Seconds of the operations alone at the peak."""
    memory: float
    """Seconds of the loads and stores alone at the bandwidth of memory."""
    communication: float
    terms: tuple[CommunicationTerm, ...]
    """The largest first."""
    rates: NodeRates
    notes: tuple[str, ...]


def node_rates(
    machine: Machine, ranks_per_node: int, peak: float | None = None, bandwidth: float | None = None
) -> NodeRates:
    """The rates of one rank of a node; those that are given replace those of the machine."""
    sources = []
    if peak is None:
        peak, source = _peak(machine)
        sources.append(source)
    else:
        sources.append(f"peak {peak / 1e9:.4g} GFlop/s as given")
    if bandwidth is None:
        bandwidth, source = _bandwidth(machine, ranks_per_node)
        sources.append(source)
    else:
        sources.append(f"memory {bandwidth / 1e9:.4g} GB/s as given")
    return NodeRates(peak=peak, bandwidth=bandwidth, sources=tuple(sources))


def _peak(machine: Machine) -> tuple[float | None, str]:
    """Operations per second of one core: of the port table, or measured fused multiply-adds."""
    ports = machine.in_core.ports
    if ports is not None:
        rate = _operations(ports)
        where = machine.sources.get("in_core.ports", "its port table")
        return rate * machine.clock, f"peak: {rate:g} flops/cy of {machine.name}'s ports ({where})"
    if machine.calibration is not None:
        fused = {
            int(name.partition(".")[2]): constant.value
            for name, constant in machine.calibration.constants.items()
            if name.startswith("vector_fused.") and constant.value > 0 and "@" not in name
        }
        if fused:
            width = max(fused)
            rate = 2 * width / _DOUBLE / fused[width]
            return rate * machine.calibration.clock, f"peak: {rate:.4g} flops/cy, calibrated"
    return None, f"{machine.name} states no peak: arithmetic is left out (--peak gives it)"


def _operations(ports: PortTable) -> float:
    """Operations of doubles per cycle of one core."""
    lanes = max(1, ports.vector // _DOUBLE)
    unfused = min(ports.floating, ports.adds + ports.multiplies)
    return lanes * max(2 * ports.fused, unfused)


def _bandwidth(machine: Machine, ranks_per_node: int) -> tuple[float | None, str]:
    """Bytes per second of one rank where all ranks of a node use memory."""
    memory = machine.memory
    domains = max(1, machine.cores // memory.cores)
    shares = []
    if memory.single is not None:
        shares.append((float(memory.single), "of one core"))
    if memory.saturated is not None:
        share = memory.saturated * domains / max(1, ranks_per_node)
        shares.append((share, f"saturated, shared by {ranks_per_node} ranks"))
    if not shares:
        text = f"{machine.name} states no bandwidth: memory is left out (--bandwidth gives it)"
        return None, text
    value, source = min(shares)
    return value, f"memory: {value / 1e9:.4g} GB/s {source} ({machine.name})"


def predicted_time(
    binding: ModelBinding, machine: Machine, nodes: int, rates: NodeRates
) -> PredictedTime:
    """The time of the slowest rank; InputError where messages have no curve."""
    if binding.ranks % nodes:
        found = f"{binding.ranks} ranks on {nodes} nodes"
        raise InputError(Fault(where="--nodes", found=found, expected="a divisor of the ranks"))
    pricing = _Pricing(machine.network, nodes, binding.ranks)
    slowest: PredictedTime | None = None
    for rank in spread_ranks(binding):
        predicted = _of_rank(rank, rank_counts(binding, rank), pricing, rates)
        if slowest is None or predicted.seconds > slowest.seconds:
            slowest = predicted
    assert slowest is not None  # there is a rank
    return slowest


class _Pricing:
    """Costs of messages, each computed once."""

    def __init__(self, network: Network | None, nodes: int, ranks: int) -> None:
        self.network, self.nodes, self.ranks = network, nodes, ranks
        self._costs: dict[tuple[str, float], Cost] = {}

    def cost(self, sent: SentSize) -> Cost:
        """The cost of one message or collective operation."""
        name = "pingpong" if sent.kind == "send" else collective(sent.operation) or sent.operation
        key = (name, float(sent.size))
        if key not in self._costs:
            self._costs[key] = self._priced(*key)
        return self._costs[key]

    def _pair(self, network: Network) -> tuple[int, int]:
        """Nodes and ranks of the ping-pong that prices a message: measured with as many ranks if
        there is one, for ranks that share cores wait for their turn; else between two.
        """
        if network.exactly(("pingpong", self.nodes, self.ranks)) is not None:
            return self.nodes, self.ranks
        return (1, 2) if self.nodes == 1 else (2, 2)

    def _priced(self, name: str, size: float) -> Cost:
        if self.network is None:
            hint = "autotune comm bench and fit measure one; a machine file may have one"
            found = "the machine has no network"
            raise InputError(Fault(where="--machine", found=found, expected="one", hint=hint))
        direct = _DIRECT.get(name)
        if direct is not None:
            cost = self.network.cost(direct, size, self.nodes, self.ranks)
            if cost is not None:
                return cost
        pingpong(self.network, self.nodes)
        message = self.network.cost("pingpong", size, *self._pair(self.network))
        assert message is not None  # there is a curve of it
        steps = 1 if name == "pingpong" else _steps(name, self.ranks)
        if steps == 1:
            return message
        low, high = message.interval
        return Cost(
            seconds=Seconds(steps * message.seconds),
            interval=(low * steps / 2, 2 * high * steps),
            extrapolated=True,
            notes=(f"{name}: {steps} messages of a ping-pong one after the other", *message.notes),
        )


def _steps(operation: str, ranks: int) -> int:
    """Messages one after the other of a collective operation (Thakur et al. 2005)."""
    if operation in ("alltoall", "gather", "scatter", "allgather"):
        return max(ranks - 1, 1)
    return max(math.ceil(math.log2(ranks)), 1) if ranks > 1 else 1


def _of_rank(rank: int, counts: RankCounts, pricing: _Pricing, rates: NodeRates) -> PredictedTime:
    arithmetic = float(counts["flops"]) / rates.peak if rates.peak else 0.0
    traffic = float(counts["loads"] + counts["stores"])
    memory = traffic / rates.bandwidth if rates.bandwidth else 0.0
    terms: list[CommunicationTerm] = []
    notes: list[str] = []
    for sent, messages in counts.messages.items():
        if sent.kind == "recv" or (sent.kind == "coll" and pricing.ranks == 1):
            continue
        cost = pricing.cost(sent)
        notes += cost.notes
        count = float(messages)
        terms.append(
            CommunicationTerm(
                operation=sent.operation or "message",
                size=float(sent.size),
                messages=count,
                seconds=count * cost.seconds,
                interval=(count * cost.interval[0], count * cost.interval[1]),
                extrapolated=cost.extrapolated,
            )
        )
    work, communication = max(arithmetic, memory), sum(term.seconds for term in terms)
    if not traffic and counts["flops"]:
        notes.append("the model states no loads and stores: the work is bound by arithmetic alone")
    if communication and work:
        share = rough_percent(communication / (work + communication))
        notes.append(f"communication is {share} of the time")
    return PredictedTime(
        rank=rank,
        ranks=pricing.ranks,
        nodes=pricing.nodes,
        seconds=work + communication,
        low=work + sum(term.interval[0] for term in terms),
        high=work + sum(term.interval[1] for term in terms),
        arithmetic=arithmetic,
        memory=memory,
        communication=communication,
        terms=tuple(sorted(terms, key=lambda term: -term.seconds)),
        rates=rates,
        notes=tuple(dict.fromkeys(notes)),
    )
