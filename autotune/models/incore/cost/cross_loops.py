"""Work in the core counted in loops that a cross compiler makes, for ppc64.

OSACA has no tables of it, and no table of instructions is needed: loads, stores and operations of
the hottest loop are counted, and a port table gives their throughput. One pass of the loop does as
many iterations of the source as its stores say.
"""

import re
from collections import Counter
from collections.abc import Sequence

from autotune.domain.machine import Machine
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.toolchain.cross_compilers import CROSS_COMPILERS, CrossCompiler

COUNTED = "ppc64"
"""The architecture whose loops are counted."""
_LABEL = re.compile(r"^(\.L\w+):$")
_BACK = re.compile(r"^\s+b\w*\s+(?:\d+,\s*)?(\.L\w+)$")
_KINDS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("loads", re.compile(r"lfdu?x?$")),
    ("stores", re.compile(r"stfdu?x?$")),
    ("fused", re.compile(r"fn?m(?:add|sub)$")),
    ("adds", re.compile(r"f(?:add|sub)$")),
    ("multiplies", re.compile(r"fmul$")),
    ("divides", re.compile(r"f(?:div|sqrt)$")),
    ("moves", re.compile(r"fmr$")),
)


def cross_compiler(machine: Machine) -> CrossCompiler | None:
    """The compiler whose loops are counted for a machine, installed or not; None for machines of
    other architectures.
    """
    return CROSS_COMPILERS[COUNTED] if machine.architecture == COUNTED else None


def target_flags(machine: Machine, cross: CrossCompiler) -> tuple[str, ...]:
    """The flags of the machine file for a cross compiler."""
    return tuple(machine.compilers.get(cross.program, "").split())


def loop_work(assembly: str, stores: float, program: str) -> ComponentWork | str:
    """The work of an iteration in the hottest loop of an assembly text, or why there is none.

    ``stores``: those of an iteration in the source; ``program``: the compiler, to be named.
    """
    loops = [*_loops(assembly.splitlines())]
    loop = max(loops, key=lambda names: _counts(names)["loads"], default=[])
    counts = _counts(loop)
    if not stores or counts["stores"] < stores:
        return f"{program} made no loop that stores what the text stores"
    per = counts["stores"] / stores
    return ComponentWork(
        loads=counts["loads"] / per,
        stores=stores,
        adds=counts["adds"] / per,
        multiplies=counts["multiplies"] / per,
        fused=counts["fused"] / per,
        divides=counts["divides"] / per,
        overhead=counts["others"] / per,
        body=max(per, 1.0),
    )


def _loops(lines: Sequence[str]) -> list[list[str]]:
    """The mnemonics of every loop without another one inside: from a label to the branch back."""
    loops, place = [], dict[str, int]()
    for number, line in enumerate(lines):
        label, back = _LABEL.match(line), _BACK.match(line)
        if label:
            place[label[1]] = number
        if back and back[1] in place:
            body = lines[place[back[1]] + 1 : number + 1]
            if not any(_LABEL.match(inner) for inner in body):
                words = [inner.split() for inner in body if inner.startswith("\t")]
                loops.append([w[0] for w in words if w and not w[0].startswith(".")])
    return loops


def _counts(mnemonics: Sequence[str]) -> Counter[str]:
    kinds = [next((kind for kind, p in _KINDS if p.match(m)), "others") for m in mnemonics]
    return Counter(kinds)
