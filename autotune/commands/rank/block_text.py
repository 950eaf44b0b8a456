"""The analytic choice of block sizes as text: a table per stencil problem and number of threads."""

from collections.abc import Sequence

from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranking
from autotune.results.report.text_table import columns
from autotune.workloads.stencil.planes.blocking import LayerCondition, block_choices

_HEAD = ("level", "keeps", "for the next", "needs", "of", "block")


def text(rankings: Sequence[Ranking], machine: Machine) -> str:
    """The largest blocks whose reused data fit in each cache; empty without stencils."""
    blocks = []
    for problem, threads, conditions in block_choices(rankings, machine):
        rows = [_HEAD, *(_cells(condition) for condition in conditions)]
        team = "1 thread" if threads == 1 else f"{threads} threads"
        blocks.append(
            f"{problem.label}, {team}: layer conditions, half of each cache\n"
            + columns(rows, right=(3, 4))
        )
    return "\n\n".join(blocks)


def _cells(condition: LayerCondition) -> tuple[str, ...]:
    return (
        condition.level,
        "all" if condition.reuse == "step" else condition.reuse,
        condition.dimension or "step",
        _size(condition.needed),
        _size(condition.limit),
        _block(condition),
    )


def _size(value: float) -> str:
    """A size in bytes, KiB, MiB or GiB, with three digits."""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} GiB"


def _block(condition: LayerCondition) -> str:
    if condition.holds:
        return "none needed"
    if not condition.possible:
        return "-" if condition.reuse == "step" else "none is small enough"
    return ", ".join(f"b{dimension} <= {size}" for dimension, size in condition.blocks)
