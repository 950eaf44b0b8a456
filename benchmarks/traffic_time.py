"""CPU seconds and memory of analysing the traffic of spaces of candidates, by size."""

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.setup import Setup
from autotune.files import config
from autotune.models.traffic import TrafficAnalyser
from autotune.workloads.generated.candidate_space import enumerate_candidates
from autotune.workloads.ivp.ivp_kind import IvpKind
from autotune.workloads.stencil.stencil_kind import StencilKind

_CONFIG = """\
schema: autotune.config/1
machine: {machine}
skeleton: {skeleton}
space: {space}
problems:
  - {problem}
builds:
  - {{compiler: gcc, flags: [-O3, -march=haswell]}}
threads: [1]
"""
_MANY = 1000
"""Threads of the case with many threads, analysed though no config names so many."""


@dataclass(frozen=True)
class TimeCase:
    """A space of candidates of one problem on some threads."""

    skeleton: str
    space: str
    problem: str
    threads: tuple[int, ...]
    machine: str

    @property
    def name(self) -> str:
        """The space, the problem and the threads."""
        return f"{self.space:15} {self.problem:50} T{'+'.join(map(str, self.threads)):5}"


def cases(size: int, machine: str) -> list[TimeCase]:
    """The cases with about so many components, or points of the longest side of a grid."""
    side = max(3, math.isqrt(size))
    edge = max(3, round(size ** (1 / 3)))
    ivps = [
        ("wave1d", size),
        ("inverterchain", size),
        ("heat2d", side),
        ("heat3d", edge),
        ("medakzo", size // 2),
    ]
    threads = (1, 2), (_MANY,)
    found = [
        TimeCase("pirk", space, _ivp(name, n), count, machine)
        for name, n in ivps
        for space in (("pirk",) if name == "medakzo" else ("pirk", "pirk-time-small"))
        for count in threads
    ]
    grids = [
        ("star2d-5pt", f"j: 200, i: {size}"),
        ("star2d-5pt", f"j: {size}, i: 200"),
        ("star3d-7pt", f"k: 20, j: {size}, i: 40"),
        ("star3d-r4", f"k: {size}, j: 100, i: 1000"),
    ]
    return found + [
        TimeCase("jacobi", space, f"{{stencil: {name}, grid: {{{grid}}}}}", count, machine)
        for name, grid in grids
        for space in ("stencil-blocks", "stencil-time")
        for count in threads
    ]


def _ivp(name: str, size: int) -> str:
    return f"{{ivp: {name}, method: radau-iia-7, correctors: 6, size: {size}}}"


def measure(sizes: list[int], machine: str, memory: int, only: str) -> None:
    """Print a line for each case; ``memory`` in MiB."""
    print(f"{'space':15} {'problem':50} {'threads':6} programs  read  space  traffic  peak MB")
    for row in zip(*(cases(size, machine) for size in sizes), strict=True):
        for case in row:
            if case.space.startswith(only):
                print(f"{case.name} {_child(case, memory)}", flush=True)


def _child(case: TimeCase, memory: int) -> str:
    limit = memory * 2**20
    done = subprocess.run(
        [sys.executable, __file__, json.dumps(asdict(case))],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return done.stdout.strip() or f"failed: {done.stderr.strip().splitlines()[-1]}"


def _run(case: TimeCase) -> str:
    times = [time.process_time()]
    setup, machine = _load(case), config.machine(case.machine)
    times.append(time.process_time())
    programs = SkeletonPrograms(setup.skeleton)
    kind = IvpKind() if case.skeleton == "pirk" else StencilKind()
    legal = enumerate_candidates(setup, kind, programs, machine.cores).legal
    times.append(time.process_time())
    analyser = TrafficAnalyser(machine)
    for candidate in legal:
        candidate.problem.least_work()
        for threads in case.threads:
            analyser.analyse(programs(candidate), candidate.problem, threads)
    times.append(time.process_time())
    read, space, traffic = (b - a for a, b in pairwise(times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{len(legal):8} {read:5.2f}  {space:5.2f}  {traffic:7.2f}  {peak:7.0f}"


def _load(case: TimeCase) -> Setup:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traffic.yaml"
        path.write_text(_CONFIG.format(**asdict(case)))
        return config.load(path)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(_run(TimeCase(**{**given, "threads": tuple(given["threads"])})))
