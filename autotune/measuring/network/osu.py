"""OSU Micro-Benchmarks, versions 3 to 7: osu_latency, osu_allgather, osu_barrier.

    # OSU MPI Allgather Latency Test v7.4
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    8                       2.81              1.89              3.73        1000

The columns after the average come with ``-f``. A collective's time is the slowest rank's where the
table has it (Max), as our own samples are; else the mean over the ranks.

Only tests of messages that both sides take part in are read: ``MPI_Put`` and ``MPI_Get`` in a title
stand for one-sided access, ``MPI-CUDA`` and the like for buffers of an accelerator.
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

_TITLE = re.compile(
    r"# OSU (?P<library>\S+) (?P<name>.*?Test)\s*(?:\(Version (?P<old>[^)]*)\)|v(?P<new>\S+))?\s*$"
)
_COLUMN = re.compile(r"Size|(?:(?:Avg|Min|Max) )?Latency ?\(us\)|Iterations")
_LIBRARY = re.compile(r"MPI(?:-(?P<variant>\S+))?")
_OPERATIONS: dict[str, Operation] = {
    "Latency Test": "pingpong",
    "Allgather Latency Test": "allgather",
    "Barrier Latency Test": "barrier",
}
_WHY = (
    ("Bandwidth", "a rate of many messages in flight, not the time of one"),
    ("Message Rate", "a rate of many messages in flight, not the time of one"),
    ("Non-blocking", "its time includes computation"),
)


def read(lines: Sequence[str]) -> list[BenchmarkTable]:
    """The tests in a text; ``MalformedLine`` for a wrong line or a truncated text."""
    blocks: list[BenchmarkTable] = []
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("# OSU "):
            _check(blocks)
            blocks.append(_block(number, text))
            columns = []
        elif text.startswith("#"):
            headings = _COLUMN.findall(text)
            columns = headings or columns
        elif blocks and blocks[-1].operation and text[:1].isdigit():
            row = _row(number, text.split(), columns)
            if row is not None:
                blocks[-1].rows.append(row)
    _check(blocks)
    return blocks


def _block(number: int, text: str) -> BenchmarkTable:
    title = _TITLE.match(text)
    if title is None:
        why = "its title is not of the form '# OSU MPI Latency Test v7.4'"
        return BenchmarkTable(line=number, title=text.lstrip("# "), operation=None, why=why)
    name, library = title["name"], _LIBRARY.fullmatch(title["library"])
    operation = _OPERATIONS.get(name) if library else None
    variant = (library and library["variant"]) or ""
    version = title["new"] or title["old"] or ""
    return BenchmarkTable(
        line=number,
        title=f"OSU {title['library']} {name}",
        operation=operation,
        why="" if operation else _why(title["library"], name),
        version=f"{version} {title['library']}".strip() if variant else version,
        notes=[f"a build for {variant}: its buffers may be an accelerator's"] if variant else [],
    )


def _why(library: str, name: str) -> str:
    if "MPI_" in f"{library} {name}":
        return "one-sided: no rank receives a message"
    if not _LIBRARY.fullmatch(library):
        return f"messages of {library}, not of MPI"
    return next((words for word, words in _WHY if word in name), "not an operation of ours")


def _row(number: int, cells: Sequence[str], columns: Sequence[str]) -> BenchmarkRow | None:
    """The values of one line; None for messages of 0 B, which some libraries do not send."""
    if not columns:
        raise MalformedLine(number, "a row without the names of its columns above it")
    if len(cells) < len(columns):
        raise MalformedLine(
            number, f"{len(cells)} values for {len(columns)} columns: the text is cut off"
        )
    row = dict(zip(columns, cells, strict=False))
    time = next(
        (name for name in ("Max Latency(us)", *columns) if name in row and "(us)" in name), ""
    )
    if not time:
        raise MalformedLine(number, "no column of times in microseconds")
    size = whole(row["Size"], number) if "Size" in row else 0
    if size == 0 and "Size" in row:
        return None
    return BenchmarkRow(
        line=number,
        bytes=size,
        seconds=microseconds(row[time], number),
        count=whole(row["Iterations"], number) if "Iterations" in row else 1,
    )


def _check(blocks: Sequence[BenchmarkTable]) -> None:
    if blocks and blocks[-1].operation and not blocks[-1].rows:
        raise MalformedLine(blocks[-1].line, f"{blocks[-1].title} has no rows: the text is cut off")
