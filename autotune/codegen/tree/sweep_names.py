"""Names of sweeps that tell apart what they compute."""

from collections.abc import Sequence
from dataclasses import replace

from autotune.codegen.tree.loop_tree import NodeBlock, Sweep, SweepStretch, on_sweeps


def distinctly_named(block: NodeBlock) -> NodeBlock:
    """The block with a number behind the name of a sweep that another one before it has.

    So the sums of the stages of an explicit method, which have different terms, are functions of
    their own. Sweeps that differ in the arguments of their calls only keep one name.
    """
    texts: dict[str, list[Sequence[SweepStretch]]] = {}

    def change(sweep: Sweep) -> Sweep:
        of_name = texts.setdefault(sweep.name, [])
        if sweep.stretches not in of_name:
            of_name.append(sweep.stretches)
        number = of_name.index(sweep.stretches) + 1
        return sweep if number == 1 else replace(sweep, name=f"{sweep.name}_{number}")

    return on_sweeps(block, change)
