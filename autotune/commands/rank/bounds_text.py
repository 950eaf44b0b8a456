"""How far the best candidate of each problem is from its lower bounds and those of the machine."""

from collections.abc import Sequence

from autotune.domain.lower_bounds import LowerBound, RankingBounds, ranking_bounds
from autotune.domain.machine import Machine
from autotune.domain.machine_best import MachineBest, machine_best
from autotune.domain.ranking import Ranking
from autotune.results.report.number_words import seconds


def text(rankings: Sequence[Ranking], machine: Machine) -> str:
    """Up to four lines per problem and engine; one where there are no bounds, with the reason."""
    return "\n".join(
        line for ranking in rankings for line in _lines(ranking, ranking_bounds(ranking), machine)
    )


def _lines(ranking: Ranking, bounds: RankingBounds, machine: Machine) -> list[str]:
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
    if bounds.best is not None:
        layout = bounds.best.candidate.layout
        lines.append(_machine_line(machine_best(ranking.problem, layout, machine), bounds))
    return lines


def _machine_line(best: MachineBest, bounds: RankingBounds) -> str:
    """What the machine could do at best, how far the best candidate is from it, what is lacking."""
    parts = []
    if best.bounds:
        times = ", ".join(
            f"{bound.resource} {seconds(bound.seconds)}"
            if bound.seconds
            else f"{bound.resource} nothing, the caches hold all"
            for bound in best.bounds
        )
        largest = best.bounds[0].seconds
        ratio = f": {bounds.seconds / largest:.2f} times" if bounds.seconds and largest else ""
        parts.append(f"{times}{ratio}")
    return f"  the machine at best, in one pass a step: {'; '.join((*parts, *best.missing))}"


def _times(bounds: Sequence[LowerBound]) -> str:
    return ", ".join(f"{bound.resource} {seconds(bound.seconds)}" for bound in bounds)
