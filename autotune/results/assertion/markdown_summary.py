"""The check of a run as Markdown, as the summaries of jobs and merge requests show it."""

from collections.abc import Iterator

from autotune.assertions.checking.verdicts import AssertionCheck, AssertionVerdict
from autotune.results.assertion import check_text, verdict_words
from autotune.results.report.markdown_text import plain

_ROWS = 200


def markdown(check: AssertionCheck) -> str:
    """A heading, a table of all assertions with those that fail first, and the reasons."""
    return "\n".join([*_lines(check), ""])


def _lines(check: AssertionCheck) -> Iterator[str]:
    yield f"## Assertions: {verdict_words.OUTCOMES[check.outcome]}"
    yield ""
    yield plain(verdict_words.headline(check))
    yield ""
    for reason in check.reasons:
        yield f"- {plain(reason)}"
    if check.reasons:
        yield ""
    ordered = sorted(check.verdicts, key=lambda verdict: verdict.outcome != "fail")
    if ordered:
        yield "| assertion | type | predicted | measured | error | pass | fail | |"
        yield "|---|---|--:|--:|--:|--:|--:|---|"
        yield from (_row(verdict) for verdict in ordered[:_ROWS])
        if len(ordered) > _ROWS:
            yield ""
            yield f"{len(ordered) - _ROWS} more assertions"
        yield ""
    for verdict in ordered[:_ROWS]:
        if verdict.outcome != "pass":
            words = list(verdict_words.sentences(verdict, check.ranks))
            yield from (f"- {plain(f'{verdict.id}: {sentence}')}" for sentence in words)
    for comparison in check.sizes:
        if comparison.differences:
            yield from (
                f"- sizes: {plain(line.strip())}"
                for line in verdict_words.size_words(comparison, check.ranks)
            )
    yield from (f"- {plain(line)}" for line in check_text.unasserted_lines(check))
    if check.unexplained:
        term = verdict_words.term_words(check.unexplained[0])
        yield f"- largest unexplained share: {plain(term)}"


def _row(verdict: AssertionVerdict) -> str:
    cells = verdict_words.published(verdict).rsplit(":", 6)
    name, kind, predicted, measured, error, passes, failures = cells
    return (
        f"| {plain(name)} | {plain(kind)} | {predicted} | {measured} | {error} |"
        f" {passes.partition('=')[2]} | {failures.partition('=')[2]} |"
        f" {verdict_words.OUTCOMES[verdict.outcome]} |"
    )
