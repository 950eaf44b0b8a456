"""Documents of ``variants``, ``predict`` and ``rank``, which run nothing."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from autotune.commands.rank.candidate_formula import CandidateFormula
from autotune.domain.lower_bounds import LowerBound, ranking_bounds
from autotune.domain.machine import Machine
from autotune.domain.machine_best import MachineBest, machine_best
from autotune.domain.ranking import Difference, Ranked, Ranking, differences
from autotune.domain.results import Part
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value
from autotune.models.engines.base import CompiledSweep
from autotune.results.explanation.explained import MeasuredPair, RankingExplanation
from autotune.units import Unbounded
from autotune.workloads.base import MOST_ILLEGAL, EnumeratedSpace, Workload
from autotune.workloads.stencil.planes.blocking import LayerCondition, block_choices


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A legal candidate."""

    candidate: str
    """Id: ``label:identity``."""
    problem: str
    variant: str
    parameters: Mapping[str, Value]
    features: Mapping[str, int] | None
    """Of a stencil: the modelling vector I, J, K, bi, bj, bk, u, t; null for others."""
    layout: ExecutionLayout
    build: Build


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRow(CandidateRow):
    """One candidate, its prediction, and its rank within its problem."""

    predicted_s: float | None
    interval_s: tuple[float, float] | None
    """Low and high."""
    parts: tuple[Part, ...]
    engine: str
    reason: str
    """One line: what the time consists of, or why there is none."""
    notes: tuple[str, ...]
    """Approximations that were made."""
    rank: int | None
    apart: float | None
    """Probability that the first of the problem takes less time, 0.5 being a toss-up; null where
    the engine does not say what it is unsure of."""
    group: int | None
    """Candidates of one group are not told apart from the fastest of it; 1: from the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """Why one candidate is predicted as it is, and how it differs from another."""

    candidate: str
    against: str | None
    engine: str
    words: tuple[str, ...]
    """The same as sentences."""
    measured: MeasuredPair | None
    """Of both; null without another candidate, or where no run compared them."""
    differences: tuple[Difference, ...]
    """Largest first; empty without another candidate."""
    loops: tuple[CompiledSweep, ...]
    """Of the candidate; empty for an engine that compiles none. Their assembly is empty unless it
    was asked for."""
    loops_against: tuple[CompiledSweep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePower:
    """A coefficient, in seconds, times a power of n."""

    coefficient: float
    power: float
    """Of n; 0 is a constant."""
    of: str
    """The part of the time step, and what bounds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaRow:
    """The predictions for a candidate as a formula of n: components or points."""

    candidates: tuple[str, ...]
    """The candidate at each of the sizes, ascending."""
    engine: str
    sizes: tuple[float, ...]
    formula: str
    terms: tuple[SizePower, ...]
    """Near the largest size."""
    between: Unbounded
    """How far it is off between two sizes at most, a share; null for a single size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRow:
    """The layer condition of a stencil in one cache, and whether it holds without blocks."""

    problem: str
    threads: int
    """On a node."""
    holds: bool
    """Without blocks."""
    condition: LayerCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsRow:
    """The lower bounds of the best candidate of a problem, by one engine."""

    problem: str
    engine: str
    candidate: str | None
    """The best one; null where none has a predicted time."""
    bounds: tuple[LowerBound, ...] | None
    """What the core and each level take alone, largest first; null with a ``reason``."""
    least: tuple[LowerBound, ...] | None
    """The least of each over all candidates, largest first; null where a candidate has none."""
    limited_by: str | None
    """Resource of the largest bound."""
    ratio: float | None
    """Predicted time over the largest bound, at least 1."""
    reason: str | None
    """Why there are no bounds."""
    machine: MachineBest | None
    """What the machine could do at best in one pass a step, on the cores of the best candidate;
    null where no candidate has a predicted time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IllegalRow:
    """A combination of settings that is not a legal candidate."""

    variant: str
    problem: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantsDocument:
    """``autotune variants --json``."""

    schema: Literal["autotune.variants/1"] = "autotune.variants/1"
    study: str
    variants: tuple[CandidateRow, ...]
    illegal: tuple[IllegalRow, ...] | None
    """Null unless they were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictDocument:
    """``autotune predict --json``: the predictions in the order of the space, by engine."""

    schema: Literal["autotune.predict/1"] = "autotune.predict/1"
    study: str
    machine: str
    predictions: tuple[PredictedRow, ...]
    formulas: tuple[FormulaRow, ...]
    """Empty unless asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDocument:
    """``autotune rank --json``: the rankings, problem by problem, best first."""

    schema: Literal["autotune.rank/1"] = "autotune.rank/1"
    study: str
    machine: str
    ranking: tuple[PredictedRow, ...]
    blocks: tuple[BlockRow, ...]
    """Layer conditions of the stencils; empty for initial value problems."""
    bounds: tuple[BoundsRow, ...]
    """One per problem and engine."""
    why: Explanations | None
    """The first of ``explanations``; null unless reasons were asked for."""
    explanations: tuple[Explanations, ...]
    """One per problem and engine."""


