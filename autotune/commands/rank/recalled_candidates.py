"""Candidates of spaces that are too large to be listed, as the records of a store name them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from autotune.commands.options import DEFAULT_STORE
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.candidate_names import matching
from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.errors import StoreError
from autotune.files.store import CandidateRecord, Store
from autotune.workloads.base import EnumeratedSpace

Read = TypeVar("Read")


def recalled(
    enumerated: EnumeratedSpace, records: Iterable[CandidateRecord]
) -> dict[str, Candidate]:
    """The candidates of records, by identity, as far as a source of the space still makes them."""
    candidates: dict[str, Candidate] = {}
    for record in records:
        source = enumerated.sources.get(record.problem.key)
        if source is not None:
            candidate = source.recalled(record.parameters, record.build, record.layout)
            if candidate is not None and candidate.identity == record.identity:
                candidates[record.identity] = candidate
    return candidates


def predicted(ranked: RankedSpace, entering: Sequence[Candidate]) -> Sequence[Prediction]:
    """Predictions of candidates by the engine of the setup."""
    workload = ranked.workload
    with workload.predictor(workload.setup.engine, ranked.machine, lambda *_: None) as engine:
        return engine.predict(entering)


def with_candidates(ranked: RankedSpace, candidates: Iterable[Candidate]) -> RankedSpace:
    """The ranked candidates and others, each with its prediction."""
    present = {candidate.identity for candidate in ranked.enumerated.legal}
    others = list({c.identity: c for c in candidates if c.identity not in present}.values())
    if not others:
        return ranked
    entries = [
        Ranked(None, candidate, prediction, drawn=False)
        for candidate, prediction in zip(others, predicted(ranked, others), strict=True)
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
    enumerated = replace(ranked.enumerated, legal=[*ranked.enumerated.legal, *others])
    return replace(ranked, enumerated=enumerated, rankings=rankings)


def with_named(ranked: RankedSpace, names: Iterable[str | None], store: str) -> RankedSpace:
    """The ranked candidates, with those of the given names that were not drawn but are stored."""
    return with_candidates(ranked, _missing(ranked.enumerated, names, store))


def with_stored(
    enumerated: EnumeratedSpace, names: Iterable[str | None], store: str
) -> EnumeratedSpace:
    """The candidates, with those of the given names that were not drawn but are stored."""
    missing = _missing(enumerated, names, store)
    return replace(enumerated, legal=[*enumerated.legal, *missing]) if missing else enumerated


def _missing(
    enumerated: EnumeratedSpace, names: Iterable[str | None], store: str
) -> list[Candidate]:
    """The stored candidates of names that no listed one has; none where all are listed."""
    if not enumerated.sources:
        return []
    unlisted = [name for name in names if name and not matching(enumerated.legal, name)]
    if not unlisted:
        return []
    records = read_store(
        store, lambda results: [r for name in unlisted for r in results.named_candidates(name)]
    )
    return list(recalled(enumerated, records or ()).values())


def read_store(store: str, read: Callable[[Store], Read]) -> Read | None:
    """What is read of a store; None where the default one cannot be opened, such as before the
    first study.
    """
    try:
        with Store.open(store, create=False) as results:
            return read(results)
    except StoreError:
        if store != DEFAULT_STORE:
            raise
        return None
