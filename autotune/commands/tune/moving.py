"""The search of a run: over all candidates, or over pools that move where there are too many."""

from collections.abc import Callable, Sequence

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import StudySearch

AnySearch = StudySearch | MovingSearch


def require_listed(ranked: RankedSpace, option: str) -> None:
    """Raise InputError where an option needs all candidates, and there are too many to list."""
    for ranking in ranked.rankings:
        source = ranked.enumerated.sources.get(ranking.problem.key)
        if source is not None:
            raise InputError(
                Fault(
                    where=option,
                    found=f"{ranking.problem.label} has {source.count} legal candidates",
                    expected="so few that they can be listed",
                    hint="without it, the search moves through all of them",
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
        workload = ranked.workload
        with workload.predictor(workload.setup.engine, ranked.machine, lambda *_: None) as engine:
            return engine.predict(entering)

    seed = ranked.setup.selection.seed
    return MovingSearch(make, candidates, predictions, sources=sources, predict=predict, seed=seed)
