"""The distribution of message sizes, by count and by bytes, and what bounds a message of each size.

A message is bound by latency while it is smaller than n_1/2, the size at which half of the
asymptotic bandwidth is reached (Hockney 1994): of one line, latency times bandwidth.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.studies.scaling_study import number, spread_ranks
from autotune.assertions.modelling.tree_walk import RankCounts, rank_counts
from autotune.domain.assertion_record import Count
from autotune.domain.cost_curve import CostCurve
from autotune.domain.network import Network
from autotune.errors import Fault, InputError
from autotune.units import Unbounded

Bound = Literal["latency", "bandwidth", ""]
_BISECTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeShare:
    """Messages of one size."""

    size: Count
    """Bytes."""
    messages: Count
    message_share: float
    byte_share: float
    cumulative_messages: float
    cumulative_bytes: float
    """Shares of messages of this size or a smaller one."""
    bound: Bound
    """Empty without a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSizes:
    """The sizes of all messages that are sent."""

    ranks: int
    messages: Count
    volume: Count
    """Bytes."""
    sizes: tuple[SizeShare, ...]
    """Ascending."""
    half_size: Unbounded | None
    """n_1/2 in bytes; None without a network."""
    latency_bound: float | None
    """Share of the messages; None without a network."""
    curve: str
    """The curve that n_1/2 comes from."""


def half_size(curve: CostCurve) -> float:
    """The size in bytes at which a curve reaches half of its asymptotic bandwidth.

    Infinite where the size does not matter to the curve.
    """
    bandwidth = curve.segments[-1].bandwidth
    if bandwidth is None:
        return math.inf
    low, high = 0.0, 1.0
    while high < 2.0**60 and 2 * high < bandwidth * curve.at(high):
        high *= 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * middle < bandwidth * curve.at(middle) else (low, middle)
    return high


def pingpong(network: Network, nodes: int) -> CostCurve:
    """The curve of a single message between nodes, or within one; InputError without one."""
    curve = network.curve("pingpong", 2 if nodes > 1 else 1, 2)
    if curve is None:
        place = "between nodes" if nodes > 1 else "within a node"
        hint = f"autotune comm bench --operations pingpong --nodes {2 if nodes > 1 else 1}"
        other = network.curve("pingpong", 1 if nodes > 1 else 2, 2)
        if other is not None:
            hint += f", or --on-nodes {1 if nodes > 1 else 2}, for which there is one"
        found = f"{network.title or 'the network'} has no ping-pong curve {place}"
        raise InputError(Fault(where="--machine", found=found, expected="one", hint=hint))
    return curve


def message_sizes(
    binding: ModelBinding, network: Network | None = None, nodes: int = 2
) -> MessageSizes:
    """The sizes of the messages of all ranks; with a network, what bounds them."""
    total = RankCounts()
    walked = spread_ranks(binding)
    for rank in walked:
        total.add(rank_counts(binding, rank))
    of_each = Fraction(binding.ranks, len(walked))
    sizes = {size: n * of_each for size, n in total.sizes("send").items() if n}
    messages, volume = sum(sizes.values()), sum(size * n for size, n in sizes.items())
    curve = None if network is None else pingpong(network, nodes)
    limit = None if curve is None else half_size(curve)
    shares, seen, seen_bytes = [], 0.0, 0.0
    for size, count in sizes.items():
        seen, seen_bytes = seen + float(count), seen_bytes + float(size * count)
        shares.append(
            SizeShare(
                size=number(size),
                messages=number(count),
                message_share=float(count / messages),
                byte_share=float(size * count / volume) if volume else 0.0,
                cumulative_messages=seen / float(messages),
                cumulative_bytes=seen_bytes / float(volume) if volume else 0.0,
                bound="" if limit is None else "latency" if size < limit else "bandwidth",
            )
        )
    latency = sum(share.message_share for share in shares if share.bound == "latency")
    layout = "" if curve is None else f"ping-pong on {curve.nodes} nodes"
    return MessageSizes(
        ranks=binding.ranks,
        messages=number(messages),
        volume=number(volume),
        sizes=tuple(shares),
        half_size=limit,
        latency_bound=None if curve is None else latency,
        curve=layout and f"{layout}{', ' + curve.source if curve and curve.source else ''}",
    )
