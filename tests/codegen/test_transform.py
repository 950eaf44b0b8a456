"""Transformations never change what a nest computes; what would is refused with a reason."""

from itertools import permutations

import numpy as np
import pytest
from codegen_build import problem
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_interpreter import Arrays, Interpreter

from autotune.codegen.tree import transform
from autotune.codegen.tree.loop_nests import (
    Nest,
    NestLoop,
    Nodes,
    PipelineNest,
    ReduceStatement,
    StoreStatement,
    TileNest,
    nests,
    rebuild,
    statements,
    walk,
    writes,
)
from autotune.codegen.tree.loop_tree import Comm, Swap, Sync
from autotune.codegen.tree.lower import unroll, write_out_sums
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.codegen.tree.variant_program import canonical
from autotune.files import config
from autotune.language.expression import parse

TREE = canonical(config.skeleton("pirk"), problem())
ORDERS = ["".join(order) for order in permutations("ijl")]


def with_stages(tree: Nodes, stages: int, correctors: int) -> Nodes:
    """The same tree for another method: the short loops have as many iterations as stages."""

    def change(node: object) -> Nodes:
        if isinstance(node, NestLoop) and not node.long:
            end = correctors if node.variable == "k" else stages
            return (NestLoop(node.variable, node.first, end, node.body),)
        return (node,)

    return rebuild(tree, change)


def storage(stages: int, n: int, seed: int) -> Arrays:
    random = np.random.default_rng(seed)
    shapes = {
        "y": (n,),
        "y_next": (n,),
        "dy": (n,),
        "A": (stages, stages),
        "b": (stages,),
        "c": (stages,),
    }
    shapes |= dict.fromkeys(("Y", "Y_next", "F"), (stages, n))
    return {name: random.uniform(-1, 1, shape) for name, shape in shapes.items()}


def result(tree: Nodes, stages: int, n: int, seed: int, h: float = 0.01) -> np.ndarray:
    arrays = storage(stages, n, seed)
    interpreter = Interpreter(arrays, n, h)
    interpreter.run(tree)
    interpreter.run(tree)
    return arrays["y"]


@st.composite
def rewritings(draw: st.DrawFn) -> Nodes:
    tree = transform.interchange(TREE, "lc", tuple(draw(st.sampled_from(ORDERS))))
    if draw(st.booleans()):
        tree = transform.interchange(tree, "rhs", tuple(draw(st.permutations("lj"))))
    if draw(st.booleans()):
        tree = transform.fuse(tree, "approx", "update")
    elif draw(st.booleans()):
        tree = transform.interchange(tree, "approx", ("i", "j"))
    size = draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["none", "tile", "fuse_tiles", "pipeline"]))
    try:
        if kind == "tile":
            tree = transform.tile(tree, "lc", size)
        elif kind == "fuse_tiles":
            tree = transform.fuse_tiles(tree, "rhs", "lc", size, "Y")
        elif kind == "pipeline":
            tree = transform.pipeline(tree, "k", size)
            if draw(st.booleans()):
                tree = transform.contract(tree, "F")
    except IllegalTransformation:
        assert kind != "fuse_tiles"
    return tree


@settings(max_examples=40, deadline=None)
@given(
    tree=rewritings(),
    stages=st.integers(1, 4),
    n=st.integers(1, 14),
    seed=st.integers(0, 2**31),
)
def test_no_transformation_changes_the_value(tree: Nodes, stages: int, n: int, seed: int) -> None:
    # the corrector loop was split when it had six iterations: keep its first and end
    def resize(node: object) -> Nodes:
        if isinstance(node, NestLoop) and not node.long and node.variable != "k":
            return (NestLoop(node.variable, node.first, stages, node.body),)
        return (node,)

    expected = result(rebuild(TREE, resize), stages, n, seed)
    rewritten = rebuild(tree, resize)
    assert result(rewritten, stages, n, seed) == pytest.approx(expected, rel=1e-12, abs=1e-13)
    written_out = write_out_sums(rewritten)
    assert not any(isinstance(s, ReduceStatement) for s in statements(written_out))
    assert result(written_out, stages, n, seed) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("order", ORDERS)
def test_sums_are_peeled_for_every_order(order: str) -> None:
    tree = transform.interchange(TREE, "lc", tuple(order))
    (nest,) = [nest for nest in nests(tree) if nest.kernel == "lc"]
    stores = [s for s in statements(write_out_sums(nest.body)) if isinstance(s, StoreStatement)]
    if order.endswith("i"):
        assert [s.target.array for s in stores] == ["sum", "Y"]
    else:
        assert [s.add for s in stores] == [False, True, False]


