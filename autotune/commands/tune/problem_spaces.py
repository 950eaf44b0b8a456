"""What a study chooses from, as the store keeps it: a summary of the candidates of each problem."""

from collections.abc import Container, Iterable
from typing import TypeVar

from autotune.domain.parameter_values import values_of_parameters
from autotune.domain.ranking import Ranked, Ranking
from autotune.files.store.records import ProblemSpace
from autotune.workloads.base import CandidateSource, Count

T = TypeVar("T")

_MOST = 10**300
"""Beyond what a database can hold."""
_EXACT = 2**53
"""Beyond it a database holds 15 digits of a number."""


def problem_space(ranking: Ranking, source: CandidateSource | None) -> ProblemSpace:
    """The summary of the legal candidates of a problem: those ranked, or of a source that has more
    than can be listed.
    """
    candidates = [entry.candidate for entry in ranking.entries]
    count = Count(len(candidates)) if source is None else source.count
    if count.value > _MOST:
        count = Count(_MOST, exact=False)
    elif count.value > _EXACT:
        count = Count(int(float(count.value)), count.exact)
    return ProblemSpace(
        problem=ranking.problem.key,
        candidates=count.value,
        exact=count.exact,
        predicted=sum(entry.rank is not None for entry in ranking.entries),
        layouts=_distinct(candidate.layout for candidate in candidates),
        builds=_distinct(candidate.build for candidate in candidates),
        parameters=values_of_parameters(c.variant.parameters for c in candidates)
        if source is None
        else dict(source.parameters),
    )


def _distinct(values: Iterable[T]) -> tuple[T, ...]:
    """The different ones of values, of which most are few objects that are shared."""
    objects = {id(value): value for value in values}
    return tuple(dict.fromkeys(objects.values()))


def entries_of(rankings: Iterable[Ranking], identities: Container[str]) -> list[Ranked]:
    """The ranked candidates with the given identities, in the order of the rankings."""
    return [
        entry
        for ranking in rankings
        for entry in ranking.entries
        if entry.candidate.identity in identities
    ]
