"""In-core times of runs of a loop: its remainder, crossed lines and entries, point by point."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import documented

from autotune.models.engines.reuse.batch import PLACES
from autotune.models.engines.reuse.core_times import (
    InCoreTimes,
    LoopArrays,
    VectorRuns,
    again_cycles,
    loops,
    run_times,
)
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.units import Cycles

PLAIN = line_costs(documented(), 1)
ON_THE_WAY = replace(PLAIN, load_again=4.0, again_loop=16.0, vector=32.0)
LADDER = (
    RemainderLoop(iterations=16, T_OL=Cycles(0.25), T_nOL=Cycles(0.5)),
    RemainderLoop(iterations=4, T_OL=Cycles(0.5), T_nOL=Cycles(1.0)),
    RemainderLoop(iterations=1, T_OL=Cycles(2.0), T_nOL=Cycles(3.0)),
)


def result(**changes: object) -> InCoreResult:
    plain = InCoreResult(
        T_OL=Cycles(0.25),
        T_nOL=Cycles(0.5),
        chain=Cycles(0.0),
        bottleneck="port 0",
        iterations=16,
        route="made up",
        approximate=False,
        ladder=LADDER,
    )
    return replace(plain, **changes)


def at_start(count: int = 1, place: int = 0) -> np.ndarray:
    """Every entry begins so many doubles behind the start of a line."""
    return np.eye(PLACES)[[place] * count]


def runs(
    *lengths: float, align: np.ndarray | None = None, head: float = 0.0, cut: float = 0.0
) -> VectorRuns:
    places = at_start(len(lengths)) if align is None else align
    heads, cuts = np.full(len(lengths), head), np.full(len(lengths), cut)
    return VectorRuns(length=np.array(lengths), head=heads, cut=cuts, align=places)


def times(made: InCoreResult, run: float, threads: int = 1, place: int = 0) -> InCoreTimes:
    return run_times(loops([made]), runs(run, align=at_start(place=place)), PLAIN, threads)


@pytest.mark.parametrize(
    ("run", "T_OL", "T_nOL"),
    [
        (16, 4.0, 8.0),  # one pass of the hot loop
        (32, 8.0, 16.0),
        (20, 6.0, 12.0),  # sixteen, then four at half a cycle
        (37, 12.0, 23.0),  # 32, 4 and 1
        (3, 6.0, 9.0),  # three scalar iterations
        (7.9, 2 + 3 * 2.0, 4 + 3 * 3.0),  # whole iterations only
    ],
)
def test_what_the_hot_loop_leaves_is_done_by_smaller_ones(
    run: float, T_OL: float, T_nOL: float
) -> None:
    cycles = times(result(), run)
    assert cycles.T_OL[0] * int(run) == pytest.approx(T_OL)
    assert cycles.T_nOL[0] * int(run) == pytest.approx(T_nOL)


def test_a_head_with_a_loop_of_its_own_costs_what_that_loop_costs() -> None:
    head = RemainderLoop(iterations=1, T_OL=Cycles(5.0), T_nOL=Cycles(7.0))
    cycles = run_times(loops([result(head=head)]), runs(20, head=3.0), PLAIN, 1)
    assert cycles.T_OL[0] * 20 == pytest.approx(3 * 5 + 16 * 0.25 + 2)  # three, sixteen and one
    assert cycles.T_nOL[0] * 20 == pytest.approx(3 * 7 + 16 * 0.5 + 3)


@settings(max_examples=30, derandomize=True)
@given(
    sizes=st.lists(st.sampled_from([1, 2, 4, 8, 16, 24]), min_size=1, max_size=4, unique=True),
    costs=st.lists(st.floats(0.01, 50), min_size=4, max_size=4),
    run=st.integers(1, 500),
)
def test_any_ladder_of_loops_agrees_with_taking_passes_one_by_one(
    sizes: list[int], costs: list[float], run: int
) -> None:
    """Where the smallest loop takes all that is left; otherwise the hot loop speaks for all."""
    rungs = list(zip(sorted(sizes, reverse=True), costs, strict=False))
    ladder = tuple(
        RemainderLoop(iterations=n, T_OL=Cycles(c), T_nOL=Cycles(2 * c)) for n, c in rungs
    )
    made = result(T_OL=Cycles(7.0), T_nOL=Cycles(9.0), ladder=ladder)
    left, spent = run, 0.0
    for size, cost in rungs:
        while left >= size:
            left, spent = left - size, spent + size * cost
    cycles = times(made, run)
    expected = (spent / run, 2 * spent / run) if left == 0 else (7.0, 9.0)
    assert (cycles.T_OL[0], cycles.T_nOL[0]) == pytest.approx(expected)


@pytest.mark.parametrize("run", [np.inf, 0.5])
def test_endless_runs_and_runs_of_less_than_a_component_take_the_hot_loop(run: float) -> None:
    cycles = times(result(), run)
    assert (cycles.T_OL[0], cycles.T_nOL[0]) == (0.25, 0.5)


def test_without_a_ladder_the_hot_loop_speaks_for_every_length() -> None:
    made = result(ladder=())
    for run in (1, 17, 1000):
        assert (times(made, run).T_OL[0], times(made, run).T_nOL[0]) == (0.25, 0.5)


def test_cores_that_share_units_slow_the_arithmetic_by_a_factor() -> None:
    made = result(crowded=Cycles(0.75))
    assert times(made, 20, threads=1).T_OL[0] * 20 == pytest.approx(6)
    assert times(made, 20, threads=2).T_OL[0] * 20 == pytest.approx(18), "remainders too"
    assert times(made, 20, threads=2).T_nOL[0] * 20 == pytest.approx(12)
    assert times(result(), 20, threads=2).T_OL[0] * 20 == pytest.approx(6)
    nothing = result(T_OL=Cycles(0.0), ladder=(), crowded=Cycles(0.0))
    assert times(nothing, 20, threads=2).T_OL[0] == 0


def test_loads_issued_again_fall_with_the_time_of_the_loop() -> None:
    """None from 16 cycles for eight components on; by no more than a cycle per cycle."""
    cycles = times(result(ladder=()), np.inf)
    assert cycles.T_nOL[0] == 0.5
    lines = np.array([[0.25, 0.03, 4.0], [9.0, 9.0, 9.0]])
    again = again_cycles(lines, cycles, ON_THE_WAY)
    assert again.tolist() == pytest.approx([1 - 0.25, 0.12 * (1 - 8 * 0.5 / 16), 16 - 0.5])
    none = np.zeros((2, 1))
    assert again_cycles(none, cycles, PLAIN).tolist() == [0.0], "not measured"


@pytest.mark.parametrize(("vector", "share"), [(8, 1.0), (16, 1 / 3), (32, 0.0), (64, 0.0)])
def test_loops_over_narrow_vectors_load_again_from_every_line(vector: int, share: float) -> None:
    """Eight loads of a line are as many as those of four neighbours of every component."""
    made = loops([result(ladder=(), vector=vector)])
    cycles = run_times(made, runs(np.inf, align=at_start()), ON_THE_WAY, 1)
    apart = again_cycles(np.array([[0.0], [0.25]]), cycles, ON_THE_WAY)
    assert apart.tolist() == pytest.approx([share * (1 - 8 * 0.5 / 16)])


def test_accesses_that_cross_a_line_take_the_load_ports_again() -> None:
    """Half a load and a quarter of a store cross where the loop begins one double behind."""
    costs = replace(PLAIN, crossing=2.0)
    made = result(
        crossings=(0.0, 0.5, *(9.0,) * 6), crossings_stores=(0.0, 0.25, *(9.0,) * 6), ladder=()
    )

    def T_nOL(align: np.ndarray) -> float:
        endless = runs(np.inf, align=align)
        return float(run_times(loops([made]), endless, costs, 1).T_nOL[0])

    assert T_nOL(at_start(place=0)) == 0.5
    assert T_nOL(at_start(place=1)) == pytest.approx(0.5 + 0.75 * 2)
    both = (at_start(place=0) + at_start(place=1)) / 2
    assert T_nOL(both) == pytest.approx(0.5 + 0.375 * 2)
    assert times(made, np.inf, place=1).T_nOL[0] == 0.5, "no figure, no time"


def test_unaligned_stores_take_the_store_port_longer_beside_the_loads() -> None:
    """Whichever of the two takes longer; the crossed lines of stores are in their time."""
    costs = replace(PLAIN, crossing=2.0)
    made = result(
        crossings=(0.0, 0.5, 2.0, *(9.0,) * 5), crossings_stores=(9.0,) * 8, ladder=(),
        stored=(0.25, 2.0, 2.0, *(9.0,) * 5),
    )  # fmt: skip

    def T_nOL(place: int) -> float:
        endless = runs(np.inf, align=at_start(place=place))
        return float(run_times(loops([made]), endless, costs, 1).T_nOL[0])

    assert T_nOL(0) == 0.5
    assert T_nOL(1) == pytest.approx(2.0)
    assert T_nOL(2) == pytest.approx(0.5 + 2.0 * 2)


@pytest.mark.parametrize(
    ("stores", "loads", "alike"),
    [
        (0.5, 2.5, 1.0),  # two rows, as in the probe: one waits for the other
        (1.0, 5.0, 1.0),
        (1.0, 0.5, 0.5),  # half as many loads as stores
        (0.375, 2.5, 0.5),  # the second row is written half the time
        (0.25, 5.0, 0.0),  # a single row
        (0.0, 5.0, 0.0),
    ],
)
def test_stores_wait_at_the_borders_of_lines_of_several_rows(
    stores: float, loads: float, alike: float
) -> None:
    crossing = stores / 4  # half of the lines: a vector of four doubles, two of them in a line
    made = result(stores=stores, loads=loads, vector=32, crossings_stores=(0.0, *(crossing,) * 7))
    assert times(made, 16, place=1).delayed[0] == pytest.approx(0.5 * alike)
    assert times(made, 16, place=0).delayed[0] == 0


def test_no_more_stores_wait_than_lines_are_stored() -> None:
    made = result(stores=0.5, loads=2.5, vector=32, crossings_stores=(9.0,) * 8)
    assert times(made, 16, place=3).delayed[0] == 1


def test_expected_crossings_count_where_no_place_is_known() -> None:
    made = loops([result(crossing=0.25, crossing_stores=0.125)])
    assert made.crossing.tolist() == [[0.375] * PLACES]


@pytest.mark.parametrize(
    ("run", "head", "T_OL", "T_nOL"),
    [
        (18, 2, 2 * 2 + 4, 2 * 3 + 8),  # two one by one, then one pass of the hot loop
        (37, 1, 2 + 8 + 2, 3 + 16 + 4),  # nothing is left at the end for the last loop
        (5, 7, 5 * 2, 5 * 3),  # all of them
    ],
)
def test_components_before_an_aligned_loop_go_one_by_one(
    run: float, head: float, T_OL: float, T_nOL: float
) -> None:
    cycles = run_times(loops([result()]), runs(run, head=head), PLAIN, 1)
    assert cycles.T_OL[0] * run == pytest.approx(T_OL)
    assert cycles.T_nOL[0] * run == pytest.approx(T_nOL)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (16, 30 - 12),  # one pass: the exit is foreseen
        (16 * 64, 30 - 12),
        (16 * 65, 30),  # from 65 passes on it is not
        (np.inf, 0),
    ],
)
def test_entries_cost_the_mispredicted_exit_of_long_loops(run: float, expected: float) -> None:
    costs = replace(PLAIN, loop_entry=30.0, exit=12.0)
    cycles = run_times(loops([result()]), runs(run), costs, 1)
    assert cycles.entry[0] == pytest.approx(expected / run)


def test_a_loop_that_always_leaves_components_leaves_a_whole_pass_of_them() -> None:
    plain, leaving = times(result(), 32.0), times(result(leaves=True), 32.0)
    assert plain.T_OL[0] == pytest.approx(0.25)
    assert leaving.T_OL[0] * 32 == pytest.approx(16 * 0.25 + 16 * 0.5)
    beyond = times(result(leaves=True), 36.0)
    assert beyond.T_OL[0] * 36 == pytest.approx(32 * 0.25 + 4 * 0.5)


def test_runs_that_are_cut_have_two_remainders_and_two_entries() -> None:
    costs = replace(PLAIN, loop_entry=30.0, exit=12.0)
    whole = run_times(loops([result()]), runs(64.0), costs, 1)
    cut = run_times(loops([result()]), runs(64.0, cut=1.0), costs, 1)
    half = run_times(loops([result()]), runs(64.0, cut=0.5), costs, 1)
    assert whole.T_OL[0] == pytest.approx(0.25)
    assert cut.T_OL[0] > whole.T_OL[0]
    assert half.T_OL[0] == pytest.approx((whole.T_OL[0] + cut.T_OL[0]) / 2)
    assert half.entry[0] == pytest.approx(1.5 * whole.entry[0])
    parts = [8, 56, 24, 40, 39, 25, 55, 9]
    taken = [times(result(), float(part)).T_OL[0] * part for part in parts]
    assert cut.T_OL[0] * 64 == pytest.approx(sum(taken) / 4)


def test_operations_wait_longer_where_accesses_cross_lines() -> None:
    made = result(crossings=(0.0, 0.5) * 4, window=(0.25, 0.5))
    assert times(made, 32.0, place=0).T_OL[0] == pytest.approx(0.25)
    assert times(made, 32.0, place=1).T_OL[0] == pytest.approx(0.25 + 0.5 * 0.5)
    hidden = replace(made, window=(0.125, 0.125))
    assert times(hidden, 32.0, place=1).T_OL[0] == pytest.approx(0.25), "the ports need longer"


def test_instructions_around_the_loop_are_the_least_of_an_entry() -> None:
    costs = replace(PLAIN, loop_entry=30.0, exit=12.0)
    made = result(entry=Cycles(50.0))
    cycles = run_times(loops([made]), runs(16.0, 1600.0), costs, 1)
    both = run_times(loops([made, made]), runs(16.0, 1600.0), costs, 1)
    assert (both.entry * [16, 1600]).tolist() == pytest.approx([50, 62])
    assert cycles.entry.tolist() == both.entry.tolist()


# --- as arrays --------------------------------------------------------------------------------


def test_figures_of_results_become_columns() -> None:
    plain, rough = result(), result(approximate=True, gathers=0.5, calls=0.25, width=0.5)
    made = loops([plain, rough])
    assert made.approximate.tolist() == [0, 1]
    assert made.gathers.tolist() == [0, 1]
    assert made.calls.tolist() == [0, 1]
    assert made.crowded.tolist() == made.T_OL.tolist() == [0.25, 0.25]
    assert made.width[1] == pytest.approx(0.5 / 1.2816), "half an 80 % interval in sigma"
    assert made.rungs[0].tolist() == [[16, 0.25, 0.5], [4, 0.5, 1], [1, 2, 3], [0, 0, 0]]
    assert made.rungs.shape == (2, 4, 3)


def test_results_without_a_width_have_that_of_their_kind() -> None:
    made = loops([result(width=0.0), result(width=0.0, approximate=True)])
    assert made.width.tolist() == pytest.approx([0.1 / 1.2816, 0.3 / 1.2816])


def test_no_results_are_empty_columns() -> None:
    made = loops([])
    assert made.crossing.shape == (0, PLACES)
    assert made.rungs.shape == (0, 4, 3)
    assert len(made.T_OL) == 0


def test_chosen_sweeps_keep_every_figure() -> None:
    made = loops([result(T_OL=Cycles(float(k)), crossing=float(k)) for k in range(4)])
    chosen = made.at(np.array([3, 1, 3]))
    assert isinstance(chosen, LoopArrays)
    assert chosen.T_OL.tolist() == [3, 1, 3]
    assert chosen.crossing[:, 0].tolist() == [3, 1, 3]
