"""Stores past the caches, of sweeps over components.

So the last stage of a pipeline writes the next state, which no cache holds until it is read."""

from collections.abc import Collection
from dataclasses import replace

from autotune.codegen.tree.loop_tree import (
    Assign,
    NodeBlock,
    Sweep,
    every_sweep,
    on_sweeps,
    sums,
)
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.language.expression import Num, references


def stream(block: NodeBlock, kernel: str, windows: Collection[str]) -> NodeBlock:
    """The program with the results of a kernel stored past the caches, a cache line at a time.

    Legal where the sweeps of the kernel, alone or fused with others, write one row each, which they
    do not read and which is no row of the ``windows`` of a pipeline. Rows of fixed length, which
    are written out, and sums over an index stay as they are.
    """
    chosen = [
        sweep
        for sweep in every_sweep(block)
        if isinstance(sweep, Sweep) and kernel in sweep.kernel.split("+")
    ]
    if not chosen:
        raise IllegalTransformation(f"there is no sweep of {kernel}")
    for sweep in chosen:
        _check(sweep, windows)

    def change(sweep: Sweep) -> Sweep:
        if kernel not in sweep.kernel.split("+") or _written_out(sweep) or sums(sweep):
            return sweep
        return replace(sweep, name=f"{sweep.name}_nt", streamed=True)

    streamed = on_sweeps(block, change)
    if streamed == block:
        raise IllegalTransformation(
            f"loops of {kernel} are written out or hold sums: none stores whole cache lines"
        )
    return streamed


def _check(sweep: Sweep, windows: Collection[str]) -> None:
    """Refuse a sweep whose results are not one row that the caches need not keep."""
    stores = [s for stretch in sweep.stretches for s in stretch.statements if isinstance(s, Assign)]
    targets = {store.target for store in stores}
    if len(targets) > 1:
        raise IllegalTransformation(
            f"{sweep.kernel} writes {len(targets)} rows at a time: one is stored past the caches"
        )
    (target,) = targets
    if sweep.streamed:
        raise IllegalTransformation(f"{sweep.kernel} stores past the caches twice")
    if any(store.add for store in stores) or target in _read(sweep):
        raise IllegalTransformation(
            f"{sweep.kernel} reads the row that it writes: its lines are in the caches"
        )
    array = dict(sweep.rows)[target].array
    if array in windows:
        raise IllegalTransformation(
            f"{sweep.kernel} writes a window, which the next stage reads from the caches"
        )


def _read(sweep: Sweep) -> set[str]:
    """The rows that statements of a sweep read."""
    return {
        ref.array
        for stretch in sweep.stretches
        for statement in stretch.statements
        for ref in references(statement.value)
    }


def _written_out(sweep: Sweep) -> bool:
    """Whether the rows of a sweep have a fixed length, so that their columns are written out."""
    first = sweep.stretches[0]
    return first.columns is not None and isinstance(first.row, Num)
