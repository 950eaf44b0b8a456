"""Dense output of an exported library: the states at given times, as accurate as the steps."""

import itertools
import shutil
import subprocess
from pathlib import Path

import made_library
import numpy as np
import pytest
from made_library import facts_of
from scipy.integrate import solve_ivp

from autotune.domain.problem import ButcherTableau, Problem
from autotune.domain.variant import Value
from autotune.files import config
from autotune.measuring.verification import ivp_reference
from autotune.results.export.library import library_facts
from autotune.results.export.library.dense_output import Interpolant

BLOCKED: dict[str, Value] = {"block": 128, "au": True, "order": "jil", "reg": True}
VARIANTS: list[tuple[int, dict[str, Value]]] = [
    (1, {}),
    (2, {**BLOCKED, "once": True, "align": 8}),
    (3, {**BLOCKED, "inplace": True}),
    (1, {**BLOCKED, "stream": True, "reg": False, "au": False}),
    (1, {"flags": True, "order": "lji", "au": True}),
]
"""Threads and parameters: plain, pipelined, in place, streamed, with flags."""
EXPLICIT: list[tuple[int, dict[str, Value]]] = [
    (1, {"order": "ji"}),
    (3, {"order": "ji", "block": 128, "au": True, "reg": True, "inplace": True}),
]
"""The same of explicit methods."""
METHODS = [
    ("bogacki-shampine-3", 0, 3), ("dormand-prince-5", 0, 4), ("verner-6", 0, 5),
    ("radau-iia-3", 2, 3), ("radau-iia-5", 4, 4), ("radau-iia-7", 6, 6), ("lobatto-iiic-6", 5, 5),
]  # fmt: skip
"""Methods with their corrector steps and the order of their dense output."""
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.fixture(scope="module")
def wave(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the wave equation with every kind of code."""
    folder = tmp_path_factory.mktemp("wave")
    return made_library.built(folder / "lib", facts_of(folder, "wave1d", VARIANTS), optimised=False)


def states(problem: Problem, times: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The states at times by DOP853 of SciPy with tolerances of 1e-13, from y at the first."""
    f = ivp_reference.rhs(problem.ivp, int(problem.size_text))
    rows = [y]
    for begin, end in itertools.pairwise(times):
        done = solve_ivp(f, (begin, end), rows[-1], method="DOP853", rtol=1e-13, atol=1e-13)
        assert done.success
        rows.append(done.y[:, -1])
    return np.array(rows)


# --- order, proven --------------------------------------------------------------------------------


def steps_of(method: ButcherTableau, correctors: int) -> tuple[np.ndarray, np.ndarray]:
    """A and b of all evaluations of a step: of an explicit method its own, of m corrector steps
    those of the m + 1 evaluations of every stage in turn, the first ones at y.
    """
    A, b = np.array(method.A), np.array(method.b)
    if method.explicit:
        return A, b
    s, blocks = len(b), np.zeros((correctors + 1, correctors + 1))
    blocks[np.arange(1, correctors + 1), np.arange(correctors)] = 1.0
    return np.kron(blocks, A), np.concatenate([np.zeros(correctors * s), b])


def with_interpolant(
    A: np.ndarray, b: np.ndarray, interpolant: Interpolant, theta: float
) -> ButcherTableau:
    """The explicit method of step size theta h that gives y at theta of a step of size h.

    Raises ValueError where its order is not the degree of the interpolant.
    """
    s, count = len(b), len(b) + 1 + interpolant.evaluations
    rows = np.zeros((count, count))
    rows[:s, :s], rows[s, :s] = A, b

    def row(weights: np.ndarray, end: int) -> np.ndarray:
        """The row of y with weights of a polynomial whose inner evaluations end there."""
        made = np.zeros(count)
        made[:s] = weights[0] * b
        made[[0, s]] += weights[1:3]
        made[end - len(weights[3:]) : end] += weights[3:]
        return made

    place, degree, end = s + 1, 3, s + 1
    for _, weights in interpolant.stages():
        if len(weights) > degree:
            degree, end = len(weights), place
        rows[place] = row(weights, end)
        place += 1
    scaled = rows / theta
    return ButcherTableau(
        name="dense",
        title="",
        order=interpolant.degree,
        A=tuple(map(tuple, scaled.tolist())),
        b=tuple((row(interpolant.weights(theta), count) / theta).tolist()),
        c=tuple(sum(line) for line in scaled.tolist()),
        source="",
    )


@pytest.mark.parametrize(("name", "correctors", "order"), METHODS)
def test_the_order_conditions_hold_between_the_ends(name: str, correctors: int, order: int) -> None:
    A, b = steps_of(config.method(name), correctors)
    for theta in np.linspace(0.35, 0.95, order + 2):
        assert with_interpolant(A, b, Interpolant(order), float(theta)).order == order


@pytest.mark.parametrize("degree", range(3, 16))
def test_every_degree_has_its_weights(degree: int) -> None:
    interpolant = Interpolant(degree)
    assert interpolant.weights(0.0) == pytest.approx(np.zeros(degree), abs=1e-14)
    assert interpolant.weights(1.0) == pytest.approx([1.0] + [0.0] * (degree - 1), abs=1e-14)
    assert len(list(interpolant.stages())) == interpolant.evaluations
    between = np.array([interpolant.weights(theta) for theta in np.linspace(0, 1, 101)])
    assert np.abs(between[:, 3:]).sum(axis=1).max(initial=0.0) < 0.6  # errors of f are damped
    with pytest.raises(ValueError, match="below 3"):
        Interpolant(2)


def test_weights_that_are_wrong_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Interpolant.weights
    monkeypatch.setattr(Interpolant, "weights", lambda of, theta: right(of, theta) * (1 + 1e-10))
    with pytest.raises(ValueError, match="interpolant of degree 4 is wrong at"):
        Interpolant(4)


# --- order and error, measured --------------------------------------------------------------------


def deviations(got: np.ndarray, truth: np.ndarray, tolerance: float) -> np.ndarray:
    """Of each state, over the tolerance: root mean squares, (states,)."""
    return np.sqrt((((got - truth) / (tolerance * (1.0 + np.abs(truth)))) ** 2).mean(axis=1))


@needs_gcc
@pytest.mark.parametrize(("method", "correctors", "order"), METHODS)
def test_states_between_steps_have_their_order_and_keep_the_tolerance(
    method: str, correctors: int, order: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = [(1, {} if correctors else {"order": "ji"})]
    facts = facts_of(
        tmp_path, "fitzhugh-nagumo", plain, sizes=[20], method=method, correctors=correctors
    )
    assert library_facts.dense_order(facts.problem) == order
    folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    h = {3: 4.0, 4: 10.0, 5: 16.0, 6: 20.0}[order] * facts.problem.h
    with made_library.imported(folder, facts.name, monkeypatch) as library:
        solver = library.Solver(20)
        t, y = solver.initial()
        errors = []
        for size in (h, h / 2, h / 4):
            times = t + size * np.array([0.0, 0.15, 0.4, 0.6, 0.85])
            got, work = solver.solve(t, t + size, y, rtol=1.0, atol=1.0, first_step=size, at=times)
            assert work.accepted == 1
            errors.append(np.abs(got - states(facts.problem, times, y))[1:].max())
        slopes = np.log2(np.array(errors[:-1]) / errors[1:])
        assert slopes.min() >= order + 0.6, errors  # the error of y1, of higher order, is in it
        times = np.linspace(t, t + 60 * facts.problem.h, 37)
        truth = states(facts.problem, times, y)
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
            got, _ = solver.solve(t, times[-1], y, rtol=tolerance, atol=tolerance, at=times)
            assert deviations(got, truth, tolerance).max() <= 1.0


@needs_gcc
@pytest.mark.parametrize("ivp", ["wave1d", "medakzo", "flock"])
def test_they_do_for_other_right_hand_sides(
    ivp: str, wave: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(tmp_path, ivp, [(1, {})], sizes=[20])
    folder = wave
    if ivp != "wave1d":
        folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    with made_library.imported(folder, facts.name, monkeypatch) as library:
        solver = library.Solver(20)
        t, y = solver.initial()
        times = np.linspace(t, t + 60 * facts.problem.h, 37)
        truth = states(facts.problem, times, y)
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
            got, _ = solver.solve(t, times[-1], y, rtol=tolerance, atol=tolerance, at=times)
            assert deviations(got, truth, tolerance).max() <= 1.0


# --- every code -----------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("explicit", [False, True])
def test_every_code_gives_the_states_and_steps_as_without(
    explicit: bool, wave: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, extra = wave, Interpolant(4).evaluations
    if explicit:
        facts = facts_of(tmp_path, "wave1d", EXPLICIT, method="dormand-prince-5", correctors=0)
        folder = made_library.built(tmp_path / "lib", facts, optimised=False)
    end = 0.05
    with made_library.imported(folder, "wave1d", monkeypatch) as library:
        first = None
        for choice in range(library.choices()):
            for threads in (1, 3):
                solver = library.Solver(1000, threads, choice=choice)
                t, y = solver.initial()
                ends: list[tuple[float, np.ndarray]] = []
                asked = {"rtol": 1e-8, "atol": 1e-8, "first_step": 0.5}
                last, plain = solver.solve(
                    t, end, y, **asked, output=lambda t, y, ends=ends: ends.append((t, y))
                )
                assert plain.rejected > 0
                inside = np.linspace(t, end, 23)[1:-1]
                times = np.unique([t, *inside, *(at for at, _ in ends)])
                got, work = solver.solve(t, end, y, **asked, at=times)
                assert got.shape == (times.size, 1000)
                assert (work.accepted, work.rejected) == (plain.accepted, plain.rejected)
                assert np.array_equal(got[0], y)
                assert np.array_equal(got[-1], last)
                for at, state in ends:
                    assert np.array_equal(got[np.searchsorted(times, at)], state)
                steps = np.unique(np.searchsorted([at for at, _ in ends], inside))
                fresh = 1 + np.count_nonzero(np.diff(steps) > 1)
                more = fresh + steps.size * (1 + extra)
                assert work.evaluations == plain.evaluations + more
                assert work.outputs == times.size
                first = got if first is None else first
                assert np.abs(got - first).max() <= 1e-12 * np.abs(first).max(), (choice, threads)


@needs_gcc
def test_backwards_and_on_request(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        solver = library.Solver(100, 2, choice=2)
        t, y = solver.initial()
        times = np.linspace(t, 1.0, 9)
        fine = {"rtol": 1e-11, "atol": 1e-11}
        there, _ = solver.solve(t, 1.0, y, **fine, at=times)
        back, work = solver.solve(1.0, t, there[-1], **fine, at=list(times[::-1]))
        assert np.abs(back[::-1] - there).max() < 1e-9
        assert work.outputs == 9
        seen: list[tuple[float, np.ndarray]] = []

        def stop_at_half(at: float, state: np.ndarray) -> bool:
            seen.append((at, state))
            return at >= 0.5

        some, work = solver.solve(t, 1.0, y, **fine, at=times, output=stop_at_half)
        assert work.outputs == len(some) == len(seen) == 5
        assert [at for at, _ in seen] == list(times[:5])
        assert np.array_equal(some, np.array([state for _, state in seen]))
        assert np.array_equal(some, there[:5])
        none, _ = solver.solve(t, t, y, at=[t, t])
        assert np.array_equal(none, [y, y])
        assert solver.solve(t, 1.0, y, **fine, at=[])[0].shape == (0, 100)
        with pytest.raises(library.SolverError, match="most steps") as failure:
            solver.solve(t, 1.0, y, **fine, most_steps=3, at=times)
        assert 1 <= failure.value.work.outputs < 9


@needs_gcc
def test_wrong_times_are_a_code_with_a_text(wave: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(wave, "wave1d", monkeypatch) as library:
        solver = library.Solver(100)
        t, y = solver.initial()
        for wrong in ([0.2, 0.1], [-1e-9, 0.1], [0.1, 1.1], [0.1, float("nan")], [float("inf")]):
            with pytest.raises(library.SolverError, match="times of the states are not in order"):
                solver.solve(t, 1.0, y, at=wrong)
        with pytest.raises(library.SolverError, match="times of the states are not in order"):
            solver.solve(1.0, t, y, at=[0.1, 0.2])
        with pytest.raises(ValueError, match=r"at has shape \(1, 2\)"):
            solver.solve(t, 1.0, y, at=np.array([[0.1, 0.2]]))


# --- C and Fortran --------------------------------------------------------------------------------

PROGRAM = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "wave1d.h"

enum { N = 100, COUNT = 4 };
struct seen { int calls; double sum; };

static int add(double t, const double *y, void *data)
{
    struct seen *const seen = data;
    seen->calls++;
    for (int j = 0; j < N; j++) seen->sum += t * y[j];
    return 0;
}

int main(void)
{
    const double times[COUNT] = {0.0, 0.011, 0.05, 0.1};
    double *const y = malloc(N * sizeof *y), *const states = malloc(COUNT * N * sizeof *states);
    struct seen seen = {0, 0.0};
    wave1d_options options = {.rtol = 1e-8, .atol = 1e-8, .times = times, .count = COUNT};
    wave1d_work work;
    wave1d_solver *solver;
    double t, sum = 0.0;
    for (int choice = 0; choice < wave1d_choices(); choice++) {
        seen = (struct seen){0, 0.0};
        sum = 0.0;
        if (wave1d_create_with(&solver, N, 3, choice) || wave1d_initial(solver, &t, y)) return 1;
        options.states = NULL;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, NULL) != WAVE1D_BAD_ARGUMENT) return 2;
        options.states = states;
        options.count = -1;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, NULL) != WAVE1D_BAD_ARGUMENT) return 3;
        options.count = COUNT;
        options.times = NULL;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, NULL) != WAVE1D_BAD_ARGUMENT) return 4;
        options.times = (const double *)((const char *)times + 4);
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, NULL) != WAVE1D_MISALIGNED) return 5;
        options.times = times;
        options.states = y - 1;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, NULL) != WAVE1D_OVERLAP) return 6;
        options.states = states;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, &work) || work.outputs != COUNT) return 7;
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < N; j++) sum += times[i] * states[i * N + j];
        for (int j = 0; j < N; j++) if (y[j] != states[(COUNT - 1) * N + j]) return 8;
        if (wave1d_initial(solver, &t, y)) return 9;
        options.states = NULL;
        options.output = add;
        options.data = &seen;
        if (wave1d_solve(solver, 0.0, 0.1, y, &options, &work)) return 10;
        options.output = NULL;
        if (seen.calls != COUNT || fabs(sum - seen.sum) > 1e-12 * fabs(sum)) return 11;
        for (int j = 0; j < N; j++) if (y[j] != states[(COUNT - 1) * N + j]) return 12;
        if (wave1d_destroy(solver)) return 13;
    }
    free(y);
    free(states);
    return 0;
}
"""


@needs_gcc
@pytest.mark.parametrize("kind", ["plain", "sanitized"])
def test_a_c_program_gets_the_states(kind: str, wave: Path, tmp_path: Path) -> None:
    folder, sanitize = wave, []
    if kind == "sanitized":
        sanitize = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        flags = " ".join([made_library.STRICT, *sanitize])
        facts = facts_of(tmp_path, "wave1d", VARIANTS[2:3])
        folder = made_library.built(tmp_path / "lib", facts, flags=flags, optimised=False)
    (tmp_path / "main.c").write_text(PROGRAM)
    program = tmp_path / "main"
    subprocess.run(
        ["gcc", *made_library.STRICT.split(), *sanitize, f"-I{folder / 'include'}",
         tmp_path / "main.c", "-o", program, f"-L{folder}", "-lwave1d", f"-Wl,-rpath,{folder}",
         "-lm"],
        check=True,
    )  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FORTRAN = """
program main
    use wave1d
    implicit none
    type(c_ptr) :: solver
    type(wave1d_options) :: options
    type(wave1d_work) :: work
    real(c_double) :: t
    real(c_double), allocatable :: y(:)
    real(c_double), target :: times(3) = [0.0_c_double, 0.007_c_double, 0.01_c_double]
    real(c_double), allocatable, target :: states(:, :)
    if (wave1d_create(solver, 100_c_long, 1_c_int) /= 0) stop 1
    allocate (y(100), states(100, 3))
    if (wave1d_initial(solver, t, y) /= 0) stop 2
    options%times = c_loc(times)
    options%count = 3
    options%states = c_loc(states)
    if (wave1d_solve(solver, t, 0.01_c_double, y, options, work) /= 0) stop 3
    if (work%outputs /= 3) stop 4
    if (any(states(:, 3) /= y)) stop 5
    if (maxval(abs(states(:, 2) - states(:, 3))) > 0.5_c_double) stop 6
    if (wave1d_destroy(solver) /= 0) stop 7
end program
"""


@needs_gcc
def test_fortran_gets_the_states(wave: Path, tmp_path: Path) -> None:
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
