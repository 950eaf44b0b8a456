"""How far the best candidate of each problem is from its lower bounds, as text."""

from collections.abc import Sequence

from autotune.domain.lower_bounds import LowerBound, RankingBounds, ranking_bounds
from autotune.domain.ranking import Ranking
from autotune.results.report.number_words import seconds


def text(rankings: Sequence[Ranking]) -> str:
    """Up to three lines per problem and engine; one where there are no bounds, with the reason."""
    return "\n".join(
        line for ranking in rankings for line in _lines(ranking, ranking_bounds(ranking))
    )


def _lines(ranking: Ranking, bounds: RankingBounds) -> list[str]:
    head = f"{ranking.problem.label}, engine {ranking.engine}: "
    limit, ratio = bounds.limit, bounds.ratio
    if limit is None or ratio is None:
        return [f"{head}no lower bounds: {bounds.reason}"]
    lines = [
        f"{head}the best candidate takes {seconds(bounds.seconds)},"
        f" {ratio:.2f} times its lower bound by {limit.resource}",
        f"  lower bounds of its step if all else overlapped: {_times(bounds.bounds)}",
    ]
    if bounds.least and len(ranking.entries) > 1:
        lines.append(
            f"  least of each over all {len(ranking.entries)} candidates: {_times(bounds.least)};"
            f" no mixture of them takes less than {seconds(bounds.least[0].seconds)}"
        )
    return lines


def _times(bounds: Sequence[LowerBound]) -> str:
    return ", ".join(f"{bound.resource} {seconds(bound.seconds)}" for bound in bounds)
