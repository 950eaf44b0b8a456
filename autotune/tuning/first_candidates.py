"""Which candidates of a problem are measured: the predicted best, the baseline, a few at random.

Where more candidates are not told apart from the predicted best than are asked for, which of them
are measured is decided by how likely each is the fastest of all. Candidates with equal predictions
(often they differ in padding only) count once, so that the places go to what differs.
"""

import dataclasses
import random
from collections.abc import Mapping, Sequence

import numpy as np

from autotune.domain.ranking import Ranked, Ranking, unsure
from autotune.domain.setup import Selection
from autotune.tuning.base import Chosen

_DRAWS = 4000
"""Draws of what predictions are unsure of; a probability of 0.1 is then known to 0.005."""
_FURTHEST = 400
"""So many contenders are looked at, the predicted fastest ones."""


def first_candidates(
    ranking: Ranking,
    selection: Selection,
    *,
    budget: int | None,
    baseline: str | None,
    prior: Mapping[str, float],
) -> list[Chosen]:
    """What is measured of a problem before anything is learned and searched.

    A part of a budget is left to the search. ``baseline``: identity; None: there is none.
    ``prior``: see ``with_prior``.
    """
    selection = selection if budget is None else within(budget, selection)
    chosen = choose(ranking, selection, baseline)
    return with_prior(chosen, ranking, prior, range(1, selection.top, 2), baseline)


def within(budget: int, selection: Selection) -> Selection:
    """The first candidates of a search that has a budget: predictions come before chance.

    The predicted best and the baseline as far as they fit; of what is left at most half is drawn at
    random, the rest is for the search.
    """
    safe = selection.baseline and budget > 1
    top = min(selection.top, budget - safe)
    random = min(selection.random, (budget - safe - top) // 2)
    return dataclasses.replace(selection, top=top, random=random, baseline=safe)


def with_prior(
    chosen: Sequence[Chosen],
    ranking: Ranking,
    prior: Mapping[str, float],
    places: Sequence[int],
    baseline: str | None,
) -> list[Chosen]:
    """The chosen candidates, with what a prior expects to be fastest at some places.

    Every other of the predicted best is the prior's choice: a prior that is wrong costs no more
    than these, and shows itself by them. ``prior``: identity to the expected time. ``baseline``:
    identity of the candidate that keeps its place.
    """
    taken = {choice.candidate.identity for choice in chosen}
    expected = [e for e in ranking.entries if e.candidate.identity in prior] if prior else []
    order = sorted(expected, key=lambda e: prior[e.candidate.identity])
    left = [(n, e) for n, e in enumerate(order, 1) if e.candidate.identity not in taken]
    mixed = list(chosen)
    for place in places:
        if left and place < len(mixed) and mixed[place].candidate.identity != baseline:
            number, entry = left.pop(0)
            why = f"place {number} of {len(order)} by the prior"
            mixed[place] = Chosen(entry.candidate, entry.prediction, why)
    return mixed


def choose(ranking: Ranking, selection: Selection, baseline: str | None = None) -> list[Chosen]:
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
    return [_chosen(entries[identity], "; ".join(why)) for identity, why in whys.items()]


def everything(ranking: Ranking) -> list[Chosen]:
    """All candidates in the order of their prediction, for an exhaustive search."""
    return [_chosen(entry, "exhaustive search") for entry in ranking.entries]


def _chosen(entry: Ranked, why: str) -> Chosen:
    return Chosen(entry.candidate, entry.prediction, why)


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
    best = [(bundles[k][0], _undecided(k, likely[k], len(contenders))) for k in chosen]
    copies = [entry for bundle in bundles for entry in bundle[1:]]
    copies.sort(key=lambda entry: entry.rank or 0)
    best += [(entry, ", predicted as another one is") for entry in copies[: count - len(best)]]
    return sorted(best, key=lambda pair: pair[0].rank or 0)


def _undecided(place: int, likely: float, contenders: int) -> str:
    if place:
        return f", not told apart from the first: the fastest with {100 * likely:.0f} %"
    return f", not told apart from {contenders - 1} others"


def _bundles(contenders: Sequence[Ranked]) -> list[list[Ranked]]:
    """Entries with equal predictions together, in the order of their first."""
    made: dict[tuple[object, ...], list[Ranked]] = {}
    for entry in contenders:
        prediction = entry.prediction
        uncertainty = prediction.uncertainty
        shared = tuple(sorted(uncertainty.shared.items())) if uncertainty else ()
        made.setdefault((prediction.seconds, shared), []).append(entry)
    return list(made.values())


def _likely(entries: Sequence[Ranked]) -> list[float]:
    """Probability of each entry that it is the fastest of all."""
    uncertain = unsure([entry.prediction for entry in entries])
    if uncertain is None:
        return [0.0] * len(entries)
    chance = np.random.default_rng(20191)
    common = chance.standard_normal((_DRAWS, uncertain.shifts.shape[1])) @ uncertain.shifts.T
    alone = chance.standard_normal((_DRAWS, len(entries))) * uncertain.own
    fastest = (uncertain.times + common + alone).argmin(axis=1)
    shares: list[float] = (np.bincount(fastest, minlength=len(entries)) / _DRAWS).tolist()
    return shares
