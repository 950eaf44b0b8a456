"""Flat arrays of flows, cases and nodes: sums over places, joined arrays, selected cases."""

from dataclasses import fields, replace

import numpy as np
import pytest
from flow_arrays import Stream, everywhere, flow_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import KIB, MIB, calibrated

from autotune.models.engines.reuse.batch import FlowArrays, FlowExecutions, spans, total
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.core_times import ProgramLoops
from autotune.models.engines.reuse.evaluation_pieces import (
    CaseArrays,
    CasePiece,
    ConflictLines,
    LoadedNode,
    ThreadPlacement,
)
from autotune.models.incore.base import InCoreResult
from autotune.units import Cycles

ALONE = ThreadPlacement(1, "compact")
NO_CONFLICTS = ConflictLines.of(3)
RESULT = InCoreResult(
    T_OL=Cycles(0.5),
    T_nOL=Cycles(0.25),
    chain=Cycles(0.0),
    bottleneck="port 0",
    iterations=8,
    route="made up",
    approximate=False,
)
SMALL = flow_of([Stream(0, everywhere(16.0 * KIB))])
LARGE = flow_of([Stream(0, everywhere(4.0 * MIB)), Stream(1, everywhere(100.0 * MIB))], 2)


@settings(max_examples=50, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=8))
def test_spans_are_the_ranges_one_after_the_other(parts: list[tuple[int, int]]) -> None:
    begin = np.array([first for first, _ in parts], dtype=np.int64)
    count = np.array([length for _, length in parts], dtype=np.int64)
    expected = [number for first, length in parts for number in range(first, first + length)]
    assert spans(begin, count).tolist() == expected


def test_totals_add_up_what_lies_at_a_place() -> None:
    place, values = np.array([2, 0, 2]), np.array([1.5, 4.0, 0.25])
    assert total(place, values, 4).tolist() == [4, 0, 1.75, 0]
    assert total(place[:0], values[:0], 2).tolist() == [0, 0]


# --- joined arrays ------------------------------------------------------------------------------


def cut(flows: FlowArrays, flow: int) -> dict[str, list[float]]:
    """What a flow says, apart from where it lies: streams, passes and regions of its own."""
    own = slice(flows.passes[flow], flows.passes[flow + 1])
    works = flows.work[own]
    streams = np.isin(flows.owner, works)
    done = flows.executions
    entries = slice(flows.entries[flow], flows.entries[flow + 1])
    return {
        "distance": flows.history.distance[flows.kind[streams]].ravel().tolist(),
        "owner": (flows.owner[streams] - works[0]).tolist(),
        "iterations": flows.iterations[own].tolist(),
        "run": flows.run[works].tolist(),
        "entry": (done.entry[entries] - own.start).tolist(),
        "count": done.count[entries].tolist(),
        "region": (done.cell_region[done.entry_cell[entries]] - flows.regions[flow]).tolist(),
        "flow": (done.region_flow[flows.regions[flow] : flows.regions[flow + 1]] - flow).tolist(),
    }


@pytest.mark.parametrize("order", [(SMALL, LARGE, SMALL), (LARGE, LARGE), (LARGE, SMALL)])
def test_joined_flows_say_what_each_says_alone(order: tuple[FlowArrays, ...]) -> None:
    joined = order[0]
    for part in order[1:]:
        joined = joined.joined(part)
    assert len(joined.team) == len(order)
    assert joined.line == 64
    for number, part in enumerate(order):
        assert cut(joined, number) == cut(part, 0)


def test_every_field_is_joined() -> None:
    joined = SMALL.joined(LARGE)
    bounds = {"passes", "entries", "cells", "regions"}
    for item in fields(FlowArrays):
        if item.name not in ("line", "executions"):
            parts = [len(getattr(flows, item.name)) for flows in (SMALL, LARGE)]
            assert len(getattr(joined, item.name)) == sum(parts) - (item.name in bounds)
    for item in fields(FlowExecutions):
        parts = [len(getattr(flows.executions, item.name)) for flows in (SMALL, LARGE)]
        assert len(getattr(joined.executions, item.name)) == sum(parts)


