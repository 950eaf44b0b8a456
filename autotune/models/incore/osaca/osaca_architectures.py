"""Properties of OSACA's architectures that its tables lack: data ports and issue width.

OSACA names ports by number; ``2D`` is the data part of port 2 (its number alone is the address
generation), ``0DV`` the divider behind port 0. The data ports listed here are used by loads and
stores only: their time is T_nOL. Address generation counts in T_OL where it has separate ports, as
in kerncraft's machine files (Hammer et al. 2017).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.models.incore.assembly.instructions import Isa
from autotune.models.incore.cost.port_pressure import Uop

_VECTORS = re.compile(r"%([xyz])mm\d")
_WIDTHS = {"x": 16, "y": 32, "z": 64}


def register_width(text: str) -> int:
    """The bytes of the widest vector register of x86 in an instruction; 0 without one.

    >>> register_width("vaddpd 8(%r8), %ymm0, %ymm1")
    32
    """
    return max((_WIDTHS[letter] for letter in _VECTORS.findall(text)), default=0)


@dataclass(frozen=True, slots=True)
class RelatedTable:
    """The table of a later generation, for instructions that one's own table lacks."""

    name: str
    width: int
    """Bytes that a unit of one's own takes at once: wider vectors pass it in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingUnit:
    """How many operations per cycle the unit takes up that has the vector registers."""

    issue: float
    """Operations per cycle, loads and stores of vector registers and moves between them counted."""
    width: int
    """Bytes of an operation: wider vectors are several."""
    third: str = ""
    """The port over which the third operand of a multiply-add comes, once for all multiply-adds
    that start in a cycle; none: no such port."""
    sequences: tuple[tuple[str, int], ...] = ()
    """Instructions of another number of operations than their width says: pattern, number."""

    def operations(self, form: str) -> int:
        """The operations of an instruction form; 0 where it has no vector register.

        >>> FloatingUnit(issue=4, width=16).operations("vaddpd 8(%r8), %ymm0, %ymm1")
        2
        """
        for pattern, count in self.sequences:
            if re.fullmatch(pattern, form):
                return count
        return -(-register_width(form) // self.width)


@dataclass(frozen=True, slots=True)
class OsacaArchitecture:
    """An architecture for which OSACA has tables."""

    name: str
    isa: Isa
    data: frozenset[str]
    """Ports that only loads and stores use."""
    issue: float
    """Instructions that the front end delivers per cycle, compare and branch counted as one."""
    vector: int = 16
    """Bytes of a scalable vector (AArch64)."""
    corrections: tuple[tuple[str, tuple[Uop, ...]], ...] = ()
    """The true work of instructions where OSACA's table is known to be wrong: pattern of the form,
    and work on ports that are no data ports."""
    additions: tuple[tuple[str, tuple[Uop, ...]], ...] = ()
    """Work of instructions that OSACA's table lacks: pattern of the form, and the work."""
    address: frozenset[str] = frozenset()
    """Ports that generate addresses, where the data of loads and stores have ports of their own."""
    related: tuple[RelatedTable, ...] = ()
    """Tables to look in for instructions that its own lacks, the nearest first."""
    floating: FloatingUnit | None = None
    """The floating-point unit, where it takes up less than ``issue`` per cycle."""
    latencies: tuple[tuple[str, float], ...] = ()
    """The true latency of instructions where OSACA's table is known to be wrong: pattern of the
    form, and cycles from its register operands to its result."""
    slots_indexed: float = 1.0
    """Slots of the front end that arithmetic of three operands takes with a load that has an index
    register."""

    def latency(self, form: str, table: float) -> float:
        """The latency of an instruction form, that of OSACA's table unless it is wrong there."""
        right = (cycles for pattern, cycles in self.latencies if re.fullmatch(pattern, form))
        return next(right, table)


