"""The choice on line of an exported library, and the wisdom file in which it is remembered."""

import ctypes
import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import made_library
import numpy as np
import pytest
from made_library import facts_of

from autotune.domain.problem import Problem
from autotune.domain.variant import Value
from autotune.measuring.verification import ivp_reference

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

BLOCKED: dict[str, Value] = {"block": 128, "au": True, "order": "jil", "reg": True}
VARIANTS: list[tuple[int, dict[str, Value]]] = [
    (2, {}),
    (2, {"order": "ilj", "tile": 256, "rhslc": True, "au": False}),
    (2, {**BLOCKED, "once": True, "align": 8}),
    (2, {**BLOCKED, "inplace": True, "pad": 1}),
]
"""Of different arrays, padding and blocks of threads, at sizes 100, 200, 500 and 1000."""
SIZE = 1000
BUILT_IN = 3
"""The code of this size."""
H = 1e-4
BORNE = 10.0
"""Steps of the fastest code that a race may cost: 1 % of 1,000."""
CLOCK = """
double fake_seconds, fake_costs[8];
long fake_steps[8];
double fake_clock(void) { return fake_seconds; }
"""
SLOW = """
extern double fake_seconds, fake_costs[8];
extern long fake_steps[8];

static void slow_step(struct thread *me, double t)
{{
    step(me, t);
    if (me->id == 0) {{
        fake_seconds += fake_costs[{code}];
        fake_steps[{code}]++;
    }}
}}

const struct stepper """


def slowed(files: Mapping[str, str]) -> Mapping[str, str]:
    """The files with a clock that goes on by ``fake_costs`` of a code with each of its steps."""
    made = dict(files)
    visible = "#pragma GCC visibility push(default)\n{}#pragma GCC visibility pop\n"
    made["src/wave1d.c"] += visible.format(CLOCK)
    for code in range(len(VARIANTS)):
        for file in ("step.c", "fixed_step.c"):
            path = f"src/wave1d_{code + 1}/{file}"
            text = made[path].replace(".step = step,", ".step = slow_step,")
            made[path] = text.replace("\nconst struct stepper ", SLOW.format(code=code))
    return made


