"""The prediction for a candidate over the sizes of a config, as a formula of the size."""

from dataclasses import dataclass

from autotune.commands.rank.ranked_space import RankedSpace, nearest_candidate
from autotune.domain.candidate_names import matching
from autotune.domain.ranking import Ranked
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.learning.formulas.ecm_formula import Ecm, ecm
from autotune.workloads.base import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFormula:
    """The predicted time of one candidate as a formula of n: components, or grid points."""

    candidates: tuple[str, ...]
    """Its ids at the sizes that the formula is made of, ascending."""
    formula: Ecm


def candidate_formulas(ranked: RankedSpace, name: str) -> list[CandidateFormula]:
    """ECM and communication time of a candidate as a formula of the size, one per engine.

    ``name``: an id or its beginning, an identity, a label, or the label of a variant, which selects
    the candidates of that variant with every build and layout. InputError for an unknown name (with
    the nearest one), for programs, whose size is not a single number, and if an engine could not
    predict.
    """
    refuse(ranked.workload, "--formula")
    every = [(ranking.engine, entry) for ranking in ranked.rankings for entry in ranking.entries]
    chosen = {c.identity for c in matching((entry.candidate for _, entry in every), name)}
    keys = [_same(engine, e.candidate) for engine, e in every if e.candidate.identity in chosen]
    if not keys:
        names = [text for _, entry in every for text in _names(entry.candidate)]
        raise InputError(
            Fault(
                where="--formula",
                found=f"unknown {name!r}",
                expected="an id, an identity or a label, as rank prints them, or a variant",
                hint=nearest_candidate(name, names),
            )
        )
    groups: dict[tuple[object, ...], list[Ranked]] = {key: [] for key in keys}
    for engine, entry in every:
        key = _same(engine, entry.candidate)
        if key in groups:
            groups[key].append(entry)
    return [_formula(entries) for entries in groups.values()]


def _formula(entries: list[Ranked]) -> CandidateFormula:
    by_size = {float(entry.candidate.problem.n): entry for entry in entries}
    if len(by_size) < len(entries):
        found = f"{len(entries)} problems of {len(by_size)} sizes"
        raise InputError(Fault(where="--formula", found=found, expected="grids of as many sizes"))
    sizes = sorted(by_size)
    return CandidateFormula(
        candidates=tuple(by_size[n].candidate.id for n in sizes),
        formula=ecm({n: by_size[n].prediction for n in sizes}),
    )


def _names(candidate: Candidate) -> tuple[str, ...]:
    return candidate.id, candidate.identity, candidate.label, candidate.variant.label


def _same(engine: str, candidate: Candidate) -> tuple[object, ...]:
    """A key that is equal for candidates that differ only in the problem size."""
    run = (candidate.threads, candidate.ranks, candidate.nodes)
    how = (candidate.communication, candidate.placement)
    return (
        engine,
        *candidate.problem.method_key,
        candidate.variant.label,
        candidate.build,
        *run,
        *how,
    )
