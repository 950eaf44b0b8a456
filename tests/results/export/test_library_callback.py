"""Right-hand sides of a caller: as right as generated ones, and errors that end cleanly."""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import made_library
import numpy as np
import pytest
from made_library import facts_of
from scipy.integrate import solve_ivp

from autotune.codegen.tree.called_program import called_program
from autotune.domain.problem import Problem
from autotune.domain.variant import Align, Contract, Hoist, Pipeline, Value
from autotune.files import config
from autotune.measuring.verification import ivp_reference
from autotune.workloads.generated import candidate_space

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

ITERATED: list[tuple[int, dict[str, Value]]] = [
    (1, {}),
    (2, {"order": "ilj", "tile": 256, "rhslc": True}),
    (2, {"order": "jil", "block": 128, "au": True, "reg": True, "once": True, "align": 8}),
    (3, {"order": "jil", "block": 128, "au": True, "reg": True, "inplace": True}),
    (2, {"order": "jil", "block": 128, "flags": True}),
    (1, {"flags": True, "order": "lji", "au": True, "tile": 256}),
]
EXPLICIT: list[tuple[int, dict[str, Value]]] = [
    (1, {"order": "ij", "tile": 256}),
    (2, {"order": "ji", "tile": 256, "rhslc": True}),
    (2, {"order": "ji", "block": 128, "au": True, "reg": True, "align": 8}),
    (3, {"order": "ji", "block": 128, "au": True, "reg": True, "inplace": True, "flags": True}),
]
DISTANCES = {"wave1d": 4, "inverterchain": 1, "flock": 0}
SIZES = {"wave1d": 1500, "inverterchain": 1501, "flock": 301}
"""N."""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The right-hand sides of ``callbacks.c``."""
    library = tmp_path_factory.mktemp("callbacks") / "callbacks.so"
    source = Path(made_library.__file__).with_name("callbacks.c")
    subprocess.run(
        ["gcc", "-O2", *made_library.STRICT.split(), "-shared", "-fPIC", source, "-o", library],
        check=True,
    )
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module")
def iterated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A library of a PIRK method, tuned with the wave equation."""
    yield from _module(tmp_path_factory.mktemp("iterated"), ITERATED, "radau-iia-5", 4)


