"""Assembly instructions: their memory accesses and their floating-point work.

The modules ``x86`` and ``aarch64`` build these values from a line of assembly. Functions that both
need to read a line are here too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Isa = Literal["x86_64", "aarch64"]
Work = Literal["add", "multiply", "fused", "divide", "other", "none"]
"""Kind of work on doubles; ``other`` is vector work that is not arithmetic: shuffles, masks."""

MEMORY = "(memory)"
"""Name, among changes, of the eight bytes of memory that an instruction accesses."""
DOUBLE = 8
"""Bytes of a component."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An address expression: base + scale * index + offset, and the increment of the base."""

    base: str = ""
    index: str = ""
    scale: int = 1
    offset: str = ""
    step: int = 0
    """Bytes added to the base by the access itself (AArch64, pre- and post-indexed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction: its text, its memory access and its floating-point work."""

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
    """Number of doubles that it works on; for a plain move, those of one register."""
    moves: bool = False
    """True: a plain load or store, not one folded into arithmetic."""

    @property
    def works(self) -> bool:
        """Whether it computes, loads or stores."""
        return self.work != "none" or bool(self.loads or self.stores)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterChange:
    """A write to a general register: a sum of (register, factor) terms and a constant.

    ``terms`` is None where the new value is not such a sum. ``MEMORY`` may be one of the registers.
    """

    register: str
    terms: tuple[tuple[str, int], ...] | None
    constant: int = 0


class InstructionSet(Protocol):
    """Reads assembly of one instruction set as gcc and clang print it.

    It knows the instructions that compilers generate for loops over doubles. An unknown instruction
    counts as one without work.
    """

    name: Isa
    comment: str
    """The text that starts a comment."""

    def parse(self, text: str) -> Instruction:
        """The instruction in a line, which has no label or comment."""

    def changes(self, instruction: Instruction) -> Sequence[RegisterChange]:
        """The general registers (and eight bytes of memory) that an instruction writes, with their
        new values.
        """

    def conditional(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers among which a conditional move chooses; empty for other instructions."""

    def clobbered(self, instruction: Instruction) -> tuple[str, ...]:
        """The general registers that a call may change; empty for other instructions."""

    def compared(self, instruction: Instruction) -> tuple[str, str] | None:
        """The operands of a plain comparison, registers or numbers; None for other instructions."""

    def jump_target(self, instruction: Instruction) -> str | None:
        """The label that a direct jump goes to; None for other instructions."""

    def call_target(self, instruction: Instruction) -> str | None:
        """The function that is called, without ``@PLT``; None for other instructions."""

    def ends_block(self, instruction: Instruction) -> bool:
        """Whether control never passes to the next instruction."""

    def fuses(self, first: Instruction, second: Instruction) -> bool:
        """Whether the front end counts two instructions, such as compare and branch, as one."""

    def copy_loop(self, loads: bool) -> str:
        """Assembly of a loop that copies a row (or fills it, without ``loads``)."""


def words(text: str) -> tuple[str, tuple[str, ...]]:
    """The mnemonic and the operands of a line, split at commas outside brackets."""
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
    """The value of a literal number: ``#16``, ``-0x20``, ``$4``; None for other text."""
    match = re.fullmatch(r"[#$]?\s*(-?)(0x[0-9a-fA-F]+|\d+)", text.strip())
    if match is None:
        return None
    value = int(match[2], 0)
    return -value if match[1] else value
