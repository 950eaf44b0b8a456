"""The hot loop of a compiled sweep, and how many components one pass of it computes.

Compilers make several loops of one: peeled, vectorised, unrolled, remainder; some are entered in
the middle (predictive commoning). Loops are found in the control flow, the hot one is chosen among
the innermost: the widest vectors, then the most components per pass, then the deepest nest.

**Source iteration** means one component of the long dimension: what the stores advance by in one
pass, in doubles. It comes from what is added to the registers of their addresses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.analysis import incore_flow
from autotune.analysis.incore_aarch64 import AArch64
from autotune.analysis.incore_flow import Items
from autotune.analysis.incore_isa import DOUBLE, Address, Change, Instruction, InstructionSet
from autotune.analysis.incore_x86 import X86

COPIES = ("memcpy", "memmove", "memset")
"""Library functions that compilers put in the place of a loop."""


class NoLoop(ValueError):
    """An assembly text without a loop that could be analysed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoop:
    """The main loop of a sweep as the compiler made it."""

    label: str
    isa: InstructionSet
    instructions: tuple[Instruction, ...]
    """One pass, in the order in which it runs."""
    iterations: float
    """Components of the long dimension per pass."""
    depth: int
    """Loops around it, itself included."""
    strides: tuple[int | None, ...]
    """Bytes that the address of each instruction advances by per pass; None: none or unknown."""
    approximate: bool = False
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The loop as assembly, one instruction per line."""
        return f"{self.label}:\n" + "".join(f"\t{i.text}\n" for i in self.instructions)

    @property
    def lanes(self) -> int:
        """Doubles of the widest vector that it works on or moves."""
        return _lanes(self.instructions)

    @property
    def row_loads(self) -> int:
        """Loads per pass from addresses that advance."""
        return sum(
            bool(s and i.loads) for i, s in zip(self.instructions, self.strides, strict=True)
        )

    @property
    def row_stores(self) -> int:
        """Stores per pass to addresses that advance."""
        return sum(
            bool(s and i.stores) for i, s in zip(self.instructions, self.strides, strict=True)
        )

    @property
    def slots(self) -> int:
        """Instructions of one pass as the front end counts them (compare and branch as one)."""
        pairs = zip(self.instructions, self.instructions[1:], strict=False)
        return len(self.instructions) - sum(self.isa.fuses(a, b) for a, b in pairs)


def detect(assembly: str, vector: int = 16) -> InstructionSet:
    """The instruction set of an assembly text; ``vector`` is the width of SVE in bytes."""
    if re.search(r"%(?:[re](?:ax|bp|sp|di|si)|[xyz]mm\d)", assembly):
        return X86()
    if re.search(r"^\s+(?:ldr|str|ldp|cmp|add|mov|ret|bl?)\b[^%\n]*$", assembly, re.MULTILINE):
        return AArch64(vector)
    raise NoLoop("the assembly is neither x86-64 in AT&T syntax nor AArch64")


def hot_loop(assembly: str, function: str, vector: int = 16) -> HotLoop:
    """The hot loop of a function, or of the whole text where the function is not in it.

    A call of ``memcpy`` or ``memset`` in the place of the loop is taken as a plain copy loop; a
    function without any loop (a boundary of one component) as one pass. Raises NoLoop, in words,
    where nothing is stored.
    """
    isa = detect(assembly, vector)
    parts = dict(incore_flow.functions(assembly, isa))
    own = [items for name, items in parts.items() if re.split(r"[.$]", name)[0] == function]
    candidates: list[HotLoop] = []
    called: set[str] = set()
    for items in own or parts.values():
        candidates += _innermost(items, isa)
        called |= {c for i in items if isinstance(i, Instruction) for c in _called(i, isa)}
    candidates = [loop for loop in candidates if not _copies(loop)] or candidates
    copy = next((name for name in COPIES if name in called), None)
    if copy and (not candidates or _copies(candidates[0])):
        loop = hot_loop(isa.copy_loop(copy != "memset"), "copy", vector)
        note = f"the compiler calls {copy}: taken as a plain vector loop"
        return _noted(loop, note)
    if not candidates:
        candidates = [loop for items in own or parts.values() for loop in _straight(items, isa)]
    if not candidates:
        raise NoLoop(f"no loop and no store in the assembly of {function}")
    return max(
        candidates,
        key=lambda loop: (loop.lanes, loop.iterations, loop.depth, len(loop.instructions)),
    )


def _straight(items: Items, isa: InstructionSet) -> Iterator[HotLoop]:
    """A function without loops as one pass over what it stores."""
    instructions = tuple(i for i in items if isinstance(i, Instruction))
    stored = sum(i.stores for i in instructions if _is_row(i) and not _saves(i))
    if stored:
        yield HotLoop(
            label=".L0",
            isa=isa,
            instructions=instructions,
            iterations=stored / DOUBLE,
            depth=0,
            strides=(None,) * len(instructions),
            approximate=True,
            notes=("no loop: the whole function is taken as one pass",),
        )


def _noted(loop: HotLoop, note: str) -> HotLoop:
    return HotLoop(
        label=loop.label, isa=loop.isa, instructions=loop.instructions, iterations=loop.iterations,
        depth=loop.depth, strides=loop.strides, approximate=True, notes=(*loop.notes, note),
    )  # fmt: skip


def _called(instruction: Instruction, isa: InstructionSet) -> Iterator[str]:
    for target in (isa.call_target(instruction), isa.jump_target(instruction)):
        if target and not target.startswith("."):
            yield target


def _copies(loop: HotLoop) -> bool:
    """Whether the work of the loop is a call of a copying function (once per row)."""
    return any(name in COPIES for i in loop.instructions for name in _called(i, loop.isa))


def _innermost(items: Items, isa: InstructionSet) -> Iterator[HotLoop]:
    blocks = incore_flow.split(items, isa)
    if not blocks:
        return
    successors = incore_flow.follow(blocks, isa)
    loops = incore_flow.natural_loops(successors)
    for head, body in loops.items():
        if any(other < body for other in loops.values()):
            continue
        way = incore_flow.longest_way(head, body, blocks, successors)
        instructions = tuple(i for n in way for i in blocks[n].instructions)
        before = [i for b in blocks[: min(body)] for i in b.instructions]
        notes = []
        if len(way) < len(body):
            notes.append("branches inside the loop: its longest way is analysed")
        foreign = sorted({c for i in instructions for c in _called(i, isa)} - set(COPIES))
        if foreign:
            notes.append(f"calls {', '.join(foreign)}: the time of the calls is not counted")
        label = next((blocks[n].label for n in way if blocks[n].label), ".L0")
        depth = sum(body <= other for other in loops.values())
        yield _measured(label, instructions, before, isa, depth, notes)


# --- components per pass -----------------------------------------------------------------------


def _measured(
    label: str,
    instructions: tuple[Instruction, ...],
    before: Sequence[Instruction],
    isa: InstructionSet,
    depth: int,
    notes: Sequence[str],
) -> HotLoop:
    advances = _Advances(instructions, before, isa)
    strides = tuple(advances.of(i.address) for i in instructions)
    iterations, doubt = _iterations(instructions, strides)
    return HotLoop(
        label=label,
        isa=isa,
        instructions=instructions,
        iterations=iterations,
        depth=depth,
        strides=strides,
        approximate=bool(notes or doubt),
        notes=(*notes, *doubt),
    )


class _Advances:
    """What one pass of a loop adds to registers and addresses."""

    def __init__(
        self, inside: Sequence[Instruction], before: Sequence[Instruction], isa: InstructionSet
    ) -> None:
        self.inside = _by_register(inside, isa)
        self.before = _by_register(before, isa)

    def of(self, address: Address | None) -> int | None:
        """Bytes that an address advances by per pass; None where that is not known."""
        if address is None:
            return None
        base, index = self.register(address.base), self.register(address.index)
        return None if base is None or index is None else base + address.scale * index

    def register(self, name: str, depth: int = 0) -> int | None:
        """What one pass adds to a register; 0 where the loop does not write it."""
        writes = self.inside.get(name)
        if not name or not writes:
            return 0
        if depth > 8:
            return None
        if all(c.terms is not None and (name, 1) in c.terms for c in writes):
            return self._sum(name, writes)
        if len(writes) == 1 and writes[0].terms is not None:
            total = 0  # computed anew in each pass from others: it advances as they do
            for register, factor in writes[0].terms:
                step = self.register(register, depth + 1) if register != name else None
                if step is None:
                    return None
                total += factor * step
            return total
        return None

    def _sum(self, name: str, writes: Sequence[Change]) -> int | None:
        total = 0
        for change in writes:
            total += change.constant
            for register, factor in change.terms or ():
                if (register, factor) == (name, 1):
                    continue
                value = None if register in self.inside else self._constant(register)
                if value is None:
                    return None
                total += factor * value
        return total

    def _constant(self, register: str) -> int | None:
        """The value of a register that is set to a known constant before the loop."""
        writes = self.before.get(register)
        return writes[-1].constant if writes and writes[-1].terms == () else None


def _by_register(
    instructions: Sequence[Instruction], isa: InstructionSet
) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for instruction in instructions:
        for change in isa.changes(instruction):
            found.setdefault(change.register, []).append(change)
    return found


def _iterations(
    instructions: Sequence[Instruction], strides: Sequence[int | None]
) -> tuple[float, list[str]]:
    """Components per pass, and what is doubtful about the number."""
    moved = [(i, abs(s)) for i, s in zip(instructions, strides, strict=True) if s and i.stores] or [
        (i, abs(s)) for i, s in zip(instructions, strides, strict=True) if s and i.loads
    ]
    if not moved:
        stored = sum(i.stores for i in instructions if _is_row(i))
        if not stored:
            return 1.0, ["components per pass unknown: taken as one"]
        return stored / DOUBLE, ["components per pass taken from the stores alone"]
    found = sorted({stride for _, stride in moved})
    stride = max(found, key=lambda value: sum(v == value for _, v in moved))
    doubt = []
    if len(found) > 1:
        doubt.append(f"stores advance by different steps ({', '.join(map(str, found))} B per pass)")
    places = {(i.address, i.stores): i.stores for i, s in moved if s == stride and i.stores}
    stored = sum(places.values())
    if stored and stored % stride and stride % stored:
        doubt.append(f"{stored} B stored per pass do not fit a step of {stride} B")
    return stride / DOUBLE, doubt


def _is_row(instruction: Instruction) -> bool:
    """Not the stack: spilled registers are no components."""
    base = instruction.address.base if instruction.address else ""
    return base not in ("%rsp", "%rbp", "sp", "x29")


def _saves(instruction: Instruction) -> bool:
    return instruction.mnemonic.startswith("push")


def _lanes(instructions: Sequence[Instruction]) -> int:
    return max(1, *(i.lanes for i in instructions if _counts(i)), 1)


def _counts(instruction: Instruction) -> bool:
    stores = instruction.stores > 0 and _is_row(instruction)
    return stores or instruction.work not in ("none", "other")
