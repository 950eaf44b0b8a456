"""The layouts of a setup on a machine: ranks, threads, their placement and communication."""

from collections.abc import Sequence

from autotune.domain.setup import Setup
from autotune.domain.variant import Communication, ExecutionLayout
from autotune.errors import Fault, InputError


def execution_layouts(setup: Setup, machine_cores: int) -> list[ExecutionLayout]:
    """The layouts of a setup with explicit numbers, once for each way of communication.

    Layouts with fewer threads come first. Raises InputError for a layout with more threads on a
    node than ``machine_cores``.
    """
    faults: list[Fault] = []
    layouts: list[ExecutionLayout] = []
    for index, layout in enumerate(setup.layouts):
        per_rank = max(1, machine_cores // layout.ranks)
        threads = per_rank if layout.threads == "all" else layout.threads
        if layout.ranks * threads > machine_cores:
            faults.append(
                Fault(
                    where=setup.place_of_layout(index),
                    found=f"{layout.ranks} x {threads} threads on a node"
                    if layout.ranks > 1
                    else f"{threads} threads",
                    expected=f"from 1 to {machine_cores}, the cores of the machine",
                )
            )
            continue
        ranks = layout.nodes * layout.ranks
        ways: tuple[Communication, ...] = setup.communications if ranks > 1 else ("none",)
        # one thread, or one on every core, is placed the same in any way
        free = 1 < threads < machine_cores
        layouts += [
            ExecutionLayout(
                nodes=layout.nodes,
                ranks=ranks,
                threads=threads,
                communication=way,
                placement=layout.placement if free else "compact",
            )
            for way in ways
        ]
    if faults:
        raise InputError(*faults)
    return sorted(
        dict.fromkeys(layouts),
        key=lambda layout: (layout.nodes, layout.ranks * layout.threads, layout.ranks),
    )


def largest(layouts: Sequence[ExecutionLayout]) -> ExecutionLayout:
    """The layout with most nodes, of these with most threads, of these with fewest ranks."""
    return max(
        layouts, key=lambda layout: (layout.nodes, layout.ranks * layout.threads, -layout.ranks)
    )
