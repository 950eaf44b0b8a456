"""The peers of ``solver.py``, each set as its users would set it for these problems.

    scipy-RK45, scipy-DOP853     solve_ivp; NumPy does what is not the right-hand side
    arkode-dp5, arkode-verner6,  ERKStep of ARKODE: Dormand-Prince 5(4), Verner 6(5), Fehlberg 8(7);
    arkode-fehlberg8               the second is the tableau of our explicit method verner-6
    cvode-adams                  CVODE, Adams of orders 1 to 12 with fixed-point iteration
    diffrax-dopri5, -dopri8      diffeqsolve on XLA's CPU, compiled before it is timed

SciPy and SUNDIALS (6.x) call the compiled right-hand side of the library, with its threads or on
one thread; SUNDIALS has its serial vectors or those of OpenMP, with fused operations. A peer runs
in the way that is the fastest for it, by two runs of each with a middle tolerance. No method for
stiff problems is among them: the times are so short that every method here takes steps for
accuracy.

diffrax has a right-hand side of jax.numpy made from the same YAML, for problems whose regions are
ranges of components: others would be slow there by how their blocks are put together.
"""

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from autotune.domain.problem import Ivp
from autotune.files import config
from autotune.language.expression import show

SCIPY = ("RK45", "DOP853")
SUNDIALS = ("arkode-dp5", "arkode-verner6", "arkode-fehlberg8", "cvode-adams")
DIFFRAX = ("dopri5", "dopri8")
UNOPTIMISED = 3.0
"""Time of a vector operation over that of a plain loop beyond which a build is not optimised."""
_COMPARED = 10_000
_LIBRARIES = ("arkode", "cvode", "nvecopenmp", "nvecserial", "sunnonlinsolfixedpoint")


@dataclass(frozen=True, slots=True)
class Solved:
    """A solved problem."""

    seconds: float
    y: NDArray[np.float64]
    """The state at the end."""
    evaluations: int
    inside: float | None = None
    """Seconds in the right-hand side; None where it is not a function of its own."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is solved, on how many threads."""

    ivp: str
    size: int
    t0: float
    t1: float
    y0: NDArray[np.float64]
    threads: int

    @property
    def scale(self) -> float:
        """The largest first component: the absolute tolerance is the relative one times it."""
        return float(np.abs(self.y0).max())

    def now(self) -> float:
        """Seconds on the clock that times solvers: with one thread its CPU time, which other
        processes hardly change.
        """
        return time.perf_counter() if self.threads > 1 else time.thread_time()


Run = Callable[[float], Solved]
"""Solves with a relative tolerance; the absolute one is that times the scale of the task."""
Rhs = Callable[[float, NDArray[np.float64]], NDArray[np.float64]]


def fastest(ways: Mapping[str, Run], tolerance: float) -> tuple[str, Run]:
    """The way whose faster one of two runs is the fastest, by name."""
    least = {
        way: min(run(tolerance).seconds for _ in range(2)) if len(ways) > 1 else 0.0
        for way, run in ways.items()
    }
    chosen = min(least, key=lambda way: least[way])
    return chosen, ways[chosen]


# --- SciPy ------------------------------------------------------------------------------------


def scipy(task: Task, sides: Mapping[str, Rhs]) -> dict[str, dict[str, Run]]:
    """The methods of SciPy; ``sides``: the right-hand side in the ways in which it may run."""
    return {
        f"scipy-{method}": {way: _scipy(task, method, rhs) for way, rhs in sides.items()}
        for method in SCIPY
    }


