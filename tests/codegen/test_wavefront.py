"""Several sweeps in one pass over a grid: they give what single sweeps give, or are refused."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from codegen_build import Workshop, run

from autotune.codegen.c import harness
from autotune.codegen.grid import plane_sweep
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import StencilProblem
from autotune.domain.skeleton import LoopStep, Skeleton, SyncStep
from autotune.domain.stencil import Stencil
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    OverlappedTiles,
    Pad,
    Transformation,
    Unroll,
    Variant,
    Wavefront,
)
from autotune.files import config
from autotune.language.expression import Num, parse
from autotune.measuring.verification import grid_reference, verify
from autotune.workloads.stencil.stencil_kind import modelling_vector

SKELETON = config.skeleton("jacobi")
CASES: list[tuple[str, tuple[Transformation, ...]]] = [
    ("star3d-7pt", (Wavefront("sweep", 4), Block("sweep", "j", 5), Pad(1))),
    ("star3d-7pt", (Wavefront("sweep", 8),)),
    ("star3d-r4", (Block("sweep", "i", 9), Wavefront("sweep", 3), Unroll("sweep", "i", 2))),
    ("box3d-27pt", (Block("sweep", "j", 2), Block("sweep", "i", 7), Wavefront("sweep", 2))),
    ("star3d-7pt-variable", (Block("sweep", "j", 4), Wavefront("sweep", 3))),
    ("star3d-13pt", (Block("sweep", "j", 6), Wavefront("sweep", 4))),
    ("star2d-5pt", (Block("sweep", "i", 6), Wavefront("sweep", 5))),
    ("box2d-9pt", (Wavefront("sweep", 6), Pad(1))),
    ("star3d-7pt", (OverlappedTiles("sweep", 4), Block("sweep", "j", 5), Pad(1))),
    ("star3d-7pt", (Block("sweep", "k", 4), Block("sweep", "i", 9), OverlappedTiles("sweep", 3))),
    ("star3d-r4", (Block("sweep", "k", 8), OverlappedTiles("sweep", 3), Unroll("sweep", "i", 2))),
    ("box3d-27pt", (*(Block("sweep", d, 3) for d in "kji"), OverlappedTiles("sweep", 4))),
    ("star3d-7pt-variable", (Block("sweep", "j", 4), OverlappedTiles("sweep", 2))),
    ("star2d-5pt", (Block("sweep", "j", 7), Block("sweep", "i", 6), OverlappedTiles("sweep", 5))),
    ("box2d-9pt", (Block("sweep", "j", 16), OverlappedTiles("sweep", 8))),
]


def variant(*transformations: Transformation) -> Variant:
    return Variant(skeleton="jacobi", transformations=transformations, parameters={})


def problem(of: Stencil, extents: tuple[int, ...]) -> StencilProblem:
    return StencilProblem(stencil=of, extents=extents[-len(of.dimensions) :])


def program(name: str, *transformations: Transformation) -> loop_tree.StepProgram:
    at = problem(config.stencil(name), (20, 20, 20))
    return variant_program.program(variant(*transformations), SKELETON, at)


def sources(of: Stencil, *transformations: Transformation) -> dict[str, str]:
    at = problem(of, (20, 20, 20))
    made = variant_program.program(variant(*transformations), SKELETON, at)
    return harness.units(made, at)


def deviation(built: Path, at: StencilProblem, threads: int, steps: int) -> float:
    """The largest difference from the NumPy reference after so many steps."""
    out = built.with_suffix(".bin")
    arguments = ["--size", at.size_text, "--n", str(at.n), "--threads", str(threads)]
    done = run(built, "verify", *arguments, "--steps", str(steps), "--out", str(out))
    assert done.returncode == 0, done.stderr
    return float(np.max(np.abs(np.fromfile(out) - grid_reference.sweeps(at, steps))))


@pytest.mark.parametrize(("name", "transformations"), CASES)
def test_random_grids_threads_and_numbers_of_steps_agree_with_numpy(
    name: str, transformations: tuple[Transformation, ...], workshop: Workshop
) -> None:
    of = config.stencil(name)
    built = workshop.build(sources(of, *transformations))
    chance = random.Random(f"{name} {transformations}")
    tiny = (of.radius,) * 3
    for extents in (tiny, *(tuple(chance.randint(of.radius, 24) for _ in range(3)) for _ in "123")):
        at = problem(of, extents)
        for threads in (1, chance.randint(2, 4)):
            for steps in (chance.randint(1, 8), 9):
                assert deviation(built, at, threads, steps) <= 1e-13, (extents, threads, steps)


def test_names_of_the_stencil_do_not_meet_those_of_planes(workshop: Workshop) -> None:
    of = Stencil(
        name="names",
        title="",
        source="",
        dimensions=("y", "x"),
        constants={"u_0": parse("0.5*X/3"), "front": parse("0.25/Y"), "sweep": parse("Y + 1")},
        coefficients={"result": parse("0.1*u_0"), "u_m1": parse("1.0 + 0.1*x")},
        body=parse("u_0*u[y][x-1] + front*u[y+1][x] + result[y][x]/Y - 0.1*u_m1[y-1][x]/sweep"),
        initial=parse("1.0 + 0.1*x - abs(u_0*y)"),
    )
    built = workshop.build(sources(of, Wavefront("sweep", 3), Unroll("sweep", "x", 2)))
    for threads in (1, 3):
        assert deviation(built, problem(of, (7, 10)), threads, 7) <= 1e-12


def test_a_ring_that_is_too_short_is_noticed(workshop: Workshop) -> None:
    texts = sources(config.stencil("star3d-7pt"), Wavefront("sweep", 4))
    broken = texts | {"step.c": texts["step.c"].replace(", 3, corner", ", 2, corner")}
    assert broken != texts
    at = problem(config.stencil("star3d-7pt"), (9, 9, 9))
    assert deviation(workshop.build(broken), at, 1, 4) > 1e-6


def test_samples_hold_whole_passes_and_the_check_any_number_of_steps(workshop: Workshop) -> None:
    of = config.stencil("star3d-7pt")
    at = problem(of, (9, 10, 11))
    built = workshop.build(sources(of, Wavefront("sweep", 4)))
    arguments = ["--size", at.size_text, "--n", str(at.n), "--threads", "2"]
    done = run(built, "time", *arguments, "--check", "3", "--samples", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    steps = [int(x.split('"steps":')[1].split(",")[0]) for x in lines if '"kind":"sample"' in x]
    assert steps
    assert all(count % 4 == 0 for count in steps)
    (check,) = [line for line in lines if '"kind":"check"' in line]
    weights = 1 + np.arange(at.n) % 7 / 8
    found = float(check.split('"sum":')[1].split(",")[0])
    assert found == pytest.approx(float(np.sum(weights * grid_reference.sweeps(at, 3))), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "transformations", "reason"),
    [
        ("star3d-7pt", (Wavefront("sweep", 2), Block("sweep", "k", 8)), "another along k"),
        (
            "star3d-r4",
            (Wavefront("sweep", 4), Block("sweep", "j", 8)),
            "a block of 8 points in j is smaller than the 12 points on each side that 4 sweeps",
        ),
        ("star3d-7pt", (Wavefront("lc", 2),), "there is no kernel lc"),
        (
            "star3d-7pt",
            (Wavefront("sweep", 2), Wavefront("sweep", 3)),
            "several sweeps in a pass twice",
        ),
        ("star3d-7pt", (OverlappedTiles("sweep", 2),), "sweep has no blocks, which are the tiles"),
        (
            "star3d-7pt",
            (Block("sweep", "k", 2), OverlappedTiles("sweep", 4)),
            "a block of 2 points in k is smaller than the 3 points",
        ),
        (
            "gauss-seidel3d-7pt",
            (Block("sweep", "j", 8), OverlappedTiles("sweep", 2)),
            "reads one array and writes another",
        ),
    ],
)
def test_refused(name: str, transformations: tuple[Transformation, ...], reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        program(name, *transformations)


def test_a_pass_has_at_least_one_sweep() -> None:
    for sweeps in (0, -1, 33):
        with pytest.raises(ValueError, match="a pass has 1 to 32 sweeps"):
            Wavefront("sweep", sweeps)
    assert program("star3d-7pt", Wavefront("sweep", 1)) == program("star3d-7pt")


def _steps(change: Callable[[Skeleton], tuple[object, ...]]) -> Skeleton:
    return Skeleton(
        name="jacobi",
        title="",
        source="",
        dimensions=SKELETON.dimensions,
        arrays=SKELETON.arrays,
        kernels=SKELETON.kernels,
        steps=change(SKELETON),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda s: (*s.steps, *s.steps),
        lambda s: (LoopStep("m", Num(2), s.steps),),
        lambda s: (*s.steps, SyncStep()),
    ],
)
def test_other_time_steps_are_refused(change: Callable[[Skeleton], tuple[object, ...]]) -> None:
    at = problem(config.stencil("star3d-7pt"), (9, 9, 9))
    with pytest.raises(IllegalTransformation, match="a barrier, and the exchange of u and v"):
        variant_program.program(variant(Wavefront("sweep", 2)), _steps(change), at)


def test_a_pass_without_a_barrier_is_a_race() -> None:
    made = program("star3d-7pt", Wavefront("sweep", 2))
    assert races(made) == []
    _, front, barrier, swap = made.body.nodes
    assert isinstance(barrier, loop_tree.Sync)
    body = loop_tree.NodeBlock((front, swap))
    open_ = loop_tree.StepProgram(body=body, arrays=made.arrays, pad_lines=0, stages=1)
    assert "without a synchronisation between" in str(races(open_)[0])


def test_threads_need_as_many_planes_as_they_compute_for_a_neighbour() -> None:
    made = program("star3d-r4", Wavefront("sweep", 3))
    assert plane_sweep.too_thin(made, {"k": 8}, 2) is None
    assert plane_sweep.too_thin(made, {"k": 7}, 1) is None
    assert plane_sweep.too_thin(program("star3d-r4"), {"k": 7}, 2) is None
    reason = "a thread has 7 points in k, fewer than the 8 on each side that 3 sweeps of radius 4"
    assert str(plane_sweep.too_thin(made, {"k": 7}, 2)).startswith(reason)


def test_verification_makes_a_whole_pass_and_more_and_goes_through_rings_twice() -> None:
    of = config.stencil("star3d-r4")
    candidate = Candidate(
        variant=variant(Wavefront("sweep", 3), Block("sweep", "j", 16)),
        problem=problem(of, (96, 96, 96)),
        layout=ExecutionLayout(threads=2),
    )
    assert verify.steps(candidate, 3) == 6
    assert verify.steps(Candidate(variant=variant(), problem=candidate.problem), 3) == 3
    small = verify.verification_problem(candidate)
    assert isinstance(small, StencilProblem)
    assert small.extents[0] >= 2 * (2 * 9 + 1)
    assert small.extents[1] > 16
    assert modelling_vector(candidate)["sweeps"] == 3


def test_generated_c_is_what_it_was(samples: Path, golden: bool) -> None:
    """Set AUTOTUNE_GOLDEN=1 to accept a wanted change; the difference is then read as a patch."""
    of = config.stencil("star3d-7pt")
    text = sources(of, Wavefront("sweep", 4), Block("sweep", "j", 16), Pad(1))["step.c"]
    file = samples / "step_star3d_7pt_wavefront.c"
    if golden:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
