"""Exported libraries of sweeps over grids: every kind of code, equal to the reference, from C,
Python and Fortran.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import made_library
import numpy as np
import pytest
from made_library import grid_facts_of

from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Value
from autotune.errors import InputError
from autotune.language.expression import Num
from autotune.measuring.verification import grid_reference
from autotune.results.export.library import sweep_facts

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
Variants = Sequence[tuple[int, Mapping[str, Value]]]
TILED: dict[str, Value] = {"bk": 16, "bj": 8, "u": 2}
FRONT: dict[str, Value] = {"t": 4, "bj": 16}
TILES: dict[str, Value] = {"t": 3, "tiles": True, "bk": 16, "bj": 8, "bi": 128}
STREAMED: dict[str, Value] = {"nt": True, "pad": 0}
JACOBI: Variants = [
    (1, {}), (2, TILED), (2, FRONT), (3, TILES), (1, STREAMED), (2, {**STREAMED, "bj": 8}),
    (1, {"t": 8, "u": 2}), (2, {"t": 2, "tiles": True, "bj": 8}),
]  # fmt: skip
"""Threads and parameters: plain, blocked, several sweeps by planes and by tiles, streamed."""
FLAT: Variants = [
    (1, {}), (2, {"bj": 8, "u": 2}), (2, {"t": 4, "bi": 128}), (2, STREAMED),
    (3, {"t": 3, "tiles": True, "bj": 8}),
]  # fmt: skip
IN_PLACE: Variants = [(1, {}), (1, {"bk": 4, "bj": 8}), (1, {"u": 2, "pad": 0})]
COLOURED: Variants = [(1, {}), (2, {"bk": 4, "bj": 8, "bi": 128}), (3, {"pad": 0})]


@dataclass(frozen=True)
class Swept:
    """A stencil, the variants in its library, a grid that no block divides."""

    stencil: str
    variants: Variants
    extents: tuple[int, ...]
    space: str = "stencil-time"

    def grids(self) -> list[tuple[int, ...]]:
        """Grids on which the variants are tuned, all different."""
        return [
            tuple(extent + 2 * place for extent in self.extents)
            for place, _ in enumerate(self.variants)
        ]


CASES = [
    Swept("star2d-5pt", FLAT, (23, 151)),
    Swept("box2d-9pt", FLAT, (1, 7)),
    Swept("star3d-7pt", JACOBI, (19, 21, 45)),
    Swept("star3d-7pt-variable", JACOBI, (13, 9, 33)),
    Swept("star3d-13pt", JACOBI, (17, 23, 31)),
    Swept("gauss-seidel3d-7pt", IN_PLACE, (11, 9, 23), "gauss-seidel"),
    Swept("red-black3d-7pt", COLOURED, (11, 9, 23), "gauss-seidel"),
]


def module_name(stencil: str) -> str:
    return stencil.replace("-", "_")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Swept], Path]:
    """The library of a case, built when it is first asked for."""
    made: dict[str, Path] = {}

    def library(case: Swept) -> Path:
        if case.stencil not in made:
            folder = tmp_path_factory.mktemp(module_name(case.stencil))
            made[case.stencil] = made_library.built(
                folder / "lib", facts_of(folder, case), calls=False
            )
        return made[case.stencil]

    return library


@pytest.fixture(scope="module")
def star(libraries: Callable[[Swept], Path]) -> Path:
    """A library of the 7-point star with coefficient arrays."""
    return libraries(next(case for case in CASES if case.stencil == "star3d-7pt-variable"))


def facts_of(folder: Path, case: Swept) -> sweep_facts.SweepFacts:
    return grid_facts_of(folder, case.stencil, case.variants, case.grids(), case.space)


def problem_of(folder: Path, stencil: str, extents: Sequence[int]) -> StencilProblem:
    space = "stencil-time" if stencil.startswith(("star", "box")) else "gauss-seidel"
    (problem,) = made_library.grid_setup(folder, stencil, [extents], space).problems
    assert isinstance(problem, StencilProblem)
    return problem


def interior(u: np.ndarray, radius: int) -> np.ndarray:
    return u[(slice(radius, -radius),) * u.ndim]


def deviation(state: np.ndarray, expected: np.ndarray) -> float:
    assert np.isfinite(state).all()
    return float(np.abs(state - expected).max() / np.abs(expected).max())


# --- equal to the reference -----------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stencil)
def test_every_code_sweeps_as_the_reference(
    case: Swept,
    libraries: Callable[[Swept], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = libraries(case)
    done = subprocess.run([folder / "self_test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    problem = problem_of(tmp_path, case.stencil, case.extents)
    radius = problem.stencil.radius
    expected = {
        sweeps: grid_reference.sweeps(problem, sweeps).reshape(case.extents) for sweeps in (1, 11)
    }
    with made_library.imported(folder, module_name(case.stencil), monkeypatch) as library:
        assert library.choices() == len(case.variants)
        for choice in range(library.choices()):
            for threads in (1, 2, 3):
                with library.Grid(case.extents, threads, choice=choice) as grid:
                    start = grid.initial()
                    assert np.array_equal(start, grid_reference.initial(problem))
                    grid.run(1)
                    first = grid.get()
                    grid.run(10)
                    last = grid.get()
                    again = grid.sweep(start, 11)
                    for state, sweeps in ((first, 1), (last, 11), (again, 11)):
                        error = deviation(interior(state, radius), expected[sweeps])
                        assert error <= 1e-12, (choice, threads, sweeps)
                        outside = np.ones_like(state, dtype=bool)
                        interior(outside, radius)[...] = False
                        assert np.array_equal(state[outside], start[outside])
                    alone = problem.stencil.order == "lexicographic"
                    assert grid.choice.team == (1 if alone else threads)


@needs_gcc
def test_any_values_border_and_coefficients_are_swept(
    star: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extents = (7, 15, 21)
    shape = tuple(extent + 2 for extent in extents)
    random = np.random.default_rng(1)
    u = random.uniform(-1.0, 1.0, shape)
    given = {name: random.uniform(0.0, 0.2, shape) for name in "CWESNBT"}
    expected = u.copy()
    for _ in range(7):
        expected[1:-1, 1:-1, 1:-1] = star_by_hand(expected, given)
    with made_library.imported(star, "star3d_7pt_variable", monkeypatch) as library:
        assert tuple(given) == library.COEFFICIENTS
        for choice in range(library.choices()):
            with library.Grid(extents, 2, choice=choice) as grid:
                swept = grid.sweep(u, 3, coefficients=given)
                swept = grid.sweep(swept, 4)  # coefficients stay
                assert deviation(swept, expected) <= 1e-12, choice
                assert np.array_equal(grid.get("N"), given["N"])
                grid.put(u)
                grid.run(7)
                assert deviation(grid.get(), expected) <= 1e-12, choice
                same = u.copy()
                assert grid.sweep(same, 7, out=same) is same
                assert deviation(same, expected) <= 1e-12, choice
                grid.put(coefficients={"C": np.zeros(shape)})
                assert np.array_equal(grid.get("C"), np.zeros(shape))
                assert np.array_equal(grid.sweep(u, 0), u)


def star_by_hand(u: np.ndarray, c: Mapping[str, np.ndarray]) -> np.ndarray:
    """A sweep with a coefficient array for each point of the star, written out."""
    at = (slice(1, -1),) * 3
    moved = {
        "C": (0, 0, 0), "W": (0, 0, -1), "E": (0, 0, 1), "S": (0, -1, 0), "N": (0, 1, 0),
        "B": (-1, 0, 0), "T": (1, 0, 0),
    }  # fmt: skip
    return sum(
        c[name][at] * np.roll(u, [-d for d in by], (0, 1, 2))[at] for name, by in moved.items()
    )


@needs_gcc
def test_names_of_stencils_need_not_be_names_of_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coefficients that differ in case only, or are named like what the code itself names."""
    kernels = Path(__file__).parents[3] / "kernels"
    text = (kernels / "stencil" / "star2d-5pt.yaml").read_text()
    text = text.replace("constants: {c0: 0.4, c1: 0.15}", "constants: {c0: 0.4, radius: 0.15}")
    text = text.replace("c1*", "radius*").replace(
        "body: c0*", "body: a[j][i]*A[j][i]*self[j][i]*c0*"
    )
    text += 'coefficients: {a: "1.0", A: "1.0", self: "1.0 + 0.0*i"}\n'
    stencil = tmp_path / "sweeper.yaml"
    stencil.write_text(text)
    facts = grid_facts_of(tmp_path, str(stencil), [(2, {"t": 2})], [(9, 19)])
    assert facts.name == "stencil_sweeper"
    assert len({name.lower() for name in facts.arrays}) == 4
    folder = made_library.built(tmp_path / "lib", facts, calls=False)
    assert subprocess.run([folder / "self_test"], stdout=subprocess.DEVNULL).returncode == 0
    with made_library.imported(folder, facts.name, monkeypatch) as library:
        grid = library.Grid((9, 19))
        swept = grid.sweep(grid.initial(), coefficients={"self": np.zeros(grid.shape)})
        assert swept[1:-1, 1:-1].any()
        assert library.COEFFICIENTS == ("a", "A", "self")
    assert fortran_compiles(folder, facts.name)


