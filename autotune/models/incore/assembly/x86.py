"""x86-64 instructions in AT&T syntax; the destination is the last operand."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from autotune.models.incore.assembly.instructions import (
    DOUBLE,
    MEMORY,
    Address,
    Instruction,
    Isa,
    RegisterChange,
    Work,
    number,
    words,
)

_MEMORY = re.compile(r"(?:%\w+:)?([-+\w.$@]*)\((%\w+)?(?:,\s*(%\w+)?(?:,\s*(\d))?)?\)")
_WIDTH = {"x": 16, "y": 32, "z": 64}
_SUFFIX = {"b": 1, "w": 2, "l": 4, "q": 8}
_WORK: tuple[tuple[re.Pattern[str], Work], ...] = (
    (re.compile(r"v?(?:add|sub|max|min|addsub|hadd|hsub)[ps]d"), "add"),
    (re.compile(r"v?mul[ps]d"), "multiply"),
    (re.compile(r"vfn?m(?:add|sub|addsub|subadd)(?:132|213|231)?[ps]d"), "fused"),
    (re.compile(r"v?(?:div|sqrt)[ps]d"), "divide"),
    (
        re.compile(
            r"v?(?:and|andn|or|xor|unpck[lh]|shuf|cmp\w*|blend|blendv|perm\w*|round|rndscale)[ps]d"
            r"|vp?(?:perm|broadcast|blend|align|insert|extract|unpck)\w*|v?movddup"
            r"|v?p(?:and|or|xor)\w*|v?u?comisd|v?insert\w+|v?extract\w+"
        ),
        "other",
    ),
)
_HALF = re.compile(r"v?(?:movsd|movlpd|movhpd|movq|movddup|p?broadcast(?:sd|q))")
_QUARTER = re.compile(r"v(?:insert|extract|broadcast)[fi](?:128|64x2)")
_MOVE = re.compile(r"v?mov(?:[au]?p[sd]|sd|[lh]pd|ddup|dq\w*|nt\w*|q)|mov\w*")
_READS_ONLY = re.compile(r"(?:cmp|test|v?u?comis|bt)[bwlqd]?")
_NO_ACCESS = re.compile(r"lea|nop|prefetch|j|call|endbr")
_GENERAL = re.compile(r"%(?:r\w+|e?(?:[abcd]x|[sd]i|[bs]p)|[abcd][lh]|[sd]il|[bs]pl)")
_LEGACY = re.compile(r"%[re]?(ax|bx|cx|dx|si|di|bp|sp)")
_BYTE = re.compile(r"%(?:([abcd])[lh]|([sd]i|[bs]p)l)")
_NEW = re.compile(r"%(r\d+)[dwb]?")
_CHANGING = re.compile(r"(add|sub|inc|dec|neg|not|lea|mov|movabs|movsl|sal|shl|imul|xor)[lq]?")
_VECTOR = re.compile(r"%[xyz](mm\d+)")
_BETWEEN = re.compile(r"v?movq")
"""Moves between general and vector registers: compilers keep row pointers in vector registers where
the general ones do not suffice."""
_CALLERS = (
    *("%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11"),
    *(f"%xmm{number}" for number in range(32)),
)
_ALIKE = 1 << 14
"""Instructions that are kept: the loops of a space are made of far fewer different ones."""
_FUSED = re.compile(r"(?:cmp|test|add|sub|inc|dec|and)[bwlq]?")


class X86:
    """The x86-64 instruction set with SSE2 to AVX-512."""

    name: Isa = "x86_64"
    comment = "#"

    def parse(self, text: str) -> Instruction:
        """The instruction in a line of assembly."""
        return _parsed(text)

    def changes(self, instruction: Instruction) -> Sequence[RegisterChange]:
        """The writes of an instruction to registers and to eight bytes of memory.

        A vector register has a known value while it holds one of a general register.
        """
        return _changes(instruction)

    def conditional(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers among which a conditional move chooses."""
        operands = instruction.operands
        if instruction.mnemonic.startswith("cmov") and _GENERAL.fullmatch(operands[0]):
            return _whole(operands[1]), _whole(operands[0])
        return ()

    def clobbered(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers that a call may change (System V ABI)."""
        return _CALLERS if instruction.mnemonic in ("call", "callq") else ()

    def compared(self, instruction: Instruction) -> tuple[str, str] | None:
        """The operands of a comparison, in the order first minus second."""
        operands = instruction.operands
        if instruction.mnemonic not in ("cmp", "cmpl", "cmpq") or instruction.address:
            return None
        return _operand(operands[1]), _operand(operands[0])

    def jump_target(self, instruction: Instruction) -> str | None:
        """The label that a direct jump goes to; None for other instructions."""
        if instruction.mnemonic[0] != "j" or not instruction.operands:
            return None
        target = instruction.operands[-1]
        return None if target.startswith("*") else target.split("@")[0]

    def call_target(self, instruction: Instruction) -> str | None:
        """The function that an instruction calls; None for other instructions."""
        if instruction.mnemonic not in ("call", "callq") or not instruction.operands:
            return None
        return instruction.operands[-1].split("@")[0]

    def ends_block(self, instruction: Instruction) -> bool:
        """Whether control never passes to the next instruction."""
        return instruction.mnemonic in ("jmp", "jmpq", "ret", "retq", "ud2", "hlt")

    def fuses(self, first: Instruction, second: Instruction) -> bool:
        """Whether a compare, test or add directly before a conditional jump fuses with it."""
        jump = bool(re.fullmatch(r"j(?!mp)\w+", second.mnemonic))
        return jump and bool(_FUSED.fullmatch(first.mnemonic)) and not first.stores

    def copy_loop(self, loads: bool) -> str:
        """Assembly of a loop of 32-byte moves, as library copying functions have it."""
        load = "\tvmovupd\t(%rsi,%rax), %ymm0\n" if loads else ""
        return (
            f"copy:\n.L1:\n{load}\tvmovupd\t%ymm0, (%rdi,%rax)\n"
            "\taddq\t$32, %rax\n\tcmpq\t%rdx, %rax\n\tjne\t.L1\n\tret\n"
        )


@lru_cache(maxsize=_ALIKE)
def _parsed(text: str) -> Instruction:
    mnemonic, operands = words(text)
    place, address = _address(operands)
    width = max(
        (_WIDTH[o[1]] for o in operands if re.match(r"%[xyz]mm\d", o)),
        default=_SUFFIX.get(mnemonic[-1], DOUBLE),
    )
    scalar = mnemonic.endswith("sd") and "broadcast" not in mnemonic
    work: Work = next((w for pattern, w in _WORK if pattern.fullmatch(mnemonic)), "none")
    moves = bool(_MOVE.fullmatch(mnemonic)) or "broadcast" in mnemonic
    if moves and address is not None:
        work = "none"  # a duplicate of what is in memory is a load
    lanes = 0 if work == "none" else 1 if scalar else width // DOUBLE
    loads = stores = 0
    if address is not None and not _NO_ACCESS.match(mnemonic):
        size = _size(mnemonic, operands[place], width, scalar)
        writes = place == len(operands) - 1 and not _READS_ONLY.fullmatch(mnemonic)
        replaces = moves or "extract" in mnemonic or mnemonic.startswith("set")
        loads = 0 if writes and replaces else size
        stores = size if writes else 0
    return Instruction(
        text=text,
        mnemonic=mnemonic,
        operands=operands,
        address=address,
        loads=loads,
        stores=stores,
        work=work,
        lanes=max(lanes, stores // DOUBLE) if moves else lanes,
        moves=moves and bool(loads or stores),
    )


@lru_cache(maxsize=_ALIKE)
def _changes(instruction: Instruction) -> tuple[RegisterChange, ...]:
    name, operands = instruction.mnemonic, instruction.operands
    if instruction.stores:
        return (_stored(instruction),)
    if not operands:
        return ()
    if _VECTOR.match(operands[-1]):
        return (_kept(instruction),)
    if not _GENERAL.fullmatch(operands[-1]):
        return ()
    if re.fullmatch(r"j\w+|cmp\w?|test\w?|push\w?|call\w?|bt\w?", name):
        return ()
    match = _CHANGING.fullmatch(name.removeprefix("v"))
    return (_written(match[1] if match else "", _whole(operands[-1]), instruction),)


def _address(operands: tuple[str, ...]) -> tuple[int, Address | None]:
    for place, operand in enumerate(operands):
        match = _MEMORY.match(operand)
        if match:
            offset, base, index, scale = match.groups()
            return place, Address(
                base=base or "", index=index or "", scale=int(scale or 1), offset=offset
            )
    return -1, None


def _size(mnemonic: str, operand: str, width: int, scalar: bool) -> int:
    """The bytes of a memory access."""
    if mnemonic.endswith("movddup") and width > 16:
        return width
    if scalar or _HALF.fullmatch(mnemonic) or "{1to" in operand:
        return DOUBLE
    return 16 if _QUARTER.match(mnemonic) else width


def _kept(instruction: Instruction) -> RegisterChange:
    """The write of an instruction to a vector register."""
    *others, target = map(_whole, instruction.operands)
    moved = bool(_BETWEEN.fullmatch(instruction.mnemonic)) and instruction.address is None
    return RegisterChange(register=target, terms=((others[0], 1),) if moved else None)


def _written(name: str, target: str, instruction: Instruction) -> RegisterChange:
    operands, place = instruction.operands, instruction.address
    literal = number(operands[0])
    source = _whole(operands[0]) if operands[0].startswith("%") else None
    if place is not None and name != "lea" and instruction.loads == DOUBLE:
        source = MEMORY
    itself = (target, 1)
    if name in ("add", "sub") and len(operands) == 2:
        sign = 1 if name == "add" else -1
        if literal is not None:
            return RegisterChange(register=target, terms=(itself,), constant=sign * literal)
        if source:
            return RegisterChange(register=target, terms=(itself, (source, sign)))
    if name in ("inc", "dec"):
        return RegisterChange(register=target, terms=(itself,), constant=1 if name == "inc" else -1)
    if name == "lea" and place is not None:
        terms = [(place.base, 1)] if place.base and place.base != "%rip" else []
        terms += [(place.index, place.scale)] if place.index else []
        return RegisterChange(
            register=target, terms=tuple(terms), constant=number(place.offset or "0") or 0
        )
    if name in ("neg", "not"):
        return RegisterChange(register=target, terms=((target, -1),), constant=-(name == "not"))
    if name == "imul" and literal is not None and len(operands) == 3:
        return RegisterChange(register=target, terms=((_whole(operands[1]), literal),))
    if name in ("mov", "movabs", "movsl"):
        if literal is not None:
            return RegisterChange(register=target, terms=(), constant=literal)
        if source:
            return RegisterChange(register=target, terms=((source, 1),))
    if name in ("sal", "shl") and literal is not None:
        return RegisterChange(register=target, terms=((target, 1 << literal),))
    if name == "xor" and source == target:
        return RegisterChange(register=target, terms=())
    return RegisterChange(register=target, terms=None)


def _stored(instruction: Instruction) -> RegisterChange:
    """The change made by a store of eight bytes from a general register, or by a sum in memory."""
    name = re.sub(r"[bwlq]$", "", instruction.mnemonic)
    if instruction.stores != DOUBLE or name not in ("mov", "add", "sub", "inc", "dec"):
        return RegisterChange(register=MEMORY, terms=None)
    return _written(name, MEMORY, replace(instruction, address=None))


def _operand(text: str) -> str:
    return _whole(text) if text.startswith("%") else text


def _whole(register: str) -> str:
    """The register by which a part of it is known: ``%rax`` for ``%eax`` and ``%al``, ``%xmm2`` for
    ``%ymm2``.
    """
    vector = _VECTOR.match(register)
    if vector:
        return "%x" + vector[1]
    match = _LEGACY.fullmatch(register)
    if match:
        return "%r" + match[1]
    match = _BYTE.fullmatch(register)
    if match:
        return f"%r{match[1]}x" if match[1] else f"%r{match[2]}"
    match = _NEW.fullmatch(register)
    return "%" + match[1] if match else register