@pytest.fixture(scope="module")
def explicit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A library of an explicit method."""
    yield from _module(tmp_path_factory.mktemp("explicit"), EXPLICIT, "dormand-prince-5", 0)


def _module(
    folder: Path, variants: list[tuple[int, dict[str, Value]]], method: str, correctors: int
) -> Iterator[ModuleType]:
    facts = facts_of(folder, "wave1d", variants, method=method, correctors=correctors)
    assert len(facts.chosen) == len(variants)
    place = made_library.built(
        folder / f"lib-{method}", facts, optimised=correctors > 0, calls=False
    )
    with (
        pytest.MonkeyPatch.context() as patch,
        made_library.imported(place, "wave1d", patch) as library,
    ):
        yield library


def _folder(library: ModuleType) -> Path:
    return Path(str(library.__file__)).parents[2]


def _problem(ivp: str, method: str) -> Problem:
    tableau = config.method(method)
    return Problem(
        ivp=config.ivp(ivp), method=tableau, correctors=tableau.usual_correctors, size=SIZES[ivp]
    )


# --- equal to the reference ---------------------------------------------------------------------


@pytest.mark.parametrize("ivp", ["wave1d", "inverterchain", "flock"])
@pytest.mark.parametrize("skeleton", ["iterated", "explicit"])
def test_every_form_steps_as_the_reference(
    skeleton: str, ivp: str, functions: ctypes.CDLL, request: pytest.FixtureRequest
) -> None:
    library = request.getfixturevalue(skeleton)
    problem = _problem(ivp, {"iterated": "radau-iia-5", "explicit": "dormand-prince-5"}[skeleton])
    y0 = ivp_reference.initial(problem.ivp, problem.size)
    expected = ivp_reference.integrate(problem, 4)
    forms = set()
    for choice in range(library.choices()):
        for threads in (1, 2, 3):
            for distance in {0, DISTANCES[ivp]}:
                for autonomous in {False, problem.ivp.autonomous}:
                    solver = library.Solver(
                        problem.n,
                        threads,
                        choice=choice,
                        rhs=functions[ivp],
                        distance=distance,
                        autonomous=autonomous,
                    )
                    state = solver.step(problem.ivp.start, problem.h, y0, 4)
                    error = np.abs(state - expected).max() / np.abs(expected).max()
                    form = solver.choice.form
                    assert error <= 1e-12, (choice, threads, distance, autonomous, form)
                    forms.add(form)
                    if distance:
                        assert "pipeline" not in form
    assert any("pipeline" in form for form in forms)


def test_a_library_of_the_level_that_users_get_steps_as_the_reference(
    functions: ctypes.CDLL, tmp_path: Path
) -> None:
    """Loops and the calls between them are compiled with the flags of the study."""
    facts = facts_of(tmp_path, "wave1d", ITERATED[3:4], method="radau-iia-5", correctors=4)
    folder = made_library.built(tmp_path / "lib", facts)
    lines = (folder / "build.sh").read_text().splitlines()
    calls = [line for line in lines if "called" in line and "step.c " in line]
    assert {"/step.c " in line for line in calls} == {True, False}
    assert all(" -O2 " in line for line in calls)
    problem = _problem("wave1d", "radau-iia-5")
    y0 = ivp_reference.initial(problem.ivp, problem.size)
    expected = ivp_reference.integrate(problem, 4)
    with (
        pytest.MonkeyPatch.context() as patch,
        made_library.imported(folder, "wave1d", patch) as library,
    ):
        for distance in (0, DISTANCES["wave1d"]):
            solver = library.Solver(problem.n, 2, rhs=functions["wave1d"], distance=distance)
            state = solver.step(problem.ivp.start, problem.h, y0, 4)
            assert np.abs(state - expected).max() <= 1e-12 * np.abs(expected).max()


def _blocked(library: ModuleType) -> int:
    """The choice blocked in time, F in registers, the first evaluation once."""
    return next(
        choice
        for choice in range(library.choices())
        if "hoist" in library.Solver(9, 1, choice=choice, rhs=oscillator).choice.form
    )


def test_the_form_says_what_is_not_legal(iterated: ModuleType, functions: ctypes.CDLL) -> None:
    choice = _blocked(iterated)
    generated = iterated.Solver(1000, 2, choice=choice).choice
    assert generated.form == "generated"

    def form(components: int, threads: int = 2, **stated: object) -> tuple[str, object]:
        solver = iterated.Solver(components, threads, choice=choice, rhs=functions.wave1d, **stated)
        assert solver.choice.candidate == generated.candidate
        return solver.choice.form, solver.choice.seconds

    assert form(1000) == ("called, without pipeline, contract, hoist", None)
    assert form(1000, distance=4) == ("called, without contract, hoist", None)
    assert form(1000, distance=4, autonomous=True) == ("called, without contract", None)
    everything = ("called, without pipeline, contract, hoist", None)
    assert form(1000, distance=40) == everything  # more would be computed twice than once
    assert form(100, distance=4) == everything


@pytest.mark.parametrize("skeleton", ["iterated", "explicit"])
@pytest.mark.parametrize("components", [1, 2, 7, 65])
def test_few_components(
    skeleton: str, components: int, functions: ctypes.CDLL, request: pytest.FixtureRequest
) -> None:
    library = request.getfixturevalue(skeleton)
    y0 = np.linspace(1.0, 2.0, components)
    for choice in range(library.choices()):
        for distance in (0, 1, 2**40):
            solver = library.Solver(
                components, 3, choice=choice, rhs=functions.none, distance=distance
            )
            y, _ = solver.solve(0.0, 0.25, y0, rtol=1e-10, atol=1e-10)
            assert np.abs(y - y0 * np.exp(-0.25)).max() < 1e-8


@pytest.mark.parametrize("skeleton", ["iterated", "explicit"])
def test_tolerances_are_kept_without_a_bound(
    skeleton: str, functions: ctypes.CDLL, request: pytest.FixtureRequest
) -> None:
    library = request.getfixturevalue(skeleton)
    problem = _problem("inverterchain", "radau-iia-5")
    f = ivp_reference.rhs(problem.ivp, problem.size)
    t0, y0 = problem.ivp.start, ivp_reference.initial(problem.ivp, problem.size)
    t1 = t0 + 30 * problem.h
    truth = solve_ivp(f, (t0, t1), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    for choice in range(library.choices()):
        for bound in (0.0, 3e9):
            solver = library.Solver(
                problem.n, 2, choice=choice, rhs=functions.inverterchain, distance=1, bound=bound
            )
            for end, begin, start in ((t1, t0, y0), (t0, t1, truth)):
                y, work = solver.solve(begin, end, start, rtol=1e-7, atol=1e-7)
                assert work.t == end
                evaluations = work.evaluations - (0 if bound else 2)
                assert evaluations % (work.accepted + work.rejected) == 0
                if end == t1:
                    assert np.abs(y - truth).max() <= 2e-5


def test_a_distance_limits_what_the_function_gets(iterated: ModuleType) -> None:
    seen: list[tuple[int, int]] = []
    function = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_double,
        *[ctypes.POINTER(ctypes.c_double)] * 2, ctypes.c_void_p,
    )  # fmt: skip

    @function
    def decay(first: int, last: int, t: float, y: object, dy: object, data: object) -> int:
        seen.append((first, last))
        for j in range(first, last):
            dy[j] = -y[j]  # type: ignore[index]
        return 0

    blocked = _blocked(iterated)
    with iterated.Solver(1000, 1, choice=blocked, rhs=decay, distance=4) as solver:
        solver.step(0.0, 0.1, np.ones(1000))
    assert max(last - first for first, last in seen) <= 128
    seen.clear()
    with iterated.Solver(1000, 1, choice=blocked, rhs=decay) as solver:
        solver.step(0.0, 0.1, np.ones(1000))
    assert set(seen) == {(0, 1000)}


def test_a_step_of_a_given_size_evaluates_nothing_for_the_estimate(explicit: ModuleType) -> None:
    """The seventh stage of Dormand-Prince has a weight in the estimate only."""
    evaluated: list[int] = []

    def decay(first: int, last: int, t: float, y: np.ndarray, dy: np.ndarray) -> None:
        evaluated.append(last - first)
        dy[first:last] = -y[first:last]

    options = {"rtol": 1.0, "atol": 1e300, "first_step": 0.1, "largest_step": 0.1}
    for choice in range(explicit.choices()):
        with explicit.Solver(1000, 1, choice=choice, rhs=decay) as solver:
            evaluated.clear()
            fixed = solver.step(0.0, 0.1, np.ones(1000))
            assert sum(evaluated) == 6 * 1000
            evaluated.clear()
            controlled, _ = solver.solve(0.0, 0.1, np.ones(1000), **options)
            assert sum(evaluated) == 7 * 1000
            assert np.abs(fixed - controlled).max() <= 1e-15


# --- what a function does wrong -------------------------------------------------------------------


@pytest.mark.parametrize("skeleton", ["iterated", "explicit"])
@pytest.mark.parametrize(
    ("name", "text"), [("failing", "said that it failed"), ("none", "not finite")]
)
def test_a_failure_in_one_thread_ends_all(
    skeleton: str,
    name: str,
    text: str,
    functions: ctypes.CDLL,
    request: pytest.FixtureRequest,
) -> None:
    library = request.getfixturevalue(skeleton)
    y0 = np.linspace(1.0, 2.0, 1000)
    for choice in range(library.choices()):
        for threads, distance in ((1, 0), (3, 0), (3, 1)):
            solver = library.Solver(
                1000, threads, choice=choice, rhs=functions[name], distance=distance
            )
            last = [(0.0, y0)]
            with pytest.raises(library.SolverError, match=text) as failure:
                solver.solve(
                    0.0, 1.0, y0, output=lambda t, y, last=last: last.append((t, y)) or False
                )
            assert failure.value.work.t == last[-1][0] <= 0.3
            assert np.abs(last[-1][1] - y0 * np.exp(-last[-1][0])).max() < 1e-4
            with pytest.raises(library.SolverError, match=text):
                solver.step(0.0, 0.1, y0, 50)
            with pytest.raises(library.SolverError, match=text):
                solver.solve(0.4, 1.0, y0)  # at the first evaluation
            y, _ = solver.solve(0.0, 0.25, y0)  # it is as before
            assert np.abs(y - y0 * np.exp(-0.25)).max() < 1e-4


@pytest.mark.parametrize("skeleton", ["iterated", "explicit"])
def test_states_at_given_times(
    skeleton: str, functions: ctypes.CDLL, request: pytest.FixtureRequest
) -> None:
    library = request.getfixturevalue(skeleton)
    y0, times = np.linspace(1.0, 2.0, 1000), np.linspace(0.0, 0.25, 40)
    for choice in (0, library.choices() - 1):
        solver = library.Solver(1000, 3, choice=choice, rhs=functions.failing, distance=1)
        states, _ = solver.solve(0.0, 0.25, y0, rtol=1e-8, atol=1e-8, at=times)
        assert np.abs(states - y0 * np.exp(-times[:, None])).max() < 1e-6
        with pytest.raises(library.SolverError, match="said that it failed") as failure:
            solver.solve(0.0, 1.0, y0, at=np.linspace(0.0, 1.0, 400))
        assert failure.value.work.t <= 0.3


def test_a_function_that_calls_its_solver_is_refused(iterated: ModuleType) -> None:
    codes: list[int] = []

    def f(first: int, last: int, t: float, y: np.ndarray, dy: np.ndarray) -> None:
        with pytest.raises(iterated.SolverError, match="running") as failure:
            solver.rhs(t, y)
        codes.append(failure.value.code)
        dy[first:last] = -y[first:last]

    solver = iterated.Solver(8, 1, rhs=f)
    solver.step(0.0, 0.1, np.ones(8))
    assert codes


# --- from Python ----------------------------------------------------------------------------------


def oscillator(first: int, last: int, t: float, y: np.ndarray, dy: np.ndarray) -> None:
    """Pairs (x, v) with x'' = -x."""
    for j in range(first, last):
        dy[j] = y[j + 1] if j % 2 == 0 else -y[j - 1]


def test_a_plain_function_is_called_and_its_errors_come_through(iterated: ModuleType) -> None:
    y0 = np.tile([1.0, 0.0], 10)
    with iterated.Solver(20, 2, rhs=oscillator, distance=1) as solver:
        y, work = solver.solve(0.0, 1.0, y0, rtol=1e-9, atol=1e-9)
        assert np.abs(y - np.tile([np.cos(1.0), -np.sin(1.0)], 10)).max() < 1e-7
        assert work.evaluations == 2 + 15 * (work.accepted + work.rejected)
        assert np.array_equal(solver.rhs(0.0, y0), np.tile([0.0, -1.0], 10))
        with pytest.raises(iterated.SolverError, match="are the caller's"):
            solver.initial()
        with pytest.raises(ValueError, match="shape"):
            solver.step(0.0, 0.1, y0[:-1])

    def fail(first: int, last: int, t: float, y: np.ndarray, dy: np.ndarray) -> None:
        dy[first:last] = 1.0 / (0.3 - t)
        if t > 0.2:
            raise LookupError("from within")

    for wrong, error, text in (
        (fail, LookupError, "from within"),
        (lambda first, last, t, y, dy: None, iterated.SolverError, "not finite"),  # nothing set
        (lambda first, last, t, y: None, TypeError, "positional"),
        (lambda first, last, t, y, dy: 3, iterated.SolverError, "said that it failed"),
        (lambda first, last, t, y, dy: y.fill(0.0), ValueError, "read-only"),
        (lambda first, last, t, y, dy: -y, TypeError, "returns a ndarray, allowed: nothing"),
    ):
        for threads in (1, 3):
            solver = iterated.Solver(20, threads, rhs=wrong)
            with pytest.raises(error, match=text):
                solver.solve(0.0, 1.0, y0)
            with pytest.raises(error, match=text):
                solver.step(0.25, 1.0, y0)


def test_wrong_arguments(iterated: ModuleType, functions: ctypes.CDLL) -> None:
    f = functions.none
    for components in (0, -3, 2**31):
        with pytest.raises(iterated.SolverError, match="no problem of this size"):
            iterated.Solver(components, rhs=f)
    for stated in ({"distance": -1}, {"bound": -1.0}, {"bound": float("nan")}):
        with pytest.raises(iterated.SolverError, match="negative"):
            iterated.Solver(10, rhs=f, **stated)
    with pytest.raises(iterated.SolverError, match="no choice"):
        iterated.Solver(10, rhs=f, choice=77)
    with pytest.raises(OverflowError, match="does not fit"):
        iterated.Solver(10, rhs=f, distance=2**70)
    with pytest.raises(ValueError, match="rhs is missing"):
        iterated.Solver(10, distance=1)
    for wrong in (3, np.zeros(3), "f"):
        with pytest.raises(TypeError, match="a function of Python"):
            iterated.Solver(10, rhs=wrong)
    other = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda t: t)
    with pytest.raises(TypeError, match="expected: int f"):
        iterated.Solver(10, rhs=other)


def test_numba_is_named_where_it_is_missing(
    iterated: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match="pip install numba"):
        iterated.compiled(oscillator)


def test_functions_of_numba(iterated: ModuleType) -> None:
    numba = pytest.importorskip("numba", reason="optional: Numba is not installed")
    y0 = np.tile([1.0, 0.0], 500)
    expected = np.tile([np.cos(1.0), -np.sin(1.0)], 500)
    raw = numba.cfunc("intc(long_, long_, float64, CPointer(float64), CPointer(float64), voidptr)")

    @raw
    def pointers(first, last, t, y, dy, data):  # type: ignore[no-untyped-def]
        for j in range(first, last):
            dy[j] = y[j + 1] if j % 2 == 0 else -y[j - 1]
        return 0

    for f in (iterated.compiled(oscillator), numba.njit(oscillator), pointers):
        for choice in (0, _blocked(iterated)):
            for distance in (0, 1):
                solver = iterated.Solver(1000, 2, choice=choice, rhs=f, distance=distance)
                y, _ = solver.solve(0.0, 1.0, y0, rtol=1e-9, atol=1e-9)
                assert np.abs(y - expected).max() < 1e-7

    @iterated.compiled
    def late(first, last, t, y, dy):  # type: ignore[no-untyped-def]
        dy[first:last] = -y[first:last]
        if t > 0.3:
            raise ValueError("late")

    @iterated.compiled
    def code(first, last, t, y, dy):  # type: ignore[no-untyped-def]
        dy[first:last] = -y[first:last]
        return 1 if t > 0.3 else 0

    for f in (late, code):
        solver = iterated.Solver(1000, 3, rhs=f)
        with pytest.raises(iterated.SolverError, match="said that it failed") as failure:
            solver.solve(0.0, 1.0, y0)
        assert failure.value.work.t <= 0.3
    with pytest.raises(TypeError, match="allowed: nothing or a whole number"):
        iterated.compiled(lambda first, last, t, y, dy: y)
    other = numba.cfunc(
        "void(long_, long_, float64, CPointer(float64), CPointer(float64), voidptr)"
    )
    with pytest.raises(TypeError, match="expected: int f"):
        iterated.Solver(10, rhs=other(lambda first, last, t, y, dy, data: None))


# --- from C, C++ and Fortran ----------------------------------------------------------------------

FOREIGN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "wave1d.h"

static int f(long first, long last, double t, const double *y, double *dy, void *data)
{
    const double *const rate = (const double *)data;
    for (long j = first; j < last; j++)
        dy[j] = *rate * y[j] * cos(t);
    return 0;
}

static int fails(long first, long last, double t, const double *y, double *dy, void *data)
{
    f(first, last, t, y, dy, data);
    return t > 0.5 && last > 900;
}

int main(void)
{
    enum { N = 1000 };
    double rate = -0.5, *const y = (double *)malloc(N * sizeof *y);
    wave1d_callback callback = {f, &rate, 1, 0, 0.0};
    wave1d_solver *solver;
    wave1d_work work;
    if (wave1d_create_for(&solver, N, 2, NULL) != WAVE1D_BAD_ARGUMENT || solver) return 1;
    callback.f = NULL;
    if (wave1d_create_for(&solver, N, 2, &callback) != WAVE1D_BAD_ARGUMENT) return 2;
    if (wave1d_create_for(NULL, N, 2, &callback) != WAVE1D_BAD_ARGUMENT) return 3;
    callback.f = f;
    if (wave1d_create_for(&solver, 0, 2, &callback) != WAVE1D_BAD_SIZE) return 4;
    for (int choice = 0; choice < wave1d_choices(); choice++)
        for (int threads = 1; threads < 4; threads++) {
            callback.f = f;
            if (wave1d_create_for_with(&solver, N, threads, &callback, choice)) return 5;
            for (long j = 0; j < N; j++) y[j] = 1.0 + (double)j;
            if (wave1d_solve(solver, 0.0, 1.0, y, NULL, &work)) return 6;
            for (long j = 0; j < N; j++)
                if (!(fabs(y[j] / (1.0 + (double)j) - exp(rate * sin(1.0))) < 1e-5)) return 7;
            wave1d_destroy(solver);
            callback.f = fails;
            if (wave1d_create_for_with(&solver, N, threads, &callback, choice)) return 8;
            for (long j = 0; j < N; j++) y[j] = 1.0 + (double)j;
            if (wave1d_solve(solver, 0.0, 1.0, y, NULL, &work) != WAVE1D_CALLBACK_FAILED) return 9;
            for (long j = 0; j < N; j++)
                if (!(fabs(y[j] / (1.0 + (double)j) - exp(rate * sin(work.t))) < 1e-5)) return 10;
            for (long j = 0; j < N; j++) y[j] = 1.0 + (double)j;
            if (wave1d_step(solver, 0.0, 0.1, 9, y) != WAVE1D_CALLBACK_FAILED) return 11;
            for (long j = 0; j < N; j++)
                if (y[j] != 1.0 + (double)j) return 12;
            wave1d_destroy(solver);
        }
    free(y);
    puts(wave1d_text(WAVE1D_CALLBACK_FAILED));
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_a_foreign_program_hands_a_function_over(
    compiler: str, iterated: ModuleType, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"optional: {compiler} is not installed")
    folder = _folder(iterated)
    done = _run(FOREIGN, compiler, folder, tmp_path, made_library.STRICT.split())
    assert done.returncode == 0, done.returncode
    assert "said that it failed" in done.stdout


def _run(
    text: str, compiler: str, folder: Path, place: Path, flags: list[str]
) -> subprocess.CompletedProcess[str]:
    source = place / ("foreign.cpp" if compiler == "g++" else "foreign.c")
    source.write_text(text)
    program = place / "foreign"
    subprocess.run(
        [compiler, *flags, f"-I{folder / 'include'}", source, "-o", program,
         f"-L{folder}", "-lwave1d", f"-Wl,-rpath,{folder}", "-lm"],
        check=True,
    )  # fmt: skip
    return subprocess.run([program], capture_output=True, text=True)


def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "wave1d", [ITERATED[2], ITERATED[3]], sizes=[1000])
    sanitizers = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags = f"{made_library.STRICT} {' '.join(sanitizers)}"
    folder = made_library.built(tmp_path / "lib", facts, flags=flags, optimised=False)
    done = _run(FOREIGN, "gcc", folder, tmp_path, sanitizers)
    assert done.returncode == 0, done.stdout + done.stderr


FORTRAN = """
module decay
    use, intrinsic :: iso_c_binding
    implicit none