_SEQUENCER = frozenset({"sequencer"})
"""What issues the micro-operations of an instruction that has more than two of them."""
_CORRECTED: Mapping[str, tuple[tuple[str, tuple[Uop, ...]], ...]] = {
    # no load in OSACA 0.7.1 where memory is read, changed and written: two addresses are generated
    "ZEN1": (
        (
            r"(?:add|sub|and|or|xor)[bwlq] [$%][^(]*, \S*\(.*\)|(?:inc|dec|neg|not)[bwlq] .*\(.*\)",
            ((1.0, frozenset("4567")), (2.0, frozenset("89"))),
        ),
        # measured on family 17h, model 1: shuffles across halves of 16 bytes take 3 (vperm2f128)
        # and 2 cycles (vpermpd), whatever runs beside them on the pipes; beside four times as many
        # operations of one pair of pipes 3.3 to 3.5 and 2.2 to 3.0; an insertion takes .67 cycles,
        # 1.33 beside two multiplications, 1.0 beside two additions or shuffles; an extraction half
        # of that
        (r"vperm2f128 .*", ((3.0, _SEQUENCER), *[(1.0, frozenset("0123"))] * 8)),
        (r"vpermpd \$.*", ((2.0, _SEQUENCER), (2.0, frozenset("12")), (1.0, frozenset("0123")))),
        (r"vinsertf128 \$\d+, %xmm.*", ((2.0, frozenset("013")),)),
        (r"vextractf128 \$\d+, %ymm\d+, %xmm\d+", ((1.0, frozenset("013")),)),
    ),
    # one cycle on port 1 in OSACA 0.7.1; measured on family 19h: 1.27 cycles alone, 5.9 for four
    # beside four shuffles of ports 1 and 2, 4.7 beside four additions of ports 2 and 3
    "ZEN3": ((r"vpermpd \$.*%ymm\d+", ((1.0, frozenset("1")), (1.0, frozenset("12")))),),
    # also ports of integers, 6 and 10, in OSACA 0.7.1; measured on a core with AMX: a third of a
    # cycle each, six beside six additions 4.2 cycles; moves of whole registers take no port
    "SPR": ((r"v?movs[sd] %xmm\d+, %xmm\d+(?:, %xmm\d+)?", ((1.0, frozenset("015")),)),),
}


_STORED = r"v?mov(?:[ahlu]p[ds]|s[ds]|nt\w+|dq[au]) {}\d+, .*\("
_ADDED: Mapping[str, tuple[tuple[str, tuple[Uop, ...]], ...]] = {
    # measured on family 17h, model 1, halves of 16 bytes: a store beside 1, 2, 3 and 4 additions
    # takes 1.05, 1.53, 2.04 and 2.53 cycles, beside as many multiplications 1.05, 1.10, 1.55 and
    # 2.04, so that its data pass a pipe of the additions; a multiply-add beside 0, 1, 2 and 3
    # additions takes .5, .72, 1.2 to 1.5 and 2.0: its third operand comes over a pipe of these,
    # once for two that start together; a division with all digits in its quotient takes 4.5, not
    # 4, and keeps pipe 3 for 4: beside 12, 16, 20 and 24 additions it takes 7.8, 9.9, 11.8 and 14.0
    # cycles, beside 12 and 20 multiply-adds 10.4 and 15.1; a vector of 32 bytes keeps it for 8
    "ZEN1": (
        (r"vmovs[sd] %xmm\d+, %xmm\d+, %xmm\d+", ((1.0, frozenset("0123")),)),
        (_STORED.format("%xmm") + ".*", ((1.0, frozenset("2")),)),
        (_STORED.format("%ymm") + ".*", ((2.0, frozenset("2")),)),
        (r"vdiv[ps]d .*%xmm\d+", ((3.0, frozenset("3")), (0.5, frozenset({"3DV"})))),
        (r"vdivpd .*%ymm\d+", ((7.0, frozenset("3")), (1.0, frozenset({"3DV"})))),
    ),
}


_ADDRESSES: Mapping[str, str] = {
    "SNB": "2 3", "IVB": "2 3", "HSW": "2 3 7", "BDW": "2 3 7", "SKX": "2 3 7", "CSX": "2 3 7",
    "ICL": "2 3 7 8", "ICX": "2 3 7 8", "SPR": "7 8", "ZEN1": "8 9", "ZEN2": "8 9 10",
    "ZEN4": "1 3 5",
}  # fmt: skip


_LATENCIES: Mapping[str, tuple[tuple[str, float], ...]] = {
    # the front end adds small constants to a register (Abel and Reineke, uiCA, 2022); measured on a
    # core with AMX: a loop of a counter, a load and a store takes .57 cycles per pass
    "SPR": (
        (r"(?:add|sub)[lq] \$-?\d{1,3}, %\w+", 0.0),
        (r"(?:inc|dec)[lq] %\w+", 0.0),
    ),
    # OSACA 0.7.1 gives 8 to divisions of vectors and 3 to shuffles of 32 bytes (Zen 2); measured on
    # family 17h, model 1: dependent divisions 13.0, shuffles within halves 1.0, vpermpd 2.0
    "ZEN1": (
        (r"vdivpd .*", 13.0),
        (r"v(?:shuf|unpck[lh])pd .*", 1.0),
        (r"vpermpd \$.*", 2.0),
        (r"vmovs[sd] %xmm\d+, %xmm\d+, %xmm\d+", 1.0),
    ),
}