def _scipy(task: Task, method: str, rhs: Rhs) -> Run:
    inside = 0.0

    def timed(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal inside
        begun = task.now()
        dy = rhs(t, y)
        inside += task.now() - begun
        return dy

    def run(tolerance: float) -> Solved:
        nonlocal inside
        inside, begun, end = 0.0, task.now(), (task.t1,)
        absolute = tolerance * task.scale
        done = solve_ivp(
            timed, (task.t0, task.t1), task.y0, method, end, rtol=tolerance, atol=absolute
        )
        return Solved(task.now() - begun, done.y[:, -1], done.nfev, inside)

    return run


# --- SUNDIALS ---------------------------------------------------------------------------------


def sundials(task: Task, library: Path, prefix: Path | None) -> dict[str, dict[str, Run]]:
    """The solvers of SUNDIALS, linked with an exported library; none where it is not installed."""
    program = library.parent / "sundials"
    if shutil.which("gcc") is None or not _linked(task, library, prefix, program):
        print("SUNDIALS is not here (Debian: libsundials-dev)")
        return {}
    ratio = float(_output([str(program), "vectors", str(_COMPARED)]))
    if ratio > UNOPTIMISED:
        print(
            f"this SUNDIALS was compiled without optimisation: its N_VLinearSum takes {ratio:.1f}"
            " times as long as a plain loop; --sundials names an optimised build"
        )
    ways = {"serial vectors, one thread": ("serial", 1)}
    if task.threads > 1:
        ways["serial vectors"] = ("serial", task.threads)
        ways["OpenMP vectors"] = ("openmp", task.threads)
    return {
        method: {way: _sundials(task, program, method, *given) for way, given in ways.items()}
        for method in SUNDIALS
    }


def _linked(task: Task, library: Path, prefix: Path | None, program: Path) -> bool:
    name, source = task.ivp.replace("-", "_"), Path(__file__).with_name("solver_sundials.c")
    place = "" if prefix is None else f"-I{prefix}/include -L{prefix}/lib -Wl,-rpath,{prefix}/lib"
    line = (
        f'gcc -O2 -fopenmp -DNAME={name} -DHEADER=\\"{name}.h\\" {place} -I{library}/include'
        f" {source} -o {program} -L{library} -l{name} -Wl,-rpath,{library.resolve()} "
        + " ".join(f"-lsundials_{part}" for part in _LIBRARIES)
        + " -lm"
    )
    return subprocess.run(shlex.split(line), capture_output=True).returncode == 0


def _sundials(task: Task, program: Path, method: str, vector: str, threads: int) -> Run:
    def run(tolerance: float) -> Solved:
        state = program.with_suffix(".state")
        clock = "wall" if task.threads > 1 else "cpu"
        numbers = (task.size, threads, tolerance, tolerance * task.scale, repr(task.t1))
        line = _output([str(program), method, vector, clock, *map(str, numbers), str(state)])
        seconds, inside, evaluations = line.split()
        return Solved(float(seconds), np.fromfile(state), int(evaluations), float(inside))

    return run


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# --- diffrax ----------------------------------------------------------------------------------


def diffrax(task: Task, python: Path | None, place: Path) -> dict[str, dict[str, Run]]:
    """The solvers of diffrax in an environment of its own; none without one, or for problems with
    regions that are no ranges.
    """
    ivp = config.ivp(task.ivp)
    if python is None:
        return {}
    if any(region.columns or region.rows for region in ivp.regions) or ivp.indices:
        print(f"diffrax is left out: {task.ivp} has regions that are no ranges")
        return {}
    np.save(place / "y0.npy", task.y0)
    job = {**_described(ivp, task.size), "t0": task.t0, "t1": task.t1, "scale": task.scale}
    job["folder"] = str(place)
    (place / "diffrax.json").write_text(json.dumps(job), encoding="utf-8")
    return {f"diffrax-{method}": {"": _diffrax(task, python, place, method)} for method in DIFFRAX}


def _described(ivp: Ivp, size: int) -> dict[str, object]:
    return {
        "values": dict(ivp.values(size)),
        "locals": {name: show(value) for name, value in ivp.locals.items()},
        "sums": {
            name: [total.index, show(total.lower), show(total.upper), show(total.body)]
            for name, total in ivp.sums.items()
        },
        "regions": [[*ivp.bounds(region, size)[:2], show(region.body)] for region in ivp.regions],
    }


def _diffrax(task: Task, python: Path, place: Path, method: str) -> Run:
    script = Path(__file__).with_name("solver_diffrax.py")
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[: task.threads]))
    command = ["taskset", "-c", cores, str(python), str(script), str(place / "diffrax.json")]
    child = subprocess.Popen(
        [*command, method], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # ends with its input, so with this process

    def run(tolerance: float) -> Solved:
        assert child.stdin
        assert child.stdout
        print(repr(tolerance), file=child.stdin, flush=True)
        done = json.loads(child.stdout.readline())
        return Solved(done["seconds"], np.load(place / "state.npy"), done["evaluations"])

    return run
