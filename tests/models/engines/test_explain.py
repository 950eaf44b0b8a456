"""Parts and reasons of predictions, from times of sweeps that are known."""

from collections.abc import Sequence

import numpy as np
import pytest
from flow_arrays import Stream, everywhere, flow_of
from made_programs import STEP, candidate, program
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.results import Part
from autotune.models.engines import explain
from autotune.models.engines.explain import Contributions
from autotune.models.engines.reuse.analysed_programs import TimingCase
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.core_times import ProgramLoops
from autotune.models.engines.reuse.evaluation_pieces import (
    CaseArrays,
    ConflictLines,
    ThreadPlacement,
)
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.incore.base import InCoreResult
from autotune.models.traffic import analyse
from autotune.units import Cycles, Seconds

COSTS = line_costs(calibrated(), 1)
KINDS = ("T_OL", "T_nOL", "L2", "L3", "MEM", "stores", "entry", "across", "again", "sweep")


def result(bottleneck: str = "port 0", approximate: bool = False) -> InCoreResult:
    return InCoreResult(
        T_OL=Cycles(0.5),
        T_nOL=Cycles(0.25),
        chain=Cycles(0.0),
        bottleneck=bottleneck,
        iterations=8,
        route="made up",
        approximate=approximate,
    )


def case(*results: InCoreResult) -> TimingCase:
    """A step of three sweeps: lc, rh and up."""
    traffic = analyse(program(*STEP), candidate(1000).problem, 1, calibrated())
    assert [sweep.name for sweep in traffic.schedule.sweeps] == ["lc", "rh", "up"]
    every = (*results, *(result() for _ in range(3 - len(results))))
    return TimingCase(traffic=traffic, threads=1, team=1, results=every, crowded=())


def contributions(*rows: Sequence[float], barriers: float = 0.0, rows_of: int = 0) -> Contributions:
    """Seconds of each kind of lc, rh and up; up streams ``rows_of`` rows from L3."""
    streams = np.zeros((3, 4), dtype=np.int64)
    streams[2, 2] = rows_of
    return Contributions(np.array(rows, dtype=float), streams, barriers)


NOTHING = (0.0,) * len(KINDS)


def parts(made: Contributions, *results: InCoreResult) -> list[Part]:
    return list(explain.parts(case(*results), made, COSTS))


def reason(made: Contributions, seconds: float, *results: InCoreResult) -> str:
    at = case(*results)
    return explain.reason(at, made.streams, explain.parts(at, made, COSTS), seconds)


# --- parts ----------------------------------------------------------------------------------


def test_kinds_are_the_terms_of_the_model_in_order() -> None:
    assert explain.kinds(COSTS) == KINDS


def test_parts_are_what_takes_time_sweep_by_sweep() -> None:
    lc = (1.0, 0.5, 2.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 2.5)
    up = (0.25, 0.0, 0.0, 0.75, 0.0, 0.0, 0.1, 0, 0, 1.0)
    made = parts(contributions(lc, NOTHING, up, barriers=0.125, rows_of=3))
    assert [(p.sweep, p.kernel, p.kind, float(p.seconds)) for p in made] == [
        ("lc", "lc", "T_OL", 1.0),
        ("lc", "lc", "T_nOL", 0.5),
        ("lc", "lc", "L2", 2.0),
        ("lc", "lc", "sweep", 2.5),
        ("up", "up", "T_OL", 0.25),
        ("up", "up", "L3", 0.75),
        ("up", "up", "entry", 0.1),
        ("up", "up", "sweep", 1.0),
        ("barrier", "", "barrier", 0.125),
    ]
    assert {p.kind: p.count for p in made if p.sweep == "up"} == {
        "T_OL": 0, "L3": 3, "entry": 0, "sweep": 0,
    }  # fmt: skip


def test_nothing_takes_no_part() -> None:
    assert parts(contributions(NOTHING, NOTHING, NOTHING)) == []


def test_rough_in_core_times_and_levels_without_figures_are_extrapolated() -> None:
    """Three threads have no curve of their own: all levels are, whatever the core is."""
    row = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0, 0, 1.0)
    made = explain.parts(
        case(result(approximate=True)),
        contributions(row, row, NOTHING),
        line_costs(calibrated(), 3),
    )
    rough = {(p.sweep, p.kind) for p in made if p.extrapolated}
    levels = {(name, level) for name in ("lc", "rh") for level in ("L2", "L3", "MEM")}
    assert rough == {("lc", "T_OL"), ("lc", "T_nOL")} | levels


# --- reasons --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "phrase"),
    [
        (
            (4, 1, 1, 0, 0, 0, 0, 0, 0, 4),
            "LC, 100 % of the step: work in core (port 5) takes 100 % of it",
        ),
        ((3, 1, 2, 0, 0, 0, 0, 0, 0, 3.5), "LC, 100 % of the step: lines from L2 take 57 % of it"),
        (
            (1, 3, 1, 0, 0, 0, 0, 0, 0, 4),
            "LC, 100 % of the step: work in core (port 5) takes 75 % of it",
        ),
        ((1, 1, 0, 0, 3, 0, 0, 0, 0, 4), "LC, 100 % of the step: lines from MEM take 75 % of it"),
        (
            (1, 1, 0, 0, 0, 0, 0, 0, 3, 4),
            "LC, 100 % of the step: loads of lines still on the way take 75 % of it",
        ),
        (
            (1, 1, 0, 0, 1, 3, 0, 0, 0, 4),
            "LC, 100 % of the step: stores through the innermost cache take 75 % of it",
        ),
        (
            (1, 1, 0, 0, 1, 0, 3, 0, 0, 4),
            "LC, 100 % of the step: entries into short loops take 75 % of it",
        ),
        (
            (1, 1, 0, 0, 1, 0, 0, 3, 0, 4),
            "LC, 100 % of the step: stores across lines take 75 % of it",
        ),
    ],
)
def test_the_largest_part_bounds_a_kernel(row: Sequence[float], phrase: str) -> None:
    made = contributions(row, NOTHING, NOTHING)
    assert reason(made, row[-1], result("port 5")) == phrase


