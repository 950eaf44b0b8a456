"""The comparison of sides as one HTML page: the decision first, then why, then all figures."""

from pathlib import Path

from autotune.results.comparison import side_words
from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    SideComparison,
)
from autotune.results.page.frame import (
    Bullets,
    Card,
    Decision,
    KeyNumber,
    Page,
    PageBlock,
    PageRow,
    PageSection,
    plain,
    render,
    table,
)
from autotune.results.page.frame import write as write_page
from autotune.results.report import number_words

_RIGHT = 2
"""Columns before those with numbers."""


def write(comparison: SideComparison, path: Path) -> Path:
    """Write the page; InputError where that is not possible."""
    return write_page(page(comparison), path)


def html(comparison: SideComparison) -> str:
    """The page as text."""
    return render(page(comparison))


def page(comparison: SideComparison) -> Page:
    """The page as values."""
    names = " and ".join(side.name for side in comparison.sides)
    decisions = [
        _decision(problem, pair, number)
        for number, problem in enumerate(comparison.problems)
        for pair in problem.pairs
    ]
    decisions += [_undecided(problem) for problem in comparison.problems if not problem.pairs]
    sections = [_section(problem, n) for n, problem in enumerate(comparison.problems)]
    return Page(
        title=f"{names} compared",
        lead=tuple(f"{side.name}: {side.words}" for side in comparison.sides),
        decisions=tuple(decisions),
        sections=(*sections, _sides(comparison)),
    )


def _decision(problem: ComparedProblem, pair: PairVerdict, number: int) -> Decision:
    decided = pair.faster in ("first", "second")
    gain = pair.speedup
    words = "speed-up" if decided else f"time of {pair.first} over that of {pair.second}"
    numbers = (
        (KeyNumber(f"{number_words.ratio(gain.value)}x", words, side_words.interval(gain)),)
        if gain
        else ()
    )
    cautions = [f"Caution: {caution}." for caution in pair.cautions]
    winner = side_words.moved(pair, problem.winners)
    return Decision(
        about=problem.label,
        verdict=side_words.headline(pair),
        state="decided" if decided else "open",
        numbers=numbers,
        sure=pair.basis,
        advice=" ".join((*cautions, f"{winner[0].upper()}{winner[1:]}.")),
        link=_anchor(number),
    )


def _undecided(problem: ComparedProblem) -> Decision:
    return Decision(
        about=problem.label,
        verdict="nothing was compared",
        state="open" if problem.unchanged else "failed",
        detail="; ".join(problem.not_compared),
    )


def _section(problem: ComparedProblem, number: int) -> PageSection:
    cards = [
        Card(title=f"{pair.first} and {pair.second}", blocks=(_reasons(problem, pair),))
        for pair in problem.pairs
    ]
    if problem.winners:
        rows = [PageRow(cells=plain(*cells)) for cells in side_words.winner_rows(problem)]
        winners = table("The winner of every side.", side_words.HEAD, rows, _RIGHT)
        cards.append(Card(title="Winners", blocks=(winners,), wide=True))
    parts = side_words.part_rows(problem)
    if parts:
        rows = [PageRow(cells=plain(*cells)) for cells in parts[1:]]
        beside = table("Predicted parts of the winners.", parts[0], rows, 1)
        cards.append(Card(title="What the model says", blocks=(beside,), wide=True))
    if problem.not_compared:
        cards.append(Card(title="Not compared", blocks=(Bullets(problem.not_compared),)))
    return PageSection(title=problem.label, anchor=_anchor(number), cards=tuple(cards))


def _reasons(problem: ComparedProblem, pair: PairVerdict) -> PageBlock:
    return Bullets((side_words.headline(pair), *side_words.sentences(pair, problem)))


def _sides(comparison: SideComparison) -> PageSection:
    rows = [
        PageRow(cells=plain(side.name, side.words, side.machine, side.compilers, side.fault))
        for side in comparison.sides
    ]
    titles = ("side", "is", "machine", "compilers", "fault")
    blocks: list[PageBlock] = [table("What was compared.", titles, rows, len(titles))]
    if comparison.notes:
        blocks.append(Bullets(comparison.notes))
    return PageSection(
        title="Sides", anchor="sides", cards=(Card(title="Sides", blocks=tuple(blocks), wide=True),)
    )


def _anchor(number: int) -> str:
    return f"problem-{number + 1}"
