"""The search of a run: over all candidates, or over pools that move where there are too many."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.domain.variant import Build, Candidate
from autotune.errors import Fault, InputError
from autotune.files.store import CandidateRecord
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import StudySearch
from autotune.workloads.base import CandidateSource, EnumeratedSpace

AnySearch = StudySearch | MovingSearch


def require_listed(enumerated: EnumeratedSpace, option: str, hint: str) -> None:
    """Raise InputError where an option needs all candidates, and there are too many to list."""
    for candidate in enumerated.legal:
        source = enumerated.sources.get(candidate.problem.key)
        if source is not None:
            raise InputError(
                Fault(
                    where=option,
                    found=f"{candidate.problem.label} has {source.count} legal candidates",
                    expected="so few that they can be listed",
                    hint=hint,
                )
            )


def search_over(
    ranked: RankedSpace,
    candidates: Sequence[Candidate],
    predictions: Sequence[Prediction],
    make: Callable[[Sequence[Candidate], Sequence[Prediction]], StudySearch],
    hinted: Callable[[], Iterable[Candidate]],
) -> AnySearch:
    """The search over candidates that ``make`` makes, or one that makes it again and again.

    ``hinted``: candidates of which something is known from elsewhere, which no pool leaves out.
    """
    sources = ranked.enumerated.sources
    if not sources:
        return make(candidates, predictions)

    def predict(entering: Sequence[Candidate]) -> Sequence[Prediction]:
        return _predict(ranked, entering)

    seed = ranked.setup.selection.seed
    return MovingSearch(
        make, candidates, predictions, sources=sources, predict=predict, hinted=hinted, seed=seed
    )


def with_related(ranked: RankedSpace, records: Sequence[CandidateRecord]) -> RankedSpace:
    """The ranked candidates, with those that other studies measured, also with another build, of
    problems that have more than can be listed.
    """
    sources = ranked.enumerated.sources
    builds = dict.fromkeys(candidate.build for candidate in ranked.enumerated.legal)
    return _with(
        ranked,
        [
            candidate
            for record in records
            if record.problem.key in sources
            for build in builds
            if (candidate := _recalled(sources[record.problem.key], record, build)) is not None
        ],
    )


def with_proposed(ranked: RankedSpace, proposed: Sequence[CandidateRecord]) -> RankedSpace:
    """The ranked candidates, with those that earlier runs proposed from more than can be listed."""
    sources = ranked.enumerated.sources
    recalled = [
        candidate
        for record in proposed
        if record.problem.key in sources
        if (candidate := _recalled(sources[record.problem.key], record, record.build)) is not None
    ]
    identities = {record.identity for record in proposed}
    return _with(ranked, (c for c in recalled if c.identity in identities))


def _with(ranked: RankedSpace, candidates: Iterable[Candidate]) -> RankedSpace:
    """The ranked candidates and others, each with its prediction."""
    present = {candidate.identity for candidate in ranked.enumerated.legal}
    others = {c.identity: c for c in candidates if c.identity not in present}
    recalled = list(others.values())
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


def _recalled(source: CandidateSource, record: CandidateRecord, build: Build) -> Candidate | None:
    return source.recalled(record.parameters, build, record.layout)


def _predict(ranked: RankedSpace, entering: Sequence[Candidate]) -> Sequence[Prediction]:
    workload = ranked.workload
    with workload.predictor(workload.setup.engine, ranked.machine, lambda *_: None) as engine:
        return engine.predict(entering)
