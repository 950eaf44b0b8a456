"""Traffic as records: kind, level and counts of every stream; conflicts of padded rows."""

from dataclasses import replace

import numpy as np
import pytest
from made_programs import STEP, candidate, program, sweep
from sample_nodes import KIB, MIB, calibrated

from autotune.codegen.tree.loop_tree import GridSweep, NodeBlock, Repeat, StoredRow, Sync
from autotune.language.expression import Num, parse
from autotune.models.traffic.stream_records import StepTraffic, StreamRecord
from autotune.models.traffic.traffic_analyser import TrafficAnalyser, analyse

MACHINE = calibrated()


def traffic(n: int, threads: int = 1) -> StepTraffic:
    return analyse(program(*STEP), candidate(n).problem, threads, MACHINE)


def streams(item: StepTraffic, sweep: str) -> dict[str, StreamRecord]:
    """The streams of the last pass of a sweep of the first thread, by row."""
    passes = [r for r in item.records() if r.sweep == sweep and r.thread == 0]
    return {stream.row: stream for stream in passes[-1].streams}


def test_kinds_say_which_rows_are_read_and_written() -> None:
    """lc: R0 = R1 + R2; rh: R1 = R0; up: R2 = R1."""
    item = traffic(100_000)
    assert {row: stream.kind for row, stream in streams(item, "lc").items()} == {
        "R[0]": "store",
        "R[1]": "load",
        "R[2]": "load",
    }
    for stream in streams(item, "lc").values():
        assert stream.lines == 1 / 8
        assert stream.outbound == (1 / 8 if stream.kind == "store" else 0)


def test_a_row_that_is_added_to_is_an_update() -> None:
    made = sweep("lc", "0", "1")
    stretch = made.stretches[0]
    added = replace(made, stretches=(replace(stretch, statements=(
        replace(stretch.statements[0], add=True),)),))  # fmt: skip
    item = analyse(program(added), candidate(1000).problem, 1, MACHINE)
    assert {row: stream.kind for row, stream in streams(item, "lc").items()} == {
        "R[0]": "update",
        "R[1]": "load",
    }


@pytest.mark.parametrize(
    ("n", "level"),
    [
        (1000, "L1"),  # three rows of 8 KB
        (8000, "L2"),  # 192 KB
        (200_000, "L3"),  # 4.8 MB
        (1_000_000, "MEM"),  # 24 MB
    ],
)
def test_the_level_is_the_first_that_holds_what_was_touched_since(n: int, level: str) -> None:
    """up reads R1 behind rh, which wrote R1 and read R0: two rows between two touches."""
    last = streams(traffic(n), "up")
    assert last["R[1]"].distance == pytest.approx(2 * 8 * n)
    assert last["R[1]"].level == level


def test_shared_caches_are_divided_among_the_threads() -> None:
    levels = {threads: dict(traffic(100_000, threads).levels) for threads in (1, 2, 4)}
    assert {t: sizes["L3"] for t, sizes in levels.items()} == {1: 8 * MIB, 2: 4 * MIB, 4: 2 * MIB}
    assert {sizes["L2"] for sizes in levels.values()} == {256 * KIB}
    assert {sizes["MEM"] for sizes in levels.values()} == {float("inf")}


def test_nodes_share_no_caches() -> None:
    analyser = TrafficAnalyser(MACHINE)
    made, problem = program(*STEP), candidate(100_000).problem
    assert dict(analyser.analyse(made, problem, 4, nodes=2).levels)["L3"] == 4 * MIB


def test_executions_count_loops_in_full() -> None:
    """Three correctors of lc and rh, each between barriers, then up."""
    item = traffic(100_000)
    step = item.schedule.steps[-1]
    done = {
        item.schedule.sweeps[step.calls[call].sweep].name: 0.0 for call in range(len(step.calls))
    }
    for call, count in enumerate(item.executions.sum(axis=0).tolist()):
        done[item.schedule.sweeps[step.calls[call].sweep].name] += count
    assert done == {"lc": 3, "rh": 3, "up": 1}
    assert item.executions.shape[0] == 7
    assert (item.executions.sum(axis=1) == 1).all()


