"""Work in the core counted in a loop that a cross compiler makes of a kernel, for ppc64.

No table of instructions is needed: loads, stores and operations of the hottest loop are counted,
and a port table gives their throughput. One pass of the loop does as many iterations of the kernel
as its stores say.
"""

import re
from collections import Counter
from collections.abc import Sequence

from autotune.domain.variant import Build
from autotune.errors import AutotuneError
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.toolchain import build_cache, compiler
from autotune.toolchain.cross_compilers import CrossCompiler
from autotune.units import Seconds

FLAGS = ("-O3", "-ffast-math", "-std=gnu11")
_LIMIT = Seconds(60.0)
_DECLARED = re.compile(r"^double (\w+)((?:\[\w+\])*);$", re.MULTILINE)
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


def compiled_work(
    text: str, stores: float, cross: CrossCompiler, flags: Sequence[str] = ()
) -> ComponentWork | str:
    """The work of an iteration in the loop that a cross compiler makes of a kernel, or why there is
    none; ``stores``: those of an iteration in the text.
    """
    try:
        tool = compiler.find(Build(compiler=cross.program, flags=(*FLAGS, *flags)))
        assembly = build_cache.assembly(_function(text), tool, limit=_LIMIT)
    except AutotuneError as error:
        return str(error)
    loops = [*_loops(assembly.splitlines())]
    loop = max(loops, key=lambda names: _counts(names)["loads"], default=[])
    counts = _counts(loop)
    if not stores or counts["stores"] < stores:
        return f"{cross.program} made no loop that stores what the text stores"
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


def _function(text: str) -> str:
    """A kernel as a C function: its arrays and scalars as parameters."""
    declared = _DECLARED.findall(text)
    sizes = dict.fromkeys(re.findall(r"\[(\w+)\]", " ".join(extents for _, extents in declared)))
    parameters = [f"long {size}" for size in sizes]
    for name, extents in declared:
        inner = "".join(f"[{size}]" for size in re.findall(r"\w+", extents)[1:])
        parameters.append(f"double (*restrict {name}){inner}" if extents else f"double {name}")
    return f"void kernel({', '.join(parameters)})\n{{\n{_DECLARED.sub('', text)}}}\n"


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
