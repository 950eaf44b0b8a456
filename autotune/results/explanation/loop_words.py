"""Compiled loops in words: what binds them, what is unusual, what differs between two."""

from collections.abc import Iterator

from autotune.domain.ranking import Role
from autotune.models.engines.base import CompiledSweep
from autotune.results.explanation.explained import ExplainedCandidate

LINE = 8
"""Components of a cache line of doubles."""


def main_loop(one: ExplainedCandidate, role: Role) -> CompiledSweep | None:
    """The sweep of a kernel that takes most of the time."""
    seconds: dict[str, float] = {}
    for part in one.prediction.parts:
        if part.kind == "sweep":
            seconds[part.sweep] = seconds.get(part.sweep, 0.0) + part.seconds
    mine = [loop for loop in one.loops if _plays(loop, role)]
    return max(mine, key=lambda loop: seconds.get(loop.sweep, 0.0), default=None)


def _plays(loop: CompiledSweep, role: Role) -> bool:
    """Whether a loop computes what is compared; ``rhs_first`` is a form of ``rhs``."""
    names = loop.kernel.upper().split("+")
    return all(name in role.kernels or name.partition("_")[0] in role.kernels for name in names)


def in_words(loop: CompiledSweep) -> str:
    """A compiled loop in a few words: cycles per line, what is busiest, and what is unusual."""
    found = loop.result
    cycles = max(found.T_OL, found.T_nOL) * LINE
    text = f"its loop needs {cycles:.3g} cycles a line, bound by {bottleneck(loop)}"
    return text + "".join(f", {word}" for word in unusual(loop))


def bottleneck(loop: CompiledSweep) -> str:
    found = loop.result
    if found.bottleneck == "chain":
        return f"a loop-carried chain of {found.chain:.3g} cycles a component"
    return found.bottleneck


def unusual(loop: CompiledSweep) -> Iterator[str]:
    found = loop.result
    if found.vector <= 8:
        yield "scalar code"
    if found.chain_forwards:
        yield "a chain through memory (store forwarding)"
    elif found.forwards >= 0.05:
        yield f"{LINE * found.forwards:.3g} loads a line of what was just stored"
    if found.blocked >= 0.01:
        yield f"{LINE * found.blocked:.3g} loads a line wider than the store they wait for"
    if found.crossing >= 0.05:
        yield f"{LINE * found.crossing:.3g} line-crossing vector loads a line"
    if found.gathers:
        yield "irregular loads (gathers)"
    if found.calls:
        yield "calls of library functions"
    if found.unknown:
        yield f"instructions that OSACA does not know ({', '.join(found.unknown[:3])})"


def executed(one: ExplainedCandidate, other: ExplainedCandidate, role: Role) -> list[str]:
    """Components gone through, loads and stores of all loops of a kernel, as ratios."""
    first, second = _work(one, role), _work(other, role)
    if first is None or second is None:
        return []
    ratios = [a / b if b > 0 else 1.0 for a, b in zip(first, second, strict=True)]
    told = [
        f"{ratio:.2g} x the {word}"
        for word, ratio in zip(("components", "loads", "stores"), ratios, strict=True)
        if not 0.95 < ratio < 1.05
    ]
    return [f"its loops go through {', '.join(told)}"] if told else []


def _work(one: ExplainedCandidate, role: Role) -> tuple[float, float, float] | None:
    """Seconds over cycles of each loop count its components, but for the clock."""
    busy: dict[str, float] = {}
    for part in one.prediction.parts:
        if part.kind == "T_OL":
            busy[part.sweep] = busy.get(part.sweep, 0.0) + part.seconds
    work = [
        (busy[loop.sweep] / loop.result.T_OL, loop.result)
        for loop in one.loops
        if _plays(loop, role)
        if busy.get(loop.sweep) and loop.result.T_OL > 0
    ]
    if not work:
        return None
    return (
        sum(count for count, _ in work),
        sum(count * found.loads for count, found in work),
        sum(count * found.stores for count, found in work),
    )


def compared(first: CompiledSweep | None, second: CompiledSweep | None) -> list[str]:
    """What differs between two compiled loops of one kernel."""
    if first is None or second is None:
        return []
    told = []
    if bottleneck(first) != bottleneck(second):
        told.append(f"bound by {bottleneck(first)} against {bottleneck(second)}")
    mine, theirs = list(unusual(first)), list(unusual(second))
    told += [f"it has {word}" for word in mine if word not in theirs]
    told += [f"the other has {word}" for word in theirs if word not in mine]
    return told
