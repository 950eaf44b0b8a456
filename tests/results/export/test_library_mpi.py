"""The exported library on several MPI ranks: equal to the reference, one outcome on all ranks."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import codegen_build
import made_library
import numpy as np
import pytest
from made_library import Ranks, facts_of
from scipy.integrate import solve_ivp

from autotune.domain.variant import Value
from autotune.errors import InputError, MissingTool
from autotune.measuring.jobs import job
from autotune.measuring.verification import ivp_reference
from autotune.results.export import header
from autotune.results.export.entries import ExportEntry
from autotune.results.export.library import library_facts, library_files
from autotune.results.export.library.library_facts import LibraryFacts
from autotune.toolchain import mpi

try:
    MPICC = mpi.find().mpicc if mpi.find().mpiexec else None
except MissingTool:
    MPICC = None
pytestmark = pytest.mark.skipif(
    MPICC is None or shutil.which("gcc") is None, reason="needs gcc, mpicc and mpiexec"
)

BLOCKED: dict[str, Value] = {"block": 128, "au": True, "order": "jil", "reg": True}
LIMITED: list[tuple[int, dict[str, Value]]] = [
    (1, {}),
    (1, {}),
    (2, {"order": "ilj", "tile": 256, "rhslc": True, "au": False}),
    (2, {**BLOCKED, "once": True, "align": 8}),
    (1, {**BLOCKED, "inplace": True}),
    (2, {"order": "jli", "au": True}),
]
LIMITED_RANKS: Ranks = [
    (1, "none"), (2, "neighbour"), (2, "allgather"), (3, "neighbour"), (3, "allgather"),
    (2, "sparse"),
]  # fmt: skip
DENSE: list[tuple[int, dict[str, Value]]] = [(1, {}), (2, {"order": "ilj", "au": True})]
EXPLICIT: list[tuple[int, dict[str, Value]]] = [
    (1, {"order": "ji"}),
    (2, {"order": "ij", "tile": 256}),
    (2, {"order": "ji", "block": 128, "au": True, "reg": True, "inplace": True}),
]
EXPLICIT_RANKS: Ranks = [(2, "sparse"), (2, "allgather"), (3, "neighbour")]
ALL: Ranks = [(2, "allgather"), (3, "allgather")]

BLOCKS = r"""
/* With every choice and 1 and 2 threads: steps, a right-hand side and a solution of all ranks, in
   the file; arguments: file, size, h, steps, t1, tolerance, first choice of several ranks. */
#include <stdio.h>
#include <stdlib.h>
#include "NAME_mpi.h"

static FILE *out;
static int rank, ranks, strange;
static long n;

/* The library communicates on a communicator of its own. */
int MPI_Allreduce(const void *s, void *r, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    strange += comm == MPI_COMM_WORLD;
    return PMPI_Allreduce(s, r, count, type, op, comm);
}

int MPI_Isend(const void *s, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    strange += comm == MPI_COMM_WORLD;
    return PMPI_Isend(s, count, type, to, tag, comm, request);
}

int MPI_Allgatherv(const void *s, int count, MPI_Datatype type, void *r, const int *counts,
                   const int *starts, MPI_Datatype to, MPI_Comm comm)
{
    strange += comm == MPI_COMM_WORLD;
    return PMPI_Allgatherv(s, count, type, r, counts, starts, to, comm);
}

static void write_all(NAME_solver *solver, double *y)
{
    long first, count;
    double *const all = malloc((size_t)n * sizeof *all);
    int *const counts = malloc((size_t)ranks * sizeof *counts);
    int *const starts = malloc((size_t)ranks * sizeof *starts);
    if (!all || !counts || !starts || NAME_block(solver, &first, &count))
        MPI_Abort(MPI_COMM_WORLD, 3);
    const int mine = (int)count, from = (int)first;
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&from, 1, MPI_INT, starts, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Gatherv(y, mine, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!rank) fwrite(all, sizeof *all, (size_t)n, out);
    free(all);
    free(counts);
    free(starts);
}

