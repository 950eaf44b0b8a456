"""Sweeps over grids as kerncraft C: texts, extents of blocks, and constructs that have none."""

from dataclasses import replace

import pytest

from autotune.codegen.c.grid_kernel import grid_sizes, grid_text
from autotune.codegen.c.kernel_values import KernelText
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Candidate, Variant
from autotune.files import config


def sweep(name: str, skeleton: str = "jacobi") -> loop_tree.GridSweep:
    stencil = config.stencil(name)
    on = StencilProblem(stencil=stencil, extents=(12,) * len(stencil.dimensions))
    plain = Variant(skeleton=skeleton, transformations=(), parameters={})
    programs = SkeletonPrograms(config.skeleton(skeleton))
    return next(loop_tree.grid_sweeps(programs(Candidate(variant=plain, problem=on)).body))


def test_a_star_in_two_dimensions() -> None:
    made = grid_text(sweep("star2d-5pt"))
    assert isinstance(made, KernelText)
    assert made.text == (
        "double u[M][N];\n"
        "double v[M][N];\n"
        "double c0;\n"
        "double c1;\n"
        "\n"
        "for (long j = 1; j < M - 1; ++j)\n"
        "    for (long i = 1; i < N - 1; ++i) {\n"
        "        v[j][i] = c0 * u[j][i] + c1 * (u[j][i-1] + u[j][i+1] + u[j-1][i] + u[j+1][i]);\n"
        "    }\n"
    )
    assert made.sizes({"M": 5, "N": 7}) == {"M": 5, "N": 7}
    assert made.notes == ()


def test_coefficient_arrays_have_names_that_sizes_do_not_take() -> None:
    made = grid_text(sweep("star3d-7pt-variable"))
    assert isinstance(made, KernelText)
    assert "double Nx[M][N][P];" in made.text
    assert "Nx[k][j][i] * u[k][j+1][i]" in made.text


def test_a_sweep_in_place_reads_and_writes_one_array() -> None:
    made = grid_text(sweep("gauss-seidel3d-7pt", "gauss-seidel"))
    assert isinstance(made, KernelText)
    assert made.text.count("[M][N][P];") == 1


def test_red_and_black_points_have_no_steps_of_one() -> None:
    reason = grid_text(sweep("red-black3d-7pt", "gauss-seidel"))
    assert isinstance(reason, str)
    assert "updates every other point" in reason


def test_stores_past_the_caches_have_no_text() -> None:
    reason = grid_text(replace(sweep("star3d-7pt"), streamed=True))
    assert isinstance(reason, str)
    assert "stores past the caches" in reason


def test_unrolling_is_noted() -> None:
    made = grid_text(replace(sweep("star3d-7pt"), unroll=(("i", 4),)))
    assert isinstance(made, KernelText)
    assert "unrolling" in made.notes[0]


@pytest.mark.parametrize(
    ("part", "blocks", "sizes"),
    [
        ((50, 96, 96), (50, 96, 96), (52, 98, 98)),
        ((50, 96, 96), (50, 16, 96), (52 * 98 // 18, 18, 98)),
        ((50, 96, 96), (8, 16, 32), (52 * 98 * 98 // (18 * 34), 18, 34)),
        ((500, 4000), (500, 256), (502 * 4002 // 258, 258)),
        ((1, 4000), (1, 256), (3 * 4002 // 258, 258)),
        ((500, 4000), (16, 9000), (502, 4002)),
    ],
)
def test_blocks_are_rows_and_planes_of_their_size_that_hold_the_whole_grid(
    part: tuple[int, ...], blocks: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    assert tuple(grid_sizes(part, blocks, 1).values()) == sizes
