"""What a store has of two candidates whose predictions are compared."""

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.rank.recalled_candidates import read_store
from autotune.commands.tune.provenance import identity_of
from autotune.domain.ranking import Ranked, Ranking
from autotune.files.store import Store
from autotune.results.evaluate.comparable import comparable_run
from autotune.results.explanation.explained import MeasuredPair
from autotune.results.explanation.measured_words import measured_pair


def latest_pair(
    ranked: RankedSpace, ranking: Ranking, pair: tuple[Ranked, Ranked], store: str
) -> MeasuredPair | None:
    """The times of two candidates of a problem in the latest run on this machine that compared
    them, among all others of the problem that the run measured; None without one, and where
    something else than the time is optimised.
    """
    if not ranking.problem.facts().goal.timed:
        return None
    return read_store(store, lambda results: _latest(results, ranked, ranking, pair))


def _latest(
    results: Store, ranked: RankedSpace, ranking: Ranking, pair: tuple[Ranked, Ranked]
) -> MeasuredPair | None:
    machine = identity_of(ranked.machine)
    first, second = (entry.candidate.identity for entry in pair)
    members = {entry.candidate.identity for entry in ranking.entries}
    for name in sorted(results.finished(), reverse=True):  # the names of runs begin with their time
        for run in results.runs_of([name], {first, second}):
            if run.machine_identity != machine or run.for_map or len(run.measurements) < 2:
                continue
            (whole,) = results.runs_of([name], members)
            comparable = comparable_run(whole, members)
            measured = comparable and measured_pair(
                comparable,
                (run.study, run.started),
                (first, second),
                (pair[0].prediction, pair[1].prediction),
            )
            if measured:
                return measured
    return None
