"""Instruction forms: instructions with standard register names, and their properties.

A table's entry depends on the form only. So an unrolled loop of hundreds of instructions needs some
twenty look-ups, and a loop whose forms were all looked up before needs none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autotune.models.incore.assembly.instructions import Instruction, Isa
from autotune.models.incore.cost.port_pressure import Uop

_X86_REGISTER = re.compile(
    r"%(?:([xyz]mm)(\d+)|(r(?:[abcd]x|[sd]i|bp|1[0-5]|[89]))(?![dwb\d])"
    r"|(e(?:[abcd]x|[sd]i|bp)|r(?:1[0-5]|[89])d))\b"
)
_X86_OFFSET = re.compile(r"(?<![\w$.])-?(?:0x[0-9a-fA-F]+|\d+)(?=\()")
_X86_SYMBOL = re.compile(r"\.?[A-Za-z_][\w.$@]*(?:[-+]\d+)?(?=\(%rip)")
_X86_LEGACY = re.compile(r"[re]([abcd]x|[sd]i|bp|sp)")
_ARM_REGISTER = re.compile(r"(?<![\w#.])([xwvqdshbzp])(\d+)(?![\w#])")
_ARM_OFFSET = re.compile(r"(?<=, )#?-?\d+(?=\])")
_ARM_GENERAL, _ARM_VECTOR = "xw", "vqdshbz"


@dataclass(frozen=True, slots=True)
class InstructionForm:
    """The text of a form, and the registers of the instruction by their names in the form."""

    text: str
    registers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormProperties:
    """The properties of a form in a table; registers have their names in the form."""

    uops: tuple[Uop, ...]
    latency: float
    """Cycles from its register operands to its result."""
    load: float
    """Cycles of the load in it, which come before ``latency``."""
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    taken_as: str | None
    """The name of the instruction of equal cost that was looked up instead; None: its own."""
    in_tables: bool


def form(instruction: Instruction, isa: Isa) -> InstructionForm:
    """The form of an instruction.

    >>> from autotune.models.incore.assembly.x86 import X86
    >>> form(X86().parse("vaddpd 32(%rsi,%rax), %ymm7, %ymm3"), "x86_64").text
    'vaddpd 8(%r8,%r9), %ymm0, %ymm1'
    """
    return _form(" ".join(instruction.text.split()), isa)


@lru_cache(maxsize=1 << 14)
def _form(text: str, isa: Isa) -> InstructionForm:
    return _x86(text) if isa == "x86_64" else _aarch64(text)


@lru_cache(maxsize=1 << 10)
def whole(register: str, isa: Isa) -> str:
    """The full register that contains a named register: ``rax`` for ``%eax``, ``v3``
    for ``xmm3``.
    """
    bare = register.lstrip("%")
    if isa == "x86_64":
        if re.fullmatch(r"[xyz]mm\d+", bare):
            return "v" + bare[3:]
        legacy = _X86_LEGACY.fullmatch(bare)
        return "r" + legacy[1] if legacy else bare.rstrip("dwb") if bare[-1:] in "dwb" else bare
    if re.fullmatch(r"[xw]\d+", bare):
        return "x" + bare[1:]
    if re.fullmatch(r"[vqdshbz]\d+", bare):
        return "v" + bare[1:]
    return bare


def _x86(text: str) -> InstructionForm:
    vectors: dict[str, str] = {}
    general: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        if match[1]:
            number = vectors.setdefault("v" + match[2], str(len(vectors)))
            return f"%{match[1]}{number}"
        name = whole(match[3] or match[4], "x86_64")
        number = general.setdefault(name, f"r{8 + len(general)}")
        return f"%{number}" + ("d" if match[4] else "")

    if re.match(r"j\w+ |call", text):
        return InstructionForm(text.split()[0] + " .L0", {})
    text = _X86_OFFSET.sub("8", _X86_SYMBOL.sub(".LC0", _X86_REGISTER.sub(renamed, text)))
    names = {f"v{number}": register for register, number in vectors.items()}
    return InstructionForm(text, names | {short: register for register, short in general.items()})


def _aarch64(text: str) -> InstructionForm:
    if re.match(r"(?:b\.?\w*|cbn?z|tbn?z) ", text):
        return InstructionForm(re.sub(r"[.\w]+$", ".L0", text), {})
    if "{" in text and ("-" in text or text.count("}") != 1 or "," in text.split("}")[0]):
        return InstructionForm(text, {})
    kinds: dict[str, dict[str, str]] = {}

    def renamed(match: re.Match[str]) -> str:
        kind = next((k for k in (_ARM_GENERAL, _ARM_VECTOR) if match[1] in k), match[1])
        numbered = kinds.setdefault(kind, {})
        return match[1] + numbered.setdefault(match[2], str(len(numbered)))

    text = _ARM_OFFSET.sub("#16", _ARM_REGISTER.sub(renamed, text))
    names: dict[str, str] = {}
    for kind, numbered in kinds.items():
        letter = {_ARM_GENERAL: "x", _ARM_VECTOR: "v"}.get(kind, kind)
        names |= {letter + short: letter + register for register, short in numbered.items()}
    return InstructionForm(text, names)


def facts(answer: Mapping[str, object]) -> FormProperties:
    """The properties of a form in a worker's answer; ValueError where some are missing."""
    uops, latency, load = answer.get("uops"), answer.get("latency"), answer.get("load")
    name = answer.get("taken_as")
    if (
        not isinstance(uops, list)
        or not isinstance(latency, int | float)
        or not isinstance(load, int | float)
    ):
        raise ValueError("an answer without ports or latency")
    return FormProperties(
        uops=tuple((float(cycles), frozenset(names)) for cycles, names in uops),
        latency=float(latency),
        load=float(load),
        reads=_names(answer, "reads"),
        writes=_names(answer, "writes"),
        taken_as=name if isinstance(name, str) else None,
        in_tables=answer.get("known") is True,
    )


def _names(answer: Mapping[str, object], key: str) -> tuple[str, ...]:
    names = answer.get(key)
    if not isinstance(names, Sequence):
        raise ValueError(f"an answer without {key}")
    return tuple(str(name) for name in names)
