"""The search of a run: over all candidates, or over pools that move where there are too many."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.files.store import CandidateRecord
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import StudySearch
from autotune.workloads.base import CandidateSource

AnySearch = StudySearch | MovingSearch


def require_listed(ranked: RankedSpace, option: str, hint: str) -> None:
    """Raise InputError where an option needs all candidates, and there are too many to list."""
    for ranking in ranked.rankings:
        source = ranked.enumerated.sources.get(ranking.problem.key)
        if source is not None:
            raise InputError(
                Fault(
                    where=option,
                    found=f"{ranking.problem.label} has {source.count} legal candidates",
                    expected="so few that they can be listed",
                    hint=hint,
                )
            )


def search_over(
    ranked: RankedSpace,
    candidates: Sequence[Candidate],
    predictions: Sequence[Prediction],
    make: Callable[[Sequence[Candidate], Sequence[Prediction]], StudySearch],
) -> AnySearch:
    """The search over candidates that ``make`` makes, or one that makes it again and again."""
    sources = ranked.enumerated.sources
    if not sources:
        return make(candidates, predictions)

    def predict(entering: Sequence[Candidate]) -> Sequence[Prediction]:
        return _predict(ranked, entering)

    seed = ranked.setup.selection.seed
    return MovingSearch(make, candidates, predictions, sources=sources, predict=predict, seed=seed)


def with_proposed(ranked: RankedSpace, proposed: Sequence[CandidateRecord]) -> RankedSpace:
    """The ranked candidates, with those that earlier runs proposed from more than can be listed."""
    sources = ranked.enumerated.sources
    present = {candidate.identity for candidate in ranked.enumerated.legal}
    recalled = [
        candidate
        for record in proposed
        if record.identity not in present and record.problem.key in sources
        if (candidate := _recalled(sources[record.problem.key], record)) is not None
    ]
    if not recalled:
        return ranked
    entries = [
        Ranked(None, candidate, prediction, drawn=False)
        for candidate, prediction in zip(recalled, _predict(ranked, recalled), strict=True)
    ]
    rankings = tuple(
        replace(
            ranking,
            entries=(
                *ranking.entries,
                *(e for e in entries if e.candidate.problem.key == ranking.problem.key),
            ),
        )
        for ranking in ranked.rankings
    )
    enumerated = replace(ranked.enumerated, legal=[*ranked.enumerated.legal, *recalled])
    return replace(ranked, enumerated=enumerated, rankings=rankings)


def _recalled(source: CandidateSource, record: CandidateRecord) -> Candidate | None:
    candidate = source.recalled(record.parameters, record.build, record.layout)
    return candidate if candidate and candidate.identity == record.identity else None


def _predict(ranked: RankedSpace, entering: Sequence[Candidate]) -> Sequence[Prediction]:
    workload = ranked.workload
    with workload.predictor(workload.setup.engine, ranked.machine, lambda *_: None) as engine:
        return engine.predict(entering)
