"""The check of a run as an HTML page: the outcome, what fails and why, then all assertions."""

from pathlib import Path
from types import ModuleType
from typing import Literal

from autotune.assertions.checking.verdicts import AssertionCheck, AssertionVerdict
from autotune.errors import Fault, MissingTool
from autotune.results.assertion import check_text, verdict_words
from autotune.results.page import frame
from autotune.results.page.frame import (
    Bullets,
    Card,
    Decision,
    Drawing,
    KeyNumber,
    Listing,
    Page,
    PageBlock,
    PageCell,
    PageColumn,
    PageFigure,
    PageRow,
    PageSection,
    PageTable,
    Paragraph,
    Tone,
    plain,
    table,
)
from autotune.results.report.number_words import percent

_ROWS = 2000
"""Assertions that the page lists; those that fail are all among the first."""
_CAUSES = 3
"""Failures whose cause stands beside the outcome."""
_STATES: dict[str, Literal["decided", "failed"]] = {"pass": "decided", "fail": "failed"}
_TONES: dict[str, Tone] = {"pass": "good", "fail": "bad"}


def write(check: AssertionCheck, path: Path, tree: str) -> None:
    """Write the page, replacing an earlier one; ``tree`` is the text of the call paths.

    Raises InputError if the file cannot be written or is no page.
    """
    frame.write(page(check, tree), path)


def page(check: AssertionCheck, tree: str) -> Page:
    """The content of the page. Raises MissingTool when matplotlib is not installed."""
    ordered = sorted(check.verdicts, key=lambda verdict: verdict.outcome != "fail")
    sections = [
        PageSection(title="Assertions", anchor="assertions", cards=(_assertions(check, ordered),))
    ]
    if check.sizes:
        sections.append(PageSection(title="Sizes of messages", anchor="sizes", cards=_sizes(check)))
    if check.unexplained or check_text.unasserted_lines(check):
        cards = (_unexplained(check),)
        sections.append(
            PageSection(title="What is not explained", anchor="unexplained", cards=cards)
        )
    sections.append(PageSection(title="Call paths", anchor="paths", cards=_paths(check, tree)))
    return Page(
        title=check.program,
        lead=(verdict_words.headline(check),),
        decisions=(_outcome(check, ordered),),
        sections=tuple(sections),
    )


def _outcome(check: AssertionCheck, ordered: list[AssertionVerdict]) -> Decision:
    figures = check.figures
    causes = [
        (verdict.id, f"{verdict.causes[0].words} ({verdict.expression})")
        for verdict in ordered
        if verdict.outcome == "fail" and verdict.causes
    ]
    return Decision(
        about="Outcome",
        verdict=verdict_words.OUTCOMES[check.outcome],
        state=_STATES.get(check.outcome, "open"),
        numbers=(
            KeyNumber(f"{figures['passes']:.0f}", "assertions pass"),
            KeyNumber(f"{figures['failures']:.0f}", "fail"),
            KeyNumber(f"{figures['not_measured']:.0f}", "not measured"),
        ),
        sure=" ".join(f"{reason}." for reason in check.reasons),
        notes=tuple(causes[:_CAUSES]),
        link="assertions",
    )


def _assertions(check: AssertionCheck, ordered: list[AssertionVerdict]) -> Card:
    if not ordered:
        return Card(title="None", blocks=(Paragraph("No assertion was reached."),))
    columns = (
        PageColumn("assertion"),
        PageColumn("type"),
        *(PageColumn(name, number=True) for name in ("predicted", "measured", "error")),
        *(PageColumn(name, number=True) for name in ("pass", "fail")),
        PageColumn("counted by"),
        PageColumn("outcome"),
    )
    left_out = len(ordered) - _ROWS
    more = f"{left_out} more pass; all of them: autotune assert check --json. "
    note = (
        "Error is (predicted - measured) / measured of the worst visit. Fail counts visits with"
        " other counts or without a value, and messages that did not come."
    )
    listing = PageTable(
        caption="Every assertion, those that fail first",
        columns=columns,
        rows=tuple(_row(check, verdict, number) for number, verdict in enumerate(ordered[:_ROWS])),
        note=f"{more if left_out > 0 else ''}{note}",
        filterable=len(ordered) > 8,
    )
    return Card(title=f"{len(ordered)} assertions", blocks=(listing,), wide=True)


