"""Runs of programs with the library of assertions for their MPI, and what it counted."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import assertion_programs

from autotune.assertions.library.mpi import mpi_library
from autotune.domain.assertion_record import AssertionRecord, CallRecord, PathRecord
from autotune.files import codec


class CountedCall(NamedTuple):
    """What the calls of one function counted."""

    messages: int
    size: int
    to_self: int
    sizes: dict[int, int]
    peers: dict[int, tuple[int, int]]
    """Messages and bytes by rank."""


def recorded(
    language: str,
    command: Sequence[str],
    ranks: int,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    status: int | None = 0,
) -> list[AssertionRecord]:
    """The records of a run, by rank."""
    installation, _ = assertion_programs.installation(language)
    preload = ["env", f"LD_PRELOAD={mpi_library.mpi_library(installation)}"]
    settings = {
        "AUTOTUNE_ASSERT": str(folder),
        "OMPI_MCA_osc": "^rdma,ucx",  # Open MPI 4.1 and 5.0: both fail on one node
        **(variables or {}),
    }
    assertion_programs.launch(language, [*preload, *command], ranks, settings, status)
    texts = [path.read_text() for path in folder.glob("*.json")]
    records = [codec.load(AssertionRecord, text) for text in texts]
    return sorted(records, key=lambda record: record.rank)


def by_function(calls: Iterable[CallRecord]) -> dict[tuple[str, str], CountedCall]:
    """What was counted, by kind and function."""
    return {
        (call.kind, call.call): CountedCall(
            call.messages,
            call.size,
            call.to_self,
            {int(size): number for size, number in call.sizes},
            {peer.rank: (peer.messages, peer.size) for peer in call.peers},
        )
        for call in calls
    }


def stated(path: Path, rank: int) -> dict[tuple[str, str], CountedCall]:
    """What a test program stated in its file, a line a message."""
    lists: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for line in path.read_text().splitlines():
        kind, call, size, peer = line.split()
        lists.setdefault((kind, call), []).append((int(size), int(peer)))
    return {function: _summed(messages, rank) for function, messages in lists.items()}


def _summed(messages: list[tuple[int, int]], rank: int) -> CountedCall:
    peers: dict[int, tuple[int, int]] = {}
    for size, peer in messages:
        if peer >= 0:
            number, total = peers.get(peer, (0, 0))
            peers[peer] = (number + 1, total + size)
    return CountedCall(
        len(messages),
        sum(size for size, _ in messages),
        sum(peer == rank for _, peer in messages),
        dict(Counter(size for size, _ in messages)),
        peers,
    )


def path_named(record: AssertionRecord, name: str) -> PathRecord:
    """The only path of this name."""
    (path,) = (path for path in record.paths if path.name == name)
    return path