def variants(workload: Workload, enumerated: EnumeratedSpace, *, illegal: bool) -> VariantsDocument:
    """The document of the candidates of a setup, with illegal combinations if requested."""
    return VariantsDocument(
        study=workload.setup.name,
        variants=tuple(candidate_row(workload, candidate) for candidate in enumerated.legal),
        illegal=tuple(
            IllegalRow(variant=label, problem=problem.label, reason=reason)
            for label, problem, reason in islice(enumerated.illegal, MOST_ILLEGAL)
        )
        if illegal
        else None,
    )


def predict(
    workload: Workload,
    machine: Machine,
    order: Sequence[Candidate],
    rankings: Sequence[Ranking],
    formulas: Sequence[CandidateFormula] = (),
) -> PredictDocument:
    """The document of the predictions in the order of the space, engine by engine."""
    entries = {(r.engine, e.candidate.identity): e for r in rankings for e in r.entries}
    engines = dict.fromkeys(ranking.engine for ranking in rankings)
    return PredictDocument(
        study=workload.setup.name,
        machine=machine.name,
        predictions=tuple(
            predicted_row(workload, entries[engine, candidate.identity])
            for engine in engines
            for candidate in order
        ),
        formulas=tuple(_formula(formula) for formula in formulas),
    )


def rank(
    workload: Workload,
    machine: Machine,
    rankings: Sequence[Ranking],
    explanations: Sequence[RankingExplanation] = (),
    *,
    assembly: bool = False,
) -> RankDocument:
    """The document of the rankings by problem, with ``explanations`` if reasons were requested."""
    explained = tuple(_explained(explanation, assembly=assembly) for explanation in explanations)
    return RankDocument(
        study=workload.setup.name,
        machine=machine.name,
        ranking=tuple(
            predicted_row(workload, entry) for ranking in rankings for entry in ranking.entries
        ),
        blocks=block_rows(rankings, machine),
        bounds=tuple(bounds_row(ranking, machine) for ranking in rankings),
        why=explained[0] if explained else None,
        explanations=explained,
    )


def bounds_row(ranking: Ranking, machine: Machine) -> BoundsRow:
    """The row of a problem: its best candidate beside its lower bounds."""
    best = ranking_bounds(ranking)
    return BoundsRow(
        problem=ranking.problem.label,
        engine=ranking.engine,
        candidate=best.candidate,
        bounds=best.bounds or None,
        least=best.least or None,
        limited_by=best.limit.resource if best.limit else None,
        ratio=best.ratio,
        reason=best.reason or None,
        machine=machine_best(ranking.problem, best.best.candidate.layout, machine)
        if best.best
        else None,
    )


def candidate_row(workload: Workload, candidate: Candidate) -> CandidateRow:
    """The row of a candidate."""
    return CandidateRow(
        candidate=candidate.id,
        problem=candidate.problem.label,
        variant=candidate.variant.label,
        parameters=candidate.variant.parameters,
        features=workload.features(candidate),
        layout=candidate.layout,
        build=candidate.build,
    )


def predicted_row(workload: Workload, entry: Ranked) -> PredictedRow:
    """The row of a candidate with its prediction and rank."""
    row, prediction = candidate_row(workload, entry.candidate), entry.prediction
    return PredictedRow(
        **{field.name: getattr(row, field.name) for field in dataclasses.fields(row)},
        predicted_s=prediction.seconds,
        interval_s=prediction.interval,
        parts=prediction.parts,
        engine=prediction.engine,
        reason=prediction.reason,
        notes=prediction.notes,
        rank=entry.rank,
        apart=entry.apart,
        group=entry.group,
    )


def _explained(explanation: RankingExplanation, *, assembly: bool) -> Explanations:
    chosen, other, beside = explanation.chosen, explanation.other, explanation.explained_other
    return Explanations(
        candidate=chosen.candidate.id,
        against=other.candidate.id if other else None,
        engine=chosen.prediction.engine,
        words=explanation.words,
        measured=explanation.measured,
        differences=tuple(differences(chosen.prediction, other.prediction)) if other else (),
        loops=_loops(explanation.explained.loops, assembly=assembly),
        loops_against=_loops(beside.loops, assembly=assembly) if beside else (),
    )


def _loops(loops: Sequence[CompiledSweep], *, assembly: bool) -> tuple[CompiledSweep, ...]:
    if assembly:
        return tuple(loops)
    replace = dataclasses.replace
    return tuple(
        replace(loop, result=replace(loop.result, assembly="", annotated="")) for loop in loops
    )


def _formula(candidate: CandidateFormula) -> FormulaRow:
    formula = candidate.formula
    return FormulaRow(
        candidates=candidate.candidates,
        engine=formula.engine,
        sizes=formula.sizes,
        formula=str(formula),
        terms=tuple(
            SizePower(
                coefficient=term.coefficient,
                power=sum(factor.power for factor in term.factors),
                of=term.text,
            )
            for term in formula.terms()
        ),
        between=formula.between,
    )


def block_rows(rankings: Sequence[Ranking], machine: Machine) -> tuple[BlockRow, ...]:
    """The rows of all layer conditions; empty for initial value problems."""
    return tuple(
        BlockRow(problem=problem.label, threads=threads, holds=condition.holds, condition=condition)
        for problem, threads, conditions in block_choices(rankings, machine)
        for condition in conditions
    )
