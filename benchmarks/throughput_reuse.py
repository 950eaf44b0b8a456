"""How fast engine ``reuse`` is: a whole space as one array operation, and a space never seen.

warm      candidates per second with intervals on one core, programs, traffic and loops analysed;
          of a space of variants x sizes x threads x builds; goal 100,000 per second of CPU time
repriced  the same on a machine with other figures, so that every line is priced anew
cold      wall time and peak memory of 200 candidates with nothing in any cache; goal 60 s
"""

import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from autotune.codegen.c.emit import sweep_code
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.workloads.generated.candidate_space import enumerate_candidates
from autotune.workloads.ivp.ivp_kind import IvpKind

GOAL = 100_000
COLD = 200
_CONFIG = """\
schema: autotune.config/1
machine: {machine}
skeleton: pirk
space: pirk
problems:
{problems}
builds:
{builds}
threads: [{threads}]
"""
_SIZES = {
    "heat2d": (64, 100, 128, 200, 256, 400, 512, 800, 1024, 1600, 2048),
    "inverterchain": tuple(1 << k for k in range(10, 22)),
    "wave1d": tuple(3 << k for k in range(10, 21)),
}
_FLAGS = ("-O2, -march=haswell", "-O3, -march=haswell")


def measure(repeats: int, name: str, *, cold: bool) -> None:
    """Print the figures of one machine."""
    machine = config.machine(name)
    with tempfile.TemporaryDirectory() as folder:
        if cold:
            measure_cold(machine, Path(folder))
        warm(machine, repeats, Path(folder))


def measure_cold(machine: Machine, folder: Path) -> None:
    """Analyse and predict a space with empty caches."""
    os.environ["AUTOTUNE_CACHE"] = str(folder / "cache")
    found = load(machine, folder, {"heat2d": (256, 1024)}, "1, 2")
    begin = time.perf_counter()
    programs = SkeletonPrograms(found.skeleton)
    candidates = legal(found, machine, programs)[:COLD]
    with OsacaAnalyser(machine) as analyser:
        engine = ReuseEngine(machine, programs, analyser, sweep_code)
        told = engine.predict(candidates)
    seconds = time.perf_counter() - begin
    peak = [
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    known = sum(each.seconds is not None for each in told)
    print(
        f"cold: {len(candidates)} candidates ({known} predicted) in {seconds:.1f} s on"
        f" {os.cpu_count()} cores (goal 60 s); peak memory {peak[0]:.0f} MB,"
        f" of a child {peak[1]:.0f} MB"
    )


def warm(machine: Machine, repeats: int, folder: Path) -> None:
    """Predict whole spaces again and again."""
    for ivp, sizes in _SIZES.items():
        found = load(machine, folder, {ivp: sizes}, f"1, 2, {machine.cores}")
        programs = SkeletonPrograms(found.skeleton)
        candidates = legal(found, machine, programs)
        with OsacaAnalyser(machine) as analyser:
            engine = ReuseEngine(machine, programs, analyser, sweep_code)
            arrays = engine.predict_arrays(candidates)
            distinct = len(set(zip(arrays.seconds.tolist(), arrays.high.tolist(), strict=True)))
            print(
                f"{ivp}: {len(candidates)} candidates of {len(sizes)} sizes, {distinct} distinct"
                f" predictions, {len(arrays.reasons)} without one"
            )
            speed("warm", repeats, partial(_same, engine), candidates)
            speed("repriced", repeats, partial(engine.on, machine), candidates)


def _same(engine: ReuseEngine) -> ReuseEngine:
    return engine


def speed(
    what: str, repeats: int, engine: Callable[[], ReuseEngine], candidates: Sequence[Candidate]
) -> None:
    """Print candidates per second of CPU time and of wall time, median and range of the repeats."""
    rates: list[tuple[float, float]] = []
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        engine().predict_arrays(candidates)
        seconds = time.process_time() - used, time.perf_counter() - begin
        rates.append((len(candidates) / seconds[0] / 1e3, len(candidates) / seconds[1] / 1e3))
    processor, wall = (
        f"{statistics.median(of):.1f} ({min(of):.1f} .. {max(of):.1f})"
        for of in zip(*rates, strict=True)
    )
    print(
        f"  {what:8} {processor} k candidates per CPU second, goal {GOAL / 1e3:.0f};"
        f" {wall} k per second"
    )


def load(machine: Machine, folder: Path, sizes: dict[str, tuple[int, ...]], threads: str) -> Setup:
    """A config with these sizes and every compiler that there is."""
    problems = "\n".join(
        f"  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {size}}}"
        for ivp, each in sizes.items()
        for size in each
    )
    names = [name for name in ("gcc", "clang") if shutil.which(name)]
    builds = "\n".join(
        f"  - {{compiler: {name}, flags: [{flags}]}}" for name in names for flags in _FLAGS
    )
    path = folder / "throughput.yaml"
    path.write_text(
        _CONFIG.format(machine=machine.name, problems=problems, builds=builds, threads=threads)
    )
    return config.load(path)


def legal(found: Setup, machine: Machine, programs: SkeletonPrograms) -> list[Candidate]:
    """The legal candidates."""
    return enumerate_candidates(found, IvpKind(), programs, machine.cores).legal
