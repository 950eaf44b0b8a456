"""The exported library: built without a warning, equal to the reference, within the tolerance."""

import ast
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import made_library
import numpy as np
import pytest
from made_library import facts_of
from scipy.integrate import solve_ivp

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem
from autotune.domain.variant import Build, Value
from autotune.errors import InputError
from autotune.files import config
from autotune.measuring.verification import ivp_reference
from autotune.results.export.library import library_facts, library_files

BLOCKED: dict[str, Value] = {"block": 128, "au": True, "order": "jil", "reg": True}
VARIANTS: list[tuple[int, dict[str, Value]]] = [
    (1, {}),
    (2, {"order": "ilj", "tile": 256, "rhslc": True, "au": False}),
    (2, {**BLOCKED, "once": True, "align": 8}),
    (3, {**BLOCKED, "inplace": True}),
    (2, {**BLOCKED, "flags": True, "reg": False, "au": False}),
    (1, {**BLOCKED, "stream": True, "reg": False, "au": False}),
    (1, {"flags": True, "order": "lji", "au": True}),
]
"""Threads and parameters: plain, tiled, blocked in time, in place, with flags, streamed."""
IVPS = [
    "advection", "brusselator2d", "brusselator2d-mix", "fitzhugh-nagumo", "flock", "heat2d",
    "heat3d", "inverterchain", "medakzo", "string-mix", "string-row", "wave1d",
]  # fmt: skip
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def small(ivp: str, components: int) -> int:
    """The smallest size with so many components."""
    problem = _problem(ivp)
    sizes = range(max(5, problem.ivp.minimum), 10**6)
    return next(size for size in sizes if problem.ivp.values(size)["n"] >= components)


def _problem(ivp: str, size: int = 100) -> Problem:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        setup = made_library.setup(Path(folder), ivp, [size], method="radau-iia-5", correctors=4)
    (problem,) = setup.problems
    assert isinstance(problem, Problem)
    return problem


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the inverter chain, whose right-hand side depends on the time, with every kind
    of code that its space has.
    """
    folder = tmp_path_factory.mktemp("chain")
    timed = [(t, v) for t, v in VARIANTS if not v.get("once")]
    facts = facts_of(folder, "inverterchain", timed)
    return made_library.built(folder / "lib", facts, calls=False)


@pytest.fixture(scope="module")
def wave(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the wave equation."""
    folder = tmp_path_factory.mktemp("wave")
    return made_library.built(folder / "lib", facts_of(folder, "wave1d", VARIANTS))


def reference(ivp: str, size: int, t1: float) -> np.ndarray:
    """The state at t1 by DOP853 of SciPy, with tolerances of 1e-13."""
    problem = _problem(ivp, size).ivp
    f, y0 = ivp_reference.rhs(problem, size), ivp_reference.initial(problem, size)
    done = solve_ivp(f, (problem.start, t1), y0, method="DOP853", rtol=1e-13, atol=1e-13)
    assert done.success
    return done.y[:, -1]


def of_size(h: float) -> dict[str, float]:
    """Options of a solver that takes steps of a size, whatever their error."""
    return {"rtol": 1.0, "atol": 1e300, "first_step": h, "largest_step": h}


