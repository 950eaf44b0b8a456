"""A scaling study as a page: the size that keeps the time, how far to trust it, then the model."""

from collections.abc import Sequence

from autotune.commands.scale import text
from autotune.learning.scaling.base import Inverse
from autotune.learning.scaling.scaling_answers import RegionAnswer
from autotune.results.page.frame import (
    Bullets,
    Card,
    Decision,
    KeyNumber,
    Listing,
    Page,
    PageBlock,
    PageRow,
    PageSection,
    plain,
    table,
)


def page(answers: Sequence[RegionAnswer], title: str) -> Page:
    """The content of the page: a decision and a section for each region."""
    return Page(
        title=title,
        lead=("Which size keeps the time on more processors.",),
        decisions=tuple(_decision(answer, k) for k, answer in enumerate(answers)),
        sections=tuple(_section(answer, k) for k, answer in enumerate(answers)),
    )


def _decision(answer: RegionAnswer, number: int) -> Decision:
    """The size on the most processors; open without one, or where no back-test was possible."""
    about = answer.label or "All runs"
    if not answer.inverses:
        return Decision(
            about=about,
            verdict="No decision: no size",
            state="open",
            sure=" ".join(f"{warning}." for warning in answer.warnings),
            advice="Run what the section below lists, add the runs, and ask again.",
            link=_anchor(number),
        )
    last = max(answer.inverses, key=lambda inverse: inverse.processors)
    tested = answer.recommended
    size = f"size {last.size:.6g} on P = {last.processors:g}"
    unit = answer.runs.variables.time.unit
    return Decision(
        about=about,
        verdict=f"Take {size}" if tested else f"No decision: {size} is not tested",
        state="decided" if tested else "open",
        title=f"to keep {answer.keep:.6g}{f' {unit}' if unit else ''}",
        numbers=_numbers(answer, last),
        sure=_sure(answer),
        advice=_advice(answer),
        link=_anchor(number),
    )


def _numbers(answer: RegionAnswer, last: Inverse) -> tuple[KeyNumber, ...]:
    span = f"{last.low:.6g} to {last.high:.6g}"
    share = f"{answer.level:.0%} interval"
    numbers = [KeyNumber(f"{last.size:.6g}", f"size on P = {last.processors:g}, {share}", span)]
    if answer.recommended is not None:
        _, test = answer.recommended
        words = f"median error in the back-test on P = {test.processors:g}"
        numbers.append(KeyNumber(f"{test.errors.mdape:.1%}", words, f"{test.errors.count} runs"))
    return tuple(numbers)


def _sure(answer: RegionAnswer) -> str:
    if answer.recommended is None:
        return "No method could be tested on runs with more processors than it was fitted to."
    highest = answer.runs.levels[-1]
    return (
        f"The runs with the most processors were forecast from those with fewer. Beyond P ="
        f" {highest:g} nothing was run: sizes there are extrapolations."
    )


def _advice(answer: RegionAnswer) -> str:
    if answer.recommended is None:
        return "Add runs on more numbers of processors."
    method, _ = answer.recommended
    if method != answer.settings.method:
        return f"Ask again with --method {method}, which had the least error in the back-test."
    return "Check it by one run on the most processors that you can get."


def _section(answer: RegionAnswer, number: int) -> PageSection:
    blocks: list[PageBlock] = []
    if answer.inverses:
        rows = [
            PageRow(
                cells=plain(
                    f"{i.processors:g}", f"{i.size:.6g}", f"{i.low:.6g}",
                    f"{i.high:.6g}",
                    numbers={0: i.processors, 1: i.size, 2: i.low},
                )
            )
            for i in answer.inverses
        ]  # fmt: skip
        caption = "Sizes that keep the time, with their intervals"
        blocks.append(table(caption, ("P", "size", "least", "most"), rows, right=1))
    if answer.warnings:
        blocks.append(Bullets(answer.warnings))
    cards = [Card(title="Sizes", blocks=tuple(blocks), wide=True)] if blocks else []
    printed = Listing(text.region(answer))
    cards.append(Card(title="Model and back-tests", blocks=(printed,), wide=True))
    return PageSection(title=answer.label or "All runs", anchor=_anchor(number), cards=tuple(cards))


def _anchor(number: int) -> str:
    return f"region-{number + 1}"
