"""Time to solution of exported solvers beside SciPy and SUNDIALS, at equal error.

    python benchmarks/solver.py [--only wave1d] [--tolerances 1e-4,1e-6,1e-8] [--rounds 3]
                                [--budget-seconds 60] [--keep FOLDER]

Each problem is tuned (`autotune tune`, so many seconds) with a PIRK method and with an explicit
one, exported (`--format library`), built by its `build.sh` and solved with several tolerances, in
turn with its peers, round by round, on all cores:

    scipy-RK45, scipy-DOP853     solve_ivp; its right-hand side is the compiled one of the library
    arkode-dp5, arkode-verner    ERKStep of ARKODE: Dormand-Prince 5(4), Verner 6(5)
    cvode-adams                  CVODE, Adams with fixed-point iteration

SUNDIALS (6.x: libsundials-dev of Debian) gets the same right-hand side and vectors with as many
threads; it is left out where its headers are missing. The problems: two of limited access distance,
one whose right-hand side reads every component, and one with a method of many stages.

Printed are, for each solver and tolerance, the seconds (median of the rounds, with half of the
range), the largest error over the largest component against DOP853 at 1e-13, and the evaluations of
the right-hand side; then the time that each needs for the same error, interpolated between its
tolerances in logarithms, over the faster of ours. Then what step control costs: a solve over as
many steps of fixed size, from the same state; and a choice of code: create over create_with, in ns.
"""

import argparse
import importlib.util
import math
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # SciPy is slower where BLAS and OpenMP threads meet

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

CONFIG = """\
schema: autotune.config/1
title: {ivp} for benchmarks/solver.py
name: solver-{ivp}-{method}
machine: host
skeleton: {skeleton}
space: {space}
problems:
  - {{ivp: {ivp}, method: {method}, {correctors}size: {size}}}
threads: [all]
launcher: "{{command}}"
measuring: {{rounds: 4, samples: 3, min_sample: 20 ms}}
"""
PEERS = ("arkode-dp5", "arkode-verner", "cvode-adams")
SCIPY = ("RK45", "DOP853")
OURS = "ours"


@dataclass(frozen=True, slots=True)
class SolvedProblem:
    """A problem, and for how many stability times 1 / |lambda| it is solved."""

    kind: str
    ivp: str
    size: int
    methods: tuple[str, str]
    """A PIRK method, with as many corrector steps as its order less one, and an explicit one."""
    times: float


PROBLEMS = (
    SolvedProblem("limited", "wave1d", 60_000, ("radau-iia-7", "verner-6"), 60.0),
    SolvedProblem("limited", "brusselator2d-mix", 120, ("radau-iia-7", "verner-6"), 60.0),
    SolvedProblem("dense", "flock", 1_000, ("radau-iia-7", "dormand-prince-5"), 20.0),
    SolvedProblem("many stages", "string-row", 60_000, ("radau-iia-13", "verner-6"), 60.0),
)


