"""The candidates of a problem measured first: predicted best, baseline, a few random ones.

The number of predicted best is limited. If more candidates cannot be distinguished from the best
one, those are chosen that are most likely the fastest of all. Candidates with equal predictions
(often they differ only in padding) count once, so that the chosen ones differ.
"""

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from autotune.domain.ranking import UNDECIDED, Ranked, Ranking, unsure
from autotune.domain.results import Prediction
from autotune.domain.setup import Selection
from autotune.statistics.drift import DriftFreeTimes
from autotune.tuning.base import Chosen

_DRAWS = 4000
"""Draws of what predictions are unsure of; a probability of 0.1 is then known to 0.005."""
_FURTHEST = 400
"""So many contenders are looked at, the predicted fastest ones."""
JUDGED = 4
"""So many times say whether predictions are worth following, ..."""
_FOLLOWED = 1 / 3
"""... which they are with this rank correlation: two pairs in the right order for a wrong one."""
_TELLING = 3
"""So many pairs that are told apart are needed to say so: half of those of four candidates."""


def first_candidates(
    ranking: Ranking,
    selection: Selection,
    *,
    budget: int | None,
    baseline: str | None,
    prior: Mapping[str, float],
) -> list[Chosen]:
    """The candidates of a problem measured before anything is learned and searched.

    A part of a budget is left to the search. ``baseline``: its identity, or None. ``prior``: see
    ``with_prior``. The best take turns with the others, so that a model that calls the slowest the
    best does not delay the first fast one.
    """
    selection = selection if budget is None else within(budget, selection)
    chosen = choose(ranking, selection, baseline)
    places = range(1, 1 + (selection.top + 1) // 2)
    mixed = with_prior(chosen, ranking, prior, places, baseline)
    best, others = mixed[: selection.top], mixed[selection.top :]
    turns = zip_longest(best, others)
    return [choice for turn in turns for choice in turn if choice is not None]


def misled(predicted: Sequence[Prediction], measured: DriftFreeTimes) -> bool:
    """Whether the first times speak against following the predictions any longer.

    ``predicted``: of candidates in the order of ``measured``, some of them drawn at random. Only
    pairs count that the predictions tell apart and the times as well. With too few times, or pairs
    of them, nothing speaks against the predictions. They remain a hint to the search.
    """
    if len(predicted) < JUDGED:
        return False
    guessed = np.log([prediction.seconds or math.nan for prediction in predicted])
    seconds = np.log(list(measured.times.values()))
    errors = np.array(list(measured.errors.values()))
    ahead = np.sign(guessed[:, None] - guessed) * _apart(predicted)
    spread = np.hypot(errors[:, None], errors)
    apart = np.abs(seconds[:, None] - seconds) > NormalDist().inv_cdf(1 - UNDECIDED) * spread
    right = ahead * np.sign(seconds[:, None] - seconds) * apart
    pairs = np.abs(right).sum() / 2
    return bool(pairs >= _TELLING and right.sum() / 2 < _FOLLOWED * pairs)


def _apart(predicted: Sequence[Prediction]) -> npt.NDArray[np.bool_]:
    """(n, n) which predictions tell which candidates apart; without uncertainties all do that."""
    uncertain = unsure(predicted)
    everybody = np.arange(len(predicted))
    if uncertain is None:
        return np.ones((len(predicted), len(predicted)), dtype=np.bool_)
    slower = np.array([uncertain.slower(index, everybody) for index in everybody.tolist()])
    return np.asarray(np.maximum(slower, 1 - slower) > 1 - UNDECIDED)


def within(budget: int, selection: Selection) -> Selection:
    """The numbers of first candidates that fit a budget, giving predictions priority over chance.

    The predicted best and the baseline are kept as far as they fit. Of the remaining budget at most
    half goes to random candidates, the rest to the search.
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
    """The chosen candidates, some replaced by those that a prior expects to be fastest.

    Those at ``places`` are replaced, and the prior's first choice comes before all others. A wrong
    prior costs no more than these, and their times reveal it. ``prior``: expected time by identity.
    ``baseline``: identity of the candidate that keeps its place.
    """
    taken = {choice.candidate.identity for choice in chosen}
    expected = [e for e in ranking.entries if e.candidate.identity in prior] if prior else []
    order = sorted(expected, key=lambda e: prior[e.candidate.identity])
    left = [(n, e) for n, e in enumerate(order, 1) if e.candidate.identity not in taken]
    mixed, replaced = list(chosen), []
    for place in places:
        if left and place < len(mixed) and mixed[place].candidate.identity != baseline:
            number, entry = left.pop(0)
            why = f"place {number} of {len(order)} by the prior"
            mixed[place] = Chosen.of(entry, why)
            replaced.append(place)
    return [mixed.pop(replaced[0]), *mixed] if replaced else mixed


def choose(ranking: Ranking, selection: Selection, baseline: str | None = None) -> list[Chosen]:
    """The candidates to measure, each once: best by prediction, then baseline, then random.

    Where the best have several threads and others one, the best of these takes the last place of
    the best; without predictions the baseline with one thread takes the place of a random one. It
    shows what threads gain.
    ``selection.top`` of them are the predicted best. If more candidates than that cannot be
    distinguished from the first (``Ranked.undecided``), the first is taken, and of the others those
    that are most likely the fastest. Of several with equal predictions only one is taken as long as
    there are others. ``baseline`` is the identity of a candidate of the ranking; ValueError if it
    is not there. A candidate without a prediction may be drawn at random, but is never one of the
    best. Fewer candidates than wanted are chosen if there are not enough. The random draw depends
    on the seed and on the set of remaining candidates, not on their order.
    """
    total, drawn = len(ranking.entries), selection.random
    reasons: dict[str, list[str]] = {}
    entries = {entry.candidate.identity: entry for entry in ranking.entries}
    predicted = sorted(
        (e for e in ranking.entries if e.rank is not None), key=lambda e: e.rank or 0
    )
    for entry, why in _with_serial(_top(predicted, selection.top), predicted):
        reasons[entry.candidate.identity] = [f"predicted place {entry.rank} of {total}{why}"]
    if baseline is not None and selection.baseline:
        if baseline not in entries:
            raise ValueError(f"the baseline {baseline} is not among the {total} candidates")
        reasons.setdefault(baseline, []).append("the baseline")
        if not predicted and drawn > 1 and (twin := _with_one_thread(entries, baseline)):
            reasons[twin] = ["the baseline with one thread"]
            drawn -= 1
    rest = sorted(i for i in entries.keys() - reasons.keys() if entries[i].drawn)
    generator = random.Random(f"{selection.seed} {ranking.problem.label}")
    for identity in generator.sample(rest, min(drawn, len(rest))):
        reasons[identity] = [f"drawn at random from the other {len(rest)}"]
    return [Chosen.of(entries[identity], "; ".join(why)) for identity, why in reasons.items()]


def everything(ranking: Ranking) -> list[Chosen]:
    """All candidates in the order of their predictions, for an exhaustive search."""
    return [Chosen.of(entry, "exhaustive search") for entry in ranking.entries]


def _with_serial(
    best: list[tuple[Ranked, str]], predicted: Sequence[Ranked]
) -> list[tuple[Ranked, str]]:
    """The best, with the best of one thread in the last place where all have more threads."""
    serial = next((entry for entry in predicted if entry.candidate.layout.serial), None)
    if serial is None or len(best) < 2 or any(e.candidate.layout.serial for e, _ in best):
        return best
    return [*best[:-1], (serial, ", the best with one thread")]


def _with_one_thread(entries: Mapping[str, Ranked], baseline: str) -> str | None:
    """The identity of the candidate that is the baseline with one thread in place of more."""
    base = entries[baseline].candidate
    if base.layout.serial:
        return None
    alike = (
        identity
        for identity, entry in entries.items()
        if entry.candidate.layout.serial
        and (entry.candidate.variant, entry.candidate.build) == (base.variant, base.build)
    )
    return next(alike, None)


# --- the top ----------------------------------------------------------------------------------


def _top(predicted: Sequence[Ranked], count: int) -> list[tuple[Ranked, str]]:
    """The best entries in order of rank, each with a remark for its reason."""
    undecided = [entry for entry in predicted if entry.undecided]
    contenders = undecided[:_FURTHEST]
    if len(contenders) <= count:
        return [(entry, "") for entry in predicted[:count]]
    bundles = _bundles(contenders)
    likely = _likely([bundle[0] for bundle in bundles])
    order = sorted(range(1, len(bundles)), key=lambda k: (-likely[k], k))
    chosen = [0, *order][:count]
    first = (bundles[0][0], f", not told apart from {len(undecided) - 1} others")
    best = [first, *((bundles[k][0], _likelier(k, chosen, likely)) for k in chosen[1:])]
    copies = [entry for bundle in bundles for entry in bundle[1:]]
    copies.sort(key=lambda entry: entry.rank or 0)
    best += [(entry, ", predicted as another one is") for entry in copies[: count - len(best)]]
    return sorted(best, key=lambda pair: pair[0].rank or 0)


def _likelier(place: int, chosen: Sequence[int], likely: Sequence[float]) -> str:
    """Why a candidate is measured before better places: it is more likely the fastest of all."""
    passed = [likely[k] for k in range(1, place) if k not in chosen]
    chance = f"with {100 * likely[place]:.1f} % the fastest of all"
    if passed:
        chance += f", the places left out before it with {100 * max(passed):.1f} % at most"
    return f", not told apart from the first ({chance})"


def _bundles(contenders: Sequence[Ranked]) -> list[list[Ranked]]:
    """Groups of entries with equal predictions, in the order of their first entries."""
    made: dict[tuple[object, ...], list[Ranked]] = {}
    for entry in contenders:
        prediction = entry.prediction
        uncertainty = prediction.uncertainty
        shared = tuple(sorted(uncertainty.shared.items())) if uncertainty else ()
        made.setdefault((prediction.seconds, shared), []).append(entry)
    return list(made.values())


def _likely(entries: Sequence[Ranked]) -> list[float]:
    """The probability of each entry that it is the fastest of all."""
    uncertain = unsure([entry.prediction for entry in entries])
    if uncertain is None:
        return [0.0] * len(entries)
    chance = np.random.default_rng(20191)
    common = chance.standard_normal((_DRAWS, uncertain.shifts.shape[1])) @ uncertain.shifts.T
    alone = chance.standard_normal((_DRAWS, len(entries))) * uncertain.independent
    fastest = (uncertain.times + common + alone).argmin(axis=1)
    shares: list[float] = (np.bincount(fastest, minlength=len(entries)) / _DRAWS).tolist()
    return shares
