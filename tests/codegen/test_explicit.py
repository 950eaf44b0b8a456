"""Steps of explicit methods: the reference's result for any method, variant and threads."""

from pathlib import Path

import numpy as np
import pytest
from codegen_build import IVPS, Workshop, launch, reference, state
from codegen_build import common as common_words
from nest_interpreter import Arrays, Interpreter

from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree, transform, variant_program
from autotune.codegen.tree.lower import write_out_sums
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import ButcherTableau, Problem
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import (
    Align,
    Build,
    Candidate,
    Contract,
    ExecutionLayout,
    Fuse,
    FuseTiles,
    InPlace,
    Interchange,
    NeighbourSync,
    Pad,
    Pipeline,
    StreamStores,
    StripPlanes,
    Tile,
    Transformation,
    Variant,
    Vectorize,
    WholeLines,
)
from autotune.files import config
from autotune.measuring.verification import verify

ERK = config.skeleton("erk")
METHODS = ("bogacki-shampine-3", "dormand-prince-5", "verner-6", "dormand-prince-8")
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
    expected = reference(at, STEPS)
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


@pytest.mark.parametrize("ivp", ["heat2d", "wave1d"])
@pytest.mark.parametrize(
    "transformations",
    [(Pad(5),), (TILES, AU), (AU, Pipeline("l", 48), Contract("F"), InPlace("y"))],
)
def test_ranks_agree(
    ivp: str, transformations: tuple[Transformation, ...], mpi_workshop: Workshop
) -> None:
    at = problem(ivp, "bogacki-shampine-3", 47 if ivp == "heat2d" else None)
    expected = reference(at, STEPS)
    units = harness.units(program(at, *transformations), at, distributed=True)
    built = mpi_workshop.build(units)
    for way, ranks, threads in (("neighbour", 3, 1), ("allgather", 2, 2)):
        out = built.with_suffix(".bin")
        words = ["verify", *common_words(at, threads), "--ranks", str(ranks)]
        words += ["--communication", way, "--steps", str(STEPS), "--out", str(out)]
        done = launch(built, ranks, threads, words)
        assert done.returncode == 0, done.stderr
        found = np.fromfile(out, dtype="<f8")
        verdict = verify.judge(found, expected, verify.fields(at.ivp, at.size))
        assert verdict.status == "ok", f"{way} on {ranks} x {threads}: {verdict.detail}"


def test_a_problem_that_depends_on_the_time_agrees(workshop: Workshop) -> None:
    at = problem("medakzo", "verner-6", 100)
    assert not at.ivp.autonomous
    agrees(workshop, at)