def test_records_repeat_what_a_long_loop_does() -> None:
    """Ten correctors are recorded as two: the second stands for the rest."""
    body = NodeBlock((sweep("lc", "0", "1"), Sync(), sweep("rh", "1", "0"), Sync()))
    item = analyse(program(Repeat("k", 0, 10, body)), candidate(1000).problem, 1, MACHINE)
    lc = [record.executions for record in item.records() if record.sweep == "lc"]
    assert lc == [1, 9]
    assert [record.iterations for record in item.records()] == [1000] * 4


def test_rows_on_one_set_conflict_where_padding_does_not_spread_them() -> None:
    """Nine rows of 512 KiB begin at one set of eight ways; five lines of padding spread them."""
    made = program(sweep("lc", "0", *(str(k) for k in range(1, 9))))
    item = analyse(made, candidate(65536).problem, 1, MACHINE)
    bare = item.conflicts(0, 0, MACHINE, 8.0)
    assert [(c.level, c.streams, c.ways) for c in bare] == [("L1", 9, 8), ("L2", 9, 8)]
    assert [c.certain for c in bare] == [True, False]
    assert bare[0].lines == pytest.approx(9 / 8), "all nine rows once per line of eight"
    assert item.conflicts(0, 5, MACHINE, 8.0) == []


# --- one analyser for many programs -------------------------------------------------------------


def test_programs_that_differ_in_padding_share_their_traffic() -> None:
    analyser = TrafficAnalyser(MACHINE)
    problem = candidate(5000).problem
    first = analyser.analyse(program(*STEP, pad_lines=0), problem, 2)
    assert analyser.analyse(program(*STEP, pad_lines=5), problem, 2) is first
    assert analyser.analyse(program(*STEP), problem, 1) is not first
    assert analyser.analyse(program(*STEP), candidate(5001).problem, 2) is not first


def test_the_analyser_says_what_an_analysis_of_one_program_says() -> None:
    analyser = TrafficAnalyser(MACHINE)
    for n in (100, 5000):
        together = analyser.analyse(program(*STEP), candidate(n).problem, 2)
        assert (
            together.records()
            == analyse(program(*STEP), candidate(n).problem, 2, MACHINE).records()
        )
        assert (together.components, together.line) == (n, 64)


def test_equal_threads_are_one_and_idle_ones_are_none() -> None:
    """Whole granules of a line: three of 24 components on four threads leave one idle."""
    item = traffic(24, 4)
    assert sum(thread.alike for thread in item.threads) == 3
    assert {pass_.iterations for thread in item.threads for pass_ in thread.passes} == {8}
    assert sum(thread.alike for thread in traffic(100_000, 4).threads) == 4


def test_a_sweep_over_a_grid_needs_a_problem_that_has_one() -> None:
    grid = GridSweep(
        name="copy",
        kernel="sweep",
        rows=(("v", StoredRow("R", Num(0))), ("u", StoredRow("R", Num(1)))),
        dimensions=("j", "i"),
        value=parse("u[j][i]"),
        target="v",
        radius=1,
    )
    with pytest.raises(ValueError, match="sweep copy is over a grid, the problem has none"):
        analyse(program(grid), candidate(1000).problem, 1, MACHINE)


def test_a_program_that_computes_nothing_has_no_traffic() -> None:
    with pytest.raises(ValueError, match="the program computes nothing"):
        analyse(program(sweep("lc", "0", "1", upper="0")), candidate(8).problem, 1, MACHINE)


def test_distances_of_threads_are_those_of_their_blocks() -> None:
    alone, four = traffic(4096), traffic(16384, 4)
    assert np.array_equal(alone.threads[0].history.distance, four.threads[0].history.distance)
