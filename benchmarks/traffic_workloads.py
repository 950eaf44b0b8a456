"""Workloads of the line counts: problems of drawn sizes, and the candidates of a space."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import AnyProblem
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.workloads.generated.candidate_space import enumerate_candidates
from autotune.workloads.ivp.ivp_kind import IvpKind
from autotune.workloads.stencil.stencil_kind import StencilKind

_CONFIG = """\
schema: autotune.config/1
machine: {machine}
skeleton: {skeleton}
space: {space}
problems:
{problems}
builds:
  - {{compiler: gcc, flags: [-O1]}}
threads: [1]
"""


@dataclass(frozen=True)
class Workload:
    """Problems of one kind, and candidates of a space, of which some are drawn."""

    name: str
    skeleton: str
    space: str
    problems: tuple[str, ...]
    chosen: tuple[tuple[str, tuple[object, ...]], ...] = ()
    """Parameters with the values that they may have."""
    excluded: tuple[tuple[str, tuple[object, ...]], ...] = ()


def _between(draw: random.Random, low: float, high: float) -> int:
    """A whole number, drawn evenly in its logarithm."""
    return round(low * (high / low) ** draw.random())


def _ivps(names: str, draw: random.Random) -> tuple[str, ...]:
    """Each IVP at a drawn size of every stretch."""
    return tuple(
        f"{{ivp: {name}, method: radau-iia-7, correctors: 6, size: {size}}}"
        for name in names.split()
        for low, high in _COMPONENTS
        for components in [_between(draw, low, high)]
        for size in [round(components**0.5) if name in _FLAT else components]
    )


def _grids(names: Sequence[str], sides: Sequence[str], draw: random.Random) -> tuple[str, ...]:
    """Each stencil on grids of about the given sides, each drawn to within a fifth."""
    return tuple(
        f"{{stencil: {name}, grid: {{{_near(grid, draw)}}}}}" for name in names for grid in sides
    )


def _near(grid: str, draw: random.Random) -> str:
    sides = (side.split(": ") for side in grid.split(", "))
    return ", ".join(f"{name}: {_between(draw, 0.8 * int(n), 1.2 * int(n))}" for name, n in sides)


_FLAT = {"heat2d", "brusselator2d"}
_COMPONENTS = ((600, 1500), (2000, 5000), (6000, 13000), (18000, 30000))
_PLANES = ("j: 60, i: 60", "j: 250, i: 200", "j: 40, i: 2500")
_CUBES = ("k: 16, j: 16, i: 16", "k: 32, j: 36, i: 40", "k: 12, j: 90, i: 100")


def workloads(seed: int) -> tuple[Workload, ...]:
    """The families of variants, each with problems of sizes that ``seed`` draws."""
    draw = random.Random(seed)
    ivps = "heat2d wave1d medakzo inverterchain"
    in_time = "heat2d wave1d inverterchain"

    def grids() -> tuple[str, ...]:
        planar = _grids(("star2d-5pt", "box2d-9pt"), _PLANES, draw)
        return planar + _grids(("star3d-7pt", "box3d-27pt", "star3d-r4"), _CUBES, draw)

    return (
        Workload(
            "IVP, loop orders",
            "pirk",
            "pirk",
            _ivps(ivps, draw),
            (("tile", ("none",)), ("pad", (5,))),
        ),
        Workload(
            "IVP, tiles",
            "pirk",
            "pirk",
            _ivps(ivps, draw),
            (("tile", (256, 1024)), ("pad", (5,))),
        ),
        Workload(
            "IVP, in time",
            "pirk",
            "pirk-time-small",
            _ivps(in_time, draw),
            (("block", (128, 256, 512, 1024, 2048)),),
            (("stream", (True,)), ("flags", (True,))),
        ),
        Workload("stencil", "jacobi", "stencil-blocks", grids()),
        Workload(
            "stencil, in time",
            "jacobi",
            "stencil-time",
            grids(),
            (("t", (2, 3, 4)), ("nt", (False,))),
        ),
    )


def load(workload: Workload, machine: str, folder: Path) -> Setup:
    path = folder / "traffic.yaml"
    problems = "\n".join(f"  - {problem}" for problem in workload.problems)
    skeleton, space = workload.skeleton, workload.space
    path.write_text(
        _CONFIG.format(machine=machine, skeleton=skeleton, space=space, problems=problems)
    )
    return config.load(path)


def alike(problems: Sequence[AnyProblem]) -> list[list[AnyProblem]]:
    """The problems that differ only in size."""
    groups: dict[object, list[AnyProblem]] = {}
    for problem in problems:
        groups.setdefault(problem.method_key, []).append(problem)
    return list(groups.values())


def variants(
    workload: Workload, setup: Setup, problem: AnyProblem, programs: SkeletonPrograms
) -> list[Candidate]:
    """The candidates of a problem that belong to the workload; they are the same at other sizes."""
    kind = IvpKind() if workload.skeleton == "pirk" else StencilKind()
    one = replace(setup, problems=(problem,))
    legal = enumerate_candidates(one, kind, programs, 1).legal
    return [candidate for candidate in legal if _belongs(workload, candidate)]


def _belongs(workload: Workload, candidate: Candidate) -> bool:
    values = candidate.variant.parameters

    def has(part: tuple[str, tuple[object, ...]]) -> bool:
        name, allowed = part
        return any(values.get(name) == value for value in allowed)

    return all(map(has, workload.chosen)) and not any(map(has, workload.excluded))
