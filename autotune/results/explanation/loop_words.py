"""Compiled loops in words: their bottleneck, their peculiarities, the differences of two."""

from collections.abc import Iterator

from autotune.domain.ranking import Role
from autotune.models.engines.base import CompiledSweep
from autotune.results.explanation.explained import ExplainedCandidate

LINE = 8
"""Components of a cache line of doubles."""


def main_loop(candidate: ExplainedCandidate, role: Role) -> CompiledSweep | None:
    """The compiled sweep of a kernel that takes the largest part of the predicted time."""
    seconds: dict[str, float] = {}
    for part in candidate.prediction.parts:
        if part.kind == "sweep":
            seconds[part.sweep] = seconds.get(part.sweep, 0.0) + part.seconds
    loops = [loop for loop in candidate.loops if _plays(loop, role)]
    return max(loops, key=lambda loop: seconds.get(loop.sweep, 0.0), default=None)


def _plays(loop: CompiledSweep, role: Role) -> bool:
    """Whether a loop belongs to the kernels compared; ``rhs_first`` counts as ``rhs``."""
    names = loop.kernel.upper().split("+")
    return all(name in role.kernels or name.partition("_")[0] in role.kernels for name in names)


def in_words(loop: CompiledSweep) -> str:
    """A compiled loop in a few words: cycles per line, busiest resource, peculiarities."""
    result = loop.result
    cycles = max(result.T_OL, result.T_nOL) * LINE
    text = f"its loop needs {cycles:.3g} cycles a line, bound by {bottleneck(loop)}"
    return text + "".join(f", {word}" for word in unusual(loop))


def bottleneck(loop: CompiledSweep) -> str:
    result = loop.result
    if result.bottleneck == "chain":
        return f"a loop-carried chain of {result.chain:.3g} cycles a component"
    return result.bottleneck


def unusual(loop: CompiledSweep, *, crossed: bool = True) -> Iterator[str]:
    """What is peculiar about a loop; ``crossed``: its loads across lines too."""
    result = loop.result
    if result.vector <= 8:
        yield "scalar code"
    if result.chain_forwards:
        yield "a chain through memory (store forwarding)"
    elif result.forwards >= 0.05:
        yield f"{LINE * result.forwards:.3g} loads a line of what was just stored"
    if result.blocked >= 0.01:
        yield f"{LINE * result.blocked:.3g} loads a line wider than the store they wait for"
    if crossed and result.crossing >= 0.05:
        yield f"{LINE * result.crossing:.3g} line-crossing vector loads a line"
    if result.gathers:
        yield "irregular loads (gathers)"
    if result.calls:
        yield "calls of library functions"
    if result.unknown:
        yield f"instructions that OSACA does not know ({', '.join(result.unknown[:3])})"


def executed(candidate: ExplainedCandidate, other: ExplainedCandidate, role: Role) -> list[str]:
    """The work of two candidates in one kernel as ratios: components, loads and stores.

    Empty if the ratios are near one.
    """
    first, second = _work(candidate, role), _work(other, role)
    if first is None or second is None:
        return []
    ratios = [a / b if b > 0 else 1.0 for a, b in zip(first, second, strict=True)]
    changes = [
        f"{ratio:.2g} x the {word}"
        for word, ratio in zip(("components", "loads", "stores"), ratios, strict=True)
        if not 0.95 < ratio < 1.05
    ]
    return [f"its loops go through {', '.join(changes)}"] if changes else []


def _work(candidate: ExplainedCandidate, role: Role) -> tuple[float, float, float] | None:
    """Components, loads and stores that the loops of one kernel execute, up to a factor.

    The count of components is the predicted seconds of a loop over its cycles.
    """
    busy: dict[str, float] = {}
    for part in candidate.prediction.parts:
        if part.kind == "T_OL":
            busy[part.sweep] = busy.get(part.sweep, 0.0) + part.seconds
    work = [
        (busy[loop.sweep] / loop.result.T_OL, loop.result)
        for loop in candidate.loops
        if _plays(loop, role)
        if busy.get(loop.sweep) and loop.result.T_OL > 0
    ]
    if not work:
        return None
    return (
        sum(count for count, _ in work),
        sum(count * result.loads for count, result in work),
        sum(count * result.stores for count, result in work),
    )


def compared(
    first: CompiledSweep | None, second: CompiledSweep | None, *, moving: bool
) -> list[str]:
    """The differences between two compiled loops of one kernel, in words.

    ``moving``: whether their loads and stores take different times (T_nOL). If not, loads across
    lines are no difference, unless operations wait for them.
    """
    if first is None or second is None:
        return []
    differences = []
    if bottleneck(first) != bottleneck(second):
        differences.append(f"bound by {bottleneck(first)} against {bottleneck(second)}")
    crossed = moving or "window" in (bottleneck(first), bottleneck(second))
    ours, theirs = (list(unusual(loop, crossed=crossed)) for loop in (first, second))
    differences += [f"it has {word}" for word in ours if word not in theirs]
    differences += [f"the other has {word}" for word in theirs if word not in ours]
    return differences
