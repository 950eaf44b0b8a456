"""Which candidates of a problem are measured: the predicted best, the baseline, a few at random."""

import random
from dataclasses import dataclass

from autotune.ranking import Ranked, Ranking
from autotune.setup import Selection


@dataclass(frozen=True, slots=True)
class Pick:
    """A candidate that was chosen, and why."""

    entry: Ranked
    why: str


def choose(ranking: Ranking, selection: Selection, baseline: str | None = None) -> list[Pick]:
    """The candidates to measure, each once: top by prediction, then baseline, then random.

    ``baseline`` is the identity of a candidate of the ranking; ValueError when it is not there.
    A candidate without a prediction may be drawn at random, never as one of the top. There are
    fewer picks than asked for where there are fewer candidates. The draw depends on the seed and
    on which candidates are left, not on their order.
    """
    total = len(ranking.entries)
    whys: dict[str, list[str]] = {}
    entries = {entry.candidate.identity: entry for entry in ranking.entries}
    predicted = [entry for entry in ranking.entries if entry.rank is not None]
    for entry in sorted(predicted, key=lambda e: e.rank or 0)[: selection.top]:
        whys[entry.candidate.identity] = [f"predicted place {entry.rank} of {total}"]
    if baseline is not None and selection.baseline:
        if baseline not in entries:
            raise ValueError(f"the baseline {baseline} is not among the {total} candidates")
        whys.setdefault(baseline, []).append("the baseline")
    rest = sorted(entries.keys() - whys.keys())
    generator = random.Random(f"{selection.seed} {ranking.problem.label}")
    for identity in generator.sample(rest, min(selection.random, len(rest))):
        whys[identity] = [f"drawn at random from the other {len(rest)}"]
    return [Pick(entries[identity], "; ".join(why)) for identity, why in whys.items()]


def everything(ranking: Ranking) -> list[Pick]:
    """All candidates in the order of their prediction, for an exhaustive search."""
    return [Pick(entry, "exhaustive search") for entry in ranking.entries]
