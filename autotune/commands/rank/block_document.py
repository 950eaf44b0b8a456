"""The analytic choice of blocks as plain values: part of ``rank --json``."""

from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.domain.ranking import Ranking
from autotune.workloads.stencil.planes.blocking import LayerCondition, block_choice


class BlockRow(TypedDict):
    """A layer condition of a stencil in one cache."""

    problem: str
    threads: int
    """On a node."""
    level: str
    reuse: str
    """What is kept: rows, planes, or everything until the next step."""
    dimension: str
    """The loop that needs it again; empty for a time step."""
    needed_bytes: int
    """Without blocks."""
    limit_bytes: int
    """Half of the cache, shared caches divided by the threads."""
    holds: bool
    """Without blocks."""
    blocks: dict[str, int] | None
    """The largest blocks; empty where none is needed, null where none is small enough."""


def choices(
    rankings: Sequence[Ranking], machine: Machine
) -> list[tuple[StencilProblem, int, tuple[LayerCondition, ...]]]:
    """Problem, threads and layer conditions of every stencil that was ranked, each once."""
    found: dict[tuple[str, int], tuple[StencilProblem, int, tuple[LayerCondition, ...]]] = {}
    for ranking in rankings:
        problem = ranking.problem
        if not isinstance(problem, StencilProblem):
            continue
        for threads in sorted({e.candidate.threads_per_node for e in ranking.entries}):
            if (problem.key, threads) not in found:
                conditions = block_choice(problem, machine, threads)
                found[problem.key, threads] = problem, threads, conditions
    return list(found.values())


def rows(rankings: Sequence[Ranking], machine: Machine) -> list[BlockRow]:
    """Every layer condition; none for initial value problems."""
    return [
        {
            "problem": problem.label,
            "threads": threads,
            "level": condition.level,
            "reuse": condition.reuse,
            "dimension": condition.dimension,
            "needed_bytes": int(condition.needed),
            "limit_bytes": int(condition.limit),
            "holds": condition.holds,
            "blocks": dict(condition.blocks) if condition.possible else None,
        }
        for problem, threads, conditions in choices(rankings, machine)
        for condition in conditions
    ]
