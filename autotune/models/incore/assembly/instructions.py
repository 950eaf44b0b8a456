"""Assembly instructions, as far as a loop's work is concerned: what they move, what they compute.

The values that the two instruction sets (``incore_x86``, ``incore_aarch64``) make of a line, and
what both need to read one.
"""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

Isa = Literal["x86_64", "aarch64"]
Work = Literal["add", "multiply", "fused", "divide", "other", "none"]
"""Double-precision work; ``other`` is vector work that is not arithmetic: shuffles, masks."""

MEMORY = "(memory)"
"""Among changes: the eight bytes that an instruction accesses, as if they were a register."""
DOUBLE = 8
"""Bytes of a component."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An address expression: base + scale * index + offset, with what is added to the base."""

    base: str = ""
    index: str = ""
    scale: int = 1
    offset: str = ""
    step: int = 0
    """Bytes added to the base by the access itself (AArch64, pre- and post-indexed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction: its text, its memory access and its work."""

    text: str
    mnemonic: str
    operands: tuple[str, ...]
    address: Address | None = None
    loads: int = 0
    """Bytes loaded."""
    stores: int = 0
    """Bytes stored."""
    work: Work = "none"
    lanes: int = 0
    """Doubles that it works on; of a plain move, those of one register."""
    moves: bool = False
    """A plain load or store, not one folded into arithmetic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterChange:
    """What is written to a general register: a sum of (register, factor) terms and a constant.

    ``terms`` None: something that is not such a sum. ``MEMORY`` may be among the registers.
    """

    register: str
    terms: tuple[tuple[str, int], ...] | None
    constant: int = 0


class InstructionSet(Protocol):
    """Reads the assembly of one instruction set, as gcc and clang print it.

    It knows the instructions that compilers make of loops over doubles; what it does not know
    counts as an instruction and nothing more.
    """

    name: Isa
    comment: str
    """What starts a comment."""

    def parse(self, text: str) -> Instruction:
        """An instruction from its line, without label and comment."""

    def changes(self, instruction: Instruction) -> list[RegisterChange]:
        """The general registers (and eight bytes of memory) that it writes, and what."""

    def conditional(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers of which a conditional move takes one; none for anything else."""

    def clobbered(self, instruction: Instruction) -> tuple[str, ...]:
        """The general registers that a call does not keep; none for anything but a call."""

    def compared(self, instruction: Instruction) -> tuple[str, str] | None:
        """The operands, registers or literal numbers, of a plain comparison; None for others."""

    def jump_target(self, instruction: Instruction) -> str | None:
        """The label that a jump goes to; None for anything but a direct jump."""

    def call_target(self, instruction: Instruction) -> str | None:
        """The function that is called, without ``@PLT``; None for anything but a call."""

    def ends_block(self, instruction: Instruction) -> bool:
        """Whether control never goes on to the next instruction."""

    def fuses(self, first: Instruction, second: Instruction) -> bool:
        """Whether the front end takes a compare and a branch as one."""

    def copy_loop(self, loads: bool) -> str:
        """A loop that copies (or, without ``loads``, fills) a row, as a library function does."""


def words(text: str) -> tuple[str, tuple[str, ...]]:
    """The mnemonic and the operands of a line, split at the commas outside of brackets."""
    head = text.split(None, 1)
    rest = head[1] if len(head) > 1 else ""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(rest):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(rest[start:position].strip())
            start = position + 1
    parts.append(rest[start:].strip())
    return head[0], tuple(part for part in parts if part)


def number(text: str) -> int | None:
    """A literal number: ``#16``, ``-0x20``, ``$4``; None for anything else."""
    match = re.fullmatch(r"[#$]?\s*(-?)(0x[0-9a-fA-F]+|\d+)", text.strip())
    if match is None:
        return None
    value = int(match[2], 0)
    return -value if match[1] else value
