"""Time to solution of exported solvers beside SciPy, SUNDIALS and diffrax, at equal error.

    python benchmarks/solver.py [--only wave1d] [--tolerances 1e-3,1e-5,1e-7,1e-9] [--rounds 3]
                                [--threads 2] [--budget-seconds 60] [--keep FOLDER]
                                [--sundials FOLDER] [--diffrax PYTHON]
                                [--table FILE.csv] [--picture FILE.svg]

Each problem is tuned (`autotune tune`, so many seconds) with a PIRK method and with explicit ones
of the orders 6 and 8, exported (`--format library`), built by its `build.sh` and solved with
several tolerances, in turn with its peers, round by round, on all cores or so many threads. With
one thread CPU time is taken, which other processes hardly disturb. `solver_peers.py` says which
peers there are and how they are set. The problems: two of limited access distance, one whose right-
hand side reads every component, and one with a method of many stages.

Debian's SUNDIALS (`libsundials-dev`) is compiled without optimisation, which makes its vectors some
ten times slower; the command says so where it is. To compare with what SUNDIALS can do, build it
(its source is that of Debian's `apt-get source sundials`) and name the folder by `--sundials`:

    cmake SOURCE -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O3 -march=native" \\
        -DENABLE_OPENMP=ON -DEXAMPLES_ENABLE_C=OFF -DCMAKE_INSTALL_PREFIX=FOLDER
    make install

`--diffrax`: the Python of an environment with `pip install diffrax`.

The tolerance is a relative one; the absolute one is that of the largest first component. Printed
are, for each solver and tolerance, the seconds (median of the rounds, with half of the
range), the largest error over the largest component against DOP853 at 1e-13, the evaluations of the
right-hand side, and the time of an evaluation: of all the work, and of the right-hand side in it,
so that what is between them are vector operations and overhead. Then the time that each needs for
the same error, interpolated between its tolerances in logarithms, over the fastest of ours, as a
product: so many times the evaluations, each so many times as long. Then what step control costs: a
solve over as many steps of fixed size, from the same state; what a right-hand side of the
caller costs, over the generated one; a choice of code: create over create_with, in ns; and a choice
on line, with its wisdom file: what it costs of 1,000 steps.
"""

import argparse
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # SciPy is slower where BLAS and OpenMP threads meet

import numpy as np
import solver_called
import solver_peers as peers
import solver_tables as tables
from numpy.typing import NDArray
from solver_peers import Run, Solved, Task
from solver_tables import OURS, Results, SolverRuns

CONFIG = """\
schema: autotune.config/1
title: {ivp} for benchmarks/solver.py
name: solver-{ivp}-{method}
machine: host
skeleton: {skeleton}
space: {space}
problems:
  - {{ivp: {ivp}, method: {method}, {correctors}size: {size}}}
threads: [{threads}]
launcher: "{{command}}"
measuring: {{rounds: 4, samples: 3, min_sample: 20 ms}}
"""


@dataclass(frozen=True, slots=True)
class SolvedProblem:
    """A problem, and for how many stability times 1 / |lambda| it is solved."""

    kind: str
    ivp: str
    size: int
    iterated: str
    """A PIRK method, with as many corrector steps as its order less one."""
    times: float

    @property
    def methods(self) -> tuple[str, ...]:
        """The PIRK method and the explicit ones."""
        return (self.iterated, *EXPLICIT)


EXPLICIT = ("verner-6", "dormand-prince-8")
PROBLEMS = (
    SolvedProblem("limited", "wave1d", 60_000, "radau-iia-7", 60.0),
    SolvedProblem("limited", "brusselator2d-mix", 120, "radau-iia-7", 60.0),
    SolvedProblem("dense", "flock", 1_000, "radau-iia-7", 20.0),
    SolvedProblem("many stages", "string-row", 60_000, "radau-iia-13", 60.0),
)


