"""What ``variants``, ``predict`` and ``rank`` print."""

from collections import Counter
from collections.abc import Sequence

from autotune.commands.rank.candidate_formula import CandidateFormula
from autotune.domain.candidate_names import short_names
from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Part
from autotune.results.report.number_words import interval, seconds
from autotune.results.report.text_table import columns
from autotune.units import counted
from autotune.workloads.base import MOST_ILLEGAL, Count, EnumeratedSpace

_NOT_COUNTED = "the illegal ones are too many to be counted"
_HEAD = ("", "predicted", "interval", "candidate", "id", "reason")
_INTERVAL, _ID = 2, 4
_ROUTES = ("in-core by", "the build")
"""Beginnings of notes on the route of the in-core time and on builds."""


def variants(enumerated: EnumeratedSpace, *, illegal: bool, ids: bool = False) -> str:
    """The candidates as text, then the illegal combinations, and how many there are for each
    reason, if requested. ``ids``: by label and identity, not by the shortest name.
    """
    names = {} if ids else short_names(enumerated.legal)
    lines = [names.get(candidate.identity, candidate.id) for candidate in enumerated.legal]
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
        lines.append(columns(combinations, headed=False))
        reasons = Counter(why for _, why in combinations).most_common()
        table = [("illegal", "reason"), *((str(count), why) for why, count in reasons)]
        lines.append(f"\n{columns(table, right=(0,))}")
    return "\n".join(lines)


def rankings(
    rankings: Sequence[Ranking],
    machine: Machine,
    *,
    top: int,
    enumerated: EnumeratedSpace,
    ids: bool = False,
) -> str:
    """The best ``top`` candidates of each problem with a reason for each; 0 shows all.

    Illegal candidates are counted, because a way to communicate may be missing for a problem.
    ``ids``: with the identities of the candidates.
    """
    blocks = []
    names = short_names(e.candidate for ranking in rankings for e in ranking.entries)
    for ranking in rankings:
        entries = ranking.entries[: top or None]
        builds = {(e.candidate.build.compiler, e.candidate.build.flags) for e in ranking.entries}
        rows = [_HEAD]
        rows += [
            (
                "-" if e.rank is None else f"{e.rank}{'~' if e.undecided else ' '}",
                seconds(e.prediction.seconds),
                interval(e.prediction.interval),
                names[e.candidate.identity] + (f" ({_build(e)})" if len(builds) > 1 else ""),
                e.candidate.identity,
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
        shown = rows if ids else [(*row[:_ID], *row[_ID + 1 :]) for row in rows]
        fold = (len(shown[0]) - 1, *((_ID,) if ids else ()), _INTERVAL)
        blocks.append(f"{head}\n{columns(shown, right=(0, 1), fold=fold)}{tail}")
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


def predictions(rankings: Sequence[Ranking], *, ids: bool = False) -> str:
    """A table of every candidate with its predicted time and the parts of the time by kind.

    ``ids``: with the identities of the candidates.
    """
    blocks = []
    names = short_names(e.candidate for ranking in rankings for e in ranking.entries)
    for ranking in rankings:
        kinds = sorted({p.kind for e in ranking.entries for p in e.prediction.parts})
        heads = ["candidate", *(["id"] if ids else []), "predicted", "interval"]
        rows = [(*heads, *kinds)]
        for entry in ranking.entries:
            sums = _by_kind(entry.prediction.parts)
            rows.append(
                (
                    names[entry.candidate.identity],
                    *([entry.candidate.identity] if ids else []),
                    seconds(entry.prediction.seconds),
                    interval(entry.prediction.interval),
                    *(seconds(sums.get(kind)) for kind in kinds),
                )
            )
        head = f"{ranking.problem.label}, engine {ranking.engine}"
        blocks.append(
            f"{head}\n{columns(rows, right=range(len(heads), len(rows[0])), matrix=True)}"
        )
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
