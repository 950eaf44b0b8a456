"""The analytic choice of blocks: by hand, and against the traffic analysis."""

import pytest
from stencil_samples import MACHINE, candidate, problem

from autotune.commands.rank import block_text
from autotune.commands.rank.document import block_rows
from autotune.domain.ranking import rank
from autotune.models.traffic.grid.grid_distance import reuses
from autotune.models.traffic.grid.grid_shape import GridShape, accesses
from autotune.workloads.stencil.planes.blocking import LayerCondition, block_choice
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine


def found(conditions: tuple[LayerCondition, ...]) -> dict[tuple[str, str], LayerCondition]:
    return {(condition.level, condition.reuse): condition for condition in conditions}


def test_layer_conditions_of_a_cube_by_hand() -> None:
    """Star of 7 points on 96^3: rows of 98 doubles; 6 rows, or 4 planes and 2 halo rows."""
    by = found(block_choice(problem(96, 96, 96), MACHINE))
    rows, planes = by["L1", "rows"], by["L1", "planes"]
    assert (rows.needed, rows.limit, rows.holds, rows.blocks) == (6 * 98 * 8, 16 << 10, True, ())
    assert planes.needed == (4 * 96 + 2) * 98 * 8
    assert planes.blocks == (("j", ((16 << 10) // (98 * 8) - 2) // 4),)
    assert by["L2", "planes"].blocks == (("j", ((256 << 10) // (98 * 8) - 2) // 4),)
    assert by["L3", "planes"].holds
    assert (by["L3", "step"].holds, by["L3", "step"].blocks) == (False, ())


def test_long_rows_need_a_block_of_both_dimensions() -> None:
    """One whole row of 1600 does not fit L1: 8 rows with their halo, and whole lines of i."""
    by = found(block_choice(problem(24, 1600, 1600), MACHINE))
    most = (16 << 10) // (8 * (4 * 8 + 2)) - 2
    assert by["L1", "planes"].blocks == (("j", 8), ("i", most // 8 * 8))
    assert by["L1", "rows"].blocks == (("i", ((16 << 10) // 48 - 2) // 8 * 8),)
    assert by["L2", "planes"].blocks[0][0] == "j"


def test_threads_divide_shared_caches_and_planes() -> None:
    one, four = (
        found(block_choice(problem(400, 400, 400), MACHINE, threads)) for threads in (1, 4)
    )
    assert four["L3", "planes"].limit == one["L3", "planes"].limit // 4
    assert four["L2", "planes"] == one["L2", "planes"]
    assert four["L3", "step"].needed == pytest.approx(one["L3", "step"].needed / 4, rel=0.01)


def test_in_two_dimensions_rows_are_all_there_is() -> None:
    by = found(block_choice(problem(2000, 4000), MACHINE))
    assert {reuse for _, reuse in by} == {"rows", "step"}
    assert by["L1", "rows"].needed == 4 * 4002 * 8
    assert by["L1", "rows"].dimension == "j"
    assert by["L1", "rows"].blocks == (("i", ((16 << 10) // 32 - 2) // 8 * 8),)


def test_a_cache_too_small_for_any_block_says_so() -> None:
    by = found(block_choice(problem(64, 64, 64, radius=4), MACHINE, 1))
    assert by["L1", "planes"].blocks
    tiny = found(block_choice(problem(300, 300, 300, radius=16), MACHINE, 1))
    assert not tiny["L1", "planes"].possible
    assert tiny["L1", "planes"].blocks == ()


def test_the_table_has_each_problem_and_team_once() -> None:
    grid = problem(24, 1600, 1600)
    wanted = [candidate(grid, threads, j=size) for threads in (1, 4) for size in (8, 64)]
    ranked = rank(wanted, PlanesEngine(MACHINE).predict(wanted))
    told = block_text.text([*ranked, *ranked], MACHINE)
    assert told.count("star3d-r1-K24-J1600-I1600") == 2
    assert "1 thread: layer conditions, half of each cache" in told
    assert "L1     planes  k" in told
    assert "bj <= 8, bi <= 56" in told
    listed = block_rows(ranked, MACHINE)
    assert [row.threads for row in listed] == [1] * 9 + [4] * 9
    conditions = [row.condition for row in listed]
    planes = next(c for c in conditions if (c.level, c.reuse) == ("L2", "planes"))
    assert planes.blocks == (("j", 4),)
    assert not next(c.possible for c in conditions if c.reuse == "step")
    assert block_text.text([], MACHINE) == ""


def test_blocks_keep_in_the_cache_what_the_traffic_analysis_says_they_keep() -> None:
    """With the largest bj for L2 the reuse along k lies within half of it, twice that bj beyond."""
    grid = problem(24, 1600, 1600)
    limit = 0.5 * MACHINE.caches[1].size
    (_, size), *_ = found(block_choice(grid, MACHINE))["L2", "planes"].blocks
    for rows_of_block, fits in ((size, True), (2 * size, False)):
        reads = {"u": grid.stencil.reads["u"]}
        shape = GridShape(
            (24, 1600, 1600), (24, rows_of_block, 1600), 1, accesses(reads, "v"), False
        )
        reuse = reuses(shape, 64)[0]
        along_k = reuse.distance[reuse.events.again.jb == reuse.events.before.jb].max()
        assert (along_k <= 1.05 * limit) == fits
