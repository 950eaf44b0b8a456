"""A comparison of sides in words: sentences of a pair, the text of the terminal."""

from collections.abc import Iterator, Sequence

from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    RatioRange,
    SideComparison,
    SideWinner,
    changed_settings,
)
from autotune.results.report import number_words
from autotune.results.report.number_words import NONE, seconds, span
from autotune.results.report.text_table import columns

HEAD = ("side", "winner", "measured", "90 % interval", "over its baseline", "predicted")


def text(comparison: SideComparison) -> str:
    """The comparison for a terminal: the sides, then problem by problem."""
    rows = [("side", "is", "machine")]
    rows += [(side.name, side.words, side.machine) for side in comparison.sides]
    blocks = [columns(rows)]
    blocks += ["\n".join(_problem(problem)) for problem in comparison.problems]
    faults = [f"{side.name}: {side.fault}" for side in comparison.sides if side.fault]
    notes = [f"note: {note}" for note in comparison.notes]
    return "\n\n".join([*blocks, *(["\n".join([*faults, *notes])] if faults or notes else [])])


def _problem(problem: ComparedProblem) -> Iterator[str]:
    yield problem.label
    if problem.winners:
        table = columns([HEAD, *winner_rows(problem)], right=range(2, len(HEAD)))
        yield from (f"  {line}" for line in table.splitlines())
    for pair in problem.pairs:
        yield f"  {headline(pair)}"
        yield from (f"    {line}" for line in sentences(pair, problem))
    parts = part_rows(problem)
    if parts:
        table = columns(parts, right=range(1, len(parts[0])))
        yield from (f"  {line}" for line in table.splitlines())
    yield from (f"  not compared: {text}" for text in problem.not_compared)


def winner_rows(problem: ComparedProblem) -> list[tuple[str, ...]]:
    """A row for the winner of every side, under ``HEAD``."""
    goal = problem.objective
    return [
        (
            winner.side,
            winner.candidate + (f" (of {winner.contenders})" if winner.contenders > 1 else ""),
            seconds(winner.cost, goal) if winner.measured else NONE,
            span(winner.interval, goal),
            NONE if winner.speedup is None else f"{winner.speedup:.2f}x",
            seconds(winner.prediction.seconds if winner.prediction else None),
        )
        for winner in problem.winners
    ]


def part_rows(problem: ComparedProblem) -> list[tuple[str, ...]]:
    """The predicted parts of the winners beside each other, a row for each kind; empty without
    predictions of two sides.
    """
    winners = [winner for winner in problem.winners if winner.parts]
    if len(winners) < 2:
        return []
    kinds = dict.fromkeys(kind for winner in winners for kind in winner.parts)
    return [
        ("predicted part", *(winner.side for winner in winners)),
        *((kind, *(seconds(winner.parts.get(kind)) for winner in winners)) for kind in kinds),
    ]


def headline(pair: PairVerdict) -> str:
    """Who is faster, by how much, how sure, in one line."""
    if pair.speedup is None:
        return f"{pair.first} and {pair.second}: not compared"
    ends = _times(pair.speedup)
    if pair.faster == "first":
        return f"{pair.first} is {ends} faster than {pair.second}"
    if pair.faster == "second":
        return f"{pair.second} is {ends} faster than {pair.first}"
    return f"not told apart: {pair.first} takes {ends} the time of {pair.second}"


def sentences(pair: PairVerdict, problem: ComparedProblem) -> Iterator[str]:
    """What there is to say of a pair beside its headline."""
    yield pair.basis
    yield moved(pair, problem.winners)
    if pair.keeping is not None:
        yield f"on {pair.second} the winner of {pair.first} takes {_times(pair.keeping)} the time"
    elif pair.winner != "same":
        yield f"on {pair.second} the winner of {pair.first} was not measured"
    yield from (f"model: {sentence}" for sentence in pair.explanation)
    yield from (f"caution: {caution}" for caution in pair.cautions)


def _times(ratio: RatioRange) -> str:
    """A ratio with its interval: ``1.23x (1.20 to 1.27)``."""
    ends = f" ({interval(ratio)})" if interval(ratio) else ""
    return f"{number_words.ratio(ratio.value)}x{ends}"


def interval(ratio: RatioRange) -> str:
    """The ends of the interval of a ratio: ``1.20 to 1.27``; empty where they are not known."""
    if ratio.low is None or ratio.high is None:
        return ""
    return f"{number_words.ratio(ratio.low)} to {number_words.ratio(ratio.high)}"


def moved(pair: PairVerdict, winners: Sequence[SideWinner]) -> str:
    """Whether the winner moved, in words."""
    by_side = {winner.side: winner for winner in winners}
    first, second = by_side[pair.first], by_side[pair.second]
    if pair.winner == "same":
        return f"the winner is the same: {first.candidate}"
    changed = changed_settings(first.settings, second.settings)
    if pair.winner == "moved":
        return f"the winner moved: {changed}"
    return f"whether the winner moved is undecided; the chosen ones differ in {changed}"