static int run(int choice, int threads, char **words)
{
    const long size = atol(words[2]), steps = atol(words[4]);
    const double h = atof(words[3]), t1 = atof(words[5]), tolerance = atof(words[6]);
    NAME_solver *solver;
    NAME_choice chosen;
    NAME_work work;
    const NAME_options options = {.rtol = tolerance, .atol = tolerance};
    double t;
    long first, count;
    int code = NAME_create_mpi_with(&solver, MPI_COMM_WORLD, size, threads, choice);
    if (code) return code;
    n = NAME_components(size);
    NAME_block(solver, &first, &count);
    NAME_chosen(solver, &chosen);
    if (chosen.team != threads) return 100;
    double *const y = malloc(((size_t)count + 1) * sizeof *y);
    double *const dy = malloc(((size_t)count + 1) * sizeof *dy);
    y[count] = dy[count] = 42.0;
    if (!code) code = NAME_initial(solver, &t, y);
    if (!code) code = NAME_step(solver, t, h, steps - 1, y);
    if (!code) code = NAME_step(solver, t + (double)(steps - 1) * h, h, 1, y);
    write_all(solver, y);
    if (!code) code = NAME_initial(solver, &t, y);
    if (!code) code = NAME_rhs(solver, t + 0.25, y, dy);
    write_all(solver, dy);
    if (!code) code = NAME_solve(solver, t, t1, y, &options, &work);
    write_all(solver, y);
    if (y[count] != 42.0 || dy[count] != 42.0) code = 101;
    free(y);
    free(dy);
    return code ? code : NAME_destroy(solver);
}

int main(int count, char **words)
{
    int provided, code = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!rank) out = fopen(words[1], "wb");
    for (int i = ranks > 1 ? atoi(words[7]) : 0; !code && i < NAME_choices(); i++)
        for (int threads = 1; !code && threads < 3; threads++)
            code = run(i, threads, words);
    if (out) fclose(out);
    if (code) fprintf(stderr, "rank %d: %d %s\n", rank, code, NAME_text(code));
    MPI_Finalize();
    return code ? code : strange ? 102 : 0;
}
"""


def _built(folder: Path, facts: LibraryFacts, **how: object) -> Path:
    assert MPICC
    return made_library.built(folder / "lib", facts, mpicc=MPICC, **{"calls": False, **how})


def _compiled(folder: Path, name: str, text: str, target: Path, *flags: str) -> Path:
    """A C program of the library in a folder."""
    assert MPICC
    source = target.with_suffix(".c")
    source.write_text(text.replace("NAME", name).replace(f"{name}_OK", f"{name.upper()}_OK"))
    subprocess.run(
        [MPICC, *made_library.STRICT.split(), "-O1", *flags, f"-I{folder / 'include'}", source,
         "-o", target, f"-L{folder}", f"-l{name}", f"-Wl,-rpath,{folder}", "-lm"],
        check=True, env={**os.environ, "OMPI_CC": "gcc"},
    )  # fmt: skip
    return target


def _run(program: Path, ranks: int, threads: int = 1, *arguments: object) -> str:
    """The output of the ranks, which must succeed."""
    done = codegen_build.launch(program, ranks, threads, [str(word) for word in arguments])
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


CASES: dict[str, tuple[str, int, list[tuple[int, dict[str, Value]]], Ranks, str, int]] = {
    "limited": ("wave1d", 300, LIMITED, LIMITED_RANKS, "radau-iia-5", 4),
    "dense": ("flock", 60, DENSE, ALL, "radau-iia-5", 4),
    "time": ("inverterchain", 300, LIMITED[:3], LIMITED_RANKS[:3], "radau-iia-5", 4),
    "explicit": ("wave1d", 300, EXPLICIT, EXPLICIT_RANKS, "bogacki-shampine-3", 0),
    "explicit dense": ("flock", 60, [(1, {"order": "ji"})], ALL[:1], "bogacki-shampine-3", 0),
}
"""IVP, size, variants, their ranks, method, corrector steps."""


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    ivp, size, variants, ranks, method, correctors = CASES[request.param]
    folder = tmp_path_factory.mktemp("case")
    facts = facts_of(folder, ivp, variants, method=method, correctors=correctors, ranks=ranks)
    library = _built(folder, facts)
    program = _compiled(library, facts.name, BLOCKS, folder / "blocks")
    problem = replace(facts.problem, size=size)
    f, y0 = ivp_reference.rhs(problem.ivp, size), ivp_reference.initial(problem.ivp, size)
    start, end = problem.ivp.start, problem.ivp.start + 20 * problem.h
    done = solve_ivp(f, (start, end), y0, method="DOP853", rtol=1e-12, atol=1e-12)
    return facts, program, problem, end, f(start + 0.25, y0), done.y[:, -1]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_code_on_ranks_and_threads_agrees_with_the_reference(case, ranks: int) -> None:
    facts, program, problem, end, slope, solution = case
    out = program.parent / f"{ranks}.bin"
    several = sum(entry.layout.ranks == 1 for entry in facts.entries)
    steps, tolerance = 4, 1e-8
    _run(
        program, ranks, 2,
        out, problem.size, problem.h.hex(), steps, float(end).hex(), tolerance, several,
    )  # fmt: skip
    stepped = ivp_reference.integrate(problem, steps)
    states = np.fromfile(out).reshape(-1, 3, problem.n)
    assert len(states) == 2 * (len(facts.entries) - several * (ranks > 1))
    for state, derivative, solved in states:
        assert np.abs(state - stepped).max() <= 1e-12 * np.abs(stepped).max()
        assert np.abs(derivative - slope).max() <= 1e-12 * np.abs(slope).max()
        assert np.abs(solved - solution).max() <= 1e3 * tolerance * max(1, np.abs(solution).max())
    solved = states[:, 2]
    assert np.abs(solved - solved[0]).max() <= 1e-10 * np.abs(solved[0]).max()


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the inverter chain, for one process and for several ranks."""
    folder = tmp_path_factory.mktemp("chain")
    ways: Ranks = [(1, "none"), (2, "neighbour"), (4, "allgather")]
    variants = [(1, {}), (1, {}), (2, {})]
    return _built(folder, facts_of(folder, "inverterchain", variants, ranks=ways))


