"""The call paths of a run as a tree with their counts."""

from collections.abc import Iterator, Sequence

from autotune.assertions.records.merged_paths import MergedPath, groups, merged
from autotune.assertions.records.run_records import RunRecords, ranks_in_words
from autotune.domain.assertion_record import CallRecord, PathRecord
from autotune.results.assertion.verdict_words import count_words
from autotune.results.report.number_words import duration
from autotune.results.report.text_table import columns
from autotune.units import counted

_DEEPEST = 24
"""Levels of indentation; deeper paths stand below one another."""
_RIGHT = (1, 2, 3, 6)
_VARIABLES = 40


def text(run: RunRecords, most: int = 0) -> str:
    """The variables, then the tree of paths; ``most`` paths of more, 0: all.

    Counts are those of the lowest rank that reached a path, over all its visits; below stands how
    other ranks differ.
    """
    first = run.first
    paths = merged(run.records)
    shown = paths[:most] if most else paths
    head = f"{first.program}, run {first.run}, {counted(first.ranks, 'rank')}, {first.host}"
    blocks = [head, "\n".join(_variables(run)), _table(run, shown), "\n".join(_outside(run))]
    if len(shown) < len(paths):
        blocks.append(f"{len(paths) - len(shown)} more paths: --top 0 shows all")
    blocks.append("\n".join(_gaps(run)))
    return "\n\n".join(block for block in blocks if block)


def _variables(run: RunRecords) -> Iterator[str]:
    for record in run.first.variables[:_VARIABLES]:
        variable = record.variable
        made = f" = {variable.expression}" if variable.expression else ""
        unit = f" {variable.unit}" if variable.unit else ""
        domain = f", {variable.domain}" if variable.domain else ""
        changes = f", changed {record.changes} times" if record.changes else ""
        yield f"{variable.name}{made} = {count_words(record.last)}{unit}{domain}{changes}"


def _table(run: RunRecords, paths: Sequence[MergedPath]) -> str:
    if not paths:
        return "no path was reached"
    head = ("path", "visits", "asserted", "counted", "counter", "expression", "time")
    rows: list[tuple[str, ...]] = [head]
    ranks = [record.rank for record in run.records]
    for path in paths:
        rows.append(_row(path))
        rows += [_note_row(path, words) for words in _differences(path, ranks)]
        rows += [_note_row(path, words) for words in _calls(path.first)]
    return columns(rows, right=_RIGHT)


def _row(path: MergedPath) -> tuple[str, ...]:
    record = path.first
    asserts = bool(record.expression)
    times = f" x {record.repeat}" if record.repeat != "1" else ""
    return (
        f"{'  ' * min(path.depth, _DEEPEST)}{record.kind} {record.name}",
        str(record.visits),
        count_words(record.asserted) if asserts else "",
        count_words(record.measured) if asserts or record.measured is not None else "",
        record.counter,
        record.expression + times,
        duration(record.seconds) if record.seconds else "",
    )


def _note_row(path: MergedPath, words: str) -> tuple[str, ...]:
    return (f"{'  ' * min(path.depth + 1, _DEEPEST)}{words}", "", "", "", "", "", "")


def _differences(path: MergedPath, ranks: Sequence[int]) -> Iterator[str]:
    """How ranks differ from the lowest one that reached the path."""
    shown = path.first
    for group in groups(path, ranks):
        same = (shown.asserted, shown.measured, shown.visits)
        if (group.asserted, group.measured, group.visits) == same:
            continue
        if not group.visits:
            yield f"{ranks_in_words(group.ranks)}: never here"
            continue
        counts = f"{ranks_in_words(group.ranks)}: {counted(group.visits, 'visit')}"
        if shown.expression:
            counts += f", {count_words(group.asserted)} asserted"
        if group.measured is not None:
            counts += f", {count_words(group.measured)} counted"
        yield counts


def _calls(record: PathRecord) -> Iterator[str]:
    yield from (_call(call) for call in record.calls)


def _call(call: CallRecord) -> str:
    sizes = ", ".join(f"{n} x {count_words(size)} B" for size, n in call.sizes[:4])
    more = ", ..." if len(call.sizes) > 4 else ""
    to_self = f", {call.to_self} to itself" if call.to_self else ""
    way = {"send": " sent", "recv": " received"}.get(call.kind, "")
    return f"{call.call}: {counted(call.messages, 'message')}{way} ({sizes}{more}){to_self}"


def _outside(run: RunRecords) -> Iterator[str]:
    for call in run.first.calls:
        yield f"outside of every path: {_call(call)}"


def _gaps(run: RunRecords) -> Iterator[str]:
    if run.missing:
        yield f"no record of {ranks_in_words(run.missing)} of {run.first.ranks}"
    if run.unfinished:
        yield f"ended before its end: {ranks_in_words(run.unfinished)}"
    for record in run.records:
        for loss in record.losses:
            yield f"lost on rank {record.rank}: {loss.what}: {loss.number}"