contains
    integer(c_int) function f(first, last, t, y, dy, data) bind(c)
        integer(c_long), value :: first, last
        real(c_double), value :: t
        real(c_double), intent(in) :: y(0:*)
        real(c_double), intent(inout) :: dy(0:*)
        type(c_ptr), value :: data
        dy(first:last - 1) = -y(first:last - 1)
        f = 0
        if (t > 5.0_c_double .or. c_associated(data)) f = 1
    end function
end module

program main
    use wave1d
    use decay
    implicit none
    type(c_ptr) :: solver
    type(wave1d_callback) :: callback
    type(wave1d_options) :: options
    type(wave1d_work) :: work
    procedure(wave1d_function), pointer :: checked => f
    real(c_double) :: y(100)
    callback%f = c_funloc(checked)
    callback%distance = 1
    y = 1.0_c_double
    if (wave1d_create_for(solver, 100_c_long, 2_c_int, callback) /= 0) stop 1
    if (wave1d_solve(solver, 0.0_c_double, 1.0_c_double, y, options, work) /= 0) stop 2
    if (any(abs(y - exp(-1.0_c_double)) > 1.0e-5_c_double)) stop 3
    if (wave1d_solve(solver, 1.0_c_double, 9.0_c_double, y, options, work) == 0) stop 4
    if (work%t <= 1.0_c_double .or. work%t > 5.0_c_double) stop 6
    if (wave1d_destroy(solver) /= 0) stop 5
