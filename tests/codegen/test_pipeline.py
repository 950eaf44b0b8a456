"""Corrector steps as a pipeline: the same result at any block, size and number of threads."""

from dataclasses import replace

import numpy as np
import pytest
from codegen_build import IVPS, Workshop, problem, reference, setup, sources, state, variant

from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.variant import (
    Contract,
    Fuse,
    FuseTiles,
    InPlace,
    Interchange,
    NeighbourSync,
    Pad,
    Pipeline,
    Tile,
    Transformation,
)
from autotune.language.expression import Bin, Num, Sym, parse
from autotune.measuring.verification import verify
from autotune.workloads.shipped import workload_of

STEPS = 3
LIMITED = [ivp for ivp in IVPS if problem(ivp, 101).ivp.limited]
SIZES = {"heat2d": 61}


def agrees(
    workshop: Workshop,
    ivp: str,
    size: int,
    *transformations: Transformation,
    method: str = "radau-iia-7",
) -> None:
    at = problem(ivp, size, method)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 2, 3, 7):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize("ivp", LIMITED)
@pytest.mark.parametrize("block", [8, 64, 1000, 8192])
def test_every_block_agrees_with_the_reference(ivp: str, block: int, workshop: Workshop) -> None:
    granule = 24 if block % 24 == 0 else 8
    agrees(workshop, ivp, SIZES.get(ivp, 3501), Pipeline("k", block - block % granule), Pad(5))


@pytest.mark.parametrize("ivp", LIMITED)
@pytest.mark.parametrize("block", [48, 1008])
def test_stage_derivatives_in_registers_agree(ivp: str, block: int, workshop: Workshop) -> None:
    jli = Interchange("lc", ("j", "l", "i"))
    size = SIZES.get(ivp, 3501)
    agrees(workshop, ivp, size, jli, Pipeline("k", block), Contract("F"), Pad(5))


@pytest.mark.parametrize("ivp", LIMITED)
@pytest.mark.parametrize("size", [None, 3501])
def test_the_state_in_its_place_agrees(ivp: str, size: int | None, workshop: Workshop) -> None:
    size = problem(ivp, 50).ivp.minimum if size is None else SIZES.get(ivp, size)
    jli = Interchange("lc", ("j", "l", "i"))
    pipeline = (jli, Fuse("approx", "update"), Pipeline("k", 48))
    agrees(workshop, ivp, size, *pipeline, Contract("F"), InPlace("y"), Pad(5))
    agrees(workshop, ivp, size, *pipeline, InPlace("y"), NeighbourSync("neighbours"))


@pytest.mark.parametrize(
    ("ivp", "size"), [("heat3d", 13), ("brusselator2d-mix", 23), ("fitzhugh-nagumo", 1001)]
)
def test_planes_and_pairs_agree(ivp: str, size: int, workshop: Workshop) -> None:
    jli = Interchange("lc", ("j", "l", "i"))
    agrees(workshop, ivp, size, jli, Pipeline("k", 64), Pad(5))
    agrees(workshop, ivp, size, jli, Pipeline("k", 128), Contract("F"))


def test_a_periodic_problem_has_no_pipeline() -> None:
    with pytest.raises(IllegalTransformation, match="advection is periodic: the last components"):
        sources(variant(Pipeline("k", 64)), problem("advection", 301))
    candidates = workload_of(setup(problem("advection", 5001), space="pirk-time-small")).candidates
    names = {type(t).__name__ for c in candidates(1).legal for t in c.variant.transformations}
    assert "FuseTiles" in names
    assert "Pipeline" not in names


@pytest.mark.parametrize("kernel", ["rhs_first", "lc", "rhs"])
def test_what_runs_in_a_pipeline_has_no_tiles(kernel: str) -> None:
    changes = (Interchange("lc", ("l", "i", "j")), Pipeline("k", 64), Tile(kernel, 64))
    with pytest.raises(IllegalTransformation, match="runs in the blocks of a pipeline already"):
        sources(variant(*changes), problem("heat2d", 23))


@pytest.mark.parametrize("order", ["jil", "jli"])
def test_everything_in_one_sweep_agrees(order: str, workshop: Workshop) -> None:
    loops = (Interchange("lc", tuple(order)), Fuse("approx", "update"))
    agrees(workshop, "heat2d", 37, *loops, Pipeline("k", 64), Contract("F"), method="radau-iia-5")


@pytest.mark.parametrize("order", ["ijl", "ilj", "jil", "lij", "lji"])
def test_every_order_agrees(order: str, workshop: Workshop) -> None:
    agrees(workshop, "heat2d", 37, Interchange("lc", tuple(order)), Pipeline("k", 128))


