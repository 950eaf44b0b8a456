"""The check of a run as text for the terminal."""

from collections.abc import Iterator

from autotune.assertions.checking.verdicts import AssertionCheck
from autotune.assertions.records.run_records import ranks_in_words
from autotune.results.assertion import verdict_words
from autotune.units import counted

_TERMS = 5
_UNASSERTED = 12


def text(check: AssertionCheck) -> str:
    """The published lines, then what fails and why, sizes, and what is left unexplained."""
    blocks = [
        verdict_words.headline(check),
        "\n".join(verdict_words.published(verdict) for verdict in check.verdicts),
        *_blocks(check),
    ]
    return "\n\n".join(block for block in blocks if block)


def _blocks(check: AssertionCheck) -> Iterator[str]:
    yield "\n".join(f"{check.outcome}: {reason}" for reason in check.reasons)
    yield "\n".join(_explained(check))
    lines = [w for comparison in check.sizes for w in verdict_words.size_words(
        comparison, check.ranks
    )]  # fmt: skip
    yield "\n".join(["sizes of messages:", *(f"  {line}" for line in lines)]) if lines else ""
    yield "\n".join(unasserted_lines(check))
    terms = [f"  {verdict_words.term_words(term)}" for term in check.unexplained[:_TERMS]]
    yield "\n".join(["largest unexplained shares:", *terms]) if terms else ""
    yield "\n".join(
        f"lost on rank {entry.rank}: {entry.loss.what}: {entry.loss.number}"
        for entry in check.losses[:_UNASSERTED]
    )


def _explained(check: AssertionCheck) -> Iterator[str]:
    """Every assertion of which there is more to say than its line."""
    for verdict in check.verdicts:
        lines = list(verdict_words.sentences(verdict, check.ranks))
        if not lines or (verdict.outcome == "pass" and not verdict.by_rank):
            continue
        at = f" at {verdict.place}" if verdict.place else ""
        counter = f", counted by {verdict.counter}" if verdict.counter else ""
        outcome = verdict_words.OUTCOMES[verdict.outcome]
        sign = ", domain" if verdict.type == "ma_var" else " ="
        yield f"{verdict.id}{sign} {verdict.expression}{at}{counter}: {outcome}"
        yield from (f"  {line}" for line in lines)


def unasserted_lines(check: AssertionCheck) -> Iterator[str]:
    """Messages that nothing foretold, by path and function of MPI."""
    for entry in check.unasserted[:_UNASSERTED]:
        where = f" on {ranks_in_words(entry.ranks)}" if check.ranks > 1 else ""
        yield (
            f"unasserted: {counted(entry.messages, 'message')} by {entry.call} in"
            f" {entry.path}{where}"
        )
    if len(check.unasserted) > _UNASSERTED:
        yield f"unasserted: {len(check.unasserted) - _UNASSERTED} more calls"