# --- one rank fails -------------------------------------------------------------------------------

FAULTS = r"""
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "NAME_mpi.h"

static const double t0 = 7e-9, t1 = 8e-9, h = 1e-11;
static int rank, ranks, wrong, starved;

/* Memory that one rank does not get. */
int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = starved && alignment == 4096 ? NULL : aligned_alloc(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

/* All ranks must come here with the code. */
static void expect(int code, int expected, const char *what)
{
    int least = code, most = code;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (least != expected || most != expected) {
        wrong = 1;
        if (!rank) printf("%s: %d to %d, not %d\n", what, least, most, expected);
    }
}

static int third(double t, const double *y, void *data)
{
    int *const calls = data;
    (void)t;
    (void)y;
    return ++*calls == 3 && rank == 1;
}

static int create(NAME_solver **solver, long size, int threads)
{
    return NAME_create_mpi(solver, MPI_COMM_WORLD, size, threads);
}

static int create_with(int choice)
{
    NAME_solver *solver;
    return NAME_create_mpi_with(&solver, MPI_COMM_WORLD, 100, 1, choice);
}

static void creations(void)
{
    NAME_solver *solver = NULL;
    const int odd = rank == 1;
    expect(create(odd ? NULL : &solver, 100, 1), UPPER_BAD_ARGUMENT, "place");
    expect(solver != NULL, 0, "a solver of ranks that failed");
    expect(create(&solver, odd ? 100 : 101, 1), UPPER_RANKS_DIFFER, "size");
    expect(create(&solver, odd ? -1 : 100, 1), UPPER_BAD_SIZE, "no size");
    expect(create(&solver, 100, odd ? -1 : 1), UPPER_BAD_ARGUMENT, "threads");
    if (ranks == 3) expect(create(&solver, 2, 1), UPPER_FEW_COMPONENTS, "few components");
    expect(create_with(0), UPPER_BAD_ARGUMENT, "a choice of one rank");
    expect(create_with(odd ? 1 : 2), UPPER_RANKS_DIFFER, "choice");
    expect(create_with(odd ? -1 : 1), UPPER_BAD_ARGUMENT, "no choice");
    expect(NAME_create_mpi(&solver, MPI_COMM_NULL, 100, 1), UPPER_BAD_COMMUNICATOR, "none");
    starved = odd;
    expect(create(&solver, 100, 1), UPPER_NO_MEMORY, "memory");
    starved = 0;
    expect(solver != NULL, 0, "a solver of ranks that failed");
}

static void calls(NAME_solver *solver)
{
    double y[100], dy[100], before[100], t;
    long first, count;
    int seen = 0;
    const int odd = rank == 1;
    NAME_options options = {.rtol = 1e-6, .atol = 1e-6};
    NAME_work work;
    NAME_block(solver, &first, &count);
    expect(NAME_initial(solver, &t, odd ? NULL : y), UPPER_BAD_ARGUMENT, "no array");
    expect(NAME_initial(solver, odd ? NULL : &t, y), UPPER_BAD_ARGUMENT, "no time");
    expect(NAME_initial(solver, &t, y), UPPER_OK, "initial values");
    memcpy(before, y, sizeof y);
    expect(NAME_step(solver, t0, h, 1, odd ? NULL : y), UPPER_BAD_ARGUMENT, "no array");
    expect(NAME_step(solver, odd ? NAN : t0, h, 1, y), UPPER_BAD_ARGUMENT, "no time");
    expect(NAME_step(solver, t0, odd ? h : 2 * h, 1, y), UPPER_RANKS_DIFFER, "h");
    expect(NAME_step(solver, t0, h, odd ? 3 : 1, y), UPPER_RANKS_DIFFER, "steps");
    expect(NAME_step(solver, t0, h, 1, odd ? (double *)((char *)y + 1) : y), UPPER_MISALIGNED,
           "alignment");
    expect(NAME_rhs(solver, t0, y, odd ? y : dy), UPPER_OVERLAP, "overlap");
    expect(odd ? NAME_rhs(solver, t0, y, dy) : NAME_step(solver, t0, h, 1, y),
           UPPER_RANKS_DIFFER, "function");
    options.rtol = odd ? -1.0 : 1e-6;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_BAD_TOLERANCE, "tolerance");
    options.rtol = odd ? 1e-5 : 1e-6;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_RANKS_DIFFER, "tolerance");
    options.rtol = 1e-6;
    if (odd) options.rule = (enum NAME_rule)7;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_BAD_ARGUMENT, "rule");
    options.rule = UPPER_PI;
    options.most_steps = 2;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_TOO_MANY_STEPS, "many steps");
    memcpy(y, before, sizeof y);
    options.most_steps = 0;
    if (odd) omp_set_max_active_levels(0);
    expect(NAME_step(solver, t0, h, 1, y), UPPER_FEW_THREADS, "few threads");
    omp_set_max_active_levels(1);
    const double at[] = {t0};
    options.times = at;
    options.states = dy;
    options.count = 1;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_ONE_PROCESS, "times");
    options.count = odd;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_ONE_PROCESS, "times of a rank");
    options.count = 0;
    expect(NAME_choose(solver, odd ? "wisdom" : NULL), UPPER_ONE_PROCESS, "choice on line");
    expect(odd ? NAME_choose(solver, NULL) : NAME_step(solver, t0, h, 1, y), UPPER_ONE_PROCESS,
           "choice on line of a rank");
    options.output = third;
    options.data = &seen;
    expect(NAME_solve(solver, t0, t1, y, &options, &work), UPPER_STOPPED, "stopped");
    expect((int)work.accepted, 3, "stopped at");
    expect(seen, 3, "calls of output");
    options.output = NULL;
    memcpy(y, before, sizeof y);
    if (odd) y[0] = NAN;
    expect(NAME_solve(solver, t0, t1, y, &options, NULL), UPPER_NOT_FINITE, "state");
    expect(NAME_step(solver, t0, h, 1, y), UPPER_NOT_FINITE, "state");
    memcpy(y, before, sizeof y);
    expect(NAME_solve(solver, t0, t1, y, &options, &work), UPPER_OK, "a solver that is as before");
}

int main(int count, char **words)
{
    int provided;
    NAME_solver *solver;
    if (NAME_create_mpi_f(&solver, 0, 100, 1, -1) != UPPER_BAD_COMMUNICATOR) return 4;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    creations();
    expect(NAME_create_mpi(&solver, MPI_COMM_WORLD, 150, 2), UPPER_OK, "create");
    calls(solver);
    expect(NAME_destroy(solver), UPPER_OK, "destroy");
    MPI_Finalize();
    return wrong;
}
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_is_wrong_in_one_rank_is_one_code_on_all(
    ranks: int, chain: Path, tmp_path: Path
) -> None:
    text = FAULTS.replace("UPPER", "INVERTERCHAIN")
    program = _compiled(chain, "inverterchain", text, tmp_path / "faults", "-fopenmp")
    _run(program, ranks, 2)


LEVEL = r"""
#include <stdio.h>
#include "NAME_mpi.h"