def test_the_two_longest_kernels_are_named_with_their_rows_and_shares() -> None:
    lc = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 1.0)
    rh = (0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.5)
    up = (0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0, 0, 6.5)
    text = reason(contributions(lc, rh, up, rows_of=8), 8.0)
    assert text == (
        "UP, 81 % of the step: 8 rows from L3 take 92 % of it;"
        " LC, 12 %: work in core (port 0) takes 100 % of it"
    )
    single = reason(contributions(NOTHING, NOTHING, up, rows_of=1), 6.5)
    assert single == "UP, 100 % of the step: 1 row from L3 takes 92 % of it"


@pytest.mark.parametrize(("barriers", "told"), [(0.04, ""), (0.25, "; barriers: 20 %")])
def test_barriers_are_told_above_a_twentieth(barriers: float, told: str) -> None:
    lc = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 1.0)
    text = reason(contributions(lc, NOTHING, NOTHING, barriers=barriers), 1.0 + barriers)
    assert text.partition(" % of it")[2] == told


# --- from the model ---------------------------------------------------------------------------


def test_shares_of_a_step_by_hand() -> None:
    """A sweep in L1, one that streams from L3 and memory: 1000 iterations each at 3 GHz.

    Nothing overlaps less than all: the sweep takes its longest part, 16 of 8 cycles a line.
    """
    evaluator = Evaluator(calibrated())
    flows = flow_of(
        [
            Stream(0, everywhere(16.0 * KIB)),
            Stream(1, everywhere(4.0 * MIB)),
            Stream(1, everywhere(100.0 * MIB)),
        ],
        2,
    )
    node = evaluator.node(ThreadPlacement(1, "compact"), [flows])
    cases = CaseArrays(
        flow=np.zeros(2, dtype=np.int64),
        core=np.zeros(2, dtype=np.int64),
        crowd=np.full(2, -1),
        team=np.ones(2, dtype=np.int64),
    )
    piece = evaluator.piece(node, cases, ProgramLoops.of([result(), result()]), ConflictLines.of(3))
    step = evaluator.steps(piece)
    made = explain.shares(node, piece, step, np.array([2, 2]), 3e9)
    assert made.first.tolist() == [0, 2, 4]
    unit = 1000 / 3e9
    by_kind = dict(zip(KINDS, made.seconds.T / unit, strict=True))
    assert by_kind["T_OL"] == pytest.approx([0.5] * 4)
    assert by_kind["T_nOL"] == pytest.approx([0.25] * 4)
    assert by_kind["L3"] == pytest.approx([0, 4 / 8] * 2)
    assert by_kind["MEM"] == pytest.approx([0, 16 / 8] * 2)
    assert by_kind["sweep"] == pytest.approx([0.5, 2.5] * 2)
    assert made.streams.tolist() == [[1, 0, 0, 0], [0, 0, 1, 1]] * 2
    assert step.seconds / unit == pytest.approx([3.0, 3.0])


def test_lines_that_set_conflicts_load_again_are_shares_of_their_level() -> None:
    """Two programs of one flow; the second sweep of the first loads half a line again from L2."""
    evaluator = Evaluator(calibrated())
    near = [Stream(0, everywhere(16.0 * KIB)), Stream(1, everywhere(100.0 * KIB))]
    node = evaluator.node(ThreadPlacement(1, "compact"), [flow_of(near, 2)])
    cases = CaseArrays(
        flow=np.zeros(2, dtype=np.int64),
        core=np.zeros(2, dtype=np.int64),
        crowd=np.array([0, -1]),
        team=np.ones(2, dtype=np.int64),
    )
    certain = np.array([[0.0, 0.5], [0.0, 0.0], [0.0, 0.0]])
    lines = ConflictLines.of(3, [certain], [2 * certain])
    piece = evaluator.piece(node, cases, ProgramLoops.of([result(), result()]), lines)
    made = explain.shares(node, piece, evaluator.steps(piece), np.array([2, 2]), 3e9)
    again = 0.5 * float(node.bare.price[0])
    from_l2 = made.seconds[:, KINDS.index("L2")] * 3e9 / 1000
    assert from_l2[3] > 0
    assert from_l2 - from_l2[[2, 3, 2, 3]] == pytest.approx([0, again, 0, 0])


def test_a_part_is_a_number_of_seconds() -> None:
    made = parts(contributions((1.0, *NOTHING[1:]), NOTHING, NOTHING))
    assert made == [
        Part(sweep="lc", kind="T_OL", seconds=Seconds(1.0), kernel="lc"),
    ]
    assert explain.kinds(line_costs(documented(), 1)) == KINDS