@dataclass(slots=True)
class SolverRuns:
    """What one solver did with one tolerance."""

    seconds: list[float] = field(default_factory=list)
    error: float = math.nan
    evaluations: int = 0

    @property
    def median(self) -> float:
        """Of the seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half of the range over the median."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median


Results = dict[str, dict[float, SolverRuns]]
Solved = tuple[float, NDArray[np.float64], int]
"""Seconds, the state at the end, evaluations."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="problems whose name begins with this")
    parser.add_argument("--tolerances", default="1e-4,1e-6,1e-8")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-seconds", type=float, default=60.0, help="of tuning, a problem")
    parser.add_argument("--keep", type=Path, help="folder for stores and libraries")
    arguments = parser.parse_args()
    tolerances = [float(text) for text in arguments.tolerances.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        for problem in PROBLEMS:
            if problem.ivp.startswith(arguments.only):
                libraries = {
                    method: exported(problem, method, folder, arguments.budget_seconds)
                    for method in problem.methods
                }
                report(problem, libraries, folder, tolerances, arguments.rounds)


def exported(problem: SolvedProblem, method: str, place: Path, budget: float) -> ModuleType:
    """The Python module of the library of the tuned problem; what is there already is used."""
    folder = place / f"{problem.ivp}-{method}"
    name, library = problem.ivp.replace("-", "_"), folder / "library"
    if not (library / f"lib{name}.so").exists():
        folder.mkdir(parents=True, exist_ok=True)
        config, store = folder / "solver.yaml", folder / "results.sqlite"
        digits = [part for part in method.split("-") if part.isdigit()]
        iterated = method == problem.methods[0]
        config.write_text(
            CONFIG.format(
                ivp=problem.ivp,
                size=problem.size,
                method=method,
                skeleton="pirk" if iterated else "erk",
                space="pirk-time-small" if iterated else "erk-small",
                correctors=f"correctors: {int(digits[-1]) - 1}, " if iterated else "",
            )
        )
        print(f"{problem.ivp}, {method}: {budget:g} s of tuning", file=sys.stderr, flush=True)
        tune = ["tune", config, "--budget-seconds", f"{budget:g}", "--store", store]
        for command in (tune, ["export", "--format", "library", "-o", library, "--store", store]):
            subprocess.run(
                [sys.executable, "-m", "autotune", *map(str, command)],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        subprocess.run(["sh", library / "build.sh"], check=True)
    os.environ[f"{name.upper()}_LIBRARY"] = str(library / f"lib{name}.so")
    unique = f"{name}_{method.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(unique, library / f"python/{name}/__init__.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module


def report(
    problem: SolvedProblem,
    libraries: Mapping[str, ModuleType],
    place: Path,
    tolerances: Sequence[float],
    rounds: int,
) -> None:
    """Print the tables of one problem."""
    makers = {method: library.Solver(problem.size) for method, library in libraries.items()}
    solver = next(iter(makers.values()))
    t0, y0 = solver.initial()
    t1 = float(t0 + problem.times * steepness(solver, t0, y0))
    choice = solver.choice
    print(
        f"\n{problem.ivp} ({problem.kind}), {solver.components} components, {choice.team} threads"
    )
    for method, made in makers.items():
        print(f"  {method}: {made.choice.candidate.split('@')[0]}")
    truth = solve_ivp(solver.rhs, (t0, t1), y0, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    solvers = {f"{OURS} {method}": ours(made, t0, t1, y0) for method, made in makers.items()}
    solvers |= {f"scipy-{name}": scipy(solver, name, t0, t1, y0) for name in SCIPY}
    solvers |= sundials(problem, place, choice.team, t1)
    results = measured(solvers, tolerances, rounds, truth)
    table(results)
    at_equal_error(results)
    for method, made in makers.items():
        control(method, made, t0, t1, y0, rounds)
    choosing(next(iter(libraries.values())))


def steepness(solver: object, t: float, y: NDArray[np.float64]) -> float:
    """1 / |lambda| by some steps of the power method on differences of the right-hand side."""
    chance = np.random.default_rng(1).standard_normal(y.size)
    f0, scale, size = solver.rhs(t, y), 1e-6 * np.linalg.norm(y), 1.0  # type: ignore[attr-defined]
    for _ in range(30):
        chance *= scale / np.linalg.norm(chance)
        chance = solver.rhs(t, y + chance) - f0  # type: ignore[attr-defined]
        size = float(np.linalg.norm(chance)) / scale
    return 1.0 / size


def ours(
    solver: object, t0: float, t1: float, y0: NDArray[np.float64]
) -> Callable[[float], Solved]:
    def run(tolerance: float) -> Solved:
        begun = time.perf_counter()
        y, work = solver.solve(t0, t1, y0, rtol=tolerance, atol=tolerance)  # type: ignore[attr-defined]
        return time.perf_counter() - begun, y, work.evaluations

    return run


def scipy(
    solver: object, method: str, t0: float, t1: float, y0: NDArray[np.float64]
) -> Callable[[float], Solved]:
    def run(tolerance: float) -> Solved:
        begun = time.perf_counter()
        done = solve_ivp(
            solver.rhs,  # type: ignore[attr-defined]
            (t0, t1),
            y0,
            method=method,
            rtol=tolerance,
            atol=tolerance,
            t_eval=(t1,),
        )
        return time.perf_counter() - begun, done.y[:, -1], done.nfev

    return run


def sundials(
    problem: SolvedProblem, place: Path, threads: int, t1: float
) -> Mapping[str, Callable[[float], Solved]]:
    """The solvers of SUNDIALS; none where it is not installed."""
    folder, name = place / f"{problem.ivp}-{problem.methods[0]}", problem.ivp.replace("-", "_")
    library, program, state = folder / "library", folder / "sundials", folder / "state"
    source = Path(__file__).with_name("solver_sundials.c")
    line = (
        f'gcc -O2 -fopenmp -DNAME={name} -DHEADER=\\"{name}.h\\" -I{library}/include {source}'
        f" -o {program} -L{library} -l{name} -Wl,-rpath,{library.resolve()}"
        " -lsundials_arkode -lsundials_cvode -lsundials_nvecopenmp"
        " -lsundials_sunnonlinsolfixedpoint -lm"
    )
    if (
        shutil.which("gcc") is None
        or subprocess.run(shlex.split(line), capture_output=True).returncode
    ):
        print("SUNDIALS is not here (Debian: libsundials-dev)")
        return {}

    def with_method(method: str) -> Callable[[float], Solved]:
        def run(tolerance: float) -> Solved:
            numbers = (problem.size, threads, tolerance, tolerance, repr(t1))
            done = subprocess.run(
                [program, method, *map(str, numbers), state],
                check=True,
                capture_output=True,
                text=True,
            )
            seconds, evaluations = done.stdout.split()
            return float(seconds), np.fromfile(state), int(evaluations)

        return run

    return {method: with_method(method) for method in PEERS}


def measured(
    solvers: Mapping[str, Callable[[float], Solved]],
    tolerances: Sequence[float],
    rounds: int,
    truth: NDArray[np.float64],
) -> Results:
    """Every solver with every tolerance, in turn in each round."""
    results: Results = {name: {t: SolverRuns() for t in tolerances} for name in solvers}
    largest = float(np.abs(truth).max())
    for _ in range(rounds):
        for tolerance in tolerances:
            for name, run in solvers.items():
                seconds, y, evaluations = run(tolerance)
                runs = results[name][tolerance]
                runs.seconds.append(seconds)
                runs.error = float(np.abs(y - truth).max()) / largest
                runs.evaluations = evaluations
    return results


def table(results: Results) -> None:
    print(
        f"{'solver':22} {'tolerance':>9} {'seconds':>10} {'':>6} {'error':>9} {'evaluations':>11}"
    )
    for name, by_tolerance in results.items():
        for tolerance, runs in by_tolerance.items():
            print(
                f"{name:22} {tolerance:9.0e} {runs.median:10.4f} {runs.spread:6.1%}"
                f" {runs.error:9.1e} {runs.evaluations:11d}"
            )


def at_equal_error(results: Results) -> None:
    """Print the time of every peer over that of the faster of ours, at errors of ours that both
    reach.
    """
    mine = [by_tolerance for name, by_tolerance in results.items() if name.startswith(OURS)]
    errors = sorted({runs.error for ours in mine for runs in ours.values() if runs.error > 0})
    for name, by_tolerance in results.items():
        if name.startswith(OURS):
            continue
        ratios = []
        for error in errors:
            seconds = needed(by_tolerance, error)
            our_seconds = [s for s in (needed(ours, error) for ours in mine) if s]
            if seconds and our_seconds:
                ratios.append(f"{seconds / min(our_seconds):.2f} at {error:.0e}")
        print(f"time of {name} over ours at equal error: {', '.join(ratios) or 'no common error'}")


def needed(by_tolerance: Mapping[float, SolverRuns], error: float) -> float | None:
    """Seconds for an error, between tolerances; None outside what was measured."""
    points = sorted(
        (math.log(r.error), math.log(r.median)) for r in by_tolerance.values() if r.error
    )
    wanted = math.log(error)
    if not points or not points[0][0] <= wanted <= points[-1][0]:
        return None
    return math.exp(float(np.interp(wanted, *zip(*points, strict=True))))


def control(
    method: str, solver: object, t0: float, t1: float, y0: NDArray[np.float64], rounds: int
) -> None:
    """Print what control costs: accepted steps with control over as many without."""
    shares = []
    for _ in range(2 * rounds + 1):
        begun = time.perf_counter()
        _, work = solver.solve(t0, t1, y0, rtol=1e-6, atol=1e-6)  # type: ignore[attr-defined]
        controlled = (time.perf_counter() - begun) / (work.accepted + work.rejected)
        steps, h = work.accepted, (t1 - t0) / work.accepted
        begun = time.perf_counter()
        solver.step(t0, h, y0, steps)  # type: ignore[attr-defined]
        shares.append(controlled / ((time.perf_counter() - begun) / steps) - 1)
    spread = (max(shares) - min(shares)) / 2
    print(
        f"{method}: step control costs {statistics.median(shares):.1%} of a step"
        f" (half of the range {spread:.1%})"
    )


def choosing(library: ModuleType, times: int = 200) -> None:
    """Print the nanoseconds of a choice: to create a small solver with and without it."""
    smallest = next(size for size in range(2, 100) if library.components(size) > 0)
    seconds: dict[str, list[float]] = {"chosen": [], "given": []}
    for _ in range(times):
        for kind, choice in (("chosen", None), ("given", 0)):
            begun = time.perf_counter_ns()
            library.Solver(smallest, 1, choice=choice).close()
            seconds[kind].append(time.perf_counter_ns() - begun)
    quarter = {kind: np.quantile(values, 0.25) for kind, values in seconds.items()}
    noise = np.subtract(*np.quantile(seconds["given"], [0.75, 0.25])) / math.sqrt(times)
    print(
        f"choosing takes {quarter['chosen'] - quarter['given']:.0f} ns (noise {noise:.0f} ns)"
        f" of the {quarter['chosen'] / 1000:.1f} us that creating the smallest solver takes"
    )


if __name__ == "__main__":
    main()
