"""Which candidates of a problem are measured: the predicted best, the baseline, a few at random.

Where more candidates are not told apart from the predicted best than are asked for, which of them
are measured is decided by how likely each is the fastest of all. Candidates with equal predictions
(often they differ in padding only) count once, so that the places go to what differs.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.ranking import Ranked, Ranking, unsure
from autotune.domain.setup import Selection

_DRAWS = 4000
"""Draws of what predictions are unsure of; a probability of 0.1 is then known to 0.005."""
_FURTHEST = 400
"""So many contenders are looked at, the predicted fastest ones."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A candidate that was chosen, and why."""

    entry: Ranked
    why: str


def choose(ranking: Ranking, selection: Selection, baseline: str | None = None) -> list[Pick]:
    """The candidates to measure, each once: top by prediction, then baseline, then random.

    ``selection.top`` of them are the predicted best. Where more than that are not told apart from
    the first (``Ranked.undecided``), they are the first and, of the others, those that are most
    likely the fastest, of equal predictions one as long as there are others. ``baseline`` is the
    identity of a candidate of the ranking; ValueError when it is not there. A candidate without a
    prediction may be drawn at random, never as one of the top. There are fewer picks than asked
    for where there are fewer candidates. The draw depends on the seed and on which candidates are
    left, not on their order.
    """
    total = len(ranking.entries)
    whys: dict[str, list[str]] = {}
    entries = {entry.candidate.identity: entry for entry in ranking.entries}
    predicted = sorted(
        (e for e in ranking.entries if e.rank is not None), key=lambda e: e.rank or 0
    )
    for entry, why in _top(predicted, selection.top):
        whys[entry.candidate.identity] = [f"predicted place {entry.rank} of {total}{why}"]
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


# --- the top ----------------------------------------------------------------------------------


def _top(predicted: Sequence[Ranked], count: int) -> list[tuple[Ranked, str]]:
    """The top of some entries in order of rank, with what else there is to say of each."""
    contenders = [entry for entry in predicted if entry.undecided][:_FURTHEST]
    if len(contenders) <= count:
        return [(entry, "") for entry in predicted[:count]]
    bundles = _bundles(contenders)
    likely = _likely([bundle[0] for bundle in bundles])
    order = sorted(range(1, len(bundles)), key=lambda k: (-likely[k], k))
    chosen = [0, *order][:count]
    found = [(bundles[k][0], _undecided(k, likely[k], len(contenders))) for k in chosen]
    copies = [entry for bundle in bundles for entry in bundle[1:]]
    copies.sort(key=lambda entry: entry.rank or 0)
    found += [(entry, ", predicted as another one is") for entry in copies[: count - len(found)]]
    return sorted(found, key=lambda pair: pair[0].rank or 0)


def _undecided(place: int, likely: float, contenders: int) -> str:
    if place:
        return f", not told apart from the first: the fastest with {100 * likely:.0f} %"
    return f", not told apart from {contenders - 1} others"


def _bundles(contenders: Sequence[Ranked]) -> list[list[Ranked]]:
    """Entries with equal predictions together, in the order of their first."""
    made: dict[tuple[object, ...], list[Ranked]] = {}
    for entry in contenders:
        prediction = entry.prediction
        told = prediction.uncertainty
        shared = tuple(sorted(told.shared.items())) if told else ()
        made.setdefault((prediction.seconds, shared), []).append(entry)
    return list(made.values())


def _likely(entries: Sequence[Ranked]) -> list[float]:
    """Probability of each entry that it is the fastest of all."""
    known = unsure([entry.prediction for entry in entries])
    if known is None:
        return [0.0] * len(entries)
    chance = np.random.default_rng(20191)
    common = chance.standard_normal((_DRAWS, known.shifts.shape[1])) @ known.shifts.T
    alone = chance.standard_normal((_DRAWS, len(entries))) * known.own
    fastest = (known.times + common + alone).argmin(axis=1)
    found: list[float] = (np.bincount(fastest, minlength=len(entries)) / _DRAWS).tolist()
    return found
