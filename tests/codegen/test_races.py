"""The checker of barriers finds what is missing, and nothing where nothing is."""

from dataclasses import replace

import pytest
from codegen_build import problem, variant

from autotune.codegen.tree import variant_program
from autotune.codegen.tree.loop_tree import (
    NodeBlock,
    PipelineLoop,
    PutBack,
    Repeat,
    StepProgram,
    StoredRow,
    Swap,
    Sweep,
    Sync,
    Tiles,
)
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.skeleton import LoopStep, Skeleton, SyncStep
from autotune.domain.variant import (
    FuseTiles,
    InPlace,
    Interchange,
    NeighbourSync,
    Pipeline,
    Transformation,
    Variant,
)
from autotune.files import config

SKELETON = config.skeleton("pirk")
FUSED: tuple[Transformation, ...] = (FuseTiles("rhs", "lc", 64, "Y"),)
ORDERED: tuple[Transformation, ...] = (Interchange("lc", ("i", "l", "j")),)


def made(*transformations: Transformation) -> StepProgram:
    return variant_program.program(variant(*transformations), SKELETON, problem())


def without(block: NodeBlock, kind: type, skip: list[int]) -> NodeBlock:
    """The block without one node of a kind; ``skip[0]`` counts down to it."""
    nodes = []
    for node in block.nodes:
        if isinstance(node, kind):
            skip[0] -= 1
            if skip[0] == -1:
                continue
        if isinstance(node, Repeat | Tiles):
            node = replace(node, body=without(node.body, kind, skip))
        nodes.append(node)
    return NodeBlock(tuple(nodes))


def count(block: NodeBlock, kind: type) -> int:
    inside = (count(n.body, kind) for n in block.nodes if isinstance(n, Repeat | Tiles))
    return sum(isinstance(n, kind) for n in block.nodes) + sum(inside)


@pytest.mark.parametrize("transformations", [(), ORDERED, FUSED, ORDERED + FUSED])
def test_programs_are_free_of_races(transformations: tuple[Transformation, ...]) -> None:
    assert races(made(*transformations)) == []


@pytest.mark.parametrize("transformations", [ORDERED, FUSED, ORDERED + FUSED])
def test_no_barrier_can_be_spared(transformations: tuple[Transformation, ...]) -> None:
    program = made(*transformations)
    barriers = count(program.body, Sync)
    assert barriers == 3
    for index in range(barriers):
        fewer = replace(program, body=without(program.body, Sync, [index]))
        found = races(fewer)
        assert found, f"barrier {index} is not missed"
        assert races(fewer, distance=0) == []


def test_a_pipeline_in_place_needs_both_barriers_and_what_it_keeps_apart() -> None:
    program = made(Pipeline("k", 64), InPlace("y"))
    assert races(program) == []
    assert races(made(Pipeline("k", 64), InPlace("y"), NeighbourSync("neighbours"))) == []
    for index in range(count(program.body, Sync)):
        assert races(replace(program, body=without(program.body, Sync, [index])))
    loop = next(node for node in program.body.nodes if isinstance(node, PipelineLoop))
    nodes = tuple(node for node in program.body.nodes if not isinstance(node, PutBack))
    bare = tuple(replace(n, in_place=None) if n is loop else n for n in nodes)
    (conflict, *_) = races(replace(program, body=NodeBlock(bare)))
    assert str(conflict).startswith("rhs_first reads neighbouring components of y (row 0) that")


def test_one_barrier_per_corrector_step_when_tiles_are_fused() -> None:
    (loop,) = [n for n in made(*FUSED).body.nodes if isinstance(n, Repeat) and n.variable == "k"]
    assert count(loop.body, Sync) == 1


def with_one_buffer(block: NodeBlock) -> NodeBlock:
    nodes = []
    for node in block.nodes:
        if isinstance(node, Repeat | Tiles):
            node = replace(node, body=with_one_buffer(node.body))
        elif isinstance(node, Sweep):
            rows = (
                (name, StoredRow(row.array.removesuffix("_next"), row.index))
                for name, row in node.rows
            )
            node = replace(node, rows=tuple(rows))
        if not isinstance(node, Swap):
            nodes.append(node)
    return NodeBlock(tuple(nodes))


def test_the_second_buffer_is_needed() -> None:
    program = made(*FUSED)
    found = races(replace(program, body=with_one_buffer(program.body)))
    assert {race.tiles for race in found} == {True, False}
    assert {(race.reader, race.writer) for race in found} == {("rhs", "lc")}


def test_tiles_that_read_what_other_tiles_write_are_found() -> None:
    program = made()
    (loop,) = [n for n in program.body.nodes if isinstance(n, Repeat) and n.variable == "k"]
    calls = tuple(node for node in loop.body.nodes if not isinstance(node, Sync))
    tiled = replace(loop, body=NodeBlock((Tiles(64, NodeBlock(calls)), Sync())))
    nodes = tuple(tiled if node is loop else node for node in program.body.nodes)
    assert any(race.tiles for race in races(replace(program, body=NodeBlock(nodes))))


def skeleton_without_barriers(inside: bool) -> Skeleton:
    steps = tuple(
        LoopStep(s.variable, s.count, tuple(b for b in s.body if not isinstance(b, SyncStep)))
        if isinstance(s, LoopStep) and inside
        else s
        for s in SKELETON.steps
        if inside or not isinstance(s, SyncStep)
    )
    return replace(SKELETON, steps=steps)


@pytest.mark.parametrize("inside", [True, False])
def test_a_skeleton_that_lacks_a_barrier_has_no_program(inside: bool) -> None:
    plain = Variant(skeleton="pirk", transformations=(), parameters={})
    with pytest.raises(IllegalTransformation, match="without a synchronisation between"):
        variant_program.program(plain, skeleton_without_barriers(inside), problem())