int main(int count, char **words)
{
    NAME_solver *solver;
    MPI_Init_thread(&count, &words, MPI_THREAD_SINGLE, &(int){0});
    int level;
    MPI_Query_thread(&level);
    const int alone = NAME_create_mpi(&solver, MPI_COMM_WORLD, 100, 1);
    NAME_destroy(solver);
    const int team = NAME_create_mpi(&solver, MPI_COMM_WORLD, 100, 2);
    puts(NAME_text(team));
    NAME_destroy(solver);
    MPI_Finalize();
    return alone != UPPER_OK
           || team != (level < MPI_THREAD_FUNNELED ? UPPER_THREAD_LEVEL : UPPER_OK);
}
"""


def test_the_thread_level_of_mpi_is_checked(chain: Path, tmp_path: Path) -> None:
    text = LEVEL.replace("UPPER", "INVERTERCHAIN")
    printed = _run(_compiled(chain, "inverterchain", text, tmp_path / "level"), 2, 2)
    assert "MPI_Init_thread" in printed


# --- communicators --------------------------------------------------------------------------------

SPLIT = r"""
/* Two solvers at work at once: of both halves of the ranks, and of two threads of every rank. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "NAME_mpi.h"

struct task { MPI_Comm comm; double *y; long first, count; int code; };

static void *solve(void *data)
{
    struct task *const task = data;
    NAME_solver *solver;
    NAME_options options = {.rtol = 1e-9, .atol = 1e-9};
    double t;
    task->code = NAME_create_mpi(&solver, task->comm, 400, 2);
    if (task->code) return NULL;
    NAME_block(solver, &task->first, &task->count);
    task->y = malloc(((size_t)task->count + 1) * sizeof *task->y);
    task->code = NAME_initial(solver, &t, task->y);
    if (!task->code) task->code = NAME_solve(solver, t, t + 4e-10, task->y, &options, NULL);
    NAME_destroy(solver);
    return NULL;
}

/* The largest difference where the blocks of two tasks overlap. */
static double difference(const struct task *a, const struct task *b)
{
    double worst = 0.0;
    for (long j = 0; j < a->count; j++) {
        const long other = a->first + j - b->first;
        if (other >= 0 && other < b->count) worst = fmax(worst, fabs(a->y[j] - b->y[other]));
    }
    return worst;
}

