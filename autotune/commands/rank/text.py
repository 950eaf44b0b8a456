"""What ``variants``, ``predict`` and ``rank`` print."""

from collections import Counter
from collections.abc import Sequence

from autotune.commands.rank.candidate_formula import CandidateFormula
from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Part
from autotune.results.report.number_words import interval, seconds
from autotune.results.report.text_table import columns
from autotune.units import counted
from autotune.workloads.base import MOST_ILLEGAL, Count, EnumeratedSpace

_NOT_COUNTED = "the illegal ones are too many to be counted"
_ROUTES = ("in-core by", "the build")
"""Beginnings of notes on the route of the in-core time and on builds."""


def variants(enumerated: EnumeratedSpace, *, illegal: bool) -> str:
    """The candidates as text, then the illegal combinations, and how many there are for each
    reason, if requested.
    """
    lines = [candidate.id for candidate in enumerated.legal]
    candidates = counted(len(enumerated.legal), "candidate")
    counted_all = all(source.count.exact for source in enumerated.sources.values())
    left_out = f"{Count(enumerated.illegal.count)} illegal" if counted_all else _NOT_COUNTED
    lines.append(f"{candidates}, {left_out}")
    for key, source in enumerated.sources.items():
        label = next(c.problem.label for c in enumerated.legal if c.problem.key == key)
        lines.append(f"{label}: drawn at random from {source.count} legal candidates")
    if illegal and enumerated.illegal.count > MOST_ILLEGAL:
        lines.append(f"more than {MOST_ILLEGAL:,} illegal ones are not listed")
    elif illegal and enumerated.illegal:
        combinations = [(label, why) for label, _, why in enumerated.illegal]
        lines.append(columns(combinations))
        reasons = Counter(why for _, why in combinations).most_common()
        table = [("illegal", "reason"), *((str(count), why) for why, count in reasons)]
        lines.append(f"\n{columns(table, right=(0,))}")
    return "\n".join(lines)


def rankings(
    rankings: Sequence[Ranking], machine: Machine, *, top: int, enumerated: EnumeratedSpace
) -> str:
    """The best ``top`` candidates of each problem with a reason for each; 0 shows all.

    Illegal candidates are counted, because a way to communicate may be missing for a problem.
    """
    blocks = []
    for ranking in rankings:
        entries = ranking.entries[: top or None]
        builds = {(e.candidate.build.compiler, e.candidate.build.flags) for e in ranking.entries}
        rows = [("", "predicted", "interval", "candidate", "reason")]
        rows += [
            (
                "-" if e.rank is None else f"{e.rank}{'~' if e.undecided else ' '}",
                seconds(e.prediction.seconds),
                interval(e.prediction.interval),
                e.candidate.id + (f" ({_build(e)})" if len(builds) > 1 else ""),
                e.prediction.reason,
            )
            for e in entries
        ]
        head = (
            f"{ranking.problem.label}: {_how_many(ranking, enumerated)}"
            f" on {machine.name}, time per step predicted by engine {ranking.engine}"
        )
        source = enumerated.sources.get(ranking.problem.key)
        if illegal := enumerated.illegal.of(ranking.problem):
            exact = source is None or source.count.exact
            left_out = counted(illegal, "illegal one") if exact else _NOT_COUNTED
            head += f" ({left_out}: autotune variants --illegal)"
        left = len(ranking.entries) - len(entries)
        tail = f"\n... and {left} more (--top 0 shows all)" if left else ""
        close = sum(e.undecided for e in ranking.entries)
        if close > 1:
            tail += f"\n~ not told apart from the first: {close - 1} of the others"
        blocks.append(f"{head}\n{columns(rows, right=(0, 1))}{tail}")
    return "\n\n".join(blocks)


def _how_many(ranking: Ranking, enumerated: EnumeratedSpace) -> str:
    """The number of candidates in words, and of how many they are."""
    source = enumerated.sources.get(ranking.problem.key)
    beyond = f" of {source.count} legal ones" if source else ""
    return f"{counted(len(ranking.entries), 'candidate')}{beyond}"


def routes(rankings: Sequence[Ranking]) -> str:
    """What gave the time in the core, by engine, and builds that are not for the machine; empty
    where nothing is to be said.
    """
    lines: dict[str, None] = {}
    for ranking in rankings:
        for entry in ranking.entries:
            for note in entry.prediction.notes:
                if note.startswith(_ROUTES) or f": {_ROUTES[0]}" in note:
                    lines[f"engine {ranking.engine}: {note}"] = None
    return "\n".join(lines)


def predictions(rankings: Sequence[Ranking]) -> str:
    """A table of every candidate with its predicted time and the parts of the time by kind."""
    blocks = []
    for ranking in rankings:
        kinds = sorted({p.kind for e in ranking.entries for p in e.prediction.parts})
        rows = [("candidate", "predicted", "interval", *kinds)]
        for entry in ranking.entries:
            sums = _by_kind(entry.prediction.parts)
            rows.append(
                (
                    entry.candidate.id,
                    seconds(entry.prediction.seconds),
                    interval(entry.prediction.interval),
                    *(seconds(sums.get(kind)) for kind in kinds),
                )
            )
        head = f"{ranking.problem.label}, engine {ranking.engine}"
        blocks.append(f"{head}\n{columns(rows, right=range(3, 3 + len(kinds)))}")
    return "\n\n".join(blocks)


def formulas(candidates: Sequence[CandidateFormula]) -> str:
    """The name of each candidate, followed by its formula.

    n is the number of components or points.
    """
    return "\n\n".join(
        f"{', '.join(candidate.candidates)}\n  {candidate.formula}" for candidate in candidates
    )


def _build(entry: Ranked) -> str:
    build = entry.candidate.build
    return " ".join((build.compiler, *build.flags))


def _by_kind(parts: Sequence[Part]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for part in parts:
        sums[part.kind] = sums.get(part.kind, 0.0) + part.seconds
    return sums
