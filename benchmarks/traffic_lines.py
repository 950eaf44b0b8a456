"""Lines that come into each cache per time step: counted by engine ``reuse``, and simulated.

The simulation runs the generated program itself, compiled so that every load and store of its
sweeps calls a set-associative LRU cache hierarchy (``traffic_caches.c``), after warm-up steps that
bring it to its steady state. What the engine counts has sharp borders here: a line comes in where
more bytes have been touched since its last touch than the cache holds; set conflicts are added as
the engine does.
"""

import random
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autotune.codegen.c import harness
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import CacheLevel, Machine
from autotune.domain.problem import AnyProblem, GeneratedProblem, Problem, generated
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.models.traffic import StepTraffic, TrafficAnalyser
from autotune.workloads.generated.candidate_space import enumerate_candidates
from autotune.workloads.ivp.ivp_kind import IvpKind
from autotune.workloads.stencil.stencil_kind import StencilKind

GOAL = 0.01
_FEW = 0.01
"""Lines below this share of what enters L1 count as much: a cache that holds all has next to none,
and their ratio would say nothing."""
_NEAR = 0.25
"""A case is near a border where so much more or less cache changes the count by more than the
goal."""
_WARM, _STEPS = 2, 2
_MEMORY, _SECONDS = 2**31, 300
_HERE = Path(__file__).parent
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


@dataclass(frozen=True)
class Deviation:
    """One cache of one candidate: lines per time step."""

    workload: str
    label: str
    level: str
    expected: float
    simulated: float
    scale: float
    """Lines that a deviation is a share of."""
    near: bool
    """True: a distance lies near the size of this cache."""

    @property
    def share(self) -> float:
        """(expected - simulated) / simulated."""
        return (self.expected - self.simulated) / self.scale


def _ivps(names: str, sizes: Sequence[int], grids: Sequence[int]) -> tuple[str, ...]:
    flat = {"heat2d", "brusselator2d"}
    return tuple(
        f"{{ivp: {name}, method: radau-iia-7, correctors: 6, size: {size}}}"
        for name in names.split()
        for size in (grids if name in flat else sizes)
    )


def _grids(planar: Sequence[str], solid: Sequence[str]) -> tuple[str, ...]:
    flat = ("star2d-5pt", "box2d-9pt")
    cubes = ("star3d-7pt", "box3d-27pt", "star3d-r4")
    return tuple(
        f"{{stencil: {name}, grid: {{{grid}}}}}"
        for names, grids in ((flat, planar), (cubes, solid))
        for name in names
        for grid in grids
    )


_SIZES, _SIDES = (900, 3000, 9000, 27000), (30, 60, 100, 170)
_PLANES = ("j: 60, i: 60", "j: 250, i: 200", "j: 40, i: 2500")
_CUBES = ("k: 16, j: 16, i: 16", "k: 32, j: 36, i: 40", "k: 12, j: 90, i: 100")
WORKLOADS = (
    Workload(
        "IVP, loop orders",
        "pirk",
        "pirk",
        _ivps("heat2d wave1d medakzo inverterchain", _SIZES, _SIDES),
        (("tile", ("none",)), ("pad", (5,))),
    ),
    Workload(
        "IVP, tiles",
        "pirk",
        "pirk",
        _ivps("heat2d wave1d medakzo inverterchain", _SIZES, _SIDES),
        (("tile", (256, 1024)), ("pad", (5,))),
    ),
    Workload(
        "IVP, in time",
        "pirk",
        "pirk-time-small",
        _ivps("heat2d wave1d inverterchain", _SIZES, _SIDES),
        (("block", (128, 256, 512, 1024, 2048)),),
        (("stream", (True,)), ("flags", (True,))),
    ),
    Workload("stencil", "jacobi", "stencil-blocks", _grids(_PLANES, _CUBES)),
    Workload(
        "stencil, in time",
        "jacobi",
        "stencil-time",
        _grids(_PLANES, _CUBES),
        (("t", (2, 3, 4)), ("nt", (False,))),
    ),
)


