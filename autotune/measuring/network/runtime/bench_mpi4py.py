"""Times MPI operations through mpi4py as bench.c does, for systems where no program can be
compiled.

    python bench_mpi4py.py LEAST UNTIL TRIES BUSY BUFFERS OPERATION:BYTES...

Arguments, operations, buffers and printed lines are those of bench.c. Every operation also includes
the cost of a call from Python.
"""

import ctypes
import itertools
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpi4py import MPI

_TAG = 7
_LINE = 64
_PDEATHSIG = 1


def main() -> None:
    """Take the samples that the command-line arguments request."""
    if os.environ.get("AUTOTUNE_PDEATHSIG"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
    priority, begun = _raise_priority(), time.monotonic()
    from mpi4py import MPI  # noqa: PLC0415 - initialises MPI

    world = MPI.COMM_WORLD
    least, until, tries, busy = (float(text) for text in sys.argv[1:5])
    points = [(name, int(size)) for name, _, size in (a.partition(":") for a in sys.argv[6:])]
    bench = _Bench(MPI, world, int(sys.argv[5]), points)
    hosts = world.gather(socket.gethostname())
    if world.rank == 0:
        library = MPI.Get_library_version().split(",")[0].split("\n")[0]
        _print(
            kind="start",
            ranks=world.size,
            cores=len(os.sched_getaffinity(0)),
            library=library.strip("\0 "),
            priority=priority,
            hosts=hosts,
        )
    counts: dict[tuple[str, int], int] = {}
    for point in points:
        for _ in range(int(tries)):
            count, times = bench.measure(point, counts.get(point, 0), least, begun + until)
            if not count:
                break
            counts[point] = count
            if world.rank == 0:
                seconds_each = max(seconds for seconds, _ in times) / count
                _print(
                    kind="sample",
                    operation=point[0],
                    bytes=point[1],
                    seconds=seconds_each / (2 if point[0] == "pingpong" else 1),
                    count=count,
                    taken=time.time(),
                    busy=[share for _, share in times],
                )
            again = world.bcast(min((share for _, share in times), default=1.0) < busy)
            time.sleep(0.001)
            if not again:
                break
    if world.rank == 0:
        _print(kind="end")


class _Bench:
    """The operations of one communicator, with buffers for the largest message.

    Operations alternate between ``buffers`` pairs of buffers, for sending and for receiving.
    """

    def __init__(
        self,
        mpi: ModuleType,
        world: "MPI.Intracomm",
        buffers: int,
        points: Sequence[tuple[str, int]],
    ) -> None:
        self.world, self.rank, self.ranks, self.buffers = world, world.rank, world.size, buffers
        self.wait, self.in_place = mpi.Request.Waitall, mpi.IN_PLACE
        # written to: memory of zeros may be one and the same page throughout
        self.out = bytearray(b"1") * (
            buffers * max(_buffer_distance(self._sent(*p)) for p in points)
        )
        self.into = bytearray(b"1") * (
            buffers * max(_buffer_distance(self._received(*p)) for p in points)
        )

    def _sent(self, name: str, size: int) -> int:
        return 0 if name == "allgather" else size

    def _received(self, name: str, size: int) -> int:
        return size * (self.ranks if name == "allgather" else 2)

    def operation(self, name: str, size: int) -> Callable[[], object]:
        """A function that runs one operation; the buffers alternate."""
        if name == "barrier":
            return lambda: self.world.Barrier()
        sent, received = self._sent(name, size), self._received(name, size)
        out, into = memoryview(self.out), memoryview(self.into)
        buffers = [
            (
                out[turn * _buffer_distance(sent) :][:sent],
                into[turn * _buffer_distance(received) :][:received],
            )
            for turn in range(self.buffers)
        ]
        turns = itertools.cycle([self._with(name, size, *pair) for pair in buffers])
        return lambda: next(turns)()

    def _with(
        self, name: str, size: int, out: memoryview, into: memoryview
    ) -> Callable[[], object]:
        """A function that runs one operation with the given buffers."""
        world = self.world
        if name == "allgather":
            counts = [size] * self.ranks
            starts = [size * r for r in range(self.ranks)]
            whole = (into, (counts, starts))
            return lambda: world.Allgatherv(self.in_place, whole)
        if name == "pingpong":
            return self._pingpong(out, into[:size])
        if name == "neighbour":
            others = [r for r in (self.rank - 1, self.rank + 1) if 0 <= r < self.ranks]
            sends = [(out, r) for r in others]
            receives = [(into[k * size : (k + 1) * size], r) for k, r in enumerate(others)]
        else:
            distances = [1 << k for k in range((self.ranks - 1).bit_length())]
            cuts = [size * k // len(distances) for k in range(len(distances) + 1)]
            parts = list(zip(cuts, cuts[1:], distances, strict=False))
            sends = [(out[a:b], (self.rank + d) % self.ranks) for a, b, d in parts]
            receives = [(into[a:b], (self.rank - d) % self.ranks) for a, b, d in parts]
        return self._exchange(sends, receives)

    def _pingpong(self, out: memoryview, into: memoryview) -> Callable[[], object]:
        world, last = self.world, self.ranks - 1

        def first() -> None:
            world.Send(out, last, _TAG)
            world.Recv(into, last, _TAG)

        def second() -> None:
            world.Recv(into, 0, _TAG)
            world.Send(out, 0, _TAG)

        return {0: first, last: second}.get(self.rank, lambda: None)

    def _exchange(
        self, sends: list[tuple[memoryview, int]], receives: list[tuple[memoryview, int]]
    ) -> Callable[[], object]:
        world, wait = self.world, self.wait

        def exchange() -> None:
            requests = [world.Irecv(part, other, _TAG) for part, other in receives]
            requests += [world.Isend(part, other, _TAG) for part, other in sends]
            wait(requests)

        return exchange

    def measure(
        self, point: tuple[str, int], count: int, least: float, end: float
    ) -> tuple[int, list[tuple[float, float]]]:
        """The number of operations in a row and, on rank 0, the seconds and the share of its core
        of each rank.
        """
        operation = self.operation(*point)
        if not count:
            count = 1
            operation()
        while self.world.bcast(time.monotonic() < end):
            times = self._sample(point[0], operation, count)
            following = count
            longest = max((seconds for seconds, _ in times), default=least)
            if longest < least / 8:
                following = 2 * count
            elif longest < 0.75 * least:
                following = int(count * 1.05 * least / longest) + 1
            following = self.world.bcast(following)
            if following == count:
                return count, times
            count = following
        return 0, []

    def _sample(
        self, name: str, operation: Callable[[], object], count: int
    ) -> list[tuple[float, float]]:
        self.world.Barrier()
        cpu, start = time.thread_time(), time.monotonic()
        for _ in range(count):
            operation()
        seconds = time.monotonic() - start
        share = (time.thread_time() - cpu) / seconds
        if name == "pingpong" and self.rank not in (0, self.ranks - 1):
            share = 1.0
        return self.world.gather((seconds, share)) or []


def _buffer_distance(size: int) -> int:
    """The distance in bytes between two buffers, as in bench.c."""
    return -(-size // _LINE) * _LINE + _LINE


def _raise_priority() -> str:
    niceness, worked = os.environ.get("AUTOTUNE_NICE"), "none"
    if niceness is None:
        return worked
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, int(niceness))
        worked = "nice"
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(niceness, encoding="ascii")
        worked = "autogroup"
    return worked


def _print(**row: object) -> None:
    print(json.dumps(row), flush=True)  # noqa: T201 - read by the parent


if __name__ == "__main__":
    main()
