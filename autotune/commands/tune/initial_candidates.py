"""The candidates that a run measures first, given the results of earlier runs."""

import dataclasses
from collections.abc import Mapping, Sequence

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune.tune_options import StudyOptions
from autotune.domain.ranking import Ranking
from autotune.domain.setup import Selection
from autotune.domain.variant import Candidate
from autotune.statistics.launch_times import time_of
from autotune.statistics.waiting import holds_waiting
from autotune.tuning import Chosen, EarlierResult, Task
from autotune.tuning.first_candidates import choose, everything, first_candidates
from autotune.workloads.legal_baseline import legal_baseline


def baseline(ranked: RankedSpace, ranking: Ranking) -> Candidate:
    """The baseline of a problem: the baseline variant of the space, first build, most threads;
    the candidate predicted best where that is illegal.
    """
    build = ranked.setup.builds[0]
    legal = [entry.candidate for entry in ranking.entries]
    return legal_baseline(ranked.workload, ranked.machine, legal, build)


def choose_candidates(ranked: RankedSpace, ranking: Ranking, options: StudyOptions) -> list[Chosen]:
    """The candidates of a problem to measure when nothing is searched.

    All candidates if the measurement is exhaustive. A budget is used up with the best predicted
    ones.
    """
    if options.exhaustive:
        return everything(ranking)
    budget = evaluations(ranked, options)
    selection = ranked.setup.selection
    selection = selection if budget is None else _filling(budget, selection)
    return choose(ranking, selection, baseline(ranked, ranking).identity)


def evaluations(ranked: RankedSpace, options: StudyOptions) -> int | None:
    """The budget of candidates: that of the config, unless the command line states one, in
    candidates or in seconds; None without any.
    """
    if options.budget_evaluations is not None or options.budget_seconds is not None:
        return options.budget_evaluations
    return ranked.setup.search.budget


def unfinished_choices(
    ranking: Ranking, chosen: Sequence[Chosen], earlier: Sequence[EarlierResult], safe: str
) -> list[Chosen]:
    """The chosen candidates without a result, after the best earlier candidate and the baseline.

    The best and the baseline are measured again for comparison, whoever had proposed them. Empty if
    all chosen candidates have a result.
    """
    finished = {result.candidate.identity for result in earlier}
    remaining = [choice for choice in chosen if choice.candidate.identity not in finished]
    again = _comparison_candidates(ranking, earlier, safe) if remaining else []
    return [*(c for c in again if c.candidate.identity in finished), *remaining]


def tasks(
    ranked: RankedSpace,
    options: StudyOptions,
    earlier: Sequence[EarlierResult],
    counts: Mapping[str, int],
    complete: str,
    prior: Mapping[str, float],
) -> list[Task]:
    """The work to do for each problem.

    ``prior``: the time that a model of another study expects, by identity of a candidate.
    ``counts``: how many candidates earlier runs of the study measured, by key of a problem.
    ``complete``: why nothing is searched; then only unfinished first candidates are measured.
    """
    problem_tasks = []
    for ranking in ranked.rankings:
        safe = baseline(ranked, ranking).identity
        finished = [e for e in earlier if e.candidate.problem.key == ranking.problem.key]
        chosen = first_candidates(
            ranking,
            ranked.setup.selection,
            budget=evaluations(ranked, options),
            baseline=safe,
            prior=prior,
        )
        first = unfinished_choices(ranking, chosen, finished, safe)
        if not first and finished and not complete:
            first = _comparison_candidates(ranking, finished, safe)
        source = ranked.enumerated.sources.get(ranking.problem.key)
        problem_tasks.append(
            Task(
                ranking=ranking,
                first=tuple(first),
                baseline=safe,
                earlier=tuple(finished),
                counted=counts.get(ranking.problem.key, 0),
                complete=complete,
                candidates=source.count.value if source else 0,
            )
        )
    return problem_tasks


def _comparison_candidates(
    ranking: Ranking, earlier: Sequence[EarlierResult], safe: str
) -> list[Chosen]:
    """The fastest earlier candidates and the baseline, to be measured again for comparison."""
    wanted = {*_fastest(earlier), safe}
    return [
        Chosen.of(e, "measured again, to compare with")
        for e in ranking.entries
        if e.candidate.identity in wanted
    ]


def _fastest(earlier: Sequence[EarlierResult]) -> set[str]:
    """The fastest candidate of the latest run that measured any, and that of a run before where no
    later run measured it: a later run may have been interrupted before it did.
    """
    fastest: set[str] = set()
    later: set[str] = set()
    for run in sorted({e.measurement.run for e in earlier}, reverse=True):
        timed = [
            e.measurement
            for e in earlier
            if e.measurement.run == run and e.measurement.status == "ok" and e.measurement.timed
        ]
        holds = holds_waiting([measurement.samples for measurement in timed])
        times = {m.candidate: time_of(m.samples, holds) for m in timed}
        best = min(times, key=lambda identity: (times[identity], identity), default=None)
        if best is not None and best not in later:
            fastest.add(best)
        later |= times.keys()
    return fastest


def _filling(budget: int, selection: Selection) -> Selection:
    """The selection cut or extended to ``budget`` candidates, including the baseline."""
    safe = selection.baseline and budget > 1
    rest = budget - safe
    random = min(selection.random, rest // 2)
    return dataclasses.replace(selection, top=rest - random, random=random, baseline=safe)