def measure(machine: Machine, scale: int, count: int, seed: int, only: str) -> None:
    """Print the deviations of ``count`` programs of each problem; caches divided by ``scale``."""
    small = scaled(machine, scale)
    sizes = ", ".join(f"{c.name} {c.size // 1024} KiB in {c.ways} ways" for c in small.caches)
    print(f"{machine.name}, caches divided by {scale}: {sizes}", flush=True)
    every: list[Deviation] = []
    for workload in WORKLOADS:
        if workload.name.startswith(only):
            mine = list(_deviations(workload, small, machine.name, count, seed))
            every += mine
            _table(workload.name, mine)
    _worst(every)


def scaled(machine: Machine, by: int) -> Machine:
    """The machine with fewer sets in each cache.

    A cache that cores share has four times fewer again, so that small problems reach memory.
    """
    caches = tuple(
        CacheLevel(
            name=c.name,
            size=c.size // (by if c.cores == 1 else 4 * by),
            line=c.line,
            ways=c.ways,
            cores=c.cores,
            victim=c.victim,
        )
        for c in machine.caches
    )
    return replace(machine, caches=caches)


def _deviations(
    workload: Workload, machine: Machine, name: str, count: int, seed: int
) -> Iterator[Deviation]:
    """Each cache of some candidates of every problem."""
    analyser, draw = TrafficAnalyser(machine), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        setup = _load(workload, name, Path(folder))
        programs = SkeletonPrograms(setup.skeleton)
        built = _Programs(Path(folder), programs)
        for problems in _alike(setup.problems):
            variants = _variants(workload, setup, problems[0], programs)
            for problem in problems:
                for candidate in draw.sample(variants, min(count, len(variants))):
                    here = replace(candidate, problem=problem)
                    program = programs(here)
                    traffic = analyser.analyse(program, problem, 1)
                    found = built.lines(here, machine)
                    pad = program.pad_lines
                    yield from _compared(workload.name, here, traffic, pad, machine, found)


def _load(workload: Workload, machine: str, folder: Path) -> Setup:
    path = folder / "traffic.yaml"
    problems = "\n".join(f"  - {problem}" for problem in workload.problems)
    skeleton, space = workload.skeleton, workload.space
    path.write_text(
        _CONFIG.format(machine=machine, skeleton=skeleton, space=space, problems=problems)
    )
    return config.load(path)


def _alike(problems: Sequence[AnyProblem]) -> list[list[AnyProblem]]:
    """The problems that differ only in size."""
    groups: dict[object, list[AnyProblem]] = {}
    for problem in problems:
        groups.setdefault(problem.method_key, []).append(problem)
    return list(groups.values())


