"""Candidates of a stored study as the config makes them now."""

from dataclasses import replace

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune.initial_candidates import baseline
from autotune.domain.variant import Candidate
from autotune.files.store.records import CandidateRecord


def rebuilt(record: CandidateRecord, ranked: RankedSpace) -> Candidate | None:
    """The candidate of a record that is none of the listed ones, of a problem that has more than
    can be listed; None where it is not legal any more.
    """
    source = ranked.enumerated.sources.get(record.problem.key)
    ranking = next((r for r in ranked.rankings if r.problem.key == record.problem.key), None)
    if source is None or ranking is None:
        return None
    like = replace(baseline(ranked, ranking), build=record.build, layout=record.layout)
    made = source.changed(like, record.parameters)
    return made if made is not None and made.identity == record.identity else None
