"""The first corrector step computed once: the same result in every loop order and combination."""

from itertools import permutations

import numpy as np
import pytest
from codegen_build import SKELETON, Workshop, problem, reference, sources, state, variant
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_interpreter import Arrays, Interpreter

from autotune.codegen.tree import hoist, transform
from autotune.codegen.tree.loop_nests import EvaluateStatement, Nodes, nests, statements
from autotune.codegen.tree.lower import write_out_sums
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.codegen.tree.variant_program import canonical
from autotune.domain.variant import (
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    Interchange,
    Jam,
    Pad,
    Pipeline,
    Tile,
    Transformation,
    Vectorize,
)
from autotune.measuring.verification import verify

STEPS = 3
ONCE = Hoist("rhs_first", "l")
ORDERS = ["".join(loops) for loops in permutations("ijl")]
METHODS = ["radau-iia-3", "radau-iia-5", "radau-iia-7", "lobatto-iiic-6"]
SIZES = {"heat2d": 23, "brusselator2d-mix": 15, "heat3d": 11, "flock": 101}


def agrees(
    workshop: Workshop,
    ivp: str,
    *transformations: Transformation,
    method: str = "radau-iia-7",
) -> None:
    at = problem(ivp, SIZES.get(ivp, 801), method)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


def result(tree: Nodes, stages: int, n: int, seed: int) -> np.ndarray:
    """y after two steps; the time is the same in all stages, since c is 0."""
    random = np.random.default_rng(seed)
    arrays: Arrays = {name: random.uniform(-1, 1, n) for name in ("y", "y_next", "dy")}
    arrays |= {name: random.uniform(-1, 1, (stages, n)) for name in ("Y", "Y_next", "F")}
    arrays["A"], arrays["b"] = (
        random.uniform(-1, 1, (stages, stages)),
        random.uniform(-1, 1, stages),
    )
    arrays["c"] = np.zeros(stages)
    # the tableau that the product was made of is read from here too
    interpreter = Interpreter(arrays, n, 0.01)
    interpreter.run(tree)
    interpreter.run(tree)
    return arrays["y"]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(1, 14), seed=st.integers(0, 2**31))
def test_no_value_changes(data: st.DataObject, n: int, seed: int) -> None:
    method = data.draw(st.sampled_from(METHODS))
    at = problem("heat2d", 13, method)
    tree = canonical(SKELETON, at)
    stages = at.method.stages
    expected = result(tree, stages, n, seed)
    tree = transform.interchange(tree, "lc", tuple(data.draw(st.sampled_from(ORDERS))))
    if data.draw(st.booleans()):
        tree = transform.interchange(tree, "rhs_first", ("j", "l"))
    if data.draw(st.booleans()):
        tree = transform.fuse(tree, "approx", "update")
    kind = data.draw(st.sampled_from(["none", "tile", "fuse_tiles", "pipeline"]))
    size = data.draw(st.integers(1, 12))
    try:
        if kind == "tile":
            tree = transform.tile(tree, "lc", size)
        elif kind == "fuse_tiles":
            tree = transform.fuse_tiles(tree, "rhs", "lc", size, "Y")
        elif kind == "pipeline":
            tree = transform.pipeline(tree, "k", size)
            if data.draw(st.booleans()):
                tree = transform.contract(tree, "F")
    except IllegalTransformation:
        pass
    once = hoist.hoist(tree, "rhs_first", "l")
    assert once != tree
    assert result(once, stages, n, seed) == pytest.approx(expected, rel=1e-12, abs=1e-13)
    lowered = write_out_sums(once)
    assert result(lowered, stages, n, seed) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("loops", ORDERS)
@pytest.mark.parametrize("ivp", ["heat2d", "wave1d", "flock"])
def test_every_order_agrees_with_the_reference(loops: str, ivp: str, workshop: Workshop) -> None:
    order = Interchange("lc", tuple(loops))
    agrees(workshop, ivp, order, ONCE, Pad(5))
    if loops[0] != "j":
        agrees(workshop, ivp, order, Tile("lc", 64), ONCE)
    if ivp != "flock":
        agrees(workshop, ivp, order, FuseTiles("rhs", "lc", 64, "Y"), ONCE)
        agrees(workshop, ivp, order, Pipeline("k", 64), ONCE)


@pytest.mark.parametrize(
    "ivp", ["heat2d", "heat3d", "wave1d", "string-mix", "fitzhugh-nagumo", "brusselator2d-mix"]
)
def test_with_everything_else_it_agrees(ivp: str, workshop: Workshop) -> None:
    order = Interchange("lc", ("j", "l", "i"))
    agrees(workshop, ivp, order, Pipeline("k", 64), Contract("F"), ONCE, Vectorize(4))
    agrees(workshop, ivp, order, Fuse("approx", "update"), Pipeline("k", 128), Contract("F"), ONCE)
    sums = Interchange("lc", ("l", "i", "j"))
    agrees(workshop, ivp, sums, ONCE, Jam("lc", "l", 2))
    agrees(workshop, ivp, sums, Pipeline("k", 64), ONCE, Jam("lc", "l", 3))


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_agree(method: str, workshop: Workshop) -> None:
    agrees(workshop, "wave1d", Interchange("lc", ("i", "l", "j")), ONCE, method=method)
    jli = Interchange("lc", ("j", "l", "i"))
    agrees(workshop, "wave1d", jli, Pipeline("k", 64), Contract("F"), ONCE, method=method)


def test_a_periodic_problem_agrees(workshop: Workshop) -> None:
    agrees(workshop, "advection", Interchange("lc", ("l", "i", "j")), ONCE)


def test_the_right_hand_side_is_evaluated_once_and_sums_are_gone() -> None:
    at = problem("heat2d", 23)
    tree = hoist.hoist(canonical(SKELETON, at), "rhs_first", "l")
    first = [nest for nest in nests(tree) if nest.kernel == "rhs_first"]
    assert sum(isinstance(s, EvaluateStatement) for s in statements(first)) == 1
    fused = (Interchange("lc", ("j", "l", "i")), Pipeline("k", 64), Contract("F"), ONCE)
    units = sources(variant(*fused), at).items()
    texts = [text for name, text in units if name.endswith(".c") and "rhs_first" in name]
    assert all("F_0" in text and "F_1" not in text for text in texts)
    assert texts


@pytest.mark.parametrize(
    ("transformation", "reason"),
    [
        (Hoist("rhs_frist", "l"), "there is no kernel rhs_frist .there are .*rhs_first"),
        (Hoist("rhs_first", "i"), "no loop over i is around rhs_first"),
        (Hoist("lc", "l"), "lc is not a single evaluation of a right-hand side"),
        (Hoist("rhs", "l"), "iterations of rhs over l do not compute the same"),
    ],
)
def test_what_cannot_be_hoisted_is_refused(transformation: Hoist, reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources(variant(transformation), problem("heat2d", 23))


@pytest.mark.parametrize("ivp", ["inverterchain", "medakzo"])
def test_a_right_hand_side_that_depends_on_the_time_is_refused(ivp: str) -> None:
    at = problem(ivp, 201)
    assert not at.ivp.autonomous
    with pytest.raises(IllegalTransformation, match=f"{ivp} depends on the time, which is another"):
        sources(variant(ONCE), at)
    assert problem("heat2d", 23).ivp.autonomous