@pytest.mark.parametrize("method", METHODS[:3])
@pytest.mark.parametrize("ivp", ["heat2d", "heat3d", "wave1d", "inverterchain", "fitzhugh-nagumo"])
@pytest.mark.parametrize("block", [8, 192, 8184])
def test_stages_in_a_pipeline_agree(method: str, ivp: str, block: int, workshop: Workshop) -> None:
    granule = program(problem(ivp)).granule
    at = problem(ivp, method)
    agrees(workshop, at, AU, Pipeline("l", -(-block // granule) * granule), Pad(5))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ivp", ["heat2d", "heat3d", "string-mix", "brusselator2d-mix"])
def test_stage_derivatives_in_registers_agree(method: str, ivp: str, workshop: Workshop) -> None:
    at = problem(ivp, method, 23 if ivp == "brusselator2d-mix" else None)
    agrees(workshop, at, AU, Pipeline("l", 192), Contract("F"), Pad(5))


def test_stage_derivatives_in_registers_agree_with_everything_else(workshop: Workshop) -> None:
    registers = (AU, Pipeline("l", 64), Contract("F"))
    agrees(workshop, problem("heat2d"), *registers, InPlace("y"), Align(8))
    agrees(workshop, problem("wave1d", "verner-6"), *registers, WholeLines(1))
    agrees(workshop, problem("inverterchain"), *registers, StreamStores("update"))
    agrees(workshop, problem("heat3d"), *registers, StripPlanes(4))
    agrees(workshop, problem("heat2d"), Pipeline("l", 64), Contract("F"), Vectorize(4))


def test_what_a_stage_evaluates_is_a_scalar_and_is_stored_for_later_stages() -> None:
    texts = sources(problem("heat2d"), AU, Pipeline("l", 64), Contract("F"))
    middle = texts["sweep_rhs_lc_heat2d_1.c"]
    assert "F_1[j] = F_1_;" in middle
    assert "0.225*F_1_;" in middle
    last = texts["sweep_rhs_approx_update_heat2d_1.c"]
    assert "F_5[j]" not in last
    assert "*F_5" in last


@pytest.mark.parametrize("ivp", ["heat2d", "wave1d"])
def test_the_state_in_its_place_agrees(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, problem(ivp), Pipeline("l", 64), InPlace("y"), Pad(5))
    agrees(workshop, problem(ivp), AU, Pipeline("l", 64), InPlace("y"), NeighbourSync("neighbours"))


@pytest.mark.parametrize("ivp", ["heat2d", "wave1d"])
@pytest.mark.parametrize("method", METHODS)
def test_the_smallest_sizes_agree_in_a_pipeline(ivp: str, method: str, workshop: Workshop) -> None:
    at = problem(ivp, method, config.ivp(ivp).minimum)
    agrees(workshop, at, Pipeline("l", 64))


def test_strips_of_planes_agree(workshop: Workshop) -> None:
    agrees(workshop, problem("heat3d"), AU, Pipeline("l", 64), StripPlanes(4))


def test_windows_of_stage_derivatives_come_round_many_times(workshop: Workshop) -> None:
    agrees(workshop, problem("inverterchain", "verner-6", 20011), AU, Pipeline("l", 8))


def test_a_stage_derivative_is_kept_until_the_last_stage_that_adds_it() -> None:
    made = program(problem("heat2d"), AU, Pipeline("l", 64))
    lags = {w.array: w.lags for w in made.windows if not w.neighbours}
    # b = (b1, 0, b3 ... b6): the second derivative is added by stages up to that of Y_6
    expected = {0: 5, 1: 3, 2: 3, 3: 2, 4: 1, 5: 0}
    assert lags == {f"F_stage{row}": count for row, count in expected.items()}
    assert [array for array, _ in made.arrays] == ["y", "y_next"]
    assert sum(w.neighbours for w in made.windows) == 5


def test_a_window_that_is_too_short_is_noticed(workshop: Workshop) -> None:
    at = problem("heat2d", size=201)
    texts = sources(at, AU, Pipeline("l", 64))
    long_enough = "lags[r] * lag"
    assert long_enough in texts["windows.h"]
    broken = texts | {"windows.h": texts["windows.h"].replace(long_enough, "(lags[r] > 0)")}
    expected = reference(at, STEPS)
    found = state(workshop.build(broken), at, 1, STEPS)
    assert np.max(np.abs(found - expected)) > 1e-9


FIXED_ROWS = """schema: autotune.ivp/1
title: heat in rows of 46 points
source: written for this test
dimension: 46*N
row: 46
constants: {D: 0.5}
access_distance: 46
limited: true
minimum: 3
start: 0.0
stability: 8*D
regions:
  - {range: "[0, 46)", body: "0.0"}
  - {range: "[46, n - 46)", columns: "[0, 1)", body: "0.0"}
  - range: "[46, n - 46)"
    columns: "[1, 45)"
    body: "D*(y[j-46] + y[j-1] - 4*y[j] + y[j+1] + y[j+46])"
  - {range: "[46, n - 46)", columns: "[45, 46)", body: "0.0"}
  - {range: "[n - 46, n)", body: "0.0"}
initial:
  - {range: "[0, n)", body: "1.0 + 0.5*(j % 7)/7.0"}
"""


def test_tiles_and_blocks_are_whole_rows_of_a_fixed_length(
    tmp_path: Path, workshop: Workshop
) -> None:
    (tmp_path / "rows.yaml").write_text(FIXED_ROWS, encoding="utf-8")
    method = config.method("bogacki-shampine-3")
    ivp = config.ivp(tmp_path / "rows.yaml")
    at = Problem(ivp=ivp, method=method, correctors=0, size=61)
    pipelines = [program(at, AU, Pipeline("l", size)) for size in (64, 184, 185)]
    blocks = [p.block for made in pipelines for p in loop_tree.pipelines(made.body)]
    assert (pipelines[0].granule, blocks) == (184, [184, 184, 368])
    agrees(workshop, at, AU, Pipeline("l", 64), Contract("F"), InPlace("y"))
    agrees(workshop, at, FuseTiles("rhs", "lc", 64, "Y"))


def test_a_tile_that_is_rounded_up_is_verified_beside_others(tmp_path: Path) -> None:
    (tmp_path / "rows.yaml").write_text(FIXED_ROWS, encoding="utf-8")
    method = config.method("bogacki-shampine-3")
    at = Problem(ivp=config.ivp(tmp_path / "rows.yaml"), method=method, correctors=0, size=61)
    chosen = Variant(skeleton="erk", transformations=(AU, Pipeline("l", 64)), parameters={})
    candidate = Candidate(
        variant=chosen, problem=at, build=Build(), layout=ExecutionLayout(threads=1)
    )
    assert verify.CheckedIvp(at).awkward(candidate).n > 2 * 184


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ((Pipeline("k", 64),), "there is no counted loop over k"),
        ((IJ, Pipeline("l", 64)), "rows of F outlive a stage: a loop over them cannot be around"),
        ((TILES, Pipeline("l", 64)), "there is no counted loop over l"),
    ],
)
def test_what_is_no_pipeline_is_refused(
    transformations: tuple[Transformation, ...], reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        program(problem("heat2d"), *transformations)


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
    assert program(problem("heat2d", "verner-6")).stages == 7
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


@pytest.mark.parametrize("method", METHODS)
def test_the_embedded_approximation_is_that_of_its_weights(method: str) -> None:
    """The loops of a controlled step, run one by one, against the formula with their own F."""
    controlled = ERK.controlled()
    assert controlled is not None
    at = problem("heat2d", method)
    table, n, h = at.method, 7, 0.01
    y = np.random.default_rng(1).uniform(-1, 1, n)
    for change in (lambda tree: tree, lambda tree: transform.fuse(tree, "approx", "update")):
        tree = write_out_sums(change(variant_program.canonical(controlled, at)))
        arrays: Arrays = {name: np.zeros(n) for name in ("dy", "Y", "embedded")}
        arrays |= {"y": y.copy(), "F": np.zeros((table.stages, n)), "A": np.array(table.A)}
        arrays |= {"b": np.array(table.b), "c": np.array(table.c)}
        arrays["b_hat"] = np.array(table.embedded)
        Interpreter(arrays, n, h).run(tree)
        F = arrays["F"]
        assert np.abs(F).min(axis=1).all()
        assert arrays["y"] == pytest.approx(y + h * arrays["b"] @ F, rel=1e-14)
        assert arrays["embedded"] == pytest.approx(y + h * arrays["b_hat"] @ F, rel=1e-14)


MIDPOINT = ButcherTableau(
    name="midpoint",
    title="explicit midpoint rule",
    order=2,
    A=((0.0, 0.0), (0.5, 0.0)),
    b=(0.0, 1.0),
    c=(0.0, 0.5),
    source="Runge 1895",
)


@pytest.mark.parametrize(
    "transformations",
    [(), (IJ,), (TILES, AU), (AU, Pipeline("l", 64)), (AU, Pipeline("l", 64), Contract("F"))],
)
def test_a_method_of_two_stages_agrees(
    transformations: tuple[Transformation, ...], workshop: Workshop
) -> None:
    at = Problem(ivp=config.ivp("wave1d"), method=MIDPOINT, correctors=0, size=1503)
    agrees(workshop, at, *transformations)


def test_a_method_of_one_stage_is_refused() -> None:
    one = {"A": ((0.0,),), "b": (1.0,), "c": (0.0,)}
    euler = ButcherTableau(name="euler", title="explicit Euler", order=1, source="Euler", **one)
    at = Problem(ivp=config.ivp("wave1d"), method=euler, correctors=0, size=100)
    with pytest.raises(IllegalTransformation, match="needs a method of 2 stages or more, not 1"):
        program(at)


def test_without_embedded_weights_no_step_is_controlled() -> None:
    at = Problem(ivp=config.ivp("heat2d"), method=MIDPOINT, correctors=0, size=9)
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
