"""The cells of benchmarks/accuracy.py: problem x size x threads x build x space."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune.files import config

IVPS = ("heat2d", "inverterchain", "wave1d", "medakzo", "string-mix", "string-row")
STENCILS = ("star3d-7pt", "box3d-27pt", "star2d-5pt")
SIZES = (4096, 8192, 16384, 32768, 65536, 131072, 1048576)
"""Components of an IVP: in L2, in L3 and in memory of today's processors."""
UNSEEN = Path(__file__).parent / "unseen"
"""Right-hand sides and stencils on which no constant was set; of nine-taps and burgers the wrong
predictions led to mended prices."""
THREADS = (1, len(os.sched_getaffinity(0)))
"""One, and all."""
_GCC, _CLANG = "gcc", "clang"
_ROUNDS_IN_MEMORY = 4


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
    compiler: str = _GCC
    level: str = "-O3"
    skeleton: str = "pirk"
    large: bool = False

    def config(self, rounds: int) -> str:
        """The config file of the study."""
        return (
            "schema: autotune.config/1\n"
            f"title: {self.name}\n"
            f"machine: host\nskeleton: {self.skeleton}\nspace: {self.space}\n"
            f"problems:\n  - {self.problem}\n"
            f"builds: [{{compiler: {self.compiler}, flags: [{self.level}, -march=native]}}]\n"
            f"threads: [{self.threads}]\n"
            f"measuring: {{rounds: {min(rounds, _ROUNDS_IN_MEMORY) if self.large else rounds},"
            " samples: 2, min_sample: 20 ms}\n"
        )


def base() -> Iterator[Cell]:
    """Six IVPs, seven sizes, one thread and all; four stages, rows padded, gcc -O3."""
    for components in SIZES:
        for threads in THREADS:
            for ivp in IVPS:
                yield _ivp(ivp, components, threads=threads)


def builds() -> Iterator[Cell]:
    """gcc -O2, clang -O3 and clang -O2."""
    for components in (16384, 65536, 1048576):
        for compiler, level in ((_GCC, "-O2"), (_CLANG, "-O3"), (_CLANG, "-O2")):
            for ivp in IVPS:
                yield _ivp(ivp, components, compiler=compiler, level=level)


def unpadded() -> Iterator[Cell]:
    """Rows whose distance is a power of two, not padded."""
    for components in (4096, 16384, 65536, 1048576):
        for ivp in IVPS:
            yield _ivp(ivp, components, space="pirk-unpadded")


def stages() -> Iterator[Cell]:
    """Two to eight stages (four are in ``base``)."""
    for components in (16384, 65536, 1048576):
        for count in (2, 3, 5, 6, 8):
            for ivp in ("heat2d", "inverterchain", "string-row"):
                yield _ivp(ivp, components, count=count)


def stencils() -> Iterator[Cell]:
    """Three stencils, six cubes or squares and a flat domain, one thread and all, four builds."""
    for threads in THREADS:
        for name in STENCILS:
            for label, grid in _grids(name):
                yield _stencil(name, label, grid, threads, _GCC, "-O3")
    for compiler, level in ((_GCC, "-O2"), (_CLANG, "-O3"), (_CLANG, "-O2")):
        for name in STENCILS:
            for label, grid in _grids(name)[2:5:2]:
                yield _stencil(name, label, grid, 1, compiler, level)


def unseen() -> Iterator[Cell]:
    """The IVPs of ``unseen``, blocked in time too, in L2, L3 and memory; one thread and all."""
    for components in (16384, 131072, 1048576):
        for threads in THREADS:
            for path in sorted((UNSEEN / "ivp").glob("*.yaml")):
                yield _ivp(str(path), components, threads=threads, space="pirk-time-small")


def unseen_stencils() -> Iterator[Cell]:
    """The stencils of ``unseen``, three sizes and a flat domain, one thread and all."""
    for threads in THREADS:
        for path in sorted((UNSEEN / "stencil").glob("*.yaml")):
            for label, grid in _grids(path.stem)[::2]:
                yield _stencil(str(path), label, grid, threads, _GCC, "-O3")


SETS: dict[str, Callable[[], Iterator[Cell]]] = {
    "base": base,
    "stencils": stencils,
    "unpadded": unpadded,
    "builds": builds,
    "stages": stages,
    "unseen": unseen,
    "unseen_stencils": unseen_stencils,
}


def _ivp(
    ivp: str,
    components: int,
    *,
    threads: int = 1,
    count: int = 4,
    compiler: str = _GCC,
    level: str = "-O3",
    space: str = "pirk-small",
) -> Cell:
    method, correctors = f"radau-iia-{2 * count - 1}", 6 if count == 4 else 2 * count - 2
    size, name = size_of(ivp, components), Path(ivp).stem
    return Cell(
        name=f"{name}-n{components}-T{threads}-s{count}-{compiler}{level}-{space}",
        problem=f"{{ivp: {ivp}, method: {method}, correctors: {correctors}, size: {size}}}",
        subject=name,
        space=space,
        threads=threads,
        compiler=compiler,
        level=level,
        large=components > 500_000,
    )


def _grids(name: str) -> list[tuple[str, str]]:
    if "2d" in name:
        found = [(str(n), f"size: {n}") for n in (150, 300, 450, 700, 1000, 3000)]
        return [*found, ("flat", "grid: {i: 40000, j: 200}")]
    found = [(str(n), f"size: {n}") for n in (32, 48, 64, 80, 100, 200)]
    return [*found, ("flat", "grid: {i: 700, j: 700, k: 24}")]


def _stencil(name: str, label: str, grid: str, threads: int, compiler: str, level: str) -> Cell:
    subject = Path(name).stem
    return Cell(
        name=f"{subject}-{label}-T{threads}-{compiler}{level}-stencil-small",
        problem=f"{{stencil: {name}, {grid}}}",
        subject=subject,
        space="stencil-small",
        threads=threads,
        compiler=compiler,
        level=level,
        skeleton="jacobi",
        large=label in ("flat", "200", "3000"),
    )


def size_of(ivp_name: str, components: int) -> int:
    """The smallest size N with at least so many components."""
    ivp = config.ivp(ivp_name)
    low, high = ivp.minimum, components
    while low < high:
        middle = (low + high) // 2
        if int(ivp.values(middle)["n"]) < components:
            low = middle + 1
        else:
            high = middle
    return low
