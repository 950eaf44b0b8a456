"""Steps of explicit methods: the reference's result for any method, variant and threads."""

import pytest
from codegen_build import IVPS, Workshop, state

from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import (
    Fuse,
    FuseTiles,
    Interchange,
    Pad,
    Tile,
    Transformation,
    Variant,
)
from autotune.files import config
from autotune.measuring.verification import ivp_reference, verify

ERK = config.skeleton("erk")
METHODS = ("bogacki-shampine-3", "dormand-prince-5", "verner-6")
STEPS = 3
TILES = FuseTiles("rhs", "lc", 48, "Y")
IJ = Interchange("lc", ("i", "j"))
AU = Fuse("approx", "update")


def problem(ivp: str, method: str = "dormand-prince-5", size: int | None = None) -> Problem:
    size = size or (37 if ivp == "heat2d" else 13 if ivp == "heat3d" else 1503)
    return Problem(ivp=config.ivp(ivp), method=config.method(method), correctors=0, size=size)


def program(
    at: Problem, *transformations: Transformation, skeleton: Skeleton = ERK
) -> loop_tree.StepProgram:
    chosen = Variant(skeleton=skeleton.name, transformations=transformations, parameters={})
    return variant_program.program(chosen, skeleton, at)


def sources(at: Problem, *transformations: Transformation) -> dict[str, str]:
    return harness.units(program(at, *transformations), at)


def agrees(workshop: Workshop, at: Problem, *transformations: Transformation) -> None:
    expected = ivp_reference.integrate(at, STEPS)
    built = workshop.build(sources(at, *transformations))
    for threads in (1, 2, 3):
        found = state(built, at, threads, STEPS)
        verdict = verify.judge(found, expected, verify.fields(at.ivp, at.size))
        assert verdict.status == "ok", f"{at.label} {threads}: {verdict.detail}"


@pytest.mark.parametrize("ivp", [*IVPS, "flock", "advection", "heat3d", "fitzhugh-nagumo"])
def test_every_problem_agrees_with_the_reference(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, problem(ivp, size=400 if ivp == "flock" else None))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ivp", ["heat2d", "wave1d"])
def test_every_method_and_variant_agrees(method: str, ivp: str, workshop: Workshop) -> None:
    at = problem(ivp, method)
    agrees(workshop, at, AU, Pad(5))
    agrees(workshop, at, IJ, Tile("lc", 64))
    agrees(workshop, at, TILES, AU)
    agrees(workshop, at, IJ, TILES)


def test_a_problem_that_depends_on_the_time_agrees(workshop: Workshop) -> None:
    at = problem("medakzo", "verner-6", 100)
    assert not at.ivp.autonomous
    agrees(workshop, at)


def test_only_coefficients_that_are_not_zero_are_loaded() -> None:
    texts = sources(problem("heat2d"), AU)
    sums = [text for name, text in texts.items() if name.startswith("sweep_lc_ji")]
    assert len(sums) == 5
    assert ["F_4" in text for text in sums].count(True) == 1
    update = texts["sweep_approx_update_ji.c"]
    assert "F_0[j]" in update
    assert "F_1" not in update
    step = sources(problem("heat2d"), IJ)["step.c"]
    assert "A[2][1]);" in step
    assert "A[1][1]" not in step


def test_a_row_without_one_of_its_coefficients_skips_its_sweep() -> None:
    step = sources(problem("heat2d", "bogacki-shampine-3"), IJ)["step.c"]
    assert "sweep_lc_j_set(first, last, row(me, ARRAY_Y, 0), row(me, ARRAY_F, 1), A[2][1]);" in step
    assert "A[2][0]" not in step


def test_a_stage_for_the_embedded_weights_alone_is_left_out() -> None:
    at = problem("heat2d")
    made = program(at)
    assert (made.stages, dict(made.arrays)["F"]) == (6, 6)
    controlled = ERK.controlled()
    assert controlled is not None
    kept = program(at, skeleton=controlled)
    assert (kept.stages, dict(kept.arrays)["F"], dict(kept.arrays)["embedded"]) == (7, 7, 1)


@pytest.mark.parametrize("transformations", [(), (AU,), (TILES, AU)])
@pytest.mark.parametrize("method", METHODS)
def test_a_controlled_step_keeps_the_embedded_approximation(
    method: str, transformations: tuple[Transformation, ...]
) -> None:
    controlled = ERK.controlled()
    assert controlled is not None
    at = problem("heat2d", method)
    made = program(at, *transformations, skeleton=controlled)
    names = [sweep.kernel for sweep in loop_tree.sweeps(made.body)]
    changed = "approx+update" if AU in transformations else "update"
    assert names.index("embedded") < names.index(changed)
    assert "b_hat" in harness.units(made, at)["step.c"]


def test_without_embedded_weights_no_step_is_controlled() -> None:
    A = ((0.0, 0.0), (0.5, 0.0))
    given = {"A": A, "b": (0.0, 1.0), "c": (0.0, 0.5)}
    midpoint = type(config.method("verner-6"))(
        name="midpoint", title="x", order=2, source="x", **given
    )
    at = Problem(ivp=config.ivp("heat2d"), method=midpoint, correctors=0, size=9)
    assert program(at).stages == 2
    controlled = ERK.controlled()
    assert controlled is not None
    with pytest.raises(IllegalTransformation, match="midpoint has no embedded weights"):
        program(at, skeleton=controlled)


def test_skeleton_and_method_must_go_together() -> None:
    with pytest.raises(IllegalTransformation, match="skeleton pirk needs an implicit method"):
        program(problem("heat2d"), skeleton=config.skeleton("pirk"))
    radau = config.method("radau-iia-5")
    at = Problem(ivp=config.ivp("heat2d"), method=radau, correctors=4, size=9)
    with pytest.raises(IllegalTransformation, match="skeleton erk needs an explicit method"):
        program(at)


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ((FuseTiles("rhs", "approx", 64, "Y"),), "are not in one counted loop"),
        ((FuseTiles("lc", "rhs", 64, "Y"),), "the loop must hold rhs, then lc"),
        ((Fuse("rhs", "lc"),), "lc does not follow rhs directly"),
        ((Tile("lc", 64),), "is a single sweep in this order"),
    ],
)
def test_what_is_not_legal_is_refused(
    transformations: tuple[Transformation, ...], reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        program(problem("heat2d"), *transformations)
