"""Intel MPI Benchmarks (IMB-MPI1): PingPong, Allgather, Exchange, Barrier.

    #----------------------------------------------------------------
    # Benchmarking Allgather
    # #processes = 4
    #----------------------------------------------------------------
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
                8         1000         1.30         1.34         1.32

A section may use only the first ranks; the others wait, and a line under its head says how many:
``# ( 60 additional processes waiting in MPI_Barrier)``.

A collective's time is the slowest rank's, t_max. Exchange sends to both neighbours on a ring, so
also with two ranks each sends two messages, where our own has one.
"""

import re
from collections.abc import Sequence

from autotune.domain.cost_curve import Operation
from autotune.measuring.network.text_block import (
    BenchmarkRow,
    BenchmarkTable,
    MalformedLine,
    microseconds,
    whole,
)

_TITLE = re.compile(r"# Benchmarking\s+(\S+)")
_PROCESSES = re.compile(r"#\s*#processes\s*=\s*(\d+)")
_WAITING = re.compile(r"#\s*\(\s*(\d+) additional process(?:es)? waiting")
_VERSION = re.compile(
    r"Intel ?\(R\) MPI Benchmark(?P<old> Suite)?s?,?\s*(?:Version\s*|V)?(?P<version>\S*\d[^\s,]*)"
)
_END = "All processes entering MPI_Finalize"
_STOPPED = ("time-out", "out-of-mem")
_OPERATIONS: dict[str, Operation] = {
    "PingPong": "pingpong",
    "Allgather": "allgather",
    "Exchange": "neighbour",
    "Barrier": "barrier",
}
_WHY = {
    "Uniband": "a rate of many messages in flight, not the time of one",
    "Biband": "a rate of many messages in flight, not the time of one",
    "PingPing": "messages that meet under way",
}
_RING = "on a ring: two messages from each rank, also of two ranks"


def read(lines: Sequence[str]) -> list[BenchmarkTable]:
    """The benchmarks in a text; ``MalformedLine`` for a wrong line or a truncated text."""
    blocks: list[BenchmarkTable] = []
    columns: list[str] = []
    version, whole_text, ended = "", False, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if stated := _VERSION.search(text):
            version = version or stated["version"]
            whole_text = whole_text or not stated["old"]
        ended = ended or _END in text
        if title := _TITLE.match(text):
            _check(blocks)
            blocks.append(_block(number, title[1], version))
            columns = []
        elif blocks and (processes := _PROCESSES.match(text)):
            blocks[-1].ranks = int(processes[1])
        elif blocks and (waiting := _WAITING.match(text)):
            blocks[-1].waiting = int(waiting[1])
        elif text.startswith(("#bytes", "#repetitions")):
            columns = text.split()
        elif blocks and blocks[-1].operation and text[:1].isdigit():
            _take(blocks[-1], number, text, columns)
    _check(blocks)
    if whole_text and not ended:
        raise MalformedLine(len(lines), f"the text ends without {_END!r}: it is cut off")
    return blocks


def _block(number: int, name: str, version: str) -> BenchmarkTable:
    operation = _OPERATIONS.get(name)
    return BenchmarkTable(
        line=number,
        title=f"IMB {name}",
        operation=operation,
        why="" if operation else _WHY.get(name, "not an operation of ours"),
        version=version,
        notes=[_RING] if name == "Exchange" else [],
    )


def _take(block: BenchmarkTable, number: int, text: str, columns: Sequence[str]) -> None:
    if any(word in text for word in _STOPPED):
        block.notes.append(f"line {number} has no time: {text}")
        return
    if block.ranks is None or not columns:
        raise MalformedLine(number, f"a row of {block.title} without its head above it")
    cells = text.split()
    if len(cells) < len(columns):
        raise MalformedLine(
            number, f"{len(cells)} values for {len(columns)} columns: the text is cut off"
        )
    row = dict(zip(columns, cells, strict=False))
    time = next((name for name in ("t_max[usec]", "t[usec]", "t_avg[usec]") if name in row), "")
    if not time:
        raise MalformedLine(number, "no column of times in microseconds")
    size = whole(row["#bytes"], number) if "#bytes" in row else 0
    if size == 0 and block.operation != "barrier":
        return  # some libraries return at once
    block.rows.append(
        BenchmarkRow(
            line=number,
            bytes=size,
            seconds=microseconds(row[time], number),
            count=whole(row["#repetitions"], number) if "#repetitions" in row else 1,
        )
    )


def _check(blocks: Sequence[BenchmarkTable]) -> None:
    last = blocks[-1] if blocks else None
    if last and last.operation and not last.rows and len(last.notes) <= (_RING in last.notes):
        raise MalformedLine(last.line, f"{last.title} has no rows: the text is cut off")
