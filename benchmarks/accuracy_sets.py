"""The sets of cells that benchmarks/accuracy.py measures, by name."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from accuracy_cells import CLANG, GCC, Cell, grids, ivp_cell, stencil_cell

IVPS = ("heat2d", "inverterchain", "wave1d", "medakzo", "string-mix", "string-row")
STENCILS = ("star3d-7pt", "box3d-27pt", "star2d-5pt")
SIZES = (4096, 8192, 16384, 32768, 65536, 131072, 1048576)
"""Components of an IVP: in L2, in L3 and in memory of today's processors."""
UNSEEN = Path(__file__).parent / "unseen"
"""Right-hand sides and stencils on which no constant was set."""
FRESH = frozenset(
    {
        "amplitude-ring", "fisher2d", "ginzburg-landau2d", "korteweg-de-vries", "nagumo2d",
        "neural-field2d", "oblique-diffusion3d", "traffic-ring", "transport3d",
        "box3d-19pt", "faces3d-7pt", "mixed3d-25pt", "oblique2d-13pt", "star3d-19pt-variable",
    }
)  # fmt: skip
"""Those of ``UNSEEN`` kept for judging: no constant was set on them. Faults were found, and mended,
on fisher2d, nagumo2d and korteweg-de-vries by clang, on nagumo2d by gcc, on transport3d with two
threads and on the tiles of traffic-ring."""
THREADS = tuple(sorted({1, len(os.sched_getaffinity(0))}))
"""One, and all."""
_IN_CACHE = ("450", "48")
"""Labels of the square and the cube that stay in the last cache with all arrays of a stencil."""


def base() -> Iterator[Cell]:
    """Six IVPs, seven sizes, one thread and all; four stages, rows padded, gcc -O3."""
    for components in SIZES:
        for threads in THREADS:
            for ivp in IVPS:
                yield ivp_cell(ivp, components, threads=threads)


def builds() -> Iterator[Cell]:
    """gcc -O2, clang -O3 and clang -O2."""
    for components in (16384, 65536, 1048576):
        for compiler, level in ((GCC, "-O2"), (CLANG, "-O3"), (CLANG, "-O2")):
            for ivp in IVPS:
                yield ivp_cell(ivp, components, compiler=compiler, level=level)


def unpadded() -> Iterator[Cell]:
    """Rows whose distance is a power of two, not padded."""
    for components in (4096, 16384, 65536, 1048576):
        for ivp in IVPS:
            yield ivp_cell(ivp, components, space="pirk-unpadded")


def stages() -> Iterator[Cell]:
    """Two to eight stages (four are in ``base``)."""
    for components in (16384, 65536, 1048576):
        for count in (2, 3, 5, 6, 8):
            for ivp in ("heat2d", "inverterchain", "string-row"):
                yield ivp_cell(ivp, components, count=count)


def stencils() -> Iterator[Cell]:
    """Three stencils, six cubes or squares and a flat domain, one thread and all, four builds."""
    for threads in THREADS:
        for name in STENCILS:
            for grid in grids(name):
                yield stencil_cell(name, grid, threads=threads)
    for compiler, level in ((GCC, "-O2"), (CLANG, "-O3"), (CLANG, "-O2")):
        for name in STENCILS:
            for grid in grids(name)[2:5:2]:
                yield stencil_cell(name, grid, compiler=compiler, level=level)


def unseen() -> Iterator[Cell]:
    """The older IVPs of ``UNSEEN``, blocked in time too, in L2, L3 and memory, by threads."""
    yield from _small_in_time(_problems("ivp", fresh=False))


def unseen_stencils() -> Iterator[Cell]:
    """The older stencils of ``UNSEEN``, three sizes and a flat domain, one thread and all."""
    yield from _by_size(_problems("stencil", fresh=False))


def fresh() -> Iterator[Cell]:
    """The fresh IVPs, in the cells of ``unseen``."""
    yield from _small_in_time(_problems("ivp", fresh=True))


def fresh_stencils() -> Iterator[Cell]:
    """The fresh stencils, in the cells of ``unseen_stencils``."""
    yield from _by_size(_problems("stencil", fresh=True))


def fresh_builds() -> Iterator[Cell]:
    """The fresh problems in cache by gcc -O2 and clang -O3, one thread."""
    for compiler, level in ((GCC, "-O2"), (CLANG, "-O3")):
        for path in _problems("ivp", fresh=True):
            yield ivp_cell(
                str(path), 16384, compiler=compiler, level=level, space="pirk-time-small"
            )
        for path in _problems("stencil", fresh=True):
            grid = next(grid for grid in grids(path.stem) if grid[0] in _IN_CACHE)
            yield stencil_cell(str(path), grid, compiler=compiler, level=level)


def fresh_unpadded() -> Iterator[Cell]:
    """The fresh IVPs with sizes that are powers of two, rows not padded, one thread."""
    for components in (16384, 65536, 1048576):
        for path in _problems("ivp", fresh=True):
            yield ivp_cell(str(path), components, space="pirk-unpadded", power=True)


SETS: dict[str, Callable[[], Iterator[Cell]]] = {
    "base": base,
    "stencils": stencils,
    "unpadded": unpadded,
    "builds": builds,
    "stages": stages,
    "unseen": unseen,
    "unseen_stencils": unseen_stencils,
    "fresh": fresh,
    "fresh_stencils": fresh_stencils,
    "fresh_builds": fresh_builds,
    "fresh_unpadded": fresh_unpadded,
}


def _problems(family: str, *, fresh: bool) -> list[Path]:
    paths = sorted((UNSEEN / family).glob("*.yaml"))
    return [path for path in paths if (path.stem in FRESH) == fresh]


def _small_in_time(ivps: list[Path]) -> Iterator[Cell]:
    for components in (16384, 131072, 1048576):
        for threads in THREADS:
            for path in ivps:
                yield ivp_cell(str(path), components, threads=threads, space="pirk-time-small")


def _by_size(paths: list[Path]) -> Iterator[Cell]:
    for threads in THREADS:
        for path in paths:
            for grid in grids(path.stem)[::2]:
                yield stencil_cell(str(path), grid, threads=threads)
