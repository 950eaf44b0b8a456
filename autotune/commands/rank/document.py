"""Documents of what is known before anything runs: ``variants``, ``predict``, ``rank``."""

import math
from collections.abc import Sequence
from typing import TypedDict

from autotune.commands.rank import block_document
from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranked, Ranking, differences
from autotune.domain.results import Part
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.learning.formulas.ecm_formula import Ecm
from autotune.models.engines.base import CompiledSweep
from autotune.results.documents import Plain
from autotune.results.report.explained import RankingExplanation
from autotune.workloads.generated.candidate_space import EnumeratedSpace
from autotune.workloads.stencil.features import features


class PartRow(TypedDict):
    """One contribution to a predicted step."""

    sweep: str
    kind: str
    """T_OL, T_nOL, a level (L2, L3, MEM), sweep (their combination), barrier, communication."""
    seconds: float
    extrapolated: bool
    kernel: str
    """What the sweep computes: lc, rhs, approx+update; empty where it is not known."""
    count: float
    """Of a level: rows that one pass streams from there; 0 where they are not counted."""


class PredictionRow(TypedDict):
    """One candidate and its prediction."""

    problem: str
    candidate: str
    """``label:identity``."""
    variant: str
    parameters: dict[str, Plain]
    features: dict[str, int] | None
    """Of a stencil: the modelling vector I, J, K, bi, bj, bk, u, t; null for others."""
    nodes: int
    ranks: int
    """On all nodes together."""
    threads: int
    """Of each rank."""
    communication: str
    """none, allgather, neighbour or sparse."""
    compiler: str
    flags: list[str]
    predicted_s: float | None
    interval_s: list[float] | None
    """Low and high."""
    parts: list[PartRow]
    engine: str
    reason: str
    """One line: what the time consists of, or why there is none."""
    notes: list[str]
    """Approximations that were made."""


class RankRow(PredictionRow):
    """A prediction with its place among those of its problem."""

    rank: int | None
    apart: float | None
    """Probability that the first of the problem takes less time, 0.5 being a toss-up; null where
    the engine does not say what it is unsure of."""
    group: int | None
    """Candidates of one group are not told apart from the fastest of it; 1: from the first."""


class DifferenceRow(TypedDict):
    """A part of two candidates side by side."""

    sweep: str
    """What is compared: LC, or APPROX+UPDATE where one of them fuses these; barrier."""
    kind: str
    first_s: float
    second_s: float
    first_count: float
    """Rows that one pass streams from a level; 0 where that is not known."""
    second_count: float


class LoopRow(TypedDict):
    """A sweep as it was compiled; cycles per component."""

    sweep: str
    kernel: str
    route: str
    """How the in-core time was found."""
    bottleneck: str
    """The busiest port, chain or front end."""
    T_OL: float
    T_nOL: float
    chain: float
    """Longest loop-carried dependency."""
    vector: int
    """Bytes of the widest vectors."""
    loads: float
    stores: float
    crossing: float
    """Vector loads that cross a line."""
    forwards: float
    """Loads that wait for a store of the loop."""
    gathers: float
    calls: float
    unknown: list[str]
    """Instructions that OSACA does not know."""
    assembly: str
    """Annotated; empty unless it was asked for."""


class WhyRow(TypedDict):
    """Why one candidate is predicted as it is, and what differs from another."""

    candidate: str
    against: str | None
    engine: str
    words: list[str]
    """The same as sentences."""
    differences: list[DifferenceRow]
    """Largest first; empty without another candidate."""
    loops: list[LoopRow]
    """Of the candidate; empty for an engine that compiles none."""
    loops_against: list[LoopRow]


class FormulaTermRow(TypedDict):
    """A coefficient, in seconds, times a power of n."""

    coefficient: float
    power: float
    """Of n; 0 is a constant."""
    of: str
    """The part of the time step, and what bounds it."""


class FormulaRow(TypedDict):
    """A candidate's predictions over sizes, as a formula of n: components or points."""

    candidates: list[str]
    """The candidate at each of the sizes, ascending."""
    engine: str
    sizes: list[float]
    formula: str
    terms: list[FormulaTermRow]
    """Near the largest size."""
    between: float | None
    """How far it is off between two sizes at most, a share; null for a single size."""


class PredictDocument(TypedDict):
    """``autotune predict --json``."""

    schema: str
    study: str
    machine: str
    predictions: list[PredictionRow]
    formulas: list[FormulaRow]
    """Empty unless asked for."""


class RankDocument(TypedDict):
    """``autotune rank --json``."""

    schema: str
    study: str
    machine: str
    ranking: list[RankRow]
    blocks: list[block_document.BlockRow]
    """Layer conditions of the stencils; empty for initial value problems."""
    why: WhyRow | None
    """The first of ``whys``; null unless reasons were asked for."""
    whys: list[WhyRow]
    """One per problem and engine."""


def predict(
    setup: Setup,
    machine: Machine,
    order: Sequence[Candidate],
    rankings: Sequence[Ranking],
    formulas: Sequence[tuple[Sequence[str], Ecm]] = (),
) -> PredictDocument:
    """The predictions in the order of the space, by one engine after the other.

    ``formulas``: those that were asked for, each with the ids of its candidates.
    """
    entries = {(r.engine, e.candidate.identity): e for r in rankings for e in r.entries}
    engines = dict.fromkeys(ranking.engine for ranking in rankings)
    return {
        "schema": "autotune.predict/1",
        "study": setup.name,
        "machine": machine.name,
        "predictions": [
            _prediction(entries[engine, candidate.identity])
            for engine in engines
            for candidate in order
        ],
        "formulas": [_formula(candidates, formula) for candidates, formula in formulas],
    }


