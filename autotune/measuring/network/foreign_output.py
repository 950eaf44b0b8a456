"""Samples from the text output of other benchmarks: detects the tool and reads its tables.

Tests that time one of autotune's operations are read; other tests are reported as left out. osu_bw
and Uniband print the rate of many messages in flight, which is not the time of a message: they are
refused.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from autotune.domain.cost_curve import Operation
from autotune.errors import Fault, InputError
from autotune.measuring.network import imb, osu
from autotune.measuring.network.samples import BenchmarkRun, BenchmarkSample, RecordedRun, read_text
from autotune.measuring.network.text_block import BenchmarkTable, MalformedLine
from autotune.units import Bytes, Seconds, counted

Tool = Literal["osu", "imb"]
TOOLS: dict[Tool, str] = {"osu": "OSU Micro-Benchmarks", "imb": "Intel MPI Benchmarks"}
_READERS: dict[Tool, Callable[[Sequence[str]], list[BenchmarkTable]]] = {
    "osu": osu.read,
    "imb": imb.read,
}
_MOST_NOTES = 5
"""Remarks that an error repeats, of more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSamples:
    """The samples of an imported file."""

    tool: Tool
    recorded: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = field(default=())
    """Remarks on benchmarks that were left out, and why."""


def load(path: Path, tool: Tool | None, ranks: int | None, nodes: int) -> ImportedSamples:
    """The samples of a file that another benchmark printed; ``tool`` None: detect the tool.

    ``ranks``: the number on all nodes together. OSU's output does not state it. Intel's output
    does, and only its tables for this number and of pairs are read. Tables of a part of Intel's
    ranks are placed as ``_placed`` says, and a note says so. Raises InputError, naming the line,
    for the output of another tool, for a truncated text, and where no test times one of autotune's
    operations.
    """
    faults: list[Fault] = []
    text = read_text(path, faults)
    if text is None:
        raise InputError(*faults)
    lines = text.splitlines()
    chosen = _tool(path, lines, tool)
    try:
        blocks = _READERS[chosen](lines)
        if text and not text.endswith("\n"):
            _check_end(lines, blocks)
    except MalformedLine as refused:
        where = f"{path}:{refused.line}"
        raise InputError(
            Fault(where=where, found=str(refused), expected=f"the whole output of {TOOLS[chosen]}")
        ) from refused
    return _marked(_taken(path, chosen, blocks, ranks, nodes), text)


def _tool(path: Path, lines: Sequence[str], stated: Tool | None) -> Tool:
    number, detected = next(
        ((n, tool) for n, line in enumerate(lines, 1) if (tool := _wrote(line))), (1, None)
    )
    names = " or ".join(TOOLS.values())
    if detected is None:
        title = f"output of {TOOLS[stated]}" if stated else f"output of {names}"
        raise InputError(
            Fault(
                where=f"{path}:1", found="no title of a benchmark is in this text", expected=title
            )
        )
    if stated not in (None, detected):
        assert stated is not None
        fault = Fault(
            where=f"{path}:{number}",
            found=f"this is output of {TOOLS[detected]}",
            expected=f"output of {TOOLS[stated]}",
            hint=f"--tool {detected}",
        )
        raise InputError(fault)
    return detected


def _wrote(line: str) -> Tool | None:
    text = line.strip()
    if text.startswith("# OSU "):
        return "osu"
    intel = "MPI Benchmark" in text and "Intel" in text
    return "imb" if intel or text.startswith("# Benchmarking ") else None


def _check_end(lines: Sequence[str], blocks: Sequence[BenchmarkTable]) -> None:
    """Raise unless the last line ends with a newline; without it digits of its number may be
    missing.
    """
    last = max((row.line for block in blocks for row in block.rows), default=0)
    word = lines[-1].split()[-1]
    if last == len(lines) and "." in word and len(word.partition(".")[2]) < 2:
        raise MalformedLine(last, f"the text ends in the middle of a number, {word!r}")