@pytest.mark.parametrize("method", ["radau-iia-3", "radau-iia-11", "lobatto-iiic-6"])
def test_other_methods_agree(method: str, workshop: Workshop) -> None:
    agrees(workshop, "wave1d", 1503, Pipeline("k", 64), method=method)


@pytest.mark.parametrize("ivp", LIMITED)
def test_the_smallest_sizes_agree(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, ivp, problem(ivp, 50).ivp.minimum, Pipeline("k", 64))


def test_windows_come_round_many_times(workshop: Workshop) -> None:
    agrees(workshop, "inverterchain", 20011, Interchange("lc", ("j", "l", "i")), Pipeline("k", 8))


def test_a_window_too_short_is_noticed(workshop: Workshop) -> None:
    at = problem("heat2d", 61)
    texts = sources(variant(Pipeline("k", 64)), at)
    name = "windows.h"
    long_enough = "round_up(block + distance + (lag > distance ? lag : distance), page)"
    assert long_enough in texts[name]
    broken = texts | {name: texts[name].replace(long_enough, "round_up(block, page) / 2")}
    assert broken != texts
    expected = reference(at, STEPS)
    try:
        found = state(workshop.build(broken), at, 1, STEPS)
    except AssertionError:
        return  # the program ends with an error
    assert np.max(np.abs(found - expected)) > 1e-9


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ([Contract("F")], "only in a pipeline"),
        ([InPlace("y")], "no pipeline writes a second copy of y"),
        ([FuseTiles("rhs", "lc", 64, "Y"), InPlace("Y")], "no pipeline writes a second copy of Y"),
        ([Pipeline("k", 64), InPlace("Y")], "no pipeline writes a second copy of Y"),
        ([Pipeline("k", 64), InPlace("y"), InPlace("y")], "no pipeline writes a second copy of y"),
        ([Pipeline("k", 64), Contract("dy")], "no stage writes dy"),
        (
            [Interchange("lc", ("l", "j", "i")), Pipeline("k", 64), Contract("F")],
            "not the outermost loop of lc",
        ),
        ([Pipeline("m", 64)], "no counted loop over m"),
        (
            [Interchange("lc", ("l", "j", "i")), Tile("lc", 64), Pipeline("k", 64)],
            "neither loops nor tiles",
        ),
        ([FuseTiles("rhs", "lc", 64, "Y"), Pipeline("k", 64)], "neither loops nor tiles|beside"),
        ([Pipeline("k", 64), Pipeline("k", 64)], "no counted loop over k"),
    ],
)
def test_what_cannot_be_a_pipeline_is_refused(
    transformations: list[Transformation], reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources(variant(*transformations), problem("heat2d", 61))


@pytest.mark.parametrize("name", ["h", "t_0", "F_1", "sum_2"])
def test_a_constant_with_a_name_of_the_method_is_refused(name: str) -> None:
    at = problem("heat2d", 61)
    ivp = replace(at.ivp, constants={**at.ivp.constants, name: Num(2.0)})
    jli = Interchange("lc", ("j", "l", "i"))
    with pytest.raises(IllegalTransformation, match=f"heat2d has the name {name}, which"):
        sources(variant(jli, Pipeline("k", 64), Contract("F")), replace(at, ivp=ivp))


@pytest.mark.parametrize("name", ["lag", "distance", "window", "place"])
def test_a_constant_may_have_a_name_of_the_generated_program(name: str, workshop: Workshop) -> None:
    at = problem("inverterchain", 301)
    ivp = replace(at.ivp, constants={**at.ivp.constants, name: Num(0.0)})
    body = Bin("+", at.ivp.regions[1].body, Bin("*", Sym(name), parse("y[j]")))
    regions = (at.ivp.regions[0], replace(at.ivp.regions[1], body=body))
    at = replace(at, ivp=replace(ivp, regions=regions))
    jli = Interchange("lc", ("j", "l", "i"))
    program = workshop.build(sources(variant(jli, Pipeline("k", 64), Contract("F")), at))
    expected = reference(at, STEPS)
    verdict = verify.judge(state(program, at, 2, STEPS), expected, verify.fields(at.ivp, at.size))
    assert verdict.status == "ok", verdict.detail


def test_the_space_has_pipelines_where_the_access_distance_is_limited() -> None:
    limited = workload_of(setup(problem("heat2d", 151), space="pirk-time")).candidates(4)
    blocks = {c.variant.parameters["block"] for c in limited.legal}
    assert blocks == {"none", 128, 256, 512, 1024, 2048, 4096}
    other = workload_of(setup(problem("medakzo", 20011), space="pirk-time")).candidates(4)
    assert {c.variant.parameters["block"] for c in other.legal} == {"none"}
    blocked = (reason for label, _, reason in other.illegal if "block" in label)
    assert any("limited access" in reason for reason in blocked)  # of millions, the first such one
