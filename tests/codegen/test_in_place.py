"""Sweeps in place: they give what the reference gives, or are refused with the dependence."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from codegen_build import Workshop, run

from autotune.codegen.c import harness
from autotune.codegen.grid import in_place
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.misfit import MisfitError
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import Stencil
from autotune.domain.variant import (
    Block,
    ExecutionLayout,
    Pad,
    StreamStores,
    Transformation,
    Unroll,
    Variant,
    Wavefront,
)
from autotune.files import config
from autotune.language.expression import parse
from autotune.measuring.verification import grid_reference
from autotune.workloads.stencil.stencil_kind import StencilKind

SKELETON = config.skeleton("gauss-seidel")
LEXICOGRAPHIC = config.stencil("gauss-seidel3d-7pt")
RED_BLACK = config.stencil("red-black3d-7pt")
BOX = Stencil(
    name="box",
    title="",
    source="",
    dimensions=("j", "i"),
    coefficients={"C": parse("0.1 + 0.01*i")},
    body=parse("0.2*u[j][i] + C[j][i]*u[j-1][i+1] + 0.3*u[j+2][i] + 0.2*u[j][i-1] + 0.1*u[j-1][i]"),
    initial=parse("1.0 + 0.1*i - 0.05*j"),
    order="lexicographic",
)
BLOCKS = tuple(Block("sweep", d, size) for d, size in (("k", 3), ("j", 4), ("i", 5)))


def program(of: Stencil, *transformations: Transformation) -> loop_tree.StepProgram:
    at = StencilProblem(stencil=of, extents=(20,) * len(of.dimensions))
    variant = Variant(skeleton="gauss-seidel", transformations=transformations, parameters={})
    return variant_program.program(variant, SKELETON, at)


def sources(of: Stencil, *transformations: Transformation) -> dict[str, str]:
    at = StencilProblem(stencil=of, extents=(20,) * len(of.dimensions))
    return harness.units(program(of, *transformations), at)


def deviation(built: Path, at: StencilProblem, threads: int) -> float:
    """The largest difference from the reference after three steps."""
    out = built.with_suffix(".bin")
    arguments = ["--size", at.size_text, "--n", str(at.n), "--threads", str(threads)]
    done = run(built, "verify", *arguments, "--steps", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return float(np.max(np.abs(np.fromfile(out) - grid_reference.sweeps(at, 3))))


@pytest.mark.parametrize("flags", ["-O2", "-O3"])
@pytest.mark.parametrize(
    ("of", "transformations"),
    [
        (LEXICOGRAPHIC, ()),
        (LEXICOGRAPHIC, (*BLOCKS, Pad(1))),
        (LEXICOGRAPHIC, (Unroll("sweep", "i", 4), Block("sweep", "j", 7))),
        (BOX, (Block("sweep", "j", 3), Unroll("sweep", "i", 2))),
        (RED_BLACK, ()),
        (RED_BLACK, (*BLOCKS, Pad(1))),
    ],
)
def test_random_grids_agree_with_the_reference(
    of: Stencil, transformations: tuple[Transformation, ...], flags: str, workshop: Workshop
) -> None:
    built = workshop.build(sources(of, *transformations), flags)
    chance = random.Random(f"{of.name} {transformations}")
    teams = (1, 2, 3) if of.order == "red-black" else (1,)
    for _ in range(3):
        extents = tuple(chance.randint(of.radius, 20) for _ in of.dimensions)
        at = StencilProblem(stencil=of, extents=extents)
        for threads in teams:
            assert deviation(built, at, threads) <= 1e-12, (extents, threads)


def test_a_missing_barrier_between_colours_is_a_race() -> None:
    made = program(RED_BLACK)
    _, red, barrier, fetched, black, _ = made.body.nodes
    assert isinstance(fetched, loop_tree.Comm)
    assert isinstance(barrier, loop_tree.Sync)
    assert races(made) == []
    open_ = replace(made, body=loop_tree.NodeBlock((red, black, barrier)))
    assert "without a synchronisation between" in str(races(open_)[0])


def test_only_one_thread_keeps_the_order_of_points() -> None:
    for of, threads, fits in ((LEXICOGRAPHIC, 1, True), (RED_BLACK, 4, True), (BOX, 2, False)):
        at = StencilProblem(stencil=of, extents=(9,) * len(of.dimensions))
        reason = StencilKind().misfit(at, ExecutionLayout(threads=threads))
        assert (reason is None) is fits
        assert fits or "only one thread keeps that order" in str(reason)


def test_distances_are_those_from_earlier_to_later_points() -> None:
    (sweep,) = loop_tree.grid_sweeps(program(BOX).body)
    assert sorted(set(in_place.distances(sweep))) == [(0, 1), (1, -1), (1, 0), (2, 0)]


@pytest.mark.parametrize(
    ("of", "transformations", "reason"),
    [
        (BOX, (Block("sweep", "i", 8),), r"over the distance \(1, -1\)"),
        (LEXICOGRAPHIC, (Wavefront("sweep", 2),), "no values of one time step for several sweeps"),
        (RED_BLACK, (Wavefront("sweep", 2),), "no values of one time step for several sweeps"),
        (LEXICOGRAPHIC, (StreamStores("sweep"),), "reads the array that it writes"),
        (RED_BLACK, (Unroll("sweep", "i", 2),), "updates every second point"),
        (config.stencil("star3d-7pt"), (), "has the order jacobi, and kernel sweep is in place"),
    ],
)
def test_refused(of: Stencil, transformations: tuple[Transformation, ...], reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        program(of, *transformations)


def test_sweeps_in_place_need_a_kernel_in_place() -> None:
    at = StencilProblem(stencil=RED_BLACK, extents=(9, 9, 9))
    variant = Variant(skeleton="jacobi", transformations=(), parameters={})
    with pytest.raises(IllegalTransformation, match="reads one array and writes another"):
        variant_program.program(variant, config.skeleton("jacobi"), at)


def test_a_red_black_stencil_reads_the_other_colour_only() -> None:
    with pytest.raises(MisfitError, match=r"u\[j-1\]\[i\+1\] has the colour of the point"):
        replace(BOX, order="red-black")


def test_the_order_is_part_of_what_a_stencil_computes() -> None:
    jacobi = config.stencil("star3d-7pt")
    definitions = {of.definition for of in (jacobi, LEXICOGRAPHIC, RED_BLACK)}
    assert len(definitions) == 3