end program
"""


def test_fortran_hands_a_procedure_over(iterated: ModuleType, tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("optional: needs gfortran")
    folder = _folder(iterated)
    (tmp_path / "main.f90").write_text(FORTRAN)
    program = tmp_path / "main"
    subprocess.run(
        ["gfortran", "-Wall", "-Wno-c-binding-type", folder / "fortran" / "wave1d.f90",
         tmp_path / "main.f90", "-o", program, f"-L{folder}", "-lwave1d", f"-Wl,-rpath,{folder}"],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    assert subprocess.run([program]).returncode == 0


# --- the program --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limited", "autonomous", "left_out"),
    [
        (False, False, {Pipeline, Contract, Hoist}),
        (False, True, {Pipeline, Contract}),
        (True, False, {Contract, Hoist}),
        (True, True, {Contract}),
    ],
)
def test_what_is_legal_follows_from_what_is_stated(
    limited: bool, autonomous: bool, left_out: set[type], tmp_path: Path
) -> None:
    made = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-5", correctors=4)
    values = {**made_library.PLAIN, **ITERATED[2][1]}
    variant = candidate_space.variant(made, values)
    problem = made.problems[0]
    assert isinstance(problem, Problem)
    program = called_program(
        variant, made.skeleton, problem, limited=limited, autonomous=autonomous
    )
    assert {type(t) for t in program.left_out} == left_out | {Align}
    assert replace(variant, transformations=program.kept) != variant
