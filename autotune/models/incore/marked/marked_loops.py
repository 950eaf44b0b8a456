"""Finds marked loops in the assembly of their source by the line table.

A loop of the assembly belongs to a mark if its jump back, or half of its instructions, stem from
the lines of the mark (``marked_code``). Of several loops (peeled, vectorised, remainder) the hot
one is chosen as for generated sweeps (``hot_loops``). Where a marked loop is unrolled completely,
the loop around it is found instead. So where the number of floating-point operations of an
iteration is stated, iterations are counted by the operations of a pass.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autotune.language.loop_marks import Lines
from autotune.models.incore.assembly import control_flow, hot_loops
from autotune.models.incore.assembly.hot_loops import HotLoops, NoLoop
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction, InstructionSet
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.marked.marked_code import INSIDE

_HALF = 0.5
_X86 = re.compile(
    r"v?(?:add|sub|mul|div|min|max|sqrt|(?P<fused>fn?m(?:add|sub)\d{3}))(?P<form>[ps])(?P<kind>[sd])"
)
_A64 = re.compile(
    r"f(?:add|sub|mul|div|max|min|maxnm|minnm|nmul|sqrt|(?P<fused>n?m(?:la|ls|add|sub)))"
)
_A64_REGISTER = re.compile(r"([vzsd])\d+(?:\.(\d*)([sd]))?$")
_VECTORS = {"x": 16, "y": 32, "z": 64}
_WIDTH = {"s": 4, "d": 8}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopMark:
    """A marked loop and a description of one of its iterations."""

    name: str
    lines: Lines
    flops: float | None = None
    """Floating-point operations of an iteration; None: not stated."""
    element: int = DOUBLE
    """Bytes by which a stream with unit stride advances in an iteration."""

    @property
    def counting(self) -> str:
        """The part of a mark, as text, that affects the analysis of its loops."""
        return f"marked loop, flops {self.flops!r}, element {self.element}"


def marked_loops(code: str, mark: LoopMark, vector: int = 16) -> HotLoops:
    """The hot loops of a mark in its code (``marked_code``), counted in iterations of the mark.

    ``vector``: the width of SVE in bytes. Raises NoLoop with a reason.
    """
    if not code:
        raise NoLoop(
            f"the compiler made no instruction of the loop {mark.name}"
            f" (lines {mark.lines.first} to {mark.lines.last}): is its result used?"
        )
    isa = hot_loops.detect(code, vector)
    functions = [items for _, items in control_flow.functions(code, isa)]
    instructions = [item for part in functions for item in part if isinstance(item, Instruction)]
    every = zip(instructions, _inside(code, isa), strict=True)
    marked = frozenset(id(instruction) for instruction, inside in every if inside)

    def counted(loop: HotLoop) -> HotLoop | None:
        return _counted(loop, mark) if _belongs(loop.instructions, marked) else None

    loops = hot_loops.hot_loops_among(functions, isa, counted)
    if loops is None:
        raise NoLoop(
            f"the loop {mark.name} is no loop any more in the assembly: the compiler wrote it out,"
            " or joined it with another"
        )
    return loops


def _inside(text: str, isa: InstructionSet) -> Iterator[bool]:
    """For each instruction of a text, whether it belongs to the marked lines."""
    tag = f"{isa.comment} {INSIDE}"
    for line in text.splitlines():
        if not line.endswith(":"):
            yield line.endswith(tag)


def _belongs(instructions: Sequence[Instruction], marked: frozenset[int]) -> bool:
    """Whether a pass belongs to the mark; ``marked``: the ids of the instructions of the mark."""
    inside = [id(instruction) in marked for instruction in instructions]
    return bool(inside) and (inside[-1] or sum(inside) >= _HALF * len(inside))


# --- iterations ----------------------------------------------------------------------------------


def _counted(loop: HotLoop, mark: LoopMark) -> HotLoop:
    """The loop with its passes counted in iterations of the marked loop."""
    if mark.flops:
        done = sum(operations(instruction, loop.isa) for instruction in loop.instructions)
        if done:
            doubts = ("components per pass", "stores advance", "B stored per pass")
            notes = tuple(note for note in loop.notes if not any(d in note for d in doubts))
            approximate = bool(notes or loop.calls)
            return replace(loop, iterations=done / mark.flops, notes=notes, approximate=approximate)
    return replace(loop, iterations=loop.iterations * DOUBLE / mark.element)


def operations(instruction: Instruction, isa: InstructionSet) -> int:
    """The floating-point operations of an instruction on doubles or floats; a fused multiply-add
    counts two.
    """
    return _of_x86(instruction) if isa.name == "x86_64" else _of_a64(instruction)


def _of_x86(instruction: Instruction) -> int:
    match = _X86.fullmatch(instruction.mnemonic)
    if match is None:
        return 0
    lanes = 1
    if match["form"] == "p":
        registers = [o for o in instruction.operands if re.match(r"%[xyz]mm\d", o)]
        lanes = max((_VECTORS[r[1]] for r in registers), default=16) // _WIDTH[match["kind"]]
    return lanes * (2 if match["fused"] else 1)


def _of_a64(instruction: Instruction) -> int:
    match = _A64.fullmatch(instruction.mnemonic)
    register = _A64_REGISTER.match(instruction.operands[0]) if instruction.operands else None
    if match is None or register is None:
        return 0
    lanes = int(register[2]) if register[2] else 1
    if register[1] == "z":
        lanes = max(1, instruction.lanes)
    return lanes * (2 if match["fused"] else 1)