_FLOATING: Mapping[str, FloatingUnit] = {
    # four per cycle (AMD Software Optimization Guide for family 17h, model 00h); measured
    # on model 1: eight loads, additions and multiplications each take 6.0 cycles, eight additions
    # and multiplications and as many moves between registers 6.0
    "ZEN1": FloatingUnit(
        issue=4,
        width=16,
        third="3",
        sequences=(
            (r"vperm2f128 .*", 8),
            (r"vpermpd \$.*", 3),
            (r"vextractf128 .*", 1),
        ),
    ),
}


_SLOTS_INDEXED: Mapping[str, float] = {
    # issued as load and arithmetic (Intel 64 and IA-32 Architectures Optimization Reference Manual,
    # micro-fusion)
    **dict.fromkeys(["SNB", "IVB", "HSW", "BDW", "SKX", "CSX", "ICL", "ICX"], 2.0),
    # measured on a core with AMX: one, two and three of them in turn with up to eight instructions
    # without work take 1.9 to 4.5 slots each, not always at the same place of six; 2.8 alone
    "SPR": 2.5,
}


_RELATED: Mapping[str, tuple[RelatedTable, ...]] = {
    # OSACA 0.7.1 has no shuffle in its table of Zen 1; units of 16 bytes there, of 32 in Zen 2
    # (AMD Software Optimization Guides for family 17h, models 00h and 30h)
    "ZEN1": (RelatedTable("ZEN2", 16), RelatedTable("ZEN3", 16)),
    "ZEN2": (RelatedTable("ZEN3", 32),),
}
"""The pipes 0 to 3 of Zen 1 to 3 do the same kinds of work."""


def _architecture(
    name: str, isa: Isa, data: str, issue: float, vector: int = 16
) -> OsacaArchitecture:
    ports = frozenset(data.split())
    return OsacaArchitecture(
        name=name,
        isa=isa,
        data=ports,
        issue=issue,
        vector=vector,
        corrections=_CORRECTED.get(name, ()),
        additions=_ADDED.get(name, ()),
        address=frozenset(_ADDRESSES.get(name, "").split()) - ports,
        related=_RELATED.get(name, ()),
        floating=_FLOATING.get(name),
        latencies=_LATENCIES.get(name, ()),
        slots_indexed=_SLOTS_INDEXED.get(name, 1.0),
    )


_ALL = (
    # Intel: load data 2D, 3D (2, 3, 11 from Golden Cove on); store data 4 (from Ice Lake on two);
    # issue: Intel 64 and IA-32 Architectures Optimization Reference Manual, rename width
    _architecture("SNB", "x86_64", "2D 3D 4", 4),
    _architecture("IVB", "x86_64", "2D 3D 4", 4),
    _architecture("HSW", "x86_64", "2D 3D 4", 4),
    _architecture("BDW", "x86_64", "2D 3D 4", 4),
    _architecture("SKX", "x86_64", "2D 3D 4", 4),
    _architecture("CSX", "x86_64", "2D 3D 4", 4),
    _architecture("ICL", "x86_64", "2D 3D 4 8", 5),
    _architecture("ICX", "x86_64", "2D 3D 4 8", 5),
    _architecture("SPR", "x86_64", "2 3 11 4 9", 6),
    # AMD: Zen 1 stores on ST; Zen 3 has address and data in one, 11 and 12 load, 13 stores (the
    # data of vector stores pass 4, as do compares); issue: AMD Software Optimization Guides for
    # families 17h and 19h, dispatch; six operations of at most five instructions on Zen 1 (measured
    # on family 17h, model 1: 4.9 instructions without work per cycle)
    _architecture("ZEN1", "x86_64", "8D 9D ST", 5),
    _architecture("ZEN2", "x86_64", "8D 9D 10D", 6),
    _architecture("ZEN3", "x86_64", "11 12 13", 6),
    _architecture("ZEN4", "x86_64", "1D 3D 5D 8 13", 6),
    # ARM: pipes that do loads, stores or both; issue: Arm Software Optimization Guides (rename),
    # A64FX Microarchitecture Manual, vendors' statements on the others
    _architecture("TX2", "aarch64", "3 4 5", 4),
    _architecture("N1", "aarch64", "6 7", 4),
    _architecture("V2", "aarch64", "12 13 14 15 16", 8),
    _architecture("A64FX", "aarch64", "5 6 5D 6D", 4, 64),
    _architecture("TSV110", "aarch64", "6 7", 4),
    _architecture("A72", "aarch64", "1 3", 3),
    _architecture("M1", "aarch64", "4 5 6 7", 8),
)  # fmt: skip

ARCHITECTURES: Mapping[str, OsacaArchitecture] = {a.name: a for a in _ALL}
"""By OSACA's name, in capitals."""


def find(name: str | None) -> OsacaArchitecture | None:
    """The architecture of a name, in upper or lower case; None where OSACA does not know it."""
    return ARCHITECTURES.get(name.upper()) if name else None
