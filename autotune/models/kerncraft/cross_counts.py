"""Work in the core of a kernel in kerncraft's C, in the loop that a cross compiler makes of it."""

import re
from collections.abc import Sequence

from autotune.domain.variant import Build
from autotune.errors import AutotuneError
from autotune.models.incore.cost.cross_loops import loop_work
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.toolchain import build_cache, compiler
from autotune.toolchain.cross_compilers import CrossCompiler
from autotune.units import Seconds

FLAGS = ("-O3", "-ffast-math", "-std=gnu11")
_LIMIT = Seconds(60.0)
_DECLARED = re.compile(r"^double (\w+)((?:\[\w+\])*);$", re.MULTILINE)


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
    return loop_work(assembly, stores, cross.program)


def _function(text: str) -> str:
    """A kernel as a C function: its arrays and scalars as parameters."""
    declared = _DECLARED.findall(text)
    sizes = dict.fromkeys(re.findall(r"\[(\w+)\]", " ".join(extents for _, extents in declared)))
    parameters = [f"long {size}" for size in sizes]
    for name, extents in declared:
        inner = "".join(f"[{size}]" for size in re.findall(r"\w+", extents)[1:])
        parameters.append(f"double (*restrict {name}){inner}" if extents else f"double {name}")
    return f"void kernel({', '.join(parameters)})\n{{\n{_DECLARED.sub('', text)}}}\n"
