"""Star stencils and a machine with round figures, for tests of predictions."""

from dataclasses import replace

from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import Stencil
from autotune.domain.variant import Block, Candidate, ExecutionLayout, Variant
from autotune.language.expression import Num, parse

LINE = 64


def stencil(
    radius: int = 1, dimensions: tuple[str, ...] = ("k", "j", "i"), *, variable: bool = False
) -> Stencil:
    """The star of this radius; ``variable``: times a coefficient array."""
    centre = "u" + "".join(f"[{name}]" for name in dimensions)
    terms = [centre]
    for name in dimensions:
        for step in (s for r in range(1, radius + 1) for s in (-r, r)):
            terms.append(centre.replace(f"[{name}]", f"[{name}{step:+d}]"))
    body = "0.1*(" + " + ".join(terms) + ")"
    return Stencil(
        name=f"star{len(dimensions)}d-r{radius}",
        title="",
        source="",
        dimensions=dimensions,
        coefficients={"C": Num(1)} if variable else {},
        body=parse(body + ("*" + centre.replace("u", "C") if variable else "")),
        initial=Num(1),
    )


def problem(*extents: int, radius: int = 1, variable: bool = False) -> StencilProblem:
    """A star on a grid, in as many dimensions as there are extents, slowest first."""
    names = ("k", "j", "i")[3 - len(extents) :]
    return StencilProblem(stencil=stencil(radius, names, variable=variable), extents=extents)


def candidate(on: StencilProblem, threads: int = 1, **blocks: int) -> Candidate:
    """A sweep with blocks: ``j=16``."""
    changes = tuple(Block("sweep", name, size) for name, size in blocks.items())
    variant = Variant(skeleton="jacobi", transformations=changes, parameters=dict(blocks))
    return Candidate(variant=variant, problem=on, layout=ExecutionLayout(threads=threads))


def cache(name: str, size: int, *, ways: int = 8, cores: int = 1) -> CacheLevel:
    """A cache that delivers 32 bytes per cycle."""
    inbound = None if name == "L1" else 32.0
    return CacheLevel(name=name, size=size, line=LINE, ways=ways, cores=cores, inbound=inbound)


MACHINE = Machine(
    name="round",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(cache("L1", 32 << 10), cache("L2", 512 << 10), cache("L3", 8 << 20, ways=16, cores=4)),
    memory=Memory(saturated=16e9, single=8e9, cores=4),
    in_core=InCore(),
)
UNKNOWN = replace(MACHINE, memory=Memory())
