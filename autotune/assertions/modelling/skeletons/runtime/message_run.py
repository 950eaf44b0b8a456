"""Messages of a skeleton: sent and counted, with mpi4py; or only counted, without a communicator.

Receives are either posted as the model states them, or taken as they come: then a rank counts
before the start what the others will send to it.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from mpi4py import MPI

Number = int | float | Fraction
MOST_OPEN = 1000
"""Sends that stay open at a wait."""


def stop(text: str) -> NoReturn:
    """End the whole program with a message."""
    print(f"skeleton: {text}", file=sys.stderr, flush=True)  # noqa: T201 - a program of its own
    MPI.COMM_WORLD.Abort(2)
    raise SystemExit(2)


def whole(value: Number, path: str) -> int:
    """A count; the program ends where it is negative or no whole number."""
    if value < 0 or value != int(value):
        stop(f"{path}: {value} is no whole number from 0 on")
    return int(value)


class MessageRun:
    """The messages of one rank."""

    def __init__(
        self, rank: int, ranks: int, *, posted: bool, communicator: MPI.Intracomm | None = None
    ) -> None:
        self.rank, self.ranks, self.posted = rank, ranks, posted
        self.communicator = communicator
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.sent_to: Counter[int] = Counter()
        self.arrived = 0
        self._pending: list[MPI.Request] = []
        self._buffers: list[bytearray] = []
        self._partial: dict[str, Fraction] = {}

    def times(self, path: str, repeat: Number) -> range:
        """The visits that are due: with a repeat of 1/2 every other time."""
        if repeat < 0:
            stop(f"{path}: the repeat is negative: {repeat}")
        due = self._partial.get(path, Fraction(0)) + Fraction(repeat)
        self._partial[path] = due % 1
        return range(int(due))

    def send(self, path: str, size: Number, peer: Number) -> None:
        """Start a message."""
        count, partner = whole(size, path), whole(peer, path)
        self.counts["send", "", count] += 1
        self.sent_to[partner] += 1
        if self.communicator is not None:
            self._buffers.append(bytearray(count))
            self._pending.append(self.communicator.Isend([self._buffers[-1], MPI.BYTE], partner))

    def recv(self, path: str, size: Number, peer: Number) -> None:
        """Start to receive a message; not where messages are taken as they come."""
        if not self.posted:
            return
        count, partner = whole(size, path), whole(peer, path)
        self.counts["recv", "", count] += 1
        if self.communicator is not None:
            self._buffers.append(bytearray(count))
            self._pending.append(self.communicator.Irecv([self._buffers[-1], MPI.BYTE], partner))

    def coll(self, path: str, operation: str, size: Number) -> None:
        """One collective operation, to which this rank contributes so many bytes."""
        count = whole(size, path)
        self.counts["coll", operation, count] += 1
        if self.communicator is not None:
            _collective(self.communicator, operation, count)

    def wait(self) -> None:
        """Complete all that was started.

        Where messages are taken as they come, sends may stay open: their receiver may be in a
        collective operation that waits for this rank.
        """
        if self.communicator is None:
            return
        while not MPI.Request.Testall(self._pending):
            self._take()
            if not self.posted and len(self._pending) < MOST_OPEN:
                return
        self._pending, self._buffers = [], []

    def finish(self, expected: int) -> None:
        """Complete all messages and take others until so many have arrived."""
        while not MPI.Request.Testall(self._pending):
            self._take()
        while self.arrived < expected:
            self._take()

    def _take(self) -> None:
        """Receive a message that has come, where none is posted."""
        if self.posted or self.communicator is None:
            return
        status = MPI.Status()
        message = self.communicator.Improbe(status=status)
        if message is not None:
            count = status.Get_count(MPI.BYTE)
            message.Recv([bytearray(count), MPI.BYTE])
            self.counts["recv", "", count] += 1
            self.arrived += 1


def _collective(communicator: MPI.Intracomm, operation: str, size: int) -> None:
    ranks = communicator.Get_size()
    mine, result = [bytearray(size), MPI.BYTE], [bytearray(size), MPI.BYTE]
    every = [bytearray(size * ranks), MPI.BYTE]
    match operation:
        case "barrier":
            communicator.Barrier()
        case "bcast":
            communicator.Bcast(mine)
        case "reduce":
            communicator.Reduce(mine, result, MPI.BOR)
        case "allreduce":
            communicator.Allreduce(mine, result, MPI.BOR)
        case "scan":
            communicator.Scan(mine, result, MPI.BOR)
        case "exscan":
            communicator.Exscan(mine, result, MPI.BOR)
        case "gather":
            communicator.Gather(mine, every)
        case "allgather":
            communicator.Allgather(mine, every)
        case "scatter":
            communicator.Scatter(every, result)
        case "alltoall":
            part = [bytearray(size // ranks * ranks), MPI.BYTE]
            communicator.Alltoall(part, [bytearray(size // ranks * ranks), MPI.BYTE])


def main(
    walk: Callable[..., None],
    defaults: Mapping[str, Number],
    ranks_name: str,
    *,
    posted: bool,
    senders: str,
) -> None:
    """Walk through the model on every rank, and say what was sent and received.

    ``senders``: ``ring`` or ``all``, the ranks that may send to a rank. Arguments of the program:
    ``name=value`` for inputs, ``--histogram=FOLDER`` for a file a rank with the messages by size.
    """
    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    values = dict(defaults)
    folder = ""
    for argument in sys.argv[1:]:
        name, _, text = argument.partition("=")
        if name == "--histogram":
            folder = text
        elif name in values:
            values[name] = Fraction(text) if Fraction(text).denominator > 1 else int(Fraction(text))
        else:
            stop(f"unknown argument {argument!r}; inputs: {', '.join(values)}")
    if ranks_name in values:
        values[ranks_name] = ranks
    expected = 0
    if not posted:
        others = [(rank - 1) % ranks] if senders == "ring" else range(ranks)
        for other in others:
            counted = MessageRun(other, ranks, posted=posted)
            walk(counted, other, **values)
            expected += counted.sent_to[rank]
    run = MessageRun(rank, ranks, posted=posted, communicator=world)
    walk(run, rank, **values)
    run.finish(expected)
    lines = [
        {"kind": kind, "operation": operation, "size": size, "messages": number}
        for (kind, operation, size), number in sorted(run.counts.items())
    ]
    if folder:
        text = json.dumps({"rank": rank, "ranks": ranks, "sizes": lines})
        Path(folder, f"{rank}.json").write_text(f"{text}\n", encoding="utf-8")
    sent = sum(number for (kind, _, _), number in run.counts.items() if kind == "send")
    volume = sum(number * key[2] for key, number in run.counts.items() if key[0] == "send")
    print(f"rank {rank}: sent {sent} messages, {volume} B", flush=True)  # noqa: T201