int main(int count, char **words)
{
    int provided, rank;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct task part = {.y = NULL}, all = {.comm = MPI_COMM_WORLD}, self = {.comm = MPI_COMM_SELF};
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, -rank, &part.comm);
    solve(&part);
    solve(&all);
    solve(&self);
    int wrong = part.code || all.code || self.code || self.count != 400;
    wrong = wrong || difference(&part, &self) > 1e-12 || difference(&all, &self) > 1e-12;
    if (!wrong && provided == MPI_THREAD_MULTIPLE) {
        struct task again[2] = {{.comm = part.comm}, {.comm = MPI_COMM_WORLD}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, solve, &again[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        wrong = again[0].code || again[1].code || difference(&again[0], &part) > 0.0
                || difference(&again[1], &all) > 0.0;
        for (int i = 0; i < 2; i++) free(again[i].y);
    }
    printf("%d of %ld\n", provided == MPI_THREAD_MULTIPLE, all.count);
    free(part.y);
    free(all.y);
    free(self.y);
    MPI_Comm_free(&part.comm);
    MPI_Finalize();
    return wrong;
}
"""


def test_parts_of_the_ranks_solve_at_the_same_time(chain: Path, tmp_path: Path) -> None:
    _run(_compiled(chain, "inverterchain", SPLIT, tmp_path / "split", "-pthread"), 3, 2)


def test_the_library_names_no_communicator_of_its_own_and_one_process_needs_no_mpi(
    tmp_path: Path,
) -> None:
    facts = facts_of(
        tmp_path, "inverterchain", [(1, {}), (1, {})], ranks=[(1, "none"), (2, "sparse")]
    )
    files = library_files.files(facts)
    code = "".join(text for path, text in files.items() if "self_test" not in path)
    assert "MPI_COMM_WORLD" not in code.replace("comm=MPI.COMM_WORLD", "")
    assert "MPI_Init(" not in code
    with_mpi = {path for path, text in files.items() if "<mpi.h>" in text}
    assert with_mpi == {"include/inverterchain_mpi.h", "src/exchange.h"}
    alone = library_files.files(facts_of(tmp_path, "inverterchain", [(1, {})]))
    assert not [path for path in alone if "mpi" in path or "exchange" in path]
    builds = [
        "CMakeLists.txt",
        "meson.build",
        "build.sh",
        "README.md",
        "python/inverterchain/__init__.py",
    ]
    assert not re.search(r"\bmpi|_mpi", "".join(alone[path] for path in builds), re.IGNORECASE)


def test_the_choice_follows_ranks_threads_and_size(tmp_path: Path) -> None:
    ways: Ranks = [(1, "none"), (2, "neighbour"), (8, "allgather"), (8, "sparse")]
    variants: list[tuple[int, dict[str, Value]]] = [(1, {}), (1, {}), (1, {}), (4, {})]
    facts = facts_of(tmp_path, "wave1d", variants, ranks=ways)
    assert [section.key.ranks for section in facts.sections] == [1, 2, 8]
    tree = header.rank_decision(facts.sections)

    def chosen(ranks: int, threads: int) -> ExportEntry:
        place: header.DecisionNode | int = tree
        asked = {"ranks": ranks, "threads": threads, "size": 100}
        while isinstance(place, header.DecisionNode):
            quantity = asked[place.quantity]
            place = next(to for last, to in place.branches if last is None or quantity <= last)
        return facts.entries[place]

    assert [chosen(ranks, 1).layout.ranks for ranks in range(1, 7)] == [1, 2, 2, 2, 8, 8]
    assert [chosen(64, threads).threads for threads in (1, 2, 3, 9)] == [1, 1, 4, 4]
    alone = facts_of(tmp_path, "wave1d", variants[:1], ranks=ways[:1])
    assert header.rank_decision(alone.sections) == header.decision(alone.section.entries)
    wide = facts_of(tmp_path, "wave1d", variants[1:], ranks=ways[1:])
    assert wide.section.key.ranks == 2  # one process takes the code of the fewest ranks


ALONE_NEVER = """
static void ranks_step(struct thread *me, double t)
{
    if (!me->ranks)
        abort();
    step(me, t);
}

const struct stepper """


def test_the_choice_on_line_is_among_codes_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alternatives stand behind the choices of all ranks; codes of several ranks do not race."""
    made = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-5", correctors=4)
    ways: Ranks = [(1, "none"), (2, "neighbour")]
    wanted = made_library.chosen(made, [(1, {}), (1, {"au": True})], ranks=ways)
    (other,) = made_library.chosen(made, [(1, {"au": True})]).sections
    first, second = wanted.sections
    ranked = replace(first, alternatives=other.entries)
    facts = library_facts.gather(replace(wanted, sections=(ranked, second)), made, {})
    assert [entry.layout.ranks for entry in facts.entries] == [1, 2, 1]

    def edited(files: Mapping[str, str]) -> Mapping[str, str]:
        path = "src/wave1d_2/fixed_step.c"
        text = files[path].replace(".step = step,", ".step = ranks_step,")
        return {**files, path: text.replace("const struct stepper ", ALONE_NEVER)}

    folder = _built(tmp_path, facts, edited=edited)
    assert _run(folder / "self_test_mpi", 2).rstrip().endswith("right")
    monkeypatch.delenv("WAVE1D_WISDOM", raising=False)
    with (
        made_library.imported(folder, "wave1d", monkeypatch) as module,
        module.Solver(100, 1, choose=True) as solver,
    ):
        t, y = solver.initial()
        state = solver.step(t, 1e-4, y, 100)
        assert solver.choice.ranks == 1
        assert solver.choice.race_steps > 2
        plain = module.Solver(100, 1).step(t, 1e-4, y, 100)
        assert np.abs(state - plain).max() <= 1e-12 * np.abs(plain).max()


def test_other_machines_do_not_mix(tmp_path: Path) -> None:
    made = made_library.setup(tmp_path, "wave1d", [100], method="radau-iia-5", correctors=4)
    wanted = made_library.chosen(made, [(1, {}), (1, {})], ranks=[(1, "none"), (2, "sparse")])
    first, second = wanted.sections
    place = replace(second.key.place, identity="another")
    mixed = replace(wanted, sections=(first, replace(second, key=replace(second.key, place=place))))
    with pytest.raises(InputError, match="one machine in a library"):
        library_facts.gather(mixed, made, {})


# --- other languages and builds -------------------------------------------------------------------

PYTHON = """
import sys
import numpy as np
from mpi4py import MPI
sys.path.insert(0, sys.argv[1])
import inverterchain as library

comm = MPI.COMM_WORLD
alone = library.Solver(150, 1, comm=MPI.COMM_SELF)
t, whole = alone.initial()
assert alone.block == slice(0, 150)
with library.Solver(150, 2, comm=comm) as solver:
    assert solver.choice.ranks in (1, 2, 4) and solver.components == 150
    _, y = solver.initial()
    assert np.array_equal(y, whole[solver.block])
    stepped = solver.step(t, 1e-11, y, 3)
    assert np.abs(stepped - alone.step(t, 1e-11, whole, 3)[solver.block]).max() < 1e-12
    slope = alone.rhs(t, whole)
    assert np.abs(solver.rhs(t, y) - slope[solver.block]).max() < 1e-12 * np.abs(slope).max()
    solved, work = solver.solve(t, t + 1e-10, y, rtol=1e-9, atol=1e-9)
    expected, _ = alone.solve(t, t + 1e-10, whole, rtol=1e-9, atol=1e-9)
    assert np.abs(solved - expected[solver.block]).max() < 1e-12

    def refused(kind, call, *arguments, **options):
        try:
            call(*arguments, **options)
        except (kind, library.SolverError) as error:
            return type(error)
        raise AssertionError(f"{call} should fail")

    odd = comm.rank == comm.size - 1
    bad = y[:-1] if odd else y
    expected = ValueError if odd else library.SolverError
    assert refused(ValueError, solver.step, t, 1e-11, bad) is expected
    refused(ValueError, solver.rhs, t, bad)
    refused(TypeError, solver.solve, t, t + 1e-10, y + 1j if odd else y)
    refused(OverflowError, library.Solver, 2**70 if odd else 150, 1, comm=comm)
    refused(library.SolverError, solver.solve, t, t + 1e-10, y, at=[t])
    alone_only = {"choose": True}, {"wisdom": "file"}, {"rhs": print}, {"distance": 1}
    for options in alone_only:
        refused(ValueError, library.Solver, 150, 1, comm=comm, **(options if odd else {}))

    def output(at, state):
        assert state.shape == y.shape
        if odd:
            raise KeyError("from within")
        return False

    try:
        _, work = solver.solve(t, t + 1e-9, y, output=output)
        assert not odd and work.accepted == 1
    except KeyError:
        assert odd
    assert np.array_equal(solver.step(t, 1e-11, y, 3), stepped)
    second = library.Solver(150, 1, choice=0 if comm.size == 1 else 1, comm=comm)
    del second  # does not wait for the others
    with library.Solver(7, 1, rhs=lambda first, last, t, y, dy: dy.fill(1.0)) as own:
        assert own.block == slice(0, 7)
        assert np.array_equal(own.step(0.0, 1.0, np.zeros(7)), np.ones(7))
    refused(TypeError, library.Solver, 150, 1, choice=-1, comm=comm)
print("right")
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_python_hands_in_a_communicator(
    ranks: int, chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py", reason="optional: needs mpi4py")
    monkeypatch.setenv("INVERTERCHAIN_LIBRARY", str(chain / "libinverterchain.so"))
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    printed = _run(Path(sys.executable), ranks, 2, script, chain / "python")
    assert printed.split() == ["right"] * ranks


FORTRAN = """
program main
    use mpi_f08
    use inverterchain
    implicit none
    type(c_ptr) :: solver
    type(inverterchain_options) :: options
    type(inverterchain_work) :: work
    real(c_double) :: t
    integer(c_long) :: first, count
    integer :: provided
    real(c_double), allocatable :: y(:)
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
    if (inverterchain_create_mpi(solver, MPI_COMM_WORLD%MPI_VAL, 100_c_long, 1, -1) /= 0) stop 1
    if (inverterchain_block(solver, first, count) /= 0) stop 2
    allocate (y(first + 1:first + count))
    if (inverterchain_initial(solver, t, y) /= 0) stop 3
    options%rtol = 1.0e-8_c_double
    if (inverterchain_solve(solver, t, t + 1.0e-10_c_double, y, options, work) /= 0) stop 4
    if (work%accepted < 1 .or. work%t /= t + 1.0e-10_c_double) stop 5
    if (inverterchain_destroy(solver) /= 0) stop 6
    call MPI_Finalize()
end program
"""


def test_fortran_hands_in_a_communicator(tmp_path: Path) -> None:
    """With an MPI that has a wrapper for Fortran, maybe another than that of the other tests."""
    tools = [shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") for name in
             ("mpifort", "mpicc", "mpiexec")]  # fmt: skip
    if None in tools:
        pytest.skip("optional: needs an MPI with mpifort")
    mpifort, mpicc, mpiexec = (str(tool) for tool in tools)
    facts = facts_of(tmp_path, "inverterchain", [(1, {})], ranks=[(2, "neighbour")])
    folder = made_library.built(tmp_path / "lib", facts, mpicc=mpicc, calls=False)
    (tmp_path / "main.f90").write_text(FORTRAN)
    done = subprocess.run(
        [mpifort, "-Wall", "-Wno-c-binding-type", folder / "fortran" / "inverterchain.f90",
         tmp_path / "main.f90", "-o", tmp_path / "main", f"-L{folder}", "-linverterchain",
         f"-Wl,-rpath,{folder}"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    if "mpi_f08" in done.stderr:
        pytest.skip("optional: the module mpi_f08 is not for this Fortran compiler")
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [mpiexec, "-n", "2", tmp_path / "main"],
        env={**os.environ, **_launchable()}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _launchable() -> dict[str, str]:
    """Variables with which Open MPI 4 and 5 start more ranks than cores, by anybody."""
    return {
        **job.MPI, "HOME": "/tmp", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_MCA_btl": "^ofi",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMP_WAIT_POLICY": "passive",
    }  # fmt: skip


def test_cmake_finds_mpi_and_runs_the_self_test(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("optional: needs cmake")
    ways: Ranks = [(1, "none"), (2, "sparse")]
    facts = facts_of(tmp_path, "inverterchain", [(1, {}), (1, {})], ranks=ways)
    folder = made_library.written(tmp_path / "lib", facts, made_library.unoptimised)
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    environment = {**os.environ, **_launchable()}
    for command in (
        ["cmake", "-S", folder, "-B", build, "-DCMAKE_INSTALL_LIBDIR=lib",
         f"-DMPI_C_COMPILER={MPICC}", f"-DMPIEXEC_EXECUTABLE={mpi.find().mpiexec}"],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure"],
        ["cmake", "--install", build, "--prefix", prefix],
    ):  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (prefix / "include" / "inverterchain_mpi.h").exists()
    package = (prefix / "lib" / "pkgconfig" / "inverterchain.pc").read_text()
    assert "libmpi" in package


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_and_sanitizers_find_nothing(compiler: str, tmp_path: Path) -> None:
    made_library.need_openmp(compiler)
    ways: Ranks = [(2, "neighbour"), (2, "allgather")]
    facts = facts_of(tmp_path, "inverterchain", [(1, {}), (1, BLOCKED)], ranks=ways)
    check = "-g -fsanitize=undefined -fno-sanitize-recover=all"
    flags = f"{made_library.STRICT} {check if compiler == 'gcc' else ''}"
    plain = compiler != "gcc"
    folder = _built(tmp_path, facts, compiler=compiler, flags=flags, optimised=plain, calls=plain)
    assert _run(folder / "self_test_mpi", 2).rstrip().endswith("right")
