"""How far the best candidate of each problem is from its lower bounds, as text."""

from collections.abc import Sequence

from autotune.domain.lower_bounds import RankingBounds, ranking_bounds
from autotune.domain.ranking import Ranking
from autotune.results.report.number_words import seconds


def text(rankings: Sequence[Ranking]) -> str:
    """Two lines per problem and engine; one where there are no bounds, with the reason."""
    return "\n".join(
        line for ranking in rankings for line in _lines(ranking, ranking_bounds(ranking))
    )


def _lines(ranking: Ranking, bounds: RankingBounds) -> list[str]:
    head = f"{ranking.problem.label}, engine {ranking.engine}: "
    limit, ratio = bounds.limit, bounds.ratio
    if limit is None or ratio is None:
        return [f"{head}no lower bounds: {bounds.reason}"]
    times = ", ".join(f"{bound.resource} {seconds(bound.seconds)}" for bound in bounds.bounds)
    return [
        f"{head}the best candidate takes {seconds(bounds.seconds)},"
        f" {ratio:.2f} times its lower bound by {limit.resource}",
        f"  lower bounds of its step if all else overlapped: {times}",
    ]
