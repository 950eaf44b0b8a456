"""Traffic records: kinds of streams, levels, blocks, boundary rows, set conflicts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.tree.loop_tree import (
    Assign,
    Node,
    NodeBlock,
    Repeat,
    StepProgram,
    StoredRow,
    Sweep,
    SweepStretch,
    Sync,
    Tiles,
)
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.language.expression import Num, Sym, parse
from autotune.models.traffic import TrafficAnalyser, analyse
from autotune.models.traffic.passes import blocks
from autotune.models.traffic.schedule import schedule
from autotune.models.traffic.set_conflicts import conflicts, leading_dimension
from autotune.models.traffic.sweep_shape import shape

L1 = CacheLevel(name="L1", size=32 * 1024, line=64, ways=8, cores=1)
L2 = CacheLevel(name="L2", size=1024 * 1024, line=64, ways=8, cores=1)
L3 = CacheLevel(name="L3", size=16 * 1024 * 1024, line=64, ways=16, cores=4)
MACHINE = Machine(
    name="tiny",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(L1, L2, L3),
    memory=Memory(),
    in_core=InCore(),
)


def problem(size: int) -> Problem:
    ivp = Ivp(
        name="square",
        title="",
        source="",
        dimension=parse("N*N"),
        constants={},
        access_distance=Sym("N"),
        limited=True,
        regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
        initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
        stability=Num(1),
    )
    euler = ButcherTableau(name="e", title="", order=1, A=((1,),), b=(1,), c=(1,), source="")
    return Problem(ivp=ivp, method=euler, correctors=1, size=size)


def sweep(name: str, value: str, *, add: bool = False, lower: str = "0", upper: str = "n") -> Sweep:
    """``out = value`` with parameters out, a, b, c for the rows F[l], y, Y[0], Y[1]."""
    rows = (("out", StoredRow("F", Sym("l"))), ("a", StoredRow("y")), ("b", StoredRow("Y", Num(0))))
    statements = (Assign("out", parse(value), add=add),)
    return Sweep(
        name=name,
        kernel="rhs",
        rows=rows,
        scalars=(),
        stretches=(SweepStretch(parse(lower), parse(upper), statements),),
    )


def program(*nodes: Node, pad_lines: int = 5) -> StepProgram:
    arrays = (("y", 1), ("Y", 2), ("F", 2))
    body = NodeBlock((Repeat("l", 0, 2, NodeBlock(nodes)),))
    return StepProgram(body=body, arrays=arrays, pad_lines=pad_lines, stages=2)


def test_kinds_and_lines_of_streams() -> None:
    made = program(sweep("s", "a[j] + b[j]"), sweep("u", "a[j]", add=True))
    records = analyse(made, problem(64), 1, MACHINE).records()
    assert [record.sweep for record in records] == ["s", "u", "s", "u"]
    first = {stream.row: stream for stream in records[0].streams}
    assert {row: stream.kind for row, stream in first.items()} == {
        "y": "load", "Y[0]": "load", "F[0]": "store",
    }  # fmt: skip
    assert {row: stream.outbound for row, stream in first.items()} == {
        "y": 0, "Y[0]": 0, "F[0]": 1 / 8,
    }  # fmt: skip
    assert {s.row: s.kind for s in records[3].streams} == {"F[1]": "update", "y": "load"}
    assert all(stream.lines == 1 / 8 for record in records for stream in record.streams)
    assert all(record.iterations == 64 * 64 and record.executions == 1 for record in records)


def test_the_level_follows_the_reuse_distance_of_each_stream() -> None:
    """y is used by every sweep, F only once per step; rows of 128 KiB (n = 2^14)."""
    made = program(sweep("s", "a[j]"))
    records = analyse(made, problem(128), 1, MACHINE).records()
    levels = [{s.row: (s.level, s.distance) for s in record.streams} for record in records]
    row = 128 * 128 * 8
    assert levels[0]["y"] == ("L2", pytest.approx(2 * row))
    assert levels[0]["F[0]"] == ("L2", pytest.approx(3 * row))
    big = analyse(made, problem(2048), 4, MACHINE).records()
    assert {s.row: s.level for s in big[0].streams} == {"y": "MEM", "F[0]": "MEM"}


@pytest.mark.parametrize(("size", "level"), [(256, "L1"), (2048, "L2")])
def test_layer_condition_of_a_five_point_stencil(size: int, level: str) -> None:
    """Four rows of N doubles must fit: 8 KiB at N = 256, 64 KiB at N = 2048."""
    made = program(sweep("s", "a[j-N] + a[j-1] + a[j] + a[j+1] + a[j+N]", lower="N", upper="n-N"))
    record = analyse(made, problem(size), 1, MACHINE).records()[0]
    streams = [stream for stream in record.streams if stream.row == "y"]
    assert [stream.level for stream in streams[1:]] == [level] * 2
    assert streams[1].distance == pytest.approx(4 * size * 8, rel=0.1)


def test_in_a_tile_distances_are_those_of_the_tile() -> None:
    inner = NodeBlock((sweep("s", "a[j]"), sweep("u", "b[j]", add=True)))
    records = analyse(program(Tiles(256, inner)), problem(256), 1, MACHINE).records()
    assert {s.row: s.level for s in records[1].streams} == {"F[0]": "L1", "Y[0]": "L3"}


def test_boundary_rows_count_but_do_not_cut_the_block() -> None:
    made = program(
        sweep("low", "0.0", upper="N"),
        sweep("mid", "a[j]", lower="N", upper="n-N"),
        sweep("high", "0.0", lower="n-N"),
    )
    records = analyse(made, problem(256), 1, MACHINE).records()
    assert [record.iterations for record in records[:3]] == [256, 256 * 254, 256]
    assert sum(record.iterations for record in records) == 2 * 256 * 256


def test_equal_threads_are_analysed_once_and_differing_ones_apart() -> None:
    made = program(sweep("low", "0.0", upper="N"), sweep("mid", "a[j]", lower="N"), Sync())
    traffic = analyse(made, problem(256), 4, MACHINE)
    assert [streams.alike for streams in traffic.threads] == [1, 3]
    assert traffic.executions.shape == (2, 4)


def test_padding_shares_the_traffic_and_corrector_loops_are_weighted() -> None:
    analyser = TrafficAnalyser(MACHINE)
    loop = Repeat("k", 0, 6, NodeBlock((sweep("s", "a[j]"), Sync())))
    padded, bare = program(loop, pad_lines=5), program(loop, pad_lines=0)
    traffic = analyser.analyse(padded, problem(64), 1)
    assert analyser.analyse(bare, problem(64), 1) is traffic
    assert traffic.executions.sum() == 12
    assert len(traffic.schedule.steps[-1].calls) == 4
    assert traffic.schedule.steps[-1].barriers == 12


@pytest.mark.parametrize(
    ("count", "counts"), [(1, [1]), (2, [1, 1]), (3, [1, 1, 1]), (64, [1, 62, 1])]
)
def test_the_last_repeat_in_a_tile_alone_leaves_its_lines(count: int, counts: list[int]) -> None:
    """Until a repeat writes a line again it has read as much as a tile; the last one, all tiles."""
    loop = Repeat("again", 0, count, NodeBlock((sweep("s", "a[j]"),)))
    traffic = analyse(program(Tiles(64, NodeBlock((loop,)))), problem(4096), 1, MACHINE)
    (region,) = traffic.schedule.steps[-1].regions
    assert [times for _, times in region] == 2 * counts, "the program has the loop twice"
    (thread,) = traffic.threads
    written = thread.outward[~np.isnan(thread.outward[:, 0])].mean(axis=1)
    *earlier, last = written.reshape(2, len(counts)).T
    assert (last > 4096).all()
    assert all((of < 4096).all() for of in earlier)


def test_a_barrier_in_a_tile_loop_is_refused() -> None:
    with pytest.raises(ValueError, match="Sync inside a tile loop"):
        schedule(program(Tiles(64, NodeBlock((sweep("s", "a[j]"), Sync())))))


@given(n=st.integers(1, 5000), threads=st.integers(1, 9), granule=st.sampled_from([8, 24, 64]))
def test_blocks_cover_all_components_in_whole_granules(n: int, threads: int, granule: int) -> None:
    cut = blocks(n, granule, threads)
    assert cut[0][0] == 0
    assert cut[-1][1] == n
    assert all(a[1] == b[0] for a, b in pairwise(cut))
    assert all(first % granule == 0 for first, _ in cut[:-1] if first < n)


# --- set conflicts --------------------------------------------------------------------------


def walk(rows: int) -> Sweep:
    names = [f"r{k}" for k in range(rows)]
    value = parse(" + ".join(f"{name}[j]" for name in names[1:]))
    return Sweep(
        name="walk",
        kernel="lc",
        rows=tuple((name, StoredRow("Y", Num(k))) for k, name in enumerate(names)),
        scalars=(),
        stretches=(SweepStretch(Num(0), Sym("n"), (Assign("r0", value),)),),
    )


def crowd(rows: int, pad_lines: int, iterations: float = 8, n: int = 65536):
    found = shape(walk(rows), {"n": n})
    leading = leading_dimension(n, pad_lines, 64)
    begins = {f"r{k}": k * leading for k in range(rows)}
    return conflicts(found, begins, (L1, L2, L3), iterations)


def test_nine_rows_of_a_power_of_two_crowd_eight_ways() -> None:
    first, second = crowd(9, 0)
    assert (first.level, first.streams, first.ways, first.certain) == ("L1", 9, 8, True)
    assert first.lines == pytest.approx(9 / 8)
    assert (second.level, second.certain) == ("L2", False)


def test_eight_rows_fit_and_padded_rows_fit() -> None:
    assert crowd(8, 0) == []
    assert crowd(9, 5) == []


def test_narrow_loops_lose_their_line_once_per_pass() -> None:
    assert crowd(9, 0, iterations=2)[0].lines == pytest.approx(4 * 9 / 8)


def test_rows_that_a_pass_touches_often_stay_and_drive_out_the_others() -> None:
    # four sums in memory gather five rows: F0 Y0 Y1 Y2 Y3 F1 Y0 ... ; nine lines, eight ways
    statements = tuple(
        Assign(f"Y{k}", parse(f"F{i}[j]"), add=True) for i in range(5) for k in range(4)
    )
    names = [f"F{i}" for i in range(5)] + [f"Y{k}" for k in range(4)]
    sweep = Sweep(
        name="sums",
        kernel="lc",
        rows=tuple((name, StoredRow("Y", Num(k))) for k, name in enumerate(names)),
        scalars=(),
        stretches=(SweepStretch(Num(0), Sym("n"), statements),),
    )
    found = shape(sweep, {"n": 65536})
    begins = {name: k * 65536 for k, name in enumerate(names)}
    first = conflicts(found, begins, (L1, L2, L3), 8)[0]
    assert first.streams == 9
    assert first.lines == pytest.approx(5 / 8)


def test_rows_that_miss_the_page_do_not_crowd() -> None:
    assert crowd(9, 0, n=65536 + 64) == []


def test_leading_dimension_is_whole_lines_and_whole_pages_when_padded() -> None:
    assert leading_dimension(65537, 0, 64) == 65544
    assert leading_dimension(65536, 5, 64) == 65536 + 40
    assert leading_dimension(65537, 5, 64) == 65536 + 512 + 40
