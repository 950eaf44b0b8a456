"""Verdicts in words: the published line of an assertion, and what explains its failure."""

from collections.abc import Iterator, Mapping, Sequence

from autotune.assertions.checking.verdicts import (
    AssertionCheck,
    AssertionVerdict,
    SizeComparison,
    UnexplainedTerm,
)
from autotune.assertions.records.merged_paths import RankGroup
from autotune.assertions.records.run_records import ranks_in_words
from autotune.domain.assertion_record import Count
from autotune.results.report.number_words import percent
from autotune.units import counted

OUTCOMES = {
    "pass": "PASS",
    "fail": "FAIL",
    "not measured": "NOT MEASURED",
    "nothing asserted": "NOTHING ASSERTED",
}
_SHOWN = 4
"""Groups of ranks, sizes and variables that a sentence names."""
_SMALL = 1e-2
"""Errors below are written with a power of ten, as published."""


def count_words(value: Count | None) -> str:
    """A count: whole numbers with all digits, others with six.

    >>> count_words(21001), count_words(0.5), count_words(None)
    ('21001', '0.5', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.6g}"


def error_words(error: float | None) -> str:
    """An error as published: ``0.0``, ``1.4284E-4``, ``-0.194``; ``-`` where there is none.

    >>> error_words(0.0), error_words(1 / 7001), error_words((3503 - 4347) / 4347)
    ('0.0', '1.4284E-4', '-0.194')
    """
    if error is None:
        return "-"
    if error == 0:
        return "0.0"
    if abs(error) < _SMALL:
        digits, _, exponent = f"{error:.4E}".partition("E")
        return f"{digits}E{int(exponent)}"
    return f"{error:.3g}"


def published(verdict: AssertionVerdict) -> str:
    """The line of an assertion as published: id, type, predicted, measured, error, visits.

    ``FAIL`` counts all visits and messages that did not pass. Where visits differ and all of them
    pass, both counts are a span.
    """
    predicted, measured = count_words(verdict.predicted), count_words(verdict.measured)
    error = error_words(verdict.error)
    if verdict.predicted is None and verdict.span is not None:
        predicted = measured = "..".join(map(count_words, verdict.span))
        error = "0.0"
    return (
        f"{verdict.id}:{verdict.type}:{predicted}:{measured}:{error}"
        f":PASS={verdict.passes}:FAIL={not_passed(verdict)}"
    )


def not_passed(verdict: AssertionVerdict) -> int:
    """Visits that failed or had no value, and messages that did not come."""
    without = sum(reason.visits for reason in verdict.no_value)
    return verdict.failures + verdict.missing + without


def sentences(verdict: AssertionVerdict, ranks: int) -> Iterator[str]:
    """What there is to say of a verdict beside its line; nothing of one that simply passes."""
    if verdict.worst is not None and verdict.outcome == "fail":
        where = f"on rank {verdict.worst_rank}" if ranks > 1 else ""
        binding = _binding(verdict.worst.binding)
        text = ", ".join(part for part in (where, binding) if part)
        if text:
            yield f"worst {text}"
    elif verdict.worst_rank is not None and ranks > 1 and verdict.outcome == "fail":
        yield f"first on rank {verdict.worst_rank}"
    for cause in verdict.causes:
        holds = f" (holds in {cause.holds} of {cause.cases} cases)" if cause.cases > 1 else ""
        yield cause.words + holds
    if verdict.missing:
        yield f"{counted(verdict.missing, 'asserted message')} did not come"
    for reason in verdict.no_value:
        yield f"{counted(reason.visits, 'visit')} without a value: {reason.reason}"
    if verdict.by_rank:
        yield "ranks differ: " + rank_words(verdict.by_rank)
    yield from (note for note in verdict.notes)


def _binding(binding: Mapping[str, Count]) -> str:
    shown = [f"{name} = {count_words(value)}" for name, value in list(binding.items())[:_SHOWN]]
    more = [f"{len(binding) - _SHOWN} more"] if len(binding) > _SHOWN else []
    return "with " + ", ".join([*shown, *more]) if shown else ""


def rank_words(groups: Sequence[RankGroup]) -> str:
    """Groups of ranks with their counts, and by how much those differ from the largest group."""
    usual = groups[0]
    texts = [_group(usual, None), *(_group(group, usual.measured) for group in groups[1:_SHOWN])]
    more = [f"{len(groups) - _SHOWN} more groups"] if len(groups) > _SHOWN else []
    return "; ".join([*texts, *more])


def _group(group: RankGroup, usual: Count | None) -> str:
    ranks = ranks_in_words(group.ranks)
    if group.asserted is None and group.measured is None:
        return f"{ranks}: never reached"
    counts = f"{ranks}: {count_words(group.measured)}"
    if group.asserted is not None and group.asserted != group.measured:
        counts += f" (asserted {count_words(group.asserted)})"
    if usual and group.measured is not None and group.measured != usual:
        counts += f", {100 * (group.measured - usual) / usual:+.3g} %"
    return counts


def size_words(comparison: SizeComparison, ranks: int) -> Iterator[str]:
    """Two distributions of sizes in words: equal, or which sizes differ, how far, and why."""
    sent = sum(size.messages for size in comparison.measured)
    kinds = len(comparison.measured)
    to_self = f", {comparison.to_self} of them to the rank itself" if comparison.to_self else ""
    head = f"{comparison.messages}: {counted(sent, 'message')} of {counted(kinds, 'size')}{to_self}"
    if comparison.rank is None:
        yield f"{head}: as asserted, size by size"
    else:
        where = f" on rank {comparison.rank}" if ranks > 1 else ""
        yield (
            f"{head}: differ{where}: total variation {comparison.total_variation:.3g},"
            f" earth mover {comparison.earth_mover:.6g} B"
        )
        for size, asserted, measured in comparison.differences[:_SHOWN]:
            yield f"  {count_words(size)} B: asserted {asserted}, counted {measured}"
        if len(comparison.differences) > _SHOWN:
            yield f"  {len(comparison.differences) - _SHOWN} more sizes"
        for cause in comparison.causes[:2]:
            yield f"  {cause.words}"
    if comparison.unknown:
        yield f"  {counted(comparison.unknown, 'message')} whose size was not kept"


def term_words(term: UnexplainedTerm) -> str:
    """How much of a kind one assertion does not explain."""
    return (
        f"{term.assertion}: {percent(term.share)} of all {term.kind}: asserted"
        f" {count_words(term.asserted)}, counted {count_words(term.measured)}"
    )


def headline(check: AssertionCheck) -> str:
    """The outcome of a run in one line."""
    figures = check.figures
    ranks = counted(check.ranks, "rank")
    if len(check.checked_ranks) < check.ranks:
        ranks = f"{ranks_in_words(check.checked_ranks)} of {check.ranks}"
    numbers = f"{figures['passes']:.0f} pass, {figures['failures']:.0f} fail"
    if figures["not_measured"]:
        numbers += f", {figures['not_measured']:.0f} not measured"
    return f"{check.program}, run {check.run}, {ranks}: {OUTCOMES[check.outcome]} ({numbers})"
