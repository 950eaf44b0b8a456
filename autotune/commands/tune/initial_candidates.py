"""Which candidates a run begins with, and what is known of others before."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.ranking import Ranking
from autotune.domain.setup import Sampler, Selection
from autotune.domain.variant import Candidate
from autotune.statistics.estimators import location
from autotune.tuning import Chosen, Earlier, Task
from autotune.tuning.first_candidates import Pick, choose, everything
from autotune.workloads.generated import candidate_space


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """How far a study goes."""

    budget_seconds: float | None = None
    budget_evaluations: int | None = None
    """Candidates per problem."""
    exhaustive: bool = False
    resume: bool = False
    sampler: Sampler | None = None
    """Who searches; None: as the config says."""
    prior: str | None = None
    """A study whose model is a prior, ``STUDY`` or ``STUDY@STORE``; None: as the config says."""
    mirror: str | None = None
    """A journal file of Optuna that shows the search."""


def baseline(found: RankedSpace, ranking: Ranking) -> Candidate:
    """The baseline of a problem: the space's own, first build, most threads."""
    setup = found.setup
    return candidate_space.baseline(setup, ranking.problem, found.machine.cores, setup.builds[0])


def choose_candidates(found: RankedSpace, ranking: Ranking, options: StudyOptions) -> list[Chosen]:
    """What is measured of a problem where nothing is searched; all of it where that is wanted.

    A budget is used up: the predicted best fill it.
    """
    if options.exhaustive:
        return _chosen(everything(ranking))
    budget = evaluations(found, options)
    selection = found.setup.selection
    selection = selection if budget is None else _filling(budget, selection)
    return _chosen(choose(ranking, selection, baseline(found, ranking).identity))


def first_candidates(
    found: RankedSpace, ranking: Ranking, options: StudyOptions, prior: Mapping[str, float]
) -> list[Chosen]:
    """What is measured of a problem before anything is learned and searched.

    What a budget leaves over belongs to the search. ``prior``: see ``lent``.
    """
    budget = evaluations(found, options)
    selection = found.setup.selection
    selection = selection if budget is None else within(budget, selection)
    safe = baseline(found, ranking).identity
    chosen = _chosen(choose(ranking, selection, safe))
    return lent(chosen, ranking, prior, range(1, selection.top, 2), safe)


def lent(
    chosen: Sequence[Chosen],
    ranking: Ranking,
    prior: Mapping[str, float],
    places: Sequence[int],
    safe: str,
) -> list[Chosen]:
    """The chosen ones, with what a prior expects to be fastest at some places.

    Every other of the predicted best is the prior's choice: a prior that is wrong costs no more
    than these, and shows itself by them. ``prior``: identity to what it expects. ``safe``: the
    identity of the baseline, which keeps its place.
    """
    taken = {choice.candidate.identity for choice in chosen}
    known = [e for e in ranking.entries if e.candidate.identity in prior]
    order = sorted(known, key=lambda e: prior[e.candidate.identity])
    left = [(n, e) for n, e in enumerate(order, 1) if e.candidate.identity not in taken]
    found = list(chosen)
    for place in places:
        if left and place < len(found) and found[place].candidate.identity != safe:
            number, entry = left.pop(0)
            why = f"place {number} of {len(order)} by the prior"
            found[place] = Chosen(entry.candidate, entry.prediction, why)
    return found


def _chosen(picks: Sequence[Pick]) -> list[Chosen]:
    return [Chosen(pick.entry.candidate, pick.entry.prediction, pick.why) for pick in picks]


def evaluations(found: RankedSpace, options: StudyOptions) -> int | None:
    """The smaller of the budgets of the config and of the command; None without one."""
    budgets = (options.budget_evaluations, found.setup.search.budget)
    return min((budget for budget in budgets if budget is not None), default=None)


def left_of(chosen: Sequence[Chosen], earlier: Sequence[Earlier], safe: str) -> list[Chosen]:
    """The chosen ones that are not known; all-time best and baseline first, to compare with.

    Empty where all are known.
    """
    known = {one.candidate.identity for one in earlier}
    left = [choice for choice in chosen if choice.candidate.identity not in known]
    if not left:
        return []
    best = _fastest(earlier)
    again = [
        dataclasses.replace(choice, why=f"{choice.why}; measured again, to compare with")
        for choice in chosen
        if choice.candidate.identity in known & {best, safe}
    ]
    return [*again, *left]


def tasks(
    found: RankedSpace,
    options: StudyOptions,
    earlier: Sequence[Earlier],
    mine: Mapping[str, int],
    complete: str,
    prior: Mapping[str, float],
) -> list[Task]:
    """What is to be done about each problem.

    ``prior``: identity to what a model of another study expects. ``mine``: the key of a problem to
    how many candidates earlier runs of the study measured. ``complete``: why nothing is searched;
    then only what is left of the first ones is measured.
    """
    made = []
    for ranking in found.rankings:
        safe = baseline(found, ranking).identity
        known = [e for e in earlier if e.candidate.problem.key == ranking.problem.key]
        chosen = first_candidates(found, ranking, options, prior)
        first = left_of(chosen, known, safe)
        if not first and known and not complete:
            first = _again(ranking, known, safe)
        made.append(
            Task(
                ranking=ranking,
                first=tuple(first),
                baseline=safe,
                earlier=tuple(known),
                counted=mine.get(ranking.problem.key, 0),
                complete=complete,
            )
        )
    return made


def _again(ranking: Ranking, known: Sequence[Earlier], safe: str) -> list[Chosen]:
    """The fastest that is known and the baseline: what is searched next is compared with them."""
    best = _fastest(known)
    return [
        Chosen(e.candidate, e.prediction, "measured again, to compare with")
        for e in ranking.entries
        if e.candidate.identity in (best, safe)
    ]


def _fastest(earlier: Sequence[Earlier]) -> str | None:
    """The fastest candidate of the latest run that measured any."""
    runs = sorted({e.measurement.run for e in earlier}, reverse=True)
    for run in runs:
        times = {
            e.candidate.identity: location([s.seconds for s in e.measurement.accepted])
            for e in earlier
            if e.measurement.run == run and e.measurement.status == "ok" and e.measurement.accepted
        }
        if times:
            return min(times, key=lambda identity: (times[identity], identity))
    return None


def within(budget: int, selection: Selection) -> Selection:
    """The first candidates of a search that has a budget: predictions come before chance.

    The predicted best and the baseline as far as they fit; of what is left at most half is drawn at
    random, the rest is for the search.
    """
    safe = selection.baseline and budget > 1
    top = min(selection.top, budget - safe)
    random = min(selection.random, (budget - safe - top) // 2)
    return dataclasses.replace(selection, top=top, random=random, baseline=safe)


def _filling(budget: int, selection: Selection) -> Selection:
    """The selection cut or filled up to a number of candidates, the baseline among them."""
    safe = selection.baseline and budget > 1
    rest = budget - safe
    random = min(selection.random, rest // 2)
    return dataclasses.replace(selection, top=rest - random, random=random, baseline=safe)