def _variants(
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


def _compared(
    workload: str,
    candidate: Candidate,
    traffic: StepTraffic,
    pad_lines: int,
    machine: Machine,
    simulated: Sequence[float],
) -> Iterator[Deviation]:
    label = f"{candidate.problem.label} {candidate.variant.label}"
    for level, found in zip(machine.caches, simulated, strict=True):
        conflicts = _conflicts(traffic, pad_lines, machine, level.name)
        here, less, more = (
            _lines(traffic, level.size * factor) + conflicts
            for factor in (1.0, 1 - _NEAR, 1 + _NEAR)
        )
        scale = max(found, _FEW * simulated[0])
        near = max(less - here, here - more) > GOAL * scale
        yield Deviation(workload, label, level.name, here, found, scale, near)


def _lines(traffic: StepTraffic, size: float) -> float:
    """Lines per time step whose reuse distance is above ``size``."""
    (thread,) = traffic.threads
    runs = traffic.executions.sum(axis=0)
    per_pass = np.array([item.iterations * runs[item.call] for item in thread.passes])
    share = (thread.history.distance > size).mean(axis=1) * ~thread.history.streamed
    return float((thread.lines * share * per_pass[thread.owner]).sum())


def _conflicts(traffic: StepTraffic, pad_lines: int, machine: Machine, level: str) -> float:
    """Lines per time step that set conflicts load again, in loops that are not vectorised."""
    (thread,) = traffic.threads
    runs = traffic.executions.sum(axis=0)
    total = 0.0
    for item in thread.passes:
        again = traffic.conflicts(item.call, pad_lines, machine, 1.0)
        lines = sum(conflict.lines for conflict in again if conflict.level == level)
        total += lines * item.iterations * runs[item.call]
    return total


@dataclass
class _Programs:
    """Programs compiled with the caches in place of memory, each once."""

    folder: Path
    programs: SkeletonPrograms

    def lines(self, candidate: Candidate, machine: Machine) -> list[float]:
        """The lines that come into each cache in a time step."""
        problem = generated(candidate.problem)
        caches = [
            str(value)
            for cache in machine.caches
            for value in (cache.sets, cache.ways, int(cache.victim), int(cache.cores > 1))
        ]
        done = subprocess.run(
            [self._built(candidate), *_arguments(problem), str(int(machine.line)), *caches],
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
        )
        return [float(line) for line in done.stdout.split()]

    def _built(self, candidate: Candidate) -> str:
        texts = harness.units(self.programs(candidate), candidate.problem)
        texts = {name: text for name, text in texts.items() if name != "main.c"}
        place = self.folder / f"{hash(tuple(sorted(texts.items()))):x}"
        if not place.exists():
            place.mkdir()
            for name, text in texts.items():
                (place / name).write_text(text)
            shutil.copy(_HERE / "traffic_caches.c", place)
            units = sorted(name for name in texts if name.endswith(".c"))
            flags = ["-O1", "-march=haswell", "-std=gnu11", "-w"]
            sweeps = [name for name in units if name.startswith("sweep_")]
            rest = [name for name in units if name not in sweeps]
            traced = ["gcc", *flags, "-fsanitize=thread", "-c", *sweeps]
            subprocess.run(traced, cwd=place, check=True)
            objects = [name.replace(".c", ".o") for name in sweeps]
            files = ["traffic_caches.c", *rest, *objects]
            whole = ["gcc", *flags, "-O2", *files, "-Wl,--wrap=mmap"]
            whole += ["-o", "program", "-lm"]
            subprocess.run(whole, cwd=place, check=True)
        return str(place / "program")


def _arguments(problem: GeneratedProblem) -> list[str]:
    step = repr(problem.h) if isinstance(problem, Problem) else "0"
    return [problem.size_text, str(problem.n), step, str(_WARM), str(_STEPS)]


def _table(workload: str, found: Sequence[Deviation]) -> None:
    """Median, 90th percentile and worst deviation by cache; apart, those far from its border."""
    for level in dict.fromkeys(item.level for item in found):
        mine = [item for item in found if item.level == level]
        far = [item for item in mine if not item.near]
        print(
            f"{workload:18} {level:3}  all {_summary(mine)}   away from borders {_summary(far)}",
            flush=True,
        )


def _summary(items: Sequence[Deviation]) -> str:
    if not items:
        return f"{0:4}"
    shares = np.abs([item.share for item in items])
    median, high, worst = np.quantile(shares, [0.5, 0.9, 1.0]) * 100
    kept = (shares <= GOAL).mean() * 100
    return f"{len(items):4}: {median:5.1f} {high:5.1f} {worst:6.1f} % ({kept:3.0f} % within 1 %)"


def _worst(found: Sequence[Deviation], count: int = 40) -> None:
    print("worst:")
    for item in sorted(found, key=lambda item: -abs(item.share))[:count]:
        mark = "near a border" if item.near else ""
        print(
            f"{item.share * 100:+7.1f} % {item.level} {item.workload}: {item.label}:"
            f" {item.expected:.0f} expected, {item.simulated:.0f} simulated {mark}"
        )
