"""Equal nodes of loop trees as one object."""

from autotune.codegen.tree.loop_tree import (
    AnySweep,
    Assign,
    NodeBlock,
    Repeat,
    StoredRow,
    Sweep,
    SweepStretch,
    Sync,
    Tiles,
)
from autotune.codegen.tree.unique_nodes import UniqueNodes
from autotune.language.expression import Num, Sym, parse


def sweep(row: str = "y", value: str = "a*y[j]") -> AnySweep:
    stretch = SweepStretch(Num(0), Sym("n"), (Assign("y", parse(value)),))
    return Sweep(
        name="scale",
        kernel="SCALE",
        rows=(("y", StoredRow(row)),),
        scalars=(("a", Sym("h")),),
        stretches=(stretch,),
    )


def test_the_first_of_equal_sweeps_stands_for_all() -> None:
    nodes, first = UniqueNodes(), sweep()
    assert nodes.first(first) is first
    assert nodes.first(sweep()) is first
    assert nodes.first(sweep("z")) is not first


def test_sweeps_that_differ_in_arguments_share_a_function() -> None:
    nodes = UniqueNodes()
    function = nodes.function(sweep("y"))
    assert nodes.function(sweep("z")) is function
    assert nodes.function(sweep("z", "a + y[j]")) is not function
    assert [name for name, _ in function.rows] == ["y"]


def test_the_keys_of_blocks_are_equal_where_the_blocks_are() -> None:
    def block(size: int, last: AnySweep) -> NodeBlock:
        tiles = Tiles(size, NodeBlock((sweep(), last)))
        return NodeBlock((Repeat("k", 0, 3, NodeBlock((tiles, Sync()))), Sync()))

    nodes = UniqueNodes()
    key = nodes.block_key(block(64, sweep("z")))
    assert nodes.block_key(block(64, sweep("z"))) == key
    assert nodes.block_key(block(128, sweep("z"))) != key
    assert nodes.block_key(block(64, sweep("y"))) != key