def _row(check: AssertionCheck, verdict: AssertionVerdict, number: int) -> PageRow:
    """An assertion: predicted, measured, error, passes and failures as the published line."""
    repeat = f" x {verdict.repeat}" if verdict.repeat != "1" else ""
    place = f", {verdict.place}" if verdict.place else ""
    published = verdict_words.published(verdict).rsplit(":", 5)[1:]
    sentences = " ".join(verdict_words.sentences(verdict, check.ranks))
    return PageRow(
        cells=(
            PageCell(text=verdict.id, note=f"{verdict.expression}{repeat}{place}"),
            PageCell(text=verdict.type),
            *(_number(cell.rpartition("=")[2]) for cell in published),
            PageCell(text=verdict.counter or "-"),
            PageCell(
                text=verdict_words.OUTCOMES[verdict.outcome],
                note=sentences,
                tone=_TONES.get(verdict.outcome, ""),
            ),
        ),
        anchor=f"row-{number + 1}",
    )


def _number(text: str) -> PageCell:
    try:
        return PageCell(text=text, value=float(text))
    except ValueError:
        return PageCell(text=text)


def _sizes(check: AssertionCheck) -> tuple[Card, ...]:
    blocks: list[PageBlock] = []
    for comparison in check.sizes:
        first, *lines = verdict_words.size_words(comparison, check.ranks)
        blocks.append(Paragraph(first))
        blocks += [Bullets(tuple(lines))] if lines else []
    cards = [Card(title="As asserted?", blocks=tuple(blocks))]
    drawn = [c for c in check.sizes if c.asserted or c.measured]
    if drawn:
        figure = _figure()
        caption = "The share of messages up to a size, asserted and counted."
        drawing = Drawing(figure.size_curves(drawn, caption))
        text = f"{caption} Broad: asserted; thin: counted."
        picture = PageFigure(drawing=drawing, caption=text)
        cards.append(Card(title="Share of messages by size", blocks=(picture,)))
    return tuple(cards)


def _unexplained(check: AssertionCheck) -> Card:
    lines = tuple(check_text.unasserted_lines(check))
    rows = [
        PageRow(
            cells=plain(
                term.assertion,
                term.kind,
                verdict_words.count_words(term.asserted),
                verdict_words.count_words(term.measured),
                percent(term.share),
                numbers={4: term.share},
            )
        )
        for term in check.unexplained
    ]
    titles = ("term", "kind", "asserted", "counted", "share of the kind")
    blocks: list[PageBlock] = [Bullets(lines)] if lines else []
    blocks += [table("Terms that the assertions leave", titles, rows, right=2)] if rows else []
    return Card(title="Counts without an assertion", blocks=tuple(blocks), wide=True)


def _paths(check: AssertionCheck, tree: str) -> tuple[Card, ...]:
    cards = [Card(title="Time and counts by call path", blocks=(Listing(tree),), wide=True)]
    if check.losses:
        lost = tuple(
            f"rank {entry.rank}: {entry.loss.what}: {entry.loss.number}" for entry in check.losses
        )
        cards.append(Card(title="Not recorded", blocks=(Bullets(lost),), wide=True, tone="bad"))
    return tuple(cards)


def _figure() -> ModuleType:
    """The module that draws; it imports matplotlib, which is heavy."""
    try:
        from autotune.results.assertion import figure  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingTool(
            Fault(
                where="--page",
                found=f"the page needs {error.name}, which is not installed",
                hint="pip install matplotlib jinja2",
            )
        ) from error
    return figure
