"""What the front end and the floating-point unit take up: instructions, and operations on vectors.

Some instructions are issued as two. A unit may take up fewer operations per cycle than the front
end delivers, and pass wide vectors as several operations. The third operand of a multiply-add may
come over a port of other work.
"""

import re
from collections.abc import Callable, Sequence

from autotune.models.incore.assembly.instructions import Instruction
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.cost import port_pressure
from autotune.models.incore.cost.port_pressure import Uop
from autotune.models.incore.cost.window import Issue, Taking
from autotune.models.incore.osaca.instruction_forms import form
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture, register_width

_RENAMED = re.compile(r"v?mov[au]p[sd]\s+(%[xyz]mm\d+), *%[xyz]mm\d+$")
_OPERANDS = 2
"""Operands of an instruction that is issued as one, though its address has an index."""


def taking(loop: HotLoop, architecture: OsacaArchitecture) -> list[Taking]:
    """How each instruction of a loop is taken up."""
    unit = architecture.floating
    if unit is None:
        return [Taking()] * len(loop.instructions)
    before = (None, *loop.instructions[:-1])
    return [
        Taking(
            operations=unit.operations(form(instruction, loop.isa.name).text),
            instructions=int(previous is None or not loop.isa.fuses(previous, instruction)),
            beside=unit.third if instruction.work == "fused" else "",
        )
        for previous, instruction in zip(before, loop.instructions, strict=True)
    ]


def issue(architecture: OsacaArchitecture) -> Issue:
    """What enters per cycle; without a limit where the floating-point unit has no figure."""
    unit = architecture.floating
    return Issue() if unit is None else Issue(architecture.issue, unit.issue)


def cycles(loop: HotLoop, taken: Sequence[Taking], architecture: OsacaArchitecture) -> float:
    """The cycles of a pass to issue its instructions and to take up its vector operations."""
    unit = architecture.floating
    vectors = sum(how.operations for how in taken) / unit.issue if unit else 0.0
    apart = sum(_issued_apart(i) for i in loop.instructions)
    slots = loop.slots + apart * (architecture.slots_indexed - 1)
    return max(slots / architecture.issue, vectors)


def _issued_apart(instruction: Instruction) -> bool:
    """Whether an instruction has a load with an index beside two or more registers."""
    index = instruction.address is not None and instruction.address.index
    operands = sum(not operand.startswith("$") for operand in instruction.operands)
    return bool(index and instruction.loads and operands > _OPERANDS)


def vector_cycles(
    loop: HotLoop,
    work: Sequence[Sequence[Uop]],
    architecture: OsacaArchitecture,
    taken: Callable[[int], float],
) -> float:
    """The cycles to take up the micro-operations of a pass on vector registers: loads, stores and
    arithmetic. ``taken``: cycles of one by the bytes of its register. Loads of pointers between
    them each take a slot of the front end.

    A store's address, a division's long use of the divider, and moves that only rename a register
    do not count. 0 where the floating-point unit has figures of its own.
    """
    cycles, pointers = 0.0, 0
    if architecture.floating is not None:
        return cycles
    for instruction, uops in zip(loop.instructions, work, strict=True):
        width = register_width(instruction.text)
        if width and not _RENAMED.match(instruction.text):
            _, computing = port_pressure.split(uops, architecture.data | architecture.address)
            count = bool(instruction.loads) + bool(instruction.stores)
            if not instruction.moves or not count:
                count += sum(not any(p.endswith("DV") for p in ports) for _, ports in computing)
            cycles += count * taken(width)
        elif instruction.loads:
            pointers += 1
    return cycles + pointers / architecture.issue if cycles else 0.0


def third_operands(taken: Sequence[Taking]) -> list[Uop]:
    """The least work of the port over which third operands come: two of them start together."""
    return [(how.operations / 2, frozenset({how.beside})) for how in taken if how.beside]
