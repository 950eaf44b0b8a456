"""The cells of benchmarks/accuracy.py: problem x size x threads x build x space."""

import functools
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.problem import Ivp
from autotune.domain.variant import Build
from autotune.files import config

GCC, CLANG = "gcc", "clang"
_ROUNDS_IN_MEMORY = 4
_LARGE = 500_000
"""Components of an IVP that take long to measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One exhaustive study."""

    name: str
    problem: str
    """The entry of the config."""
    subject: str
    """The IVP or stencil: what leave-one-problem-out leaves out."""
    space: str
    """A space by name, or the text of one."""
    threads: int = 1
    compiler: str = GCC
    level: str = "-O3"
    skeleton: str = "pirk"
    large: bool = False

    @property
    def build(self) -> Build:
        """The compiler and its flags."""
        return Build(compiler=self.compiler, flags=(self.level, "-march=native"))

    def config(self, rounds: int) -> str:
        """The config file of the study."""
        return (
            "schema: autotune.config/1\n"
            f"title: {self.name}\n"
            f"machine: host\nskeleton: {self.skeleton}\nspace: {self.space}\n"
            f"problems:\n  - {self.problem}\n"
            f"builds: [{{compiler: {self.compiler}, flags: [{', '.join(self.build.flags)}]}}]\n"
            f"threads: [{self.threads}]\n"
            f"measuring: {{rounds: {min(rounds, _ROUNDS_IN_MEMORY) if self.large else rounds},"
            " samples: 2, min_sample: 20 ms}\n"
        )


def ivp_cell(
    ivp: str,
    components: int,
    *,
    threads: int = 1,
    count: int = 4,
    compiler: str = GCC,
    level: str = "-O3",
    space: str = "pirk-small",
    power: bool = False,
) -> Cell:
    """An IVP of at least so many components, by a method of ``count`` stages.

    With ``power`` the size is a power of two: so are the distances of rows, planes and stages.
    """
    method, correctors = f"radau-iia-{2 * count - 1}", 6 if count == 4 else 2 * count - 2
    size, name = size_of(ivp, components), Path(ivp).stem
    if power:
        size = 1 << (size - 1).bit_length()
    return Cell(
        name=f"{name}-n{components}-T{threads}-s{count}-{compiler}{level}-{space}",
        problem=f"{{ivp: {ivp}, method: {method}, correctors: {correctors}, size: {size}}}",
        subject=name,
        space=space,
        threads=threads,
        compiler=compiler,
        level=level,
        large=components > _LARGE,
    )


def stencil_cell(
    stencil: str,
    grid: tuple[str, str],
    *,
    threads: int = 1,
    compiler: str = GCC,
    level: str = "-O3",
) -> Cell:
    """A stencil on one of its ``grids``."""
    label, extents = grid
    subject = Path(stencil).stem
    return Cell(
        name=f"{subject}-{label}-T{threads}-{compiler}{level}-stencil-small",
        problem=f"{{stencil: {stencil}, {extents}}}",
        subject=subject,
        space="stencil-small",
        threads=threads,
        compiler=compiler,
        level=level,
        skeleton="jacobi",
        large=label in ("flat", "200", "3000"),
    )


def grids(name: str) -> list[tuple[str, str]]:
    """Labels and extents of the grids of a stencil: squares or cubes, then a flat domain."""
    if "2d" in name:
        squares = [(str(n), f"size: {n}") for n in (150, 300, 450, 700, 1000, 3000)]
        return [*squares, ("flat", "grid: {i: 40000, j: 200}")]
    cubes = [(str(n), f"size: {n}") for n in (32, 48, 64, 80, 100, 200)]
    return [*cubes, ("flat", "grid: {i: 700, j: 700, k: 24}")]


def size_of(ivp_name: str, components: int) -> int:
    """The smallest size N with at least so many components."""
    ivp = _ivp(ivp_name)
    low, high = ivp.minimum, components
    while low < high:
        middle = (low + high) // 2
        if int(ivp.values(middle)["n"]) < components:
            low = middle + 1
        else:
            high = middle
    return low


@functools.cache
def _ivp(name: str) -> Ivp:
    return config.ivp(name)