def main() -> None:
    given = _arguments()
    tolerances = [float(text) for text in given.tolerances.split(",")]
    problems: dict[str, Results] = {}
    with tempfile.TemporaryDirectory() as temporary:
        place = given.keep or Path(temporary)
        for problem in PROBLEMS:
            if problem.ivp.startswith(given.only):
                libraries = {
                    method: exported(problem, method, place, given.budget_seconds, given.threads)
                    for method in problem.methods
                }
                contest = Contest(problem, libraries, place / f"{problem.ivp}-{problem.iterated}")
                problems[problem.ivp] = report(contest, given, tolerances)
    if given.table:
        tables.write_csv(given.table, problems)
    if given.picture:
        tables.draw(given.picture, problems)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="problems whose name begins with this")
    parser.add_argument("--tolerances", default="1e-3,1e-5,1e-7,1e-9")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="all", help="of every solver")
    parser.add_argument("--budget-seconds", type=float, default=60.0, help="of tuning, a library")
    parser.add_argument("--keep", type=Path, help="folder for stores and libraries")
    parser.add_argument("--sundials", type=Path, help="folder where SUNDIALS is installed")
    parser.add_argument("--diffrax", type=Path, help="Python of an environment with diffrax")
    parser.add_argument("--table", type=Path, help="CSV file of all runs")
    parser.add_argument("--picture", type=Path, help="file for diagrams of error against seconds")
    return parser.parse_args()


def exported(
    problem: SolvedProblem, method: str, place: Path, budget: float, threads: str
) -> ModuleType:
    """The Python module of the library of the tuned problem; what is there already is used."""
    folder = place / f"{problem.ivp}-{method}"
    name, library = problem.ivp.replace("-", "_"), folder / "library"
    if not (library / f"lib{name}.so").exists():
        folder.mkdir(parents=True, exist_ok=True)
        config, store = folder / "solver.yaml", folder / "results.sqlite"
        digits = [part for part in method.split("-") if part.isdigit()]
        iterated = method == problem.iterated
        config.write_text(
            CONFIG.format(
                ivp=problem.ivp,
                size=problem.size,
                method=method,
                threads=threads,
                skeleton="pirk" if iterated else "erk",
                space="pirk-time-small" if iterated else "erk-small",
                correctors=f"correctors: {int(digits[-1]) - 1}, " if iterated else "",
            )
        )
        print(f"{problem.ivp}, {method}: {budget:g} s of tuning", file=sys.stderr, flush=True)
        tune = ["tune", config, "--budget-seconds", f"{budget:g}", "--store", store]
        for command in (tune, ["export", "--format", "library", "-o", library, "--store", store]):
            done = subprocess.run(
                [sys.executable, "-m", "autotune", *map(str, command)],
                capture_output=True,
                text=True,
            )
            if done.returncode:
                sys.exit(done.stderr)
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


@dataclass(frozen=True, slots=True)
class Contest:
    """A problem with its libraries by method, and the folder of the first one."""

    problem: SolvedProblem
    libraries: Mapping[str, ModuleType]
    folder: Path


