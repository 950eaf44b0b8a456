"""What a study chooses from, as the store keeps it: a summary of the candidates of each problem."""

from collections.abc import Container, Iterable

from autotune.domain.parameter_values import values_of_parameters
from autotune.domain.ranking import Ranked, Ranking
from autotune.files.store.records import ProblemSpace


def problem_space(ranking: Ranking) -> ProblemSpace:
    """The summary of the ranked candidates of a problem, which are all of its legal ones."""
    candidates = [entry.candidate for entry in ranking.entries]
    return ProblemSpace(
        problem=ranking.problem.key,
        candidates=len(candidates),
        predicted=sum(entry.rank is not None for entry in ranking.entries),
        layouts=tuple(dict.fromkeys(candidate.layout for candidate in candidates)),
        builds=tuple(dict.fromkeys(candidate.build for candidate in candidates)),
        parameters=values_of_parameters(c.variant.parameters for c in candidates),
    )


def entries_of(rankings: Iterable[Ranking], identities: Container[str]) -> list[Ranked]:
    """The ranked candidates with the given identities, in the order of the rankings."""
    return [
        entry
        for ranking in rankings
        for entry in ranking.entries
        if entry.candidate.identity in identities
    ]