# --- steps of a given size ------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("ivp", ["wave1d", "inverterchain"])
def test_every_code_steps_as_the_reference(
    ivp: str, chain: Path, wave: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = {"wave1d": wave, "inverterchain": chain}[ivp]
    problem = _problem(ivp, 1000)
    expected = ivp_reference.integrate(problem, 5)
    with made_library.imported(folder, ivp, monkeypatch) as library:
        assert library.choices() >= 5
        for choice in range(library.choices()):
            for threads in (1, 2, 3):
                with library.Solver(1000, threads, choice=choice) as solver:
                    t, y = solver.initial()
                    state = solver.step(t, problem.h, y, 2)
                    state = solver.step(t + 2 * problem.h, problem.h, state, 3)
                    error = np.abs(state - expected).max() / np.abs(expected).max()
                    assert error <= 1e-12, (choice, threads)
                    state, work = solver.solve(t, t + 5 * problem.h, y, **of_size(problem.h))
                    error = np.abs(state - expected).max() / np.abs(expected).max()
                    assert error <= 1e-12, (choice, threads)
                    assert work.accepted in (5, 6)
                    assert solver.choice.team == threads


@needs_gcc
def test_the_self_test_finds_what_is_right(wave: Path, chain: Path) -> None:
    for folder in (wave, chain):
        done = subprocess.run([folder / "self_test"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert done.stdout.rstrip().endswith("right")
        assert "this is another machine" in done.stdout


@needs_gcc
def test_the_choice_follows_size_and_threads(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        for size, threads, tuned in ((100, 2, 2), (100, 3, 3), (1000, 1, 1), (90, 7, 3)):
            solver = library.Solver(size, threads)
            assert solver.choice.threads == tuned
            assert not solver.choice.tuned_here


def test_what_a_decision_map_expects_is_not_measured(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100])
    (stepper,) = facts.chosen
    (choice,) = facts.section.entries
    for source, measured, predicted in (("measured", 0.25, 0.5), ("map", -1.0, 0.25)):
        told = replace(choice, source=source, seconds=0.25)
        *_, first, second = library_files.entry(told, stepper, 0.5)
        assert (float(first), float(second)) == (measured, predicted)


@needs_gcc
@pytest.mark.parametrize(
    ("rest", "same"), [("", True), (" (a made-up core)", True), (" 9", False), ("9", False)]
)
def test_a_processor_is_the_tuned_one_by_its_whole_name(
    rest: str, same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model na")), "")
    if not name:
        pytest.skip("optional: /proc/cpuinfo names no processor")
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100])
    place = replace(facts.section.key.place, title=name + rest)
    section = replace(facts.section, key=replace(facts.section.key, place=place))
    there = replace(facts, section=section)
    folder = made_library.built(tmp_path / "lib", there, optimised=False)
    with made_library.imported(folder, "wave1d", monkeypatch) as library:
        assert library.Solver(100).choice.tuned_here is same


@needs_gcc
def test_the_right_hand_side_is_that_of_the_problem(
    chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _problem("inverterchain", 1000)
    f = ivp_reference.rhs(problem.ivp, 1000)
    with made_library.imported(chain, "inverterchain", monkeypatch) as library:
        for choice in range(library.choices()):
            with library.Solver(1000, 2, choice=choice) as solver:
                _, y = solver.initial()
                expected = f(0.3, y)
                assert np.abs(solver.rhs(0.3, y) - expected).max() <= 1e-12 * np.abs(expected).max()


# --- step-size control ----------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("ivp", IVPS)
def test_tolerances_are_kept_on_every_shipped_problem(
    ivp: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = small(ivp, 60)
    problem = _problem(ivp, size)
    facts = facts_of(tmp_path, ivp, [(2, {})], sizes=[size])
    folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    start, span = problem.ivp.start, 30 * problem.h
    truth = reference(ivp, size, start + span)
    errors = []
    with made_library.imported(folder, facts.name, monkeypatch) as library:
        solver = library.Solver(size)
        t, y = solver.initial()
        assert t == start
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
            state, work = solver.solve(t, start + span, y, rtol=tolerance, atol=tolerance)
            largest = np.abs(truth).max()
            errors.append(np.abs(state - truth).max() / max(1.0, largest))
            assert errors[-1] <= 20 * tolerance * work.accepted**0.5
            assert work.t == start + span
            assert work.evaluations == (work.accepted + work.rejected) * 3 * 5


@needs_gcc
def test_every_code_keeps_the_tolerance(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h = _problem("wave1d", 1000).h
    truth = reference("wave1d", 1000, 40 * h)
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        for choice in range(library.choices()):
            with library.Solver(1000, 2, choice=choice) as solver:
                t, y = solver.initial()
                state, _ = solver.solve(t, 40 * h, y, rtol=1e-9, atol=1e-9)
                assert np.abs(state - truth).max() <= 1e-7, choice


@needs_gcc
def test_a_rejected_step_loses_nothing(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h = _problem("wave1d", 1000).h
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        for choice in range(library.choices()):
            with library.Solver(1000, 2, choice=choice) as solver:
                t, y = solver.initial()
                seen: list[tuple[float, np.ndarray]] = []

                def first(at: float, state: np.ndarray, seen: list = seen) -> bool:
                    seen.append((at, state))
                    return True

                _, work = solver.solve(
                    t, 1e6 * h, y, rtol=1e-8, atol=1e-8, first_step=1e5 * h, output=first
                )
                assert work.rejected >= 3
                assert work.accepted == 1
                ((at, state),) = seen
                assert np.array_equal(state, solver.step(t, at - t, y))


@needs_gcc
def test_both_rules_and_both_directions(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h = _problem("wave1d", 1000).h
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        solver = library.Solver(1000)
        t, y = solver.initial()
        for rule in ("PI", "I"):
            there, _ = solver.solve(t, 30 * h, y, rtol=1e-11, atol=1e-11, rule=rule)
            back, work = solver.solve(30 * h, t, there, rtol=1e-11, atol=1e-11, rule=rule)
            assert work.t == t
            assert np.abs(back - y).max() < 1e-7
        halves, work = solver.solve(t, 15 * h, y, rtol=1e-11, atol=1e-11)
        halves, _ = solver.solve(
            15 * h, 30 * h, halves, rtol=1e-11, atol=1e-11, first_step=work.next_step
        )
        assert np.abs(halves - there).max() < 1e-8


@needs_gcc
def test_stiffness_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of(tmp_path, "heat2d", [(1, {})], sizes=[32])
    folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    with made_library.imported(folder, "heat2d", monkeypatch) as library:
        solver = library.Solver(32)
        t, y = solver.initial()
        assert solver.solve(t, 1.0, y, rtol=1e-3, atol=1e-3)[1].stiff
        assert not solver.solve(t, 1e-3, y, rtol=1e-10, atol=1e-10)[1].stiff


EXPLICIT: list[tuple[int, dict[str, Value]]] = [
    (1, {"order": "ji"}),
    (2, {"order": "ij", "tile": 256}),
    (2, {"order": "ji", "block": 128, "au": True, "reg": True, "align": 8}),
    (3, {"order": "ji", "block": 128, "au": True, "reg": True, "inplace": True}),
]
"""Threads and parameters of explicit methods."""


@needs_gcc
@pytest.mark.parametrize(
    ("method", "variants"),
    [
        ("bogacki-shampine-3", EXPLICIT), ("dormand-prince-5", EXPLICIT), ("verner-6", EXPLICIT),
        ("dormand-prince-8", EXPLICIT[:1]),
    ],
)  # fmt: skip
def test_explicit_methods_step_and_keep_the_tolerance(
    method: str,
    variants: list[tuple[int, dict[str, Value]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = facts_of(tmp_path, "wave1d", variants, method=method, correctors=0)
    first = method == "bogacki-shampine-3"  # optimised code of one method has all their warnings
    folder = made_library.built(tmp_path / "lib", facts, optimised=first)
    assert subprocess.run([folder / "self_test"], stdout=subprocess.DEVNULL).returncode == 0
    h = _problem("wave1d", 1000).h
    problem = replace(facts.problem, size=1000)
    expected = ivp_reference.integrate(problem, 3)
    truth = reference("wave1d", 1000, 40 * h)
    with made_library.imported(folder, "wave1d", monkeypatch) as library:
        for choice in range(library.choices()):
            solver = library.Solver(1000, 2, choice=choice)
            t, y = solver.initial()
            state = solver.step(t, problem.h, y, 3)
            assert np.abs(state - expected).max() <= 1e-12 * np.abs(expected).max()
            state, work = solver.solve(t, 40 * h, y, rtol=1e-9, atol=1e-9)
            assert np.abs(state - truth).max() <= 2e-7, choice
            stages = facts.problem.method.stages
            assert work.evaluations == (work.accepted + work.rejected) * stages


@pytest.mark.parametrize(
    ("method", "variants"),
    [("dormand-prince-5", EXPLICIT), ("dormand-prince-8", EXPLICIT), ("radau-iia-5", VARIANTS)],
)
def test_a_step_of_a_given_size_is_the_one_that_was_measured(
    method: str, variants: list[tuple[int, dict[str, Value]]], tmp_path: Path
) -> None:
    """It calls the same sweeps, and computes nothing of the error estimate."""
    facts = facts_of(
        tmp_path, "wave1d", variants, method=method, correctors=4 if variants is VARIANTS else 0
    )
    skeleton = config.skeleton("pirk" if variants is VARIANTS else "erk")
    for name, stepper in facts.steppers.items():
        program = variant_program.program(stepper.variant, skeleton, facts.problem)
        measured = harness.units(program, facts.problem)
        texts = {
            file: text.replace(f"{name}_sweep_", "sweep_") for file, text in stepper.files.items()
        }
        fixed = texts["fixed_step.c"].replace("sweep_fixed_", "sweep_")
        assert step_of(fixed) == step_of(measured["step.c"])
        assert ".embedded = -1," in fixed
        assert ".embedded = ARRAY_embedded," in texts["step.c"]
        for sweep in {file for file in measured if file.startswith("sweep_")}:
            apart = sweep.replace("sweep_", "sweep_fixed_")
            text = texts.get(apart, texts[sweep]).replace("sweep_fixed_", "sweep_")
            assert text == measured[sweep]


def step_of(text: str) -> str:
    """The body of the function ``step`` in C."""
    _, _, body = text.partition("void step(struct thread *me, double t)\n{\n")
    return body.partition("\n}\n")[0]


# --- wrong input ----------------------------------------------------------------------------------


@needs_gcc
def test_wrong_input_is_a_code_with_a_text(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        for size in (-5, 0, 1, 2**40):
            with pytest.raises(library.SolverError, match="no problem of this size"):
                library.Solver(size)
        for threads in (-1, 5000):
            with pytest.raises(library.SolverError, match="negative"):
                library.Solver(100, threads)
        with pytest.raises(OverflowError, match="does not fit"):
            library.Solver(2**64 + 100)
        with pytest.raises(library.SolverError, match="no choice"):
            library.Solver(100, choice=99)
        solver = library.Solver(100)
        t, y = solver.initial()
        for wrong, text in (
            ({"rtol": -1.0}, "tolerances"),
            ({"rtol": 0.0, "atol": 0.0}, "tolerances"),
            ({"rtol": 1e-17, "atol": 0.0}, "tolerances"),
            ({"rtol": float("nan")}, "tolerances"),
            ({"first_step": -1.0}, "not finite, negative"),
            ({"first_step": float("inf")}, "not finite, negative"),
            ({"most_steps": 2}, "most steps"),
        ):
            with pytest.raises(library.SolverError, match=text):
                solver.solve(t, 1.0, y, **wrong)
        with pytest.raises(library.SolverError, match="not finite"):
            solver.solve(t, float("inf"), y)
        with pytest.raises(TypeError, match="safe"):
            solver.step(t, 1e-3, y + 1j)
        with pytest.raises(ValueError, match="shape"):
            solver.step(t, 1e-3, y[:-1])
        spoilt = y.copy()
        spoilt[7] = np.nan
        with pytest.raises(library.SolverError, match="state is not finite") as failure:
            solver.solve(t, 1.0, spoilt)
        assert failure.value.work.t == t
        with pytest.raises(library.SolverError, match="not finite"):
            solver.step(t, 1e300, y)
        with pytest.raises(library.SolverError, match="vanish beside t") as failure:
            solver.solve(1.0, 2.0, y, largest_step=1e-17)
        assert failure.value.work.accepted == 0
        with pytest.raises(library.SolverError, match="vanish beside t"):
            solver.solve(1.0, 2.0, y, first_step=1e-17)
        same, work = solver.solve(t, t, y)
        assert np.array_equal(same, y)
        assert work.accepted == 0


@needs_gcc
def test_what_is_not_finite_is_seen_with_any_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100])
    folder = made_library.built(tmp_path / "lib", facts, flags="-ffast-math")
    with made_library.imported(folder, "wave1d", monkeypatch) as library:
        solver = library.Solver(100)
        t, y = solver.initial()
        with pytest.raises(library.SolverError, match="not finite"):
            solver.step(t, 1e300, y)
        y[7] = np.nan
        with pytest.raises(library.SolverError, match="state is not finite"):
            solver.solve(t, 1.0, y)


@needs_gcc
@pytest.mark.parametrize("flags", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"])
def test_a_program_that_loads_the_library_keeps_its_denormals(tmp_path: Path, flags: str) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100])
    folder = made_library.built(tmp_path / "lib", facts, flags=flags, calls=False)
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(sys.float_info.min / 4)"
    done = subprocess.run(
        [sys.executable, "-c", load, str(folder / "libwave1d.so")], capture_output=True, text=True
    )
    assert float(done.stdout) == sys.float_info.min / 4 > 0.0, done.stderr


@needs_gcc
def test_errors_of_the_output_function_come_through(
    wave: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(t: float, y: np.ndarray) -> bool:
        raise RuntimeError("from within")

    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        solver = library.Solver(100)
        t, y = solver.initial()
        with pytest.raises(library.SolverError, match="running"):
            solver.solve(t, 1.0, y, output=lambda t, y: solver.close())
        with pytest.raises(RuntimeError, match="from within"):
            solver.solve(t, 1.0, y, output=fail)
        assert solver.solve(t, 1e-3, y)[1].t == 1e-3  # it is as before


# --- foreign programs -----------------------------------------------------------------------------

TWO = r"""
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "wave1d.h"

struct part { long size; int code; double *y; };

static void *solve(void *data)
{
    struct part *const part = data;
    wave1d_solver *solver;
    double t;
    part->y = malloc((size_t)wave1d_components(part->size) * sizeof *part->y);
    part->code = wave1d_create(&solver, part->size, 2);
    if (!part->code) part->code = wave1d_initial(solver, &t, part->y);
    if (!part->code) part->code = wave1d_solve(solver, t, t + 0.01, part->y, NULL, NULL);
    wave1d_destroy(solver);
    return NULL;
}

int main(void)
{
    enum { PARTS = 4 };
    struct part parts[PARTS] = {{100, 0, NULL}, {700, 0, NULL}, {100, 0, NULL}, {700, 0, NULL}};
    pthread_t threads[PARTS];
    double *const half = malloc(100 * sizeof *half);
    wave1d_solver *solver;
    for (int i = 0; i < PARTS; i++) pthread_create(&threads[i], NULL, solve, &parts[i]);
    for (int i = 0; i < PARTS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < PARTS; i++) if (parts[i].code) return 10 + parts[i].code;
    for (int i = 0; i < 2; i++)
        for (long j = 0; j < wave1d_components(parts[i].size); j++)
            if (parts[i].y[j] != parts[i + 2].y[j]) return 1;
    if (wave1d_create(NULL, 100, 1) != WAVE1D_BAD_ARGUMENT) return 2;
    if (wave1d_create(&solver, 100, 1)) return 3;
    double *const odd = (double *)((char *)half + 1);
    if (wave1d_step(solver, 0.0, 1e-3, 1, odd) != WAVE1D_MISALIGNED) return 4;
    if (wave1d_step(NULL, 0.0, 1e-3, 1, half) != WAVE1D_BAD_ARGUMENT) return 5;
    if (wave1d_solve(solver, 0.0, 1.0, NULL, NULL, NULL) != WAVE1D_BAD_ARGUMENT) return 6;
    if (wave1d_rhs(solver, 0.0, half, half + 1) != WAVE1D_OVERLAP) return 7;
    wave1d_destroy(solver);
    wave1d_destroy(NULL);
    for (int i = 0; i < PARTS; i++) free(parts[i].y);
    free(half);
    puts(wave1d_text(WAVE1D_TOO_SMALL));
    return 0;
}
"""


@needs_gcc
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_a_foreign_program_links_it_and_solvers_are_independent(
    compiler: str, wave: Path, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"optional: {compiler} is not installed")
    source = tmp_path / ("two.cpp" if compiler == "g++" else "two.c")
    text = TWO if compiler != "g++" else TWO.replace("malloc(", "(double *)malloc(").replace(
        "= data;", "= (struct part *)data;"
    )  # fmt: skip
    source.write_text(text)
    program = tmp_path / "two"
    warnings = made_library.STRICT.split() if compiler != "g++" else ["-Wall", "-Werror"]
    subprocess.run(
        [compiler, *warnings, f"-I{wave / 'include'}", source, "-o", program,
         f"-L{wave}", "-lwave1d", f"-Wl,-rpath,{wave}", "-lpthread", "-lm"],
        check=True,
    )  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.returncode
    assert "vanish" in done.stdout


@needs_gcc
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "wave1d", VARIANTS)
    flags = f"{made_library.STRICT} -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    folder = made_library.built(tmp_path / "lib", facts, flags=flags, optimised=False)
    done = subprocess.run([folder / "self_test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_clang_builds_it(tmp_path: Path) -> None:
    made_library.need_openmp("clang")
    facts = facts_of(tmp_path, "wave1d", VARIANTS)
    folder = made_library.built(tmp_path / "lib", facts, compiler="clang", calls=False)
    assert subprocess.run([folder / "self_test"], stdout=subprocess.DEVNULL).returncode == 0


FORTRAN = """
program main
    use wave1d
    implicit none
    type(c_ptr) :: solver
    type(wave1d_options) :: options
    type(wave1d_work) :: work
    real(c_double) :: t
    real(c_double), allocatable :: y(:)
    if (wave1d_create(solver, 100_c_long, 1_c_int) /= 0) stop 1
    allocate (y(wave1d_components(100_c_long)))
    if (wave1d_initial(solver, t, y) /= 0) stop 2
    options%rtol = 1.0e-8_c_double
    if (wave1d_solve(solver, t, t + 0.01_c_double, y, options, work) /= 0) stop 3
    if (work%accepted < 1 .or. work%t /= t + 0.01_c_double) stop 4
    if (wave1d_destroy(solver) /= 0) stop 5
    if (index(wave1d_message(wave1d_create(solver, 1_c_long, 1_c_int)), "of this size") == 0) stop 6
end program
"""


@needs_gcc
def test_fortran_calls_it(wave: Path, tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("optional: needs gfortran")
    (tmp_path / "main.f90").write_text(FORTRAN)
    program = tmp_path / "main"
    subprocess.run(
        ["gfortran", "-Wall", "-Wno-c-binding-type", wave / "fortran" / "wave1d.f90",
         tmp_path / "main.f90", "-o", program, f"-L{wave}", "-lwave1d", f"-Wl,-rpath,{wave}"],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    assert subprocess.run([program]).returncode == 0


@needs_gcc
def test_cmake_builds_installs_and_tests_it(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("optional: needs cmake")
    facts = facts_of(tmp_path, "wave1d", [(1, {}), (2, BLOCKED)])
    folder = made_library.written(tmp_path / "lib", facts, made_library.unoptimised)
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    for command in (
        ["cmake", "-S", folder, "-B", build, "-DCMAKE_INSTALL_LIBDIR=lib"],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build],
        ["cmake", "--install", build, "--prefix", prefix],
    ):
        subprocess.run(command, check=True, capture_output=True)
    installed = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    assert installed >= {"include/wave1d.h", "lib/libwave1d.so", "lib/pkgconfig/wave1d.pc"}


# --- what cannot be a library ---------------------------------------------------------------------


@needs_gcc
def test_without_an_estimate_there_are_steps_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100], method="radau-iia-3", correctors=4)
    assert not facts.controlled
    folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    assert subprocess.run([folder / "self_test"], stdout=subprocess.DEVNULL).returncode == 0
    with made_library.imported(folder, "wave1d", monkeypatch) as library:
        solver = library.Solver(100)
        t, y = solver.initial()
        solver.step(t, facts.problem.h, y)
        with pytest.raises(library.SolverError, match="no error estimate"):
            solver.solve(t, 1.0, y)


def test_the_order_of_the_estimate_and_the_end_of_stability() -> None:
    problem = _problem("wave1d")
    assert library_facts.estimates_error(problem)
    assert library_facts.embedded_order(problem) == 4
    assert 1.0 < library_facts.real_limit(problem) < 10.0


def test_any_title_is_text_in_every_file(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {})], sizes=[100])
    title = 'Burgers\' "viscous" equation, \\nu'
    problem = replace(facts.problem, ivp=replace(facts.problem.ivp, title=title))
    files = library_files.files(replace(facts, problem=problem))
    assert tomllib.loads(files["pyproject.toml"])["project"]["description"] == title
    assert "\\nu" in (ast.get_docstring(ast.parse(files["python/wave1d/__init__.py"])) or "")
    (line,) = (line for line in files["meson.build"].splitlines() if "description:" in line)
    assert line.endswith(f"{title!r})")


def test_other_choices_are_refused(tmp_path: Path) -> None:
    made = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-5", correctors=4)
    wrong = made_library.chosen(made, [(1, {})])
    other = made_library.setup(tmp_path, "heat2d", [100], method="radau-iia-5", correctors=4)
    with pytest.raises(InputError, match="no choice of a problem of the config"):
        library_facts.gather(wrong, other, {})
    finer = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-7", correctors=4)
    with pytest.raises(InputError, match="no choice of a problem of the config"):
        library_facts.gather(wrong, finer, {})


def test_compilers_are_not_mixed_and_names_of_files_are_not_taken(tmp_path: Path) -> None:
    made = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-5", correctors=4)
    wanted = made_library.chosen(made, [(1, {}), (2, {})])
    (section,) = wanted.sections
    other = replace(section.entries[1], build=Build(compiler="clang", flags=("-O2",)))
    mixed = replace(wanted, sections=(replace(section, entries=(section.entries[0], other)),))
    with pytest.raises(InputError, match="choices of clang and gcc"):
        library_facts.gather(mixed, made, {})
    subject = replace(section.key.subject, name="string")
    named = replace(section, key=replace(section.key, subject=subject))
    facts = library_facts.gather(replace(wanted, sections=(named,)), made, {})
    assert facts.name == "ivp_string"