# --- the choice -----------------------------------------------------------------------------------


@needs_gcc
def test_the_choice_follows_points_and_threads(star: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(star, "star3d_7pt_variable", monkeypatch) as library:
        for extents, threads, tuned in (((13, 9, 33), 1, 1), ((5, 5, 5), 2, 2), ((9, 9, 9), 7, 3)):
            choice = library.Grid(extents, threads).choice
            assert choice.threads == tuned
            assert not choice.tuned_here
            assert choice.points >= 13 * 9 * 33


# --- wrong input ----------------------------------------------------------------------------------


@needs_gcc
def test_wrong_input_is_a_code_with_a_text(star: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with made_library.imported(star, "star3d_7pt_variable", monkeypatch) as library:
        for extents in ((0, 5, 5), (5, -1, 5), (2**31, 5, 5), (2**30, 2**30, 5)):
            with pytest.raises(library.GridError, match="no grid of these sizes"):
                library.Grid(extents)
        with pytest.raises(library.GridError, match="no memory"):
            library.Grid((2**20, 2**20, 2**10))
        for threads in (-1, 5000):
            with pytest.raises(library.GridError, match="negative"):
                library.Grid((5, 5, 5), threads)
        with pytest.raises(library.GridError, match="no choice"):
            library.Grid((5, 5, 5), choice=99)
        with pytest.raises(OverflowError, match="does not fit"):
            library.Grid((2**64, 5, 5))
        with pytest.raises(ValueError, match="has 3 extents, not 2"):
            library.Grid((5, 5))
        with pytest.raises(TypeError, match=r"the extents are 5, expected: \(k, j, i\)"):
            library.Grid(5, 5)
        refused_arrays(library)


def refused_arrays(library: ModuleType) -> None:
    """What a grid refuses leaves it as it was."""
    grid = library.Grid((5, 6, 7))
    u = grid.initial()
    with pytest.raises(library.GridError, match="negative"):
        grid.run(-1)
    with pytest.raises(ValueError, match=r"u has shape \(5, 6, 7\)"):
        grid.sweep(u[1:-1, 1:-1, 1:-1])
    with pytest.raises(TypeError, match="safe"):
        grid.sweep(u + 1j)
    with pytest.raises(ValueError, match="no coefficient X"):
        grid.sweep(u, coefficients={"X": u})
    with pytest.raises(ValueError, match="no array v"):
        grid.get("v")
    with pytest.raises(ValueError, match="not a writeable array in C order"):
        grid.sweep(u, out=np.asfortranarray(u))
    with pytest.raises(ValueError, match="of float32"):
        grid.sweep(u, out=u.astype(np.float32))
    assert np.array_equal(grid.get(), u)
    backwards = grid.sweep(np.asfortranarray(u), 2)
    assert np.array_equal(backwards, grid.sweep(u, 2))


# --- foreign programs -----------------------------------------------------------------------------

FOREIGN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 100 /* macros of a program do no harm to the header */
#define I 7
#include "star3d_7pt_variable.h"
#define CALL(function) star3d_7pt_variable_##function
#define NONE NULL, NULL, NULL, NULL, NULL, NULL, NULL

struct part { long nk; int code; double *u; };

static void *run(void *data)
{
    struct part *const part = data;
    star3d_7pt_variable_grid *grid;
    part->u = malloc((size_t)CALL(elements)(part->nk, 9, 21) * sizeof *part->u);
    part->code = CALL(create)(&grid, part->nk, 9, 21, 2);
    if (!part->code) part->code = CALL(get)(grid, part->u, NONE);
    for (int k = 0; !part->code && k < 20; k++) part->code = CALL(sweep)(grid, 3, part->u, NONE);
    CALL(destroy)(grid);
    return NULL;
}

static int refused(void)
{
    const long count = CALL(elements)(5, 5, 5);
    double *const two = calloc(2 * (size_t)count, sizeof *two);
    star3d_7pt_variable_grid *grid;
    if (count != 7 * 7 * 7 || CALL(elements)(0, 5, 5) != -1) return 1;
    if (CALL(create)(NULL, 5, 5, 5, 1) != STAR3D_7PT_VARIABLE_BAD_ARGUMENT) return 2;
    if (CALL(create)(&grid, 5, 5, 0, 1) != STAR3D_7PT_VARIABLE_BAD_SIZE || grid) return 3;
    if (CALL(create)(&grid, 5, 5, 5, 1)) return 4;
    double *const odd = (double *)((char *)two + 1);
    if (CALL(sweep)(grid, 1, odd, NONE) != STAR3D_7PT_VARIABLE_MISALIGNED) return 5;
    if (CALL(put)(grid, NULL, odd, NULL, NULL, NULL, NULL, NULL, NULL)
        != STAR3D_7PT_VARIABLE_MISALIGNED) return 6;
    if (CALL(sweep)(grid, 1, two, two + count - 1, NULL, NULL, NULL, NULL, NULL, NULL)
        != STAR3D_7PT_VARIABLE_OVERLAP) return 7;
    if (CALL(get)(grid, two, two, NULL, NULL, NULL, NULL, NULL, NULL)
        != STAR3D_7PT_VARIABLE_OVERLAP) return 8;
    if (CALL(sweep)(grid, 1, NULL, NONE) != STAR3D_7PT_VARIABLE_BAD_ARGUMENT) return 9;
    if (CALL(sweep)(NULL, 1, two, NONE) != STAR3D_7PT_VARIABLE_BAD_ARGUMENT) return 10;
    if (CALL(run)(grid, -1) != STAR3D_7PT_VARIABLE_BAD_ARGUMENT) return 11;
    double *const second = two + count; /* one array may be two coefficients */
    if (CALL(sweep)(grid, 1, two, second, second, NULL, NULL, NULL, NULL, NULL)) return 12;
    CALL(destroy)(grid);
    CALL(destroy)(NULL);
    free(two);
    return 0;
}

int main(void)
{
    enum { PARTS = 4 };
    struct part parts[PARTS] = {{5, 0, NULL}, {17, 0, NULL}, {5, 0, NULL}, {17, 0, NULL}};
    pthread_t threads[PARTS];
    for (int i = 0; i < PARTS; i++) pthread_create(&threads[i], NULL, run, &parts[i]);
    for (int i = 0; i < PARTS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < PARTS; i++) if (parts[i].code) return 20 + parts[i].code;
    for (int i = 0; i < 2; i++)
        if (memcmp(parts[i].u, parts[i + 2].u,
                   (size_t)CALL(elements)(parts[i].nk, 9, 21) * sizeof(double))) return 13;
    for (int i = 0; i < PARTS; i++) free(parts[i].u);
    puts(CALL(text)(STAR3D_7PT_VARIABLE_BUSY));
    return refused();
}
"""

BUSY = r"""
#include <pthread.h>
#include <stdatomic.h>
#include "star2d_5pt.h"

static star2d_5pt_grid *grid;
static atomic_int begun, ended;

static void *long_run(void *sweeps)
{
    begun = 1;
    star2d_5pt_run(grid, *(long *)sweeps);
    ended = 1;
    return NULL;
}

int main(void)
{
    int busy = 0;
    if (star2d_5pt_create(&grid, 9, 19, 1)) return 1;
    /* again where the run had ended, or was refused, before this thread could ask */
    for (long sweeps = 2000000; busy != STAR2D_5PT_BUSY && sweeps < 2000000000; sweeps *= 2) {
        pthread_t thread;
        begun = ended = 0;
        pthread_create(&thread, NULL, long_run, &sweeps);
        while (!begun)
            ;
        while (!ended && busy != STAR2D_5PT_BUSY) busy = star2d_5pt_run(grid, 0);
        if (busy == STAR2D_5PT_BUSY && star2d_5pt_destroy(grid) != STAR2D_5PT_BUSY) return 2;
        pthread_join(thread, NULL);
    }
    star2d_5pt_destroy(grid);
    return busy == STAR2D_5PT_BUSY ? 0 : 3;
}
"""

FEW = r"""
#include <omp.h>
#include <stdio.h>
#include "star2d_5pt.h"

int main(void)
{
    star2d_5pt_grid *grid;
    int code = 0, alone = 0;
    omp_set_max_active_levels(1); /* within a team there are no more threads */
    if (star2d_5pt_create(&grid, 9, 19, 2)) return 1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        star2d_5pt_grid *inner;
        star2d_5pt_choice choice;
        code = star2d_5pt_run(grid, 1);
        alone = star2d_5pt_create(&inner, 9, 19, 2) || star2d_5pt_chosen(inner, &choice)
                || choice.team != 1 || star2d_5pt_run(inner, 1) || star2d_5pt_destroy(inner);
    }
    puts(star2d_5pt_text(code));
    if (star2d_5pt_run(grid, 1)) return 2;
    star2d_5pt_destroy(grid);
    return alone ? 3 : code != STAR2D_5PT_FEW_THREADS;
}
"""


def compiled(compiler: str, text: str, library: Path, name: str, folder: Path) -> Path:
    """A foreign program that links a library."""
    source, program = folder / ("main.cpp" if compiler == "g++" else "main.c"), folder / "main"
    if compiler == "g++":
        text = text.replace("= malloc(", "= (double *)malloc(").replace(
            "= calloc(", "= (double *)calloc("
        )
        text = text.replace("= data;", "= (struct part *)data;")
    source.write_text(text)
    warnings = made_library.STRICT.split() if compiler != "g++" else ["-Wall", "-Werror"]
    subprocess.run(
        [compiler, *warnings, f"-I{library / 'include'}", source, "-o", program,
         f"-L{library}", f"-l{name}", f"-Wl,-rpath,{library}", "-lpthread", "-fopenmp"],
        check=True,
    )  # fmt: skip
    return program


@needs_gcc
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang"])
def test_a_foreign_program_links_it_and_grids_are_independent(
    compiler: str, star: Path, tmp_path: Path
) -> None:
    made_library.need_openmp(compiler)
    program = compiled(compiler, FOREIGN, star, "star3d_7pt_variable", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.returncode
    assert "running" in done.stdout


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the 5-point star with one code."""
    folder = tmp_path_factory.mktemp("flat")
    facts = grid_facts_of(folder, "star2d-5pt", [(1, {}), (2, {"bj": 8})], [(9, 19), (11, 21)])
    return made_library.built(folder / "lib", facts, calls=False)


@needs_gcc
def test_a_grid_that_is_running_is_busy(flat: Path, tmp_path: Path) -> None:
    program = compiled("gcc", BUSY, flat, "star2d_5pt", tmp_path)
    assert subprocess.run([program]).returncode == 0


@needs_gcc
def test_fewer_threads_than_before_are_a_code(flat: Path, tmp_path: Path) -> None:
    program = compiled("gcc", FEW, flat, "star2d_5pt", tmp_path)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.returncode
    assert "fewer threads" in done.stdout


@needs_gcc
@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[6]], ids=lambda case: case.stencil)
def test_sanitizers_find_nothing(case: Swept, tmp_path: Path) -> None:
    flags = f"{made_library.STRICT} -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    facts = facts_of(tmp_path, case)
    folder = made_library.built(tmp_path / "lib", facts, flags=flags, optimised=False)
    done = subprocess.run([folder / "self_test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_clang_builds_it(tmp_path: Path) -> None:
    made_library.need_openmp("clang")
    folder = made_library.built(tmp_path / "lib", facts_of(tmp_path, CASES[2]), compiler="clang")
    assert subprocess.run([folder / "self_test"], stdout=subprocess.DEVNULL).returncode == 0


FORTRAN = """
program main
    use star3d_7pt_variable
    implicit none
    type(c_ptr) :: grid
    integer(c_long), parameter :: nk = 5, nj = 6, ni = 7
    real(c_double) :: u(ni + 2, nj + 2, nk + 2), c(ni + 2, nj + 2, nk + 2)
    if (star3d_7pt_variable_elements(nk, nj, ni) /= size(u)) stop 1
    if (star3d_7pt_variable_create(grid, nk, nj, ni, 1_c_int) /= 0) stop 2
    u = 0
    u(4, 5, 3) = 1
    c = 0
    if (star3d_7pt_variable_put(grid, coefficient_C=c, coefficient_W=c) /= 0) stop 3
    c = 0.25_c_double
    if (star3d_7pt_variable_sweep(grid, 1_c_long, u, coefficient_E=c) /= 0) stop 4
    if (u(4, 5, 3) /= 0 .or. u(3, 5, 3) /= 0.25_c_double .or. u(5, 5, 3) /= 0) stop 5
    if (star3d_7pt_variable_run(grid, 3_c_long) /= 0) stop 6
    if (star3d_7pt_variable_get(grid, u, coefficient_E=c) /= 0) stop 7
    if (any(c /= 0.25_c_double)) stop 8
    if (star3d_7pt_variable_destroy(grid) /= 0) stop 9
end program
"""


def fortran_compiles(folder: Path, name: str) -> bool:
    """Whether the module compiles; True where there is no gfortran."""
    if shutil.which("gfortran") is None:
        return True
    command = ["gfortran", "-Wall", "-Wno-c-binding-type", "-fsyntax-only", f"{name}.f90"]
    return subprocess.run(command, cwd=folder / "fortran").returncode == 0


@needs_gcc
def test_fortran_calls_it(star: Path, tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("optional: needs gfortran")
    (tmp_path / "main.f90").write_text(FORTRAN)
    program = tmp_path / "main"
    subprocess.run(
        ["gfortran", "-Wall", "-Wno-c-binding-type", star / "fortran" / "star3d_7pt_variable.f90",
         tmp_path / "main.f90", "-o", program, f"-L{star}", "-lstar3d_7pt_variable",
         f"-Wl,-rpath,{star}"],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    assert subprocess.run([program]).returncode == 0


@needs_gcc
def test_cmake_builds_installs_and_tests_it(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("optional: needs cmake")
    facts = grid_facts_of(tmp_path, "star2d-5pt", [(1, {}), (2, {"t": 4})], [(9, 19), (11, 21)])
    folder, build, prefix = (
        made_library.written(tmp_path / "lib", facts),
        tmp_path / "b",
        tmp_path / "p",
    )
    for command in (
        ["cmake", "-S", folder, "-B", build, "-DCMAKE_INSTALL_LIBDIR=lib"],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build],
        ["cmake", "--install", build, "--prefix", prefix],
    ):
        subprocess.run(command, check=True, capture_output=True)
    installed = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    assert installed >= {
        "include/star2d_5pt.h", "lib/libstar2d_5pt.so", "lib/pkgconfig/star2d_5pt.pc"
    }  # fmt: skip


@needs_gcc
def test_the_python_module_is_typed(tmp_path: Path) -> None:
    facts = grid_facts_of(tmp_path, "star2d-5pt", [(1, {})], [(9, 19)])
    folder = made_library.written(tmp_path / "lib", facts)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "star2d_5pt"],
        cwd=folder / "python", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_no_file_tells_of_functions_of_solvers(tmp_path: Path) -> None:
    folder = made_library.written(
        tmp_path / "lib", grid_facts_of(tmp_path, "star2d-5pt", [(1, {})], [(9, 19)])
    )
    texts = [folder / "README.md", folder / "python" / "star2d_5pt" / "__init__.py"]
    texts += [*folder.glob("include/*.h"), *folder.glob("fortran/*.f90")]
    assert len(texts) == 4
    for path in texts:
        assert not re.search(r"[Ss]olver|\brhs\b|compiled ", path.read_text()), path


# --- what cannot be a library ---------------------------------------------------------------------


def test_other_stencils_are_refused(tmp_path: Path) -> None:
    made = made_library.grid_setup(tmp_path, "star2d-5pt", [(9, 19)], "stencil-time")
    wanted = made_library.chosen(made, [(1, {})], made_library.PLAIN_SWEEP)
    other = made_library.grid_setup(tmp_path, "box2d-9pt", [(9, 19)], "stencil-time")
    with pytest.raises(InputError, match="no choice of a problem of the config"):
        sweep_facts.gather(wanted, other, {})
    (problem,) = made.problems
    assert isinstance(problem, StencilProblem)
    changed = replace(problem, stencil=replace(problem.stencil, initial=Num(1)))
    with pytest.raises(InputError, match="is another today"):
        sweep_facts.gather(wanted, replace(made, problems=(changed,)), {})
