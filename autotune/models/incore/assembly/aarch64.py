"""AArch64 instructions with Advanced SIMD and SVE; the destination is the first operand."""

import re

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

_REGISTER = re.compile(r"([bhsdqvzxw])(\d+|zr)(?:\.(\d*)([bhsdq]))?")
_BYTES = {"b": 1, "h": 2, "s": 4, "d": 8, "q": 16, "w": 4, "x": 8}
_WORK: tuple[tuple[re.Pattern[str], Work], ...] = (
    (re.compile(r"f(?:add|sub|subr|abd|max|min|maxnm|minnm|addp|cadd)"), "add"),
    (re.compile(r"fn?mulx?"), "multiply"),
    (re.compile(r"fn?m(?:add|sub|l[as]|ad|sb)|fcmla"), "fused"),
    (re.compile(r"f(?:div|divr|sqrt)"), "divide"),
    (
        re.compile(
            r"(?:zip|uzp|trn)[12]|ext|dup|ins|tbl|fneg|fabs|frint\w|fcm(?:eq|g[et]|l[et]|ne|p)\w*"
            r"|fac\w+|fcsel|bsl|bif|bit|sel|splice|compact"
        ),
        "other",
    ),
)
_LOAD = re.compile(r"ld(?:u?r|n?p|[1-4]|nt1|ff1|nf1)\w*")
_STORE = re.compile(r"st(?:u?r|n?p|[1-4]|nt1)\w*")
_MEMORY = re.compile(r"\[([^\]]*)\](!?)")
_COUNT = re.compile(r"(cnt|inc|dec)([bhwd])")
_ELEMENT = {"b": 1, "h": 2, "w": 4, "d": 8}
_BRANCH = re.compile(
    r"b(?:\.?(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al"
    r"|any|none|first|last|nfrst|nlast|pmore|plast|tcont|tstop))?|cbn?z|tbn?z"
)
_CALLERS = tuple(f"x{n}" for n in range(19))
_NO_TARGET = re.compile(r"cmp|cmn|tst|ccmp|cbn?z|tbn?z|st\w+|b\w*|whilel\w|prf\w+")


