"""The search of a run: over all candidates, or over pools that move where there are too many."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.rank.recalled_candidates import predicted, recalled, with_candidates
from autotune.domain.results import Measurement, Prediction
from autotune.domain.variant import Build, Candidate, ExecutionLayout
from autotune.errors import Fault, InputError
from autotune.files.store import CandidateRecord
from autotune.tuning.base import Search
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import StudySearch
from autotune.workloads.base import EnumeratedSpace


class AnySearch(Search, Protocol):
    """The search of a run, which may be mirrored."""

    @property
    def fault(self) -> str:
        """Why the mirroring has ended; empty while it goes on, or without a mirror."""


_FASTEST, _LATEST = 200, 100
"""Candidates of other studies that enter a problem's pools at most."""
_FEW_DRAWN = 100
"""Drawn candidates of a build and a layout that a map without predictions looks at."""


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
        return predicted(ranked, entering)

    seed, settings = ranked.setup.selection.seed, ranked.setup.search
    if settings.sampler != "model":
        from autotune.tuning.sampled_search import SampledSearch

        pairs = zip(candidates, predictions, strict=True)
        listed = [(c, p) for c, p in pairs if c.problem.key not in sources]
        return SampledSearch(
            candidates,
            sources=sources,
            settings=settings,
            predict=predict,
            listed=make(*zip(*listed, strict=True)) if listed else None,
            seed=seed,
        )
    return MovingSearch(
        make, candidates, predictions, sources=sources, predict=predict, hinted=hinted, seed=seed
    )


def with_related(
    ranked: RankedSpace, measured: Sequence[tuple[CandidateRecord, Measurement]]
) -> RankedSpace:
    """The ranked candidates, with those that other studies measured, also with another build, of
    problems that have more than can be listed: of each the fastest and the latest ones.

    ``measured``: the latest first.
    """
    sources = ranked.enumerated.sources
    builds = dict.fromkeys(candidate.build for candidate in ranked.enumerated.legal)
    related = (
        source.recalled(record.parameters, build, record.layout)
        for key, source in sources.items()
        for record in _closest([pair for pair in measured if pair[0].problem.key == key])
        for build in builds
    )
    return with_candidates(ranked, (candidate for candidate in related if candidate is not None))


def with_measured_anywhere(
    ranked: RankedSpace, measured: Sequence[tuple[CandidateRecord, Measurement]]
) -> RankedSpace:
    """The ranked candidates, with the settings that studies measured at any size, at every size and
    in every layout: the fastest and the latest ones of each problem.
    """
    legal = ranked.enumerated.legal
    ways = dict.fromkeys((candidate.build, candidate.layout) for candidate in legal)
    problems = dict.fromkeys(record.problem.key for record, _ in measured)
    settings = [
        record.parameters
        for key in problems
        for record in _closest([pair for pair in measured if pair[0].problem.key == key])
    ]
    made = (
        source.recalled(parameters, build, layout)
        for source in ranked.enumerated.sources.values()
        for parameters in settings
        for build, layout in ways
    )
    fewer = ranked if ranked.workload.predicted else _with_few_drawn(ranked)
    return with_candidates(fewer, (candidate for candidate in made if candidate is not None))


def _with_few_drawn(ranked: RankedSpace) -> RankedSpace:
    """The ranked candidates with only the first drawn ones of each problem, build and layout, the
    baseline among them.
    """
    taken: Counter[tuple[str, Build, ExecutionLayout]] = Counter()
    kept: set[str] = set()
    for candidate in ranked.enumerated.legal:
        way = candidate.problem.key, candidate.build, candidate.layout
        taken[way] += 1
        if taken[way] <= _FEW_DRAWN or candidate.problem.key not in ranked.enumerated.sources:
            kept.add(candidate.identity)
    rankings = tuple(
        replace(r, entries=tuple(e for e in r.entries if e.candidate.identity in kept))
        for r in ranked.rankings
    )
    legal = [candidate for candidate in ranked.enumerated.legal if candidate.identity in kept]
    return replace(ranked, enumerated=replace(ranked.enumerated, legal=legal), rankings=rankings)


def _closest(measured: Sequence[tuple[CandidateRecord, Measurement]]) -> list[CandidateRecord]:
    """The fastest of measured candidates, and the first ones."""
    by_time = sorted(measured, key=lambda pair: min(s.seconds for s in pair[1].samples))
    chosen = [*by_time[:_FASTEST], *measured[:_LATEST]]
    return list({record.identity: record for record, _ in chosen}.values())


def with_proposed(ranked: RankedSpace, proposed: Sequence[CandidateRecord]) -> RankedSpace:
    """The ranked candidates, with those that earlier runs proposed from more than can be listed."""
    return with_candidates(ranked, recalled(ranked.enumerated, proposed).values())