# --- cases of a node ----------------------------------------------------------------------------


def cases(*flows: int) -> CaseArrays:
    count = len(flows)
    return CaseArrays(
        flow=np.array(flows),
        core=np.zeros(count, dtype=np.int64),
        crowd=np.full(count, -1),
        team=np.ones(count, dtype=np.int64),
    )


def piece(node: LoadedNode, chosen: CaseArrays) -> CasePiece:
    loops = ProgramLoops.of([RESULT, RESULT])
    return Evaluator(calibrated()).piece(node, chosen, loops, NO_CONFLICTS)


def test_cases_are_selected_with_all_their_columns() -> None:
    made = replace(cases(4, 5, 6), core=np.array([7, 8, 9]), team=np.array([1, 2, 3]))
    chosen = made.at(np.array([2, 0]))
    assert chosen.flow.tolist() == [6, 4]
    assert chosen.core.tolist() == [9, 7]
    assert chosen.team.tolist() == [3, 1]
    assert chosen.crowd.tolist() == [-1, -1]


def test_a_node_with_more_flows_is_the_parts_joined() -> None:
    evaluator = Evaluator(calibrated())
    grown = evaluator.node(ALONE, [SMALL])
    grown = evaluator.node(ALONE, [SMALL, LARGE])
    alone = Evaluator(calibrated()).node(ALONE, [SMALL.joined(LARGE)])
    for name in ("mean", "stored", "starts", "streams", "floor"):
        assert getattr(grown, name).tolist() == getattr(alone, name).tolist()
    assert grown.data.total.tolist() == alone.data.total.tolist()
    assert grown.costs is grown.bare.costs
    assert grown.doubts is grown.bare.doubts


def test_a_node_without_flows_has_nothing_to_evaluate() -> None:
    with pytest.raises(ValueError, match="there is nothing to evaluate"):
        Evaluator(calibrated()).node(ALONE, [])


def test_cycles_of_a_piece_by_hand() -> None:
    """Half a cycle of arithmetic; 4 cycles per line from L3 and 16 from memory, overlapping."""
    node = Evaluator(calibrated()).node(ALONE, [SMALL, LARGE])
    made = piece(node, cases(1, 0))
    assert made.owner.tolist() == [0, 0, 1]
    assert made.begin.tolist() == [0, 2]
    assert made.at.tolist() == [1, 2, 0]
    assert made.cycles.tolist() == pytest.approx([0.5, 2.0, 0.5])
    step = Evaluator(calibrated()).steps(made)
    assert step.seconds.tolist() == pytest.approx([2500 / 3e9, 500 / 3e9])


def test_cases_of_one_flow_do_not_mix() -> None:
    node = Evaluator(calibrated()).node(ALONE, [SMALL, LARGE])
    made = piece(node, cases(1, 1, 0, 1))
    assert made.cycles.tolist() == pytest.approx([0.5, 2.0, 0.5, 2.0, 0.5, 0.5, 2.0])
    seconds = Evaluator(calibrated()).steps(made).seconds
    assert seconds[[0, 1]].tolist() == seconds[[1, 3]].tolist()


@pytest.mark.parametrize(
    ("threads", "seconds"), [(1, 0.0), (2, 5e-7), (3, 7.5e-7), (4, 1e-6), (8, 2e-6)]
)
def test_barriers_lie_between_measured_numbers_of_threads(threads: int, seconds: float) -> None:
    assert Evaluator(calibrated()).barrier(threads) == pytest.approx(seconds)


def test_barriers_of_a_machine_file_grow_with_the_threads() -> None:
    """The file's figure is that of all four cores."""
    bare = replace(calibrated(), calibration=None)
    assert [Evaluator(bare).barrier(t) for t in (1, 2, 4)] == pytest.approx([0, 5e-7, 1e-6])
    assert Evaluator(replace(bare, barrier=None)).barrier(2) is None