def test_unrolling_keeps_scalars_of_iterations_apart() -> None:
    tree = transform.interchange(TREE, "lc", ("j", "l", "i"))
    (nest,) = [nest for nest in nests(tree) if nest.kernel == "lc"]
    (loop,) = write_out_sums(nest.body)
    assert isinstance(loop, NestLoop)
    names = [s.target.array for s in statements(unroll(loop.body)) if not s.target.indices]
    assert names == ["sum_0", "sum_1", "sum_2", "sum_3"]


def test_fusion_keeps_the_vector_between_in_a_register() -> None:
    tree = transform.fuse(TREE, "approx", "update")
    assert "dy" in writes(TREE)
    (fused,) = [nest for nest in nests(tree) if nest.kernel == "approx+update"]
    targets = {s.target for s in statements(fused.body)}
    assert {target.array for target in targets if target.indices} == {"y"}


def test_a_vector_that_is_used_elsewhere_keeps_its_storage() -> None:
    reader = Nest(
        "late", (NestLoop("j", 0, None, (StoreStatement(parse("y[j]"), parse("dy[j]")),)),)
    )
    tree = transform.fuse((*TREE, reader), "approx", "update")
    (fused,) = [nest for nest in nests(tree) if nest.kernel == "approx+update"]
    assert "dy" in {s.target.array for s in statements(fused.body) if s.target.indices}


def test_fused_tiles_rotate_the_corrector_loop() -> None:
    tree = transform.fuse_tiles(TREE, "rhs", "lc", 256, "Y")
    kinds = [type(node) for node in tree]
    assert kinds[:4] == [Comm, TileNest, Swap, Sync]
    (loop,) = [node for node in tree if isinstance(node, NestLoop)]
    assert (loop.first, loop.end) == (0, 5)
    assert [type(node) for node in loop.body] == [Comm, TileNest, Swap, Sync]
    (tile,) = [node for node in loop.body if isinstance(node, TileNest)]
    assert [nest.kernel for nest in nests(tile.body)] == ["rhs", "lc"]
    after = tree[tree.index(loop) + 1 :]
    assert [nest.kernel for nest in nests(after)] == ["rhs", "approx", "update"]


def test_the_stages_of_a_pipeline_are_the_corrector_steps() -> None:
    tree = transform.pipeline(TREE, "k", 64)
    comm, pipeline, swap, sync = tree
    assert (comm, swap, sync) == (Comm("y"), Swap("y", "y_next"), Sync())
    assert isinstance(pipeline, PipelineNest)
    kernels = [[nest.kernel for nest in nests((stage,))] for stage in pipeline.body]
    assert kernels[0] == ["rhs_first", "lc"]
    assert kernels[1:-1] == [["rhs", "lc"]] * 5
    assert kernels[-1] == ["rhs", "approx", "update"]


def test_one_corrector_step_leaves_no_loop() -> None:
    tree = transform.fuse_tiles(with_stages(TREE, 4, 1), "rhs", "lc", 256, "Y")
    assert not any(isinstance(node, NestLoop) and node.variable == "k" for node in walk(tree))


@pytest.mark.parametrize(
    ("attempt", "reason"),
    [
        (lambda: transform.interchange(TREE, "lcc", ("j", "l", "i")), "there is no kernel lcc"),
        (lambda: transform.interchange(TREE, "lc", ("j", "l")), "no order of them"),
        (lambda: transform.interchange(TREE, "lc", ("j", "l", "l")), "no order of them"),
        (
            lambda: transform.interchange(
                transform.fuse(TREE, "approx", "update"), "approx+update", ("j", "i")
            ),
            "not a perfect nest",
        ),
        (lambda: transform.fuse(TREE, "lc", "update"), "does not follow"),
        (lambda: transform.fuse(TREE, "rhs", "approx"), "does not follow"),
        (
            lambda: transform.fuse(
                transform.interchange(TREE, "approx", ("i", "j")), "approx", "update"
            ),
            "not the outermost loop",
        ),
        (lambda: transform.tile(TREE, "update", 64), "single sweep"),
        (
            lambda: transform.tile(transform.tile(TREE, "rhs", 64), "rhs", 64),
            "in tiles already",
        ),
        (
            lambda: transform.fuse_tiles(
                transform.fuse_tiles(TREE, "rhs", "lc", 64, "Y"), "rhs", "lc", 64, "Y"
            ),
            "the loop must hold",
        ),
        (lambda: transform.fuse_tiles(TREE, "lc", "rhs", 64, "F"), "the loop must hold"),
        (lambda: transform.fuse_tiles(TREE, "rhs", "lc", 64, "F"), "at other points"),
        (lambda: transform.fuse_tiles(TREE, "approx", "update", 64, "y"), "not in one counted"),
    ],
)
def test_what_would_change_the_result_is_refused(attempt: object, reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        attempt()  # type: ignore[operator]