class AArch64:
    """The AArch64 instruction set; ``vector`` is the width of scalable vectors in bytes."""

    name: Isa = "aarch64"
    comment = "//"

    def __init__(self, vector: int = 16) -> None:
        self.vector = vector

    def parse(self, text: str) -> Instruction:
        """The instruction in a line of assembly."""
        mnemonic, operands = words(text)
        place = next((i for i, o in enumerate(operands) if o.startswith("[")), -1)
        load, store = _LOAD.fullmatch(mnemonic), _STORE.fullmatch(mnemonic)
        if place >= 0 and (load or store):
            single = re.fullmatch(r"ld1r[bhwd]?", mnemonic)
            size = DOUBLE if single else sum(self._width(o) for o in operands[:place])
            return Instruction(
                text=text,
                mnemonic=mnemonic,
                operands=operands,
                address=_address(operands, place),
                loads=size if load else 0,
                stores=size if store else 0,
                lanes=max((self._width(o, single=True) for o in operands[:place]), default=0)
                // DOUBLE,
                moves=True,
            )
        work: Work = next((w for pattern, w in _WORK if pattern.fullmatch(mnemonic)), "none")
        lanes = max((self._width(o) for o in operands), default=0) // DOUBLE
        return Instruction(
            text=text,
            mnemonic=mnemonic,
            operands=operands,
            work=work,
            lanes=0 if work == "none" else max(lanes, 1),
        )

    def changes(self, instruction: Instruction) -> list[RegisterChange]:
        """The writes of an instruction to general registers and to eight bytes of memory."""
        name, operands, place = instruction.mnemonic, instruction.operands, instruction.address
        result = []
        if place is not None and place.step:
            result.append(
                RegisterChange(register=place.base, terms=((place.base, 1),), constant=place.step)
            )
        plain = re.fullmatch(r"(ld|st)u?r", name)
        if plain and operands and re.fullmatch(r"x\d+", operands[0]):
            target, source = (operands[0], MEMORY) if plain[1] == "ld" else (MEMORY, operands[0])
            result.append(RegisterChange(register=target, terms=((source, 1),)))
        elif operands and re.fullmatch(r"[xw]\d+", operands[0]) and not _NO_TARGET.fullmatch(name):
            result.append(self._written(name, operands))
        return result

    def conditional(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers among which a conditional selection chooses."""
        if instruction.mnemonic != "csel":
            return ()
        return tuple(_whole(operand) for operand in instruction.operands[1:3])

    def clobbered(self, instruction: Instruction) -> tuple[str, ...]:
        """The registers that a call may change (AAPCS64)."""
        return _CALLERS if instruction.mnemonic in ("bl", "blr") else ()

    def compared(self, instruction: Instruction) -> tuple[str, str] | None:
        """The operands of a comparison, in the order first minus second."""
        if instruction.mnemonic not in ("cmp", "subs") or len(instruction.operands) < 2:
            return None
        first, second = instruction.operands[-2:]
        return _whole(first), _whole(second)

    def jump_target(self, instruction: Instruction) -> str | None:
        """The label that a branch jumps to; None for other instructions."""
        if not _BRANCH.fullmatch(instruction.mnemonic) or not instruction.operands:
            return None
        return instruction.operands[-1]

    def call_target(self, instruction: Instruction) -> str | None:
        """The function that an instruction calls; None for other instructions."""
        if instruction.mnemonic not in ("bl", "blr") or not instruction.operands:
            return None
        return instruction.operands[-1]

    def ends_block(self, instruction: Instruction) -> bool:
        """Whether control never passes to the next instruction."""
        return instruction.mnemonic in ("b", "ret", "br", "b.al")

    def fuses(self, first: Instruction, second: Instruction) -> bool:
        """Always False: cores differ, so no pair of instructions is assumed to fuse."""
        return first is second

    def copy_loop(self, loads: bool) -> str:
        """Assembly of a loop of 16-byte moves, as library copying functions have it."""
        load = "\tldr\tq0, [x1, x3]\n" if loads else ""
        return (
            f"copy:\n.L1:\n{load}\tstr\tq0, [x0, x3]\n"
            "\tadd\tx3, x3, 16\n\tcmp\tx3, x2\n\tb.ne\t.L1\n\tret\n"
        )

    def _written(self, name: str, operands: tuple[str, ...]) -> RegisterChange:
        target, sources = _whole(operands[0]), [_whole(o) for o in operands[1:]]
        literal = number(operands[-1])
        count = _COUNT.fullmatch(name)
        if count:
            many = re.search(r"mul\s*#?(\d+)", " ".join(operands))
            amount = self.vector // _ELEMENT[count[2]] * (int(many[1]) if many else 1)
            terms = () if count[1] == "cnt" else ((target, 1),)
            return RegisterChange(
                register=target, terms=terms, constant=-amount if count[1] == "dec" else amount
            )
        if name in ("addvl", "rdvl"):
            terms = ((sources[0], 1),) if name == "addvl" else ()
            return RegisterChange(
                register=target, terms=terms, constant=(literal or 0) * self.vector
            )
        if name in ("add", "adds", "sub", "subs") and len(sources) >= 2:
            sign = 1 if name.startswith("add") else -1
            shift = re.search(r"lsl\s*#?(\d+)", sources[2]) if len(sources) > 2 else None
            factor = sign << int(shift[1]) if shift else sign
            value = number(sources[1])
            if value is not None:
                return RegisterChange(
                    register=target, terms=((sources[0], 1),), constant=factor * value
                )
            return RegisterChange(register=target, terms=((sources[0], 1), (sources[1], factor)))
        if name in ("mov", "movz"):
            if literal is not None or sources[0] in ("xzr", "wzr"):
                return RegisterChange(register=target, terms=(), constant=literal or 0)
            return RegisterChange(register=target, terms=((sources[0], 1),))
        if name == "lsl" and literal is not None:
            return RegisterChange(register=target, terms=((sources[0], 1 << literal),))
        return RegisterChange(register=target, terms=None)

    def _width(self, operand: str, single: bool = False) -> int:
        """The bytes of a register, or of a list of registers (with ``single``: of one of them); 0
        for other operands.
        """
        if operand.startswith("{"):
            inner = re.sub(r"\[\d+\]$", "", operand).strip("{} ")
            if single:
                return self._width(re.split(r"[,\s-]", inner)[0])
            run = re.fullmatch(r"[vz](\d+)\.\w+\s*-\s*([vz](\d+)\.\w+)", inner)
            if run:
                return self._width(run[2]) * ((int(run[3]) - int(run[1])) % 32 + 1)
            return sum(self._width(part.strip()) for part in inner.split(","))
        match = _REGISTER.match(operand)
        if match is None:
            return 0
        kind, _, count, element = match.groups()
        if kind == "z":
            return self.vector
        if kind == "v":
            return int(count) * _BYTES[element] if count and element else DOUBLE
        return _BYTES[kind]


def _whole(register: str) -> str:
    return "x" + register[1:] if re.fullmatch(r"w\d+", register) else register


def _address(operands: tuple[str, ...], place: int) -> Address:
    match = _MEMORY.match(operands[place])
    parts = [part.strip() for part in match[1].split(",")] if match else [""]
    offset, index, scale, step = "", "", 1, 0
    if len(parts) > 1 and re.fullmatch(r"[xw]\d+", parts[1]):
        index = _whole(parts[1])
        shift = re.search(r"#?(\d+)$", parts[2]) if len(parts) > 2 else None
        scale = 1 << int(shift[1]) if shift else 1
    elif len(parts) > 1:
        offset = ",".join(parts[1:])
    if match and match[2]:
        step = number(offset) or 0
    elif place + 1 < len(operands):
        step = number(operands[place + 1]) or 0
    return Address(base=parts[0], index=index, scale=scale, offset=offset, step=step)