def _marked(imported: ImportedSamples, text: str) -> ImportedSamples:
    """The samples with the digest of the text that they come from, whatever its ends of lines and
    its empty lines.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    recorded = tuple(
        RecordedRun(replace(run.run, text=digest), run.samples) for run in imported.recorded
    )
    return replace(imported, recorded=recorded)


def _taken(
    path: Path, tool: Tool, blocks: Sequence[BenchmarkTable], ranks: int | None, nodes: int
) -> ImportedSamples:
    notes: list[str] = []
    largest = max((block.ranks + block.waiting for block in blocks if block.ranks), default=0)
    runs: dict[tuple[int, int, str], RecordedRun] = {}
    launches: dict[tuple[Operation, int], int] = {}
    for block in blocks:
        where = f"{path}:{block.line}"
        if block.operation is None:
            notes.append(f"{where}: {block.title} left out: {block.why}")
            continue
        pair = block.operation == "pingpong"
        count = 2 if pair else (block.ranks or ranks)
        if count is None:
            fault = Fault(
                where="--ranks",
                found=f"{TOOLS[tool]} does not print how many ranks ran {block.title}",
                expected="their number, on all nodes together",
            )
            raise InputError(fault)
        if ranks is not None and not pair and count != ranks:
            notes.append(f"{where}: {block.title} of {count} ranks left out: not {ranks} ranks")
            continue
        job = (ranks or largest) if block.ranks else count
        on, remark = _placed(count, job, min(nodes, 2) if pair and not block.ranks else nodes)
        if on is None:
            notes.append(f"{where}: {remark}: left out")
            continue
        if remark:
            notes.append(f"{path}: {remark}")
        key = (count, on, block.version)
        run = BenchmarkRun(benchmark=tool, nodes=on, ranks=count, program=block.version)
        recorded = runs.setdefault(key, RecordedRun(run))
        again = (block.operation, count)
        launch = launches[again] = launches.get(again, -1) + 1
        recorded.samples += [
            BenchmarkSample(
                operation=block.operation,
                bytes=Bytes(row.bytes),
                seconds=Seconds(row.seconds),
                count=row.count,
                launch=launch,
            )
            for row in block.rows
        ]
        notes += [f"{where}: {block.title}: {note}" for note in block.notes]
    if not any(recorded.samples for recorded in runs.values()):
        why = "; ".join(_first(list(dict.fromkeys(notes)))) or "it has no rows"
        fault = Fault(
            where=str(path),
            found=f"no sample of our operations: {why}",
            expected=_timed(tool),
        )
        raise InputError(fault)
    return ImportedSamples(
        tool=tool, recorded=tuple(runs.values()), notes=tuple(dict.fromkeys(notes))
    )


def _placed(count: int, job: int, nodes: int) -> tuple[int | None, str]:
    """The number of nodes of the first ``count`` ranks of a job, and what is to be said of it.

    Its ranks fill one of ``nodes`` after the other, as launchers place them by default; None where
    the nodes would have unequal numbers of ranks.
    """
    part = f"{count} of {job} ranks" if count < job else f"{count} ranks"
    on_a_node = job // nodes
    if job % nodes or (count > on_a_node and count % on_a_node):
        return None, f"{part} are not spread evenly over {nodes} nodes"
    used = max(1, count // on_a_node)
    if count == job or nodes == 1:
        return used, ""
    return used, (
        f"{part} are taken to be on {counted(used, 'node')}, as if ranks filled one node after the"
        f" other, {on_a_node} on each; where they do not, import these tables alone, with"
        f" --ranks {count} and their --nodes"
    )


def _first(notes: list[str]) -> list[str]:
    rest = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], f"and {rest} more"] if rest > 0 else notes


def _timed(tool: Tool) -> str:
    if tool == "osu":
        return "osu_latency, osu_allgather or osu_barrier"
    return "PingPong, Allgather, Exchange or Barrier"
