"""The messages of all ranks as a trace: one JSON object a line, bounded."""

import json
from collections.abc import Iterator
from itertools import islice

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.skeletons.message_tree import MessageEvent, events
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.assertion_record import Count

TRACE_SCHEMA = "autotune.assertion-trace/1"
MOST_EVENTS = 100_000
"""Events of one rank, unless another bound is given."""


def synthetic_trace(binding: ModelBinding, most: int = MOST_EVENTS) -> Iterator[str]:
    """The lines: a head, the messages of rank after rank, and what was left out at the bound."""
    given: dict[str, Count] = {
        name: value if isinstance(value, int) else float(value)
        for name, value in binding.given.items()
    }
    name = binding.model.model.name
    yield _line({"schema": TRACE_SCHEMA, "model": name, "ranks": binding.ranks, "values": given})
    for rank in range(binding.ranks):
        listed = islice(events(binding, rank), most)
        yield from (_line(_event(number, event)) for number, event in enumerate(listed))
        lost = int(sum(rank_counts(binding, rank).messages.values())) - most
        if lost > 0:
            yield _line({"rank": rank, "left_out": lost})


def _event(number: int, event: MessageEvent) -> dict[str, object]:
    node = event.node.node
    line: dict[str, object] = {
        "rank": event.rank,
        "number": number,
        "event": node.operation if node.kind == "coll" else node.kind,
        "path": event.node.path,
        "size": event.size,
    }
    return line if node.kind == "coll" else {**line, "peer": event.peer}


def _line(value: dict[str, object]) -> str:
    return f"{json.dumps(value)}\n"