class Clocked:
    """The Python module of a library with such a clock."""

    def __init__(self, module: ModuleType, library: Path) -> None:
        self.module = module
        shared = ctypes.CDLL(str(library))
        self._costs = (ctypes.c_double * 8).in_dll(shared, "fake_costs")
        self._steps = (ctypes.c_long * 8).in_dll(shared, "fake_steps")

    def begin(self, costs: Sequence[float]) -> None:
        """Steps of the codes take so many seconds from now on."""
        self._costs[: len(costs)] = costs
        self._steps[:] = [0] * 8

    @property
    def steps(self) -> list[int]:
        """How many each code took."""
        return list(self._steps[: len(VARIANTS)])

    def cost(self) -> float:
        """Of all steps but the first, in steps of the fastest code, beyond as many of these."""
        costs, steps = self._costs[: len(VARIANTS)], self.steps
        steps[BUILT_IN] -= 1  # the first is taken anyway
        return sum(s * (c / min(costs) - 1.0) for s, c in zip(steps, costs, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("race")
    flags = f"{made_library.STRICT} -DAUTOTUNE_CLOCK=fake_clock"
    facts = facts_of(place, "wave1d", VARIANTS)
    return made_library.built(place / "lib", facts, flags=flags, optimised=False, edited=slowed)


@pytest.fixture
def clocked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    monkeypatch.delenv("WAVE1D_WISDOM", raising=False)
    with made_library.imported(folder, "wave1d", monkeypatch) as module:
        yield Clocked(module, folder / "libwave1d.so")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The states of the reference after each of 120 steps of size H."""
    (problem,) = made_library.setup(
        tmp_path_factory.mktemp("reference"), "wave1d", [SIZE], method="radau-iia-5", correctors=4
    ).problems
    assert isinstance(problem, Problem)
    fixed = replace(problem, step_fraction=problem.step_fraction * H / problem.h)
    return np.array([ivp_reference.integrate(fixed, steps) for steps in (1, 7, 120)])


def deviation(state: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(state - expected).max() / np.abs(expected).max())


def race(clocked: Clocked, steps: int = 120, **options: object) -> object:
    """A solver that took so many steps in one call, of the state at the start."""
    solver = clocked.module.Solver(SIZE, 2, choose=True, **options)
    t, y = solver.initial()
    solver.state = solver.step(t, H, y, steps)
    return solver


# --- the race -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "costs",
    [
        (1.0, 1.3, 0.7, 2.0),
        (2.0, 1.9, 1.8, 1.0),
        (1.0, 3.0, 3.5, 0.9),
        (1.2, 1.15, 1.1, 1.05),
        (3.0, 1.0, 1.02, 1.04),
    ],
)
def test_the_fastest_code_wins_within_the_bound(
    costs: Sequence[float], clocked: Clocked, states: np.ndarray
) -> None:
    clocked.begin(costs)
    solver = race(clocked)
    choice = solver.choice
    assert choice.source == "on line"
    taken = clocked.steps
    assert int(np.argmax(taken)) == int(np.argmin(costs))
    assert sum(taken) == 120
    assert clocked.cost() <= BORNE
    assert choice.race_cost / min(costs) <= BORNE
    assert choice.seconds_here == pytest.approx(min(costs))
    assert choice.candidate.startswith(f"v{np.argmin(costs)}@") or costs[0] == costs[1]
    assert deviation(solver.state, states[-1]) <= 1e-12
    clocked.begin(costs)
    t, y = solver.initial()
    assert deviation(solver.step(t, H, y, 120), states[-1]) <= 1e-12
    assert clocked.steps[int(np.argmin(costs))] == 120


def test_costs_stay_within_the_bound(clocked: Clocked, states: np.ndarray) -> None:
    """Where no code is more than twice as fast as those that were tried before it."""
    draw = random.Random(1)
    for _ in range(20):
        costs = [draw.choice([1.0, 1.01, 1.2, 1.6, 3.0]) * draw.uniform(0.95, 1.05) for _ in "123"]
        costs.append(draw.uniform(0.95, 1.9))
        clocked.begin(costs)
        solver = race(clocked)
        here = solver.choice.seconds_here
        after = (120 - solver.choice.race_steps) * (here / min(costs) - 1)
        assert clocked.cost() - after <= BORNE + 1e-9, costs
        assert solver.choice.source == "on line"
        assert deviation(solver.state, states[-1]) <= 1e-12


def test_a_hopeless_code_takes_one_step(clocked: Clocked) -> None:
    clocked.begin((60.0, 50.0, 0.8, 1.0))
    race(clocked)
    assert clocked.steps[:2] == [0, 1]  # after it nothing is left of the bound
    assert clocked.steps[2] > 100


def test_equal_codes_stay_with_the_built_in_choice(clocked: Clocked) -> None:
    clocked.begin((1.0, 1.0, 1.0, 0.995))
    assert race(clocked).choice.candidate == clocked.module.Solver(SIZE, 2).choice.candidate


@pytest.mark.parametrize("calls", [1, 7, 120])
def test_a_race_goes_on_over_calls(calls: int, clocked: Clocked, states: np.ndarray) -> None:
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    t, y = solver.initial()
    each = 120 // calls
    sources = []
    for call in range(calls):
        y = solver.step(t + call * each * H, H, y, each)
        sources.append(solver.choice.source)
    y = solver.step(t + calls * each * H, H, y, 120 - calls * each)
    assert deviation(y, states[-1]) <= 1e-12
    assert sources[-1] == "on line"
    assert (sources[0] == "racing") == (calls == 120)
    assert clocked.cost() <= BORNE


def test_step_control_goes_on_over_a_change_of_code(clocked: Clocked) -> None:
    clocked.begin((1.0, 1.0, 1.0, 1.0))
    plain = clocked.module.Solver(SIZE, 2)
    t, y = plain.initial()
    seen: list[float] = []
    expected, work = plain.solve(t, t + 1.0, y, rtol=1e-9, atol=1e-9)
    clocked.begin((1.0, 1.2, 0.7, 1.1))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    state, raced = solver.solve(
        t, t + 1.0, y, rtol=1e-9, atol=1e-9, output=lambda t, y: seen.append(t)
    )
    assert solver.choice.source == "on line"
    assert deviation(state, expected) <= 1e-12
    assert (raced.accepted, raced.rejected) == (work.accepted, work.rejected)
    assert len(seen) == raced.accepted
    each = [3 * 5, 3 * 5, 1 + 3 * 4, 3 * 5]
    assert raced.evaluations == sum(s * e for s, e in zip(clocked.steps, each, strict=True))


def test_states_between_steps_are_right_over_a_change_of_code(clocked: Clocked) -> None:
    clocked.begin((1.0, 1.0, 1.0, 1.0))
    plain = clocked.module.Solver(SIZE, 2)
    t, y = plain.initial()
    times = np.linspace(t, t + 1.0, 77)
    expected = plain.solve(t, t + 1.0, y, rtol=1e-9, atol=1e-9, at=times)
    clocked.begin((1.0, 1.2, 0.7, 1.1))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    for _ in range(2):
        states = solver.solve(t, t + 1.0, y, rtol=1e-9, atol=1e-9, at=times)
        assert solver.choice.source == "on line"
        assert deviation(states[0], expected[0]) <= 1e-12


@pytest.mark.parametrize("steps", range(1, 12))
def test_states_between_steps_are_right_in_a_race_that_goes_on(
    steps: int, clocked: Clocked
) -> None:
    """Whichever code takes the first step of the call."""
    clocked.begin((1.0, 1.0, 1.0, 1.0))
    plain, solver = clocked.module.Solver(SIZE, 2), clocked.module.Solver(SIZE, 2, choose=True)
    t, y = plain.initial()
    times = np.linspace(t, t + 0.01, 7)
    solver.step(t, H, y, steps)
    states, work = solver.solve(t, t + 0.01, y, rtol=1e-9, atol=1e-9, at=times)
    expected, _ = plain.solve(t, t + 0.01, y, rtol=1e-9, atol=1e-9, at=times)
    assert work.outputs == len(times)
    assert deviation(states, expected) <= 1e-12


def test_steps_of_another_kind_are_not_compared(clocked: Clocked, states: np.ndarray) -> None:
    """Those that estimate their error take longer: the built-in code takes them, untimed."""
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    t, y = solver.initial()
    estimated = {"rtol": 1.0, "atol": 1e300, "first_step": H, "largest_step": H}
    taken = [0, 0, 0, 0]
    for step in range(60):
        state = solver.step(t + 2 * step * H, H, y, 1)
        before, timed = clocked.steps, solver.choice.race_steps
        races = solver.choice.source == "racing"
        y, work = solver.solve(t + (2 * step + 1) * H, t + (2 * step + 2) * H, state, **estimated)
        others = [now - then for now, then in zip(clocked.steps, before, strict=True)]
        assert sum(others) == work.accepted
        assert others[BUILT_IN if races else 2] == work.accepted
        assert solver.choice.race_steps == timed
        taken[BUILT_IN if races else 2] += work.accepted
    assert deviation(y, states[-1]) <= 1e-12
    assert solver.choice.source == "on line"
    assert all(taken[code] > 0 for code in (2, BUILT_IN))
    assert solver.choice.candidate.startswith("v2@")


def test_a_call_that_takes_no_step_times_none(clocked: Clocked, states: np.ndarray) -> None:
    clocked.begin((2.0, 1.9, 1.8, 1.0))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    t, y = solver.initial()
    for _ in range(30):
        with pytest.raises(clocked.module.SolverError, match="vanish"):
            solver.solve(1e9, 2e9, y, first_step=1e-8)
    assert solver.choice.race_steps == 0
    assert deviation(solver.step(t, H, y, 120), states[-1]) <= 1e-12
    assert solver.choice.seconds_here == pytest.approx(1.0)


def test_what_a_failed_step_left_harms_no_code(clocked: Clocked, states: np.ndarray) -> None:
    clocked.begin((1.0, 1.1, 1.05, 1.02))
    solver = clocked.module.Solver(SIZE, 2, choose=True)
    t, y = solver.initial()
    for _ in range(30):
        with pytest.raises(clocked.module.SolverError, match="not finite"):
            solver.step(t, 1e300, y, 1)
        assert deviation(solver.step(t, H, y, 7), states[1]) <= 1e-12


def test_without_asking_nothing_races(clocked: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVE1D_WISDOM", "/nowhere")
    clocked.begin((9.0, 1.0, 1.0, 1.0))
    solver = clocked.module.Solver(SIZE, 2)
    t, y = solver.initial()
    solver.step(t, H, y, 50)
    assert sum(steps > 0 for steps in clocked.steps) == 1
    assert (solver.choice.source, solver.choice.wisdom) == ("built in", "")
    with pytest.raises(ValueError, match="choose=True"):
        clocked.module.Solver(SIZE, 2, wisdom="file")


# --- the wisdom file ------------------------------------------------------------------------------


DAMAGED = {"a line is damaged", "it is cut", "it is no wisdom file of a library"}


def sum_of(rest: str) -> str:
    """FNV-1a, 64 bits."""
    value = 14695981039346656037
    for byte in rest.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


def forged(path: Path, **words: str) -> str:
    """The text of a wisdom file with other words and a sum that is right."""
    names = ("library", "build", "machine", "size", "threads", "code", "seconds")
    mark, line = path.read_text().splitlines()
    parts = line.split(" ")[1:]
    for name, word in words.items():
        parts[names.index(name)] = word
    rest = " ".join(parts)
    return f"{mark}\n{sum_of(rest)} {rest}\n"


@pytest.fixture
def written(clocked: Clocked, tmp_path: Path) -> Path:
    """The wisdom file of a race that the third code won."""
    path = tmp_path / "wisdom"
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    solver = race(clocked, wisdom=path)
    assert (solver.choice.source, solver.choice.wisdom) == ("on line", "there is no such file yet")
    assert [entry.name for entry in tmp_path.iterdir()] == ["wisdom"]
    return path


def refusal(clocked: Clocked, path: Path, size: int = SIZE, threads: int = 2) -> str:
    """Why a file is not used; the built-in choice takes the first step of a new race."""
    with clocked.module.Solver(size, threads, choose=True, wisdom=path) as solver:
        choice = solver.choice
        assert choice.source == "racing"
        return str(choice.wisdom)


def test_the_winner_is_remembered(clocked: Clocked, written: Path, states: np.ndarray) -> None:
    clocked.begin((1.0, 1.0, 1.0, 1.0))
    solver = race(clocked, wisdom=written)
    choice = solver.choice
    assert (choice.source, choice.wisdom, choice.race_steps) == ("remembered", "", 0)
    assert choice.seconds_here == pytest.approx(0.7)
    assert clocked.steps == [0, 0, 120, 0]
    assert deviation(solver.state, states[-1]) <= 1e-12
    assert refusal(clocked, written, 200) == "it holds nothing for this size"
    assert refusal(clocked, written, threads=1) == "it holds nothing for this number of threads"


def test_a_file_grows_and_its_lines_are_replaced(clocked: Clocked, written: Path) -> None:
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    for size in (100, 200, 100):
        solver = clocked.module.Solver(size, 2, choose=True, wisdom=written)
        t, y = solver.initial()
        solver.step(t, H, y, 120)
    lines = written.read_text().splitlines()
    assert len(lines) == 4
    assert all(line[:16] == sum_of(line[17:]) for line in lines[1:])
    damaged = written.read_text().replace(lines[1], lines[1][:-1])
    written.write_text(damaged)
    assert refusal(clocked, written) == "a line is damaged"
    race(clocked, wisdom=written)
    assert len(written.read_text().splitlines()) == 4  # whole lines stay
    assert race(clocked, wisdom=written).choice.source == "remembered"


def test_the_environment_names_a_file(
    clocked: Clocked, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVE1D_WISDOM", str(written))
    assert clocked.module.Solver(SIZE, 2, choose=True).choice.source == "remembered"


def test_a_file_cut_anywhere_is_not_used(
    clocked: Clocked, written: Path, tmp_path: Path, states: np.ndarray
) -> None:
    whole, cut = written.read_bytes(), tmp_path / "cut"
    mark = whole.index(b"\n") + 1
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        expected = (
            "it holds nothing for this library" if length in (0, mark) else "it is cut"
        )  # fmt: skip
        assert refusal(clocked, cut, 100, 1) == expected, length
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    assert deviation(race(clocked, wisdom=cut).state, states[-1]) <= 1e-12
    assert cut.read_bytes() == whole


def test_a_file_with_any_other_bit_is_not_used(clocked: Clocked, written: Path) -> None:
    whole = written.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            other = bytearray(whole)
            other[place] ^= 1 << bit
            written.write_bytes(other)
            assert refusal(clocked, written, 100, 1) in DAMAGED, (place, bit)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"library": "wave2d"}, "nothing for this library"),
        ({"build": "0" * 16}, "another build"),
        ({"machine": "0" * 16}, "another machine"),
        ({"code": "wave1d_99"}, "names a code that this library has not got"),
        ({"code": "x" * 200}, "says what cannot be"),
        ({"seconds": "nan"}, "says what cannot be"),
        ({"seconds": "-1"}, "says what cannot be"),
        ({"seconds": "1e300"}, "says what cannot be"),
        ({"seconds": "0.7x"}, "says what cannot be"),
        ({"code": ""}, "a line is damaged"),
        ({"code": "y" * 600}, "a line is damaged"),
    ],
)
def test_forged_lines_are_not_used(
    words: Mapping[str, str], reason: str, clocked: Clocked, written: Path
) -> None:
    written.write_text(forged(written, **words))
    assert reason in refusal(clocked, written)


def test_nothing_but_a_wisdom_file_is_replaced(clocked: Clocked, tmp_path: Path) -> None:
    text, link, pipe = tmp_path / "text", tmp_path / "link", tmp_path / "pipe"
    text.write_text("a letter\n")
    huge = tmp_path / "huge"
    huge.write_bytes(b"autotune.library-wisdom/1\n" + b"x" * 2**20)
    os.mkfifo(pipe)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "none")
    (tmp_path / "target").touch()
    link.symlink_to(tmp_path / "target")
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    for path, reason in (
        (text, "it is no wisdom file of a library"),
        (huge, "it is larger than 1 MiB"),
        (tmp_path, "it is no regular file"),
        (pipe, "it is no regular file"),
        (text / "beneath", "it cannot be read"),
        (Path("/dev/zero"), "it is no regular file"),
        (tmp_path / ("n" * 300), "it cannot be read"),
        (dangling, "there is no such file yet"),
        (tmp_path / "none" / "wisdom", "there is no such file yet"),
    ):
        assert refusal(clocked, path) == reason
        choice = race(clocked, wisdom=path).choice
        assert (choice.source, choice.wisdom) == ("on line", "the choice cannot be written to it")
    assert text.read_text() == "a letter\n"
    assert huge.stat().st_size > 2**20
    assert race(clocked, wisdom=link).choice.source == "on line"
    assert race(clocked, wisdom=link).choice.source == "remembered"
    assert link.is_symlink()
    with pytest.raises(ValueError, match="null character"):
        clocked.module.Solver(SIZE, 2, choose=True, wisdom="a\0b")


def test_files_keep_their_mode_and_read_only_ones_their_text(
    clocked: Clocked, written: Path
) -> None:
    written.chmod(0o640)
    clocked.begin((1.0, 1.3, 0.7, 2.0))
    solver = clocked.module.Solver(100, 2, choose=True, wisdom=written)
    t, y = solver.initial()
    solver.step(t, H, y, 120)
    assert written.stat().st_mode & 0o777 == 0o640
    assert len(written.read_text().splitlines()) == 3


# --- foreign programs -----------------------------------------------------------------------------

SEVERAL = r"""
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wave1d.h"

enum { PARTS = 4, STEPS = 150 };
static const char *file;
struct part { long size; double worst; wave1d_choice choice; };

static int run(long size, const char *wisdom, double *y, wave1d_choice *choice)
{
    wave1d_solver *solver;
    double t;
    int code = wave1d_create(&solver, size, 2);
    if (!code && wisdom) code = wave1d_choose(solver, wisdom);
    if (!code) code = wave1d_initial(solver, &t, y);
    if (!code) code = wave1d_step(solver, t, 1e-4, STEPS, y);
    if (!code) code = wave1d_chosen(solver, choice);
    choice->wisdom = "";
    wave1d_destroy(solver);
    return code;
}

static void *solve(void *data)
{
    struct part *const part = data;
    const size_t bytes = (size_t)wave1d_components(part->size) * sizeof(double);
    double *const raced = malloc(bytes), *const plain = malloc(bytes);
    wave1d_choice choice;
    part->worst = run(part->size, file, raced, &part->choice);
    part->worst += run(part->size, NULL, plain, &choice);
    for (long j = 0; j < wave1d_components(part->size); j++)
        part->worst = fmax(part->worst, fabs(raced[j] - plain[j]));
    free(raced);
    free(plain);
    return NULL;
}

/* Where there are fewer threads than before nothing races, and the solver goes on as it was. */
static int few(void)
{
    wave1d_solver *solver;
    double t, y[1000], expected[1000];
    int code = -1;
    if (wave1d_components(100) > 1000 || wave1d_create_with(&solver, 100, 2, 0)) return 1;
    if (wave1d_initial(solver, &t, expected) || wave1d_step(solver, t, 1e-4, 5, expected)) return 2;
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
#pragma omp single
    code = wave1d_choose(solver, NULL);
    if (code != WAVE1D_FEW_THREADS) return 3;
    if (wave1d_initial(solver, &t, y) || wave1d_step(solver, t, 1e-4, 5, y)) return 4;
    if (memcmp(y, expected, (size_t)wave1d_components(100) * sizeof *y)) return 5;
    return wave1d_destroy(solver);
}

static int cuts(void)
{
    static char text[4096];
    FILE *from = fopen(file, "r");
    const size_t length = fread(text, 1, sizeof text, from);
    fclose(from);
    wave1d_solver *solver;
    wave1d_choice choice;
    if (wave1d_create(&solver, 100, 1)) return 1;
    for (size_t cut = 0; cut < length; cut++) {
        FILE *const to = fopen(file, "w");
        fwrite(text, 1, cut, to);
        for (size_t odd = 0; odd < cut % 5; odd++) fputc((int)(cut * odd % 256), to);
        fclose(to);
        if (wave1d_choose(solver, file) || wave1d_chosen(solver, &choice)) return 2;
        if (choice.source != WAVE1D_RACING || !choice.wisdom[0]) return 3;
    }
    return wave1d_destroy(solver);
}

int main(int count, char **argument)
{
    struct part parts[PARTS] = {{.size = 100}, {.size = 200}, {.size = 500}, {.size = 1000}};
    pthread_t threads[PARTS];
    int lines = 0, letter;
    if (count < 2 || wave1d_choose(NULL, NULL) != WAVE1D_BAD_ARGUMENT) return 1;
    file = argument[1];
    for (int i = 0; i < PARTS; i++) pthread_create(&threads[i], NULL, solve, &parts[i]);
    for (int i = 0; i < PARTS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < PARTS; i++)
        if (!(parts[i].worst <= 1e-12) || parts[i].choice.source != WAVE1D_ON_LINE) return 10 + i;
    FILE *const read = fopen(file, "r");
    if (!read) return 2;
    while ((letter = fgetc(read)) != EOF) lines += letter == '\n';
    fclose(read);
    if (lines < 2 || lines > 1 + PARTS) return 3;
    return few() ? 30 + few() : 20 * cuts();
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_solvers_race_at_once_and_sanitizers_find_nothing(compiler: str, tmp_path: Path) -> None:
    checks = "-g -fsanitize=address,undefined -fno-sanitize-recover=all"
    made_library.need_openmp(compiler, *checks.split())
    facts = facts_of(tmp_path, "wave1d", VARIANTS[2:], sizes=(100, 1000))
    flags = f"{made_library.STRICT} {checks}"
    folder = made_library.built(
        tmp_path / "lib", facts, compiler=compiler, flags=flags, optimised=False
    )
    source, program = tmp_path / "several.c", tmp_path / "several"
    source.write_text(SEVERAL)
    subprocess.run(
        [compiler, *flags.split(), "-fopenmp", f"-I{folder / 'include'}", source, "-o", program,
         f"-L{folder}", "-lwave1d", f"-Wl,-rpath,{folder}", "-lpthread", "-lm"],
        check=True,
    )  # fmt: skip
    done = subprocess.run([program, tmp_path / "wisdom"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FORTRAN = """
program main
    use, intrinsic :: iso_c_binding
    use wave1d
    implicit none
    type(c_ptr) :: solver
    real(c_double) :: t
    real(c_double), allocatable :: y(:)
    if (wave1d_create(solver, 100_c_long, 1_c_int) /= 0) stop 1
    if (wave1d_choose(solver, "wisdom" // c_null_char) /= 0) stop 2
    allocate (y(wave1d_components(100_c_long)))
    if (wave1d_initial(solver, t, y) /= 0) stop 3
    if (wave1d_step(solver, t, 1.0e-4_c_double, 200_c_long, y) /= 0) stop 4
    if (wave1d_destroy(solver) /= 0) stop 5
end program
"""


def test_fortran_chooses(folder: Path, tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("optional: needs gfortran")
    (tmp_path / "main.f90").write_text(FORTRAN)
    subprocess.run(
        ["gfortran", "-Wall", "-Wno-c-binding-type", folder / "fortran" / "wave1d.f90",
         tmp_path / "main.f90", "-o", tmp_path / "main", f"-L{folder}", "-lwave1d",
         f"-Wl,-rpath,{folder}"],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    assert subprocess.run([tmp_path / "main"], cwd=tmp_path).returncode == 0
    assert (tmp_path / "wisdom").read_text().startswith("autotune.library-wisdom/1\n")
