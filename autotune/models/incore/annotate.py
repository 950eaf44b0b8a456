"""A loop as annotated text: the ports that each instruction uses, and marks for what the tables
ignore.

    cycles per pass on each port, divided evenly among those that may do the work
      0     1    11    12    13 |
                 0.50  0.50      |  x    vmovupd 8(%rsi,%rax), %ymm0
     0.50  0.50                  |  c    vaddpd %ymm0, %ymm1, %ymm1

Marks: ``x`` a vector load (or store) that crosses a line in some passes, ``f`` a load that reads
what the loop stored shortly before, ``b`` the same where forwarding fails, ``c`` on the
loop-carried dependency, ``g`` a gather or a load from a computed place, ``k`` a call, ``?`` not in
the tables.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.cost.port_pressure import Uop

_MARKS = "xfbcgk?"
_LEGEND = {
    "x": "crosses a line in some passes",
    "f": "reads what was stored shortly before",
    "b": "reads more than one store wrote",
    "c": "on the loop-carried dependency",
    "g": "gather, or a place that the loop computes",
    "k": "call",
    "?": "not in the tables",
}


@dataclass(frozen=True, slots=True)
class AnnotatedLoop:
    """A loop with the port use and the marks of each instruction."""

    loop: HotLoop
    work: Sequence[Sequence[Uop]]
    marks: Mapping[str, Collection[int]]
    """Mark to the numbers of the instructions that it is on."""


def annotated(sheets: Sequence[AnnotatedLoop], summary: Sequence[str]) -> str:
    """The loops as text, with ``summary`` above and a legend of the used marks below."""
    lines = [*summary, ""]
    for sheet in sheets:
        lines += [*_table(sheet), ""]
    used = [m for m in _MARKS if any(sheet.marks.get(m) for sheet in sheets)]
    lines += [f"{mark}  {_LEGEND[mark]}" for mark in used]
    return "\n".join(lines).rstrip() + "\n"


def _table(sheet: AnnotatedLoop) -> list[str]:
    spread = [_spread(uops) for uops in sheet.work]
    ports = sorted({p for row in spread for p in row}, key=lambda p: (len(p), p))
    width = max([5, *(len(p) + 1 for p in ports)])
    head = "".join(f"{p:>{width}}" for p in ports)
    lines = [
        f"{sheet.loop.label}: {sheet.loop.iterations:g} source iterations per pass; "
        "cycles per pass on each port",
        f"{head} |",
    ]
    totals = dict.fromkeys(ports, 0.0)
    for number, (instruction, row) in enumerate(zip(sheet.loop.instructions, spread, strict=True)):
        for port, cycles in row.items():
            totals[port] += cycles
        cells = "".join(f"{row[p]:>{width}.2f}" if p in row else " " * width for p in ports)
        marks = "".join(m for m in _MARKS if number in sheet.marks.get(m, ()))
        text = " ".join(instruction.text.split())
        lines.append(f"{cells} | {marks:<4} {text}")
    total = "".join(f"{totals[p]:>{width}.2f}" for p in ports)
    return [*lines, f"{total} |      per pass"]


def _spread(uops: Sequence[Uop]) -> dict[str, float]:
    pressure: dict[str, float] = {}
    for cycles, ports in uops:
        for port in ports:
            pressure[port] = pressure.get(port, 0.0) + cycles / len(ports)
    return pressure
