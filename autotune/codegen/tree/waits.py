"""Waits for neighbours in the place of barriers.

sweep; sync; sweep; sync          before: at a sync every thread waits for all others
sweep; wait 1; sweep; wait 1      after: only for those within one access distance of its block
"""

from dataclasses import replace

from autotune.codegen.tree.loop_tree import LoopNode, Node, NodeBlock, Sync, Wait, stages
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp


def neighbour_waits(block: NodeBlock, ivp: Ivp) -> NodeBlock:
    """The program with a wait for the neighbours in the place of every barrier.

    All sweeps of a thread write its own block, which is the same in every sweep, and read within
    one lag of it; in a pipeline of S stages within S lags. So two threads access the same elements
    only where their blocks are no farther apart. A thread that waits for all of these at every
    former barrier finds what they wrote before it (flow dependence), and overwrites nothing that
    they still read (anti-dependence), since they have come as far. Legal where the access distance
    is limited and no index, of a sum or of an index array, tells what is read.
    """
    if not ivp.limited:
        raise IllegalTransformation(
            f"the access distance of {ivp.name} is not limited: every thread reads what all others"
            " write, so neighbours are not enough"
        )
    if ivp.reads_anywhere:
        what = "an index array" if ivp.indices else "a sum"
        raise IllegalTransformation(
            f"{what} of {ivp.name} tells which components are read: they may belong to any thread,"
            " so neighbours are not enough"
        )
    waiting = _waiting(block, Wait(stages(block)))
    if waiting == block:
        raise IllegalTransformation("the program has no barriers")
    return waiting


def _waiting(block: NodeBlock, wait: Wait) -> NodeBlock:
    def changed(node: Node) -> Node:
        if isinstance(node, Sync):
            return wait
        return replace(node, body=_waiting(node.body, wait)) if isinstance(node, LoopNode) else node

    return NodeBlock(tuple(changed(node) for node in block.nodes))