def report(
    contest: Contest, given: argparse.Namespace, tolerances: Sequence[float]
) -> dict[str, dict[float, SolverRuns]]:
    """Print the tables of one problem."""
    problem, libraries = contest.problem, contest.libraries
    makers = {method: library.Solver(problem.size) for method, library in libraries.items()}
    solver = next(iter(makers.values()))
    t0, y0 = solver.initial()
    t1, threads = float(t0 + problem.times * steepness(solver, t0, y0)), solver.choice.team
    print(f"\n{problem.ivp} ({problem.kind}), {solver.components} components, {threads} threads")
    for method, made in makers.items():
        print(f"  {method}: {made.choice.candidate.split('@')[0]}")
    task = Task(problem.ivp, problem.size, t0, t1, y0, threads)
    truth = peers.scipy(task, {"": solver.rhs})["scipy-DOP853"][""](1e-13).y
    runs = {f"{OURS} {method}": ours(made, task) for method, made in makers.items()}
    middle = tolerances[len(tolerances) // 2]
    for name, ways in all_peers(contest, task, given).items():
        way, runs[name] = peers.fastest(ways, middle)
        print(f"  {name}: {way or 'as it is'}")
    results = measured(runs, tolerances, given.rounds, truth)
    tables.show(results)
    for method, made in makers.items():
        control(method, made, task, given.rounds)
        solver_called.report(method, libraries[method], made, task, given.rounds)
        racing(method, libraries[method], task)
    choosing(next(iter(libraries.values())))
    return results


def all_peers(contest: Contest, task: Task, given: argparse.Namespace) -> dict[str, dict[str, Run]]:
    """The peers that are installed, each in the ways in which it may run."""
    library = next(iter(contest.libraries.values()))
    sides = {"f on one thread": library.Solver(task.size, 1).rhs}
    if task.threads > 1:
        sides[f"f on {task.threads} threads"] = library.Solver(task.size, task.threads).rhs
    return {
        **peers.scipy(task, sides),
        **peers.sundials(task, contest.folder / "library", given.sundials),
        **peers.diffrax(task, given.diffrax, contest.folder),
    }


def steepness(solver: object, t: float, y: NDArray[np.float64]) -> float:
    """1 / |lambda| by some steps of the power method on differences of the right-hand side.

    It is the mean of two steps: with displacements and velocities one grows where the other falls.
    """
    chance = np.random.default_rng(1).standard_normal(y.size)
    f0, scale = solver.rhs(t, y), 1e-6 * np.linalg.norm(y)  # type: ignore[attr-defined]
    growth = [1.0, 1.0]
    for _ in range(30):
        chance *= scale / np.linalg.norm(chance)
        chance = solver.rhs(t, y + chance) - f0  # type: ignore[attr-defined]
        growth = [growth[-1], float(np.linalg.norm(chance)) / scale]
    return 1.0 / math.sqrt(growth[0] * growth[1])


def ours(solver: object, task: Task) -> Run:
    def run(tolerance: float) -> Solved:
        begun = task.now()
        y, work = solver.solve(  # type: ignore[attr-defined]
            task.t0, task.t1, task.y0, rtol=tolerance, atol=tolerance * task.scale
        )
        return Solved(task.now() - begun, y, work.evaluations)

    return run


def measured(
    solvers: Mapping[str, Run],
    tolerances: Sequence[float],
    rounds: int,
    truth: NDArray[np.float64],
) -> dict[str, dict[float, SolverRuns]]:
    """Every solver with every tolerance, in turn in each round."""
    results = {name: {t: SolverRuns() for t in tolerances} for name in solvers}
    largest = float(np.abs(truth).max())
    for _ in range(rounds):
        for tolerance in tolerances:
            for name, run in solvers.items():
                done, runs = run(tolerance), results[name][tolerance]
                runs.seconds.append(done.seconds)
                if done.inside is not None:
                    runs.inside.append(done.inside)
                runs.error = float(np.abs(done.y - truth).max()) / largest
                runs.evaluations = done.evaluations
    return results


def control(method: str, solver: object, task: Task, rounds: int) -> None:
    """Print what control costs: accepted steps with control over as many without."""
    shares, (t0, t1, y0) = [], (task.t0, task.t1, task.y0)
    for _ in range(2 * rounds + 1):
        begun = task.now()
        _, work = solver.solve(  # type: ignore[attr-defined]
            t0, t1, y0, rtol=1e-6, atol=1e-6 * task.scale
        )
        controlled = (task.now() - begun) / (work.accepted + work.rejected)
        steps, h = work.accepted, (t1 - t0) / work.accepted
        begun = task.now()
        solver.step(t0, h, y0, steps)  # type: ignore[attr-defined]
        shares.append(controlled / ((task.now() - begun) / steps) - 1)
    spread = (max(shares) - min(shares)) / 2
    print(
        f"{method}: step control costs {statistics.median(shares):.1%} of a step"
        f" (half of the range {spread:.1%})"
    )


def racing(method: str, library: ModuleType, task: Task, steps: int = 80, repeats: int = 5) -> None:
    """Print what a choice on line costs of 1,000 steps: a solver opened that races and writes its
    wisdom file, over one that is opened and takes as many steps with the code that was chosen.

    ``steps``: at least as many as the race of a few codes takes.
    """
    if library.choices() < 2:
        print(f"{method}: one code, so there is nothing to choose on line")
        return
    h, lost, share, plain = (task.t1 - task.t0) / 1e4, [], [], []

    def seconds(**options: object) -> tuple[float, object]:
        begun = task.now()
        solver = library.Solver(task.size, task.threads, **options)
        solver.step(task.t0, h, task.y0, steps)
        return task.now() - begun, solver.choice

    chosen: dict[str, int] = {}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            raced, choice = seconds(choose=True, wisdom=Path(folder) / "wisdom")
            plain.append(seconds(choose=True, wisdom=Path(folder) / "wisdom")[0])
        lost.append((raced - plain[-1]) / (plain[-1] / steps * 1000))
        share.append(choice.race_cost / (choice.seconds_here * 1000))  # type: ignore[attr-defined]
        name = choice.candidate.split("@")[0]  # type: ignore[attr-defined]
        chosen[name] = chosen.get(name, 0) + 1
    noise = (max(plain) - min(plain)) / 2 / (statistics.median(plain) / steps * 1000)
    print(
        f"{method}: choosing on line among {library.choices()} codes costs"
        f" {statistics.median(lost):.2%} of 1,000 steps (noise {noise:.2%}; by its own clock"
        f" {statistics.median(share):.2%}, at most {max(share):.2%}), of {repeats} times it chose: "
        + ", ".join(f"{times} {name}" for name, times in chosen.items())
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