def _formula(candidates: Sequence[str], formula: Ecm) -> FormulaRow:
    return {
        "candidates": list(candidates),
        "engine": formula.engine,
        "sizes": list(formula.sizes),
        "formula": str(formula),
        "terms": [
            {
                "coefficient": term.coefficient,
                "power": sum(factor.power for factor in term.factors),
                "of": term.text,
            }
            for term in formula.terms()
        ],
        "between": None if math.isnan(formula.between) else formula.between,
    }


def rank(
    setup: Setup,
    machine: Machine,
    rankings: Sequence[Ranking],
    whys: Sequence[RankingExplanation] = (),
    *,
    assembly: bool = False,
) -> RankDocument:
    """The rankings, problem by problem, best first; ``whys`` where reasons were asked for."""
    told = [_why(each, assembly=assembly) for each in whys]
    return {
        "schema": "autotune.rank/1",
        "study": setup.name,
        "machine": machine.name,
        "ranking": [
            {
                "rank": entry.rank,
                "apart": entry.apart,
                "group": entry.group,
                **_prediction(entry),
            }
            for ranking in rankings
            for entry in ranking.entries
        ],
        "blocks": block_document.rows(rankings, machine),
        "why": told[0] if told else None,
        "whys": told,
    }


def _why(each: RankingExplanation, *, assembly: bool) -> WhyRow:
    chosen, other, beside = each.chosen, each.other, each.beside
    rows = differences(chosen.prediction, other.prediction) if other else []
    return {
        "candidate": chosen.candidate.id,
        "against": other.candidate.id if other else None,
        "engine": chosen.prediction.engine,
        "words": list(each.words),
        "differences": [
            {
                "sweep": d.sweep,
                "kind": d.kind,
                "first_s": d.first,
                "second_s": d.second,
                "first_count": d.first_count,
                "second_count": d.second_count,
            }
            for d in rows
        ],
        "loops": [_loop(loop, assembly=assembly) for loop in each.told.loops],
        "loops_against": [_loop(loop, assembly=assembly) for loop in beside.loops]
        if beside
        else [],
    }


def _loop(loop: CompiledSweep, *, assembly: bool) -> LoopRow:
    found = loop.result
    return {
        "sweep": loop.sweep,
        "kernel": loop.kernel,
        "route": found.route,
        "bottleneck": found.bottleneck,
        "T_OL": found.T_OL,
        "T_nOL": found.T_nOL,
        "chain": found.chain,
        "vector": found.vector,
        "loads": found.loads,
        "stores": found.stores,
        "crossing": found.crossing,
        "forwards": found.forwards,
        "gathers": found.gathers,
        "calls": found.calls,
        "unknown": list(found.unknown),
        "assembly": (found.annotated or found.assembly) if assembly else "",
    }


def _features(candidate: Candidate) -> dict[str, int] | None:
    return features(candidate) if candidate.problem.family == "stencil" else None


def _prediction(entry: Ranked) -> PredictionRow:
    candidate, prediction = entry.candidate, entry.prediction
    return {
        "problem": candidate.problem.label,
        "candidate": candidate.id,
        "variant": candidate.variant.label,
        "parameters": dict(candidate.variant.parameters),
        "features": _features(candidate),
        "nodes": candidate.nodes,
        "ranks": candidate.ranks,
        "threads": candidate.threads,
        "communication": candidate.communication,
        "compiler": candidate.build.compiler,
        "flags": list(candidate.build.flags),
        "predicted_s": prediction.seconds,
        "interval_s": list(prediction.interval) if prediction.interval else None,
        "parts": [_part(part) for part in prediction.parts],
        "engine": prediction.engine,
        "reason": prediction.reason,
        "notes": list(prediction.notes),
    }


def _part(part: Part) -> PartRow:
    return {
        "sweep": part.sweep,
        "kind": part.kind,
        "seconds": part.seconds,
        "extrapolated": part.extrapolated,
        "kernel": part.kernel,
        "count": part.count,
    }


class VariantRow(TypedDict):
    """A legal candidate."""

    candidate: str
    problem: str
    variant: str
    parameters: dict[str, Plain]
    features: dict[str, int] | None
    """Of a stencil: the modelling vector I, J, K, bi, bj, bk, u, t; null for others."""
    nodes: int
    ranks: int
    """On all nodes together."""
    threads: int
    """Of each rank."""
    communication: str
    """none, allgather, neighbour or sparse."""
    compiler: str
    flags: list[str]


class IllegalRow(TypedDict):
    """A combination that was left out."""

    variant: str
    problem: str
    reason: str


class VariantsDocument(TypedDict):
    """``autotune variants --json``."""

    schema: str
    study: str
    variants: list[VariantRow]
    illegal: list[IllegalRow] | None
    """Null unless they were asked for."""


def variants(setup: Setup, enumerated: EnumeratedSpace, *, illegal: bool) -> VariantsDocument:
    """The candidates of a setup, and what was left out, if asked for."""
    return {
        "schema": "autotune.variants/1",
        "study": setup.name,
        "variants": [
            {
                "candidate": c.id,
                "problem": c.problem.label,
                "variant": c.variant.label,
                "parameters": dict(c.variant.parameters),
                "features": _features(c),
                "nodes": c.nodes,
                "ranks": c.ranks,
                "threads": c.threads,
                "communication": c.communication,
                "compiler": c.build.compiler,
                "flags": list(c.build.flags),
            }
            for c in enumerated.legal
        ],
        "illegal": [
            {"variant": label, "problem": problem.label, "reason": reason}
            for label, problem, reason in enumerated.illegal
        ]
        if illegal
        else None,
    }
