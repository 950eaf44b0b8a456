"""The documents of ``autotune learn compare`` and ``autotune evaluate``: models compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from autotune.commands.learn.document import TableSource
from autotune.domain.tables.parameter import Value
from autotune.learning.comparison.learning_curves import CurveTable, Kind, Measure, ScoreSpread
from autotune.learning.comparison.measures import Convention
from autotune.learning.comparison.model_comparison import Learned, Match, ModelComparison
from autotune.learning.comparison.model_evaluation import EvaluatedStudy, ModelEvaluation
from autotune.learning.comparison.payoff import Payoff, earliest, payoff
from autotune.learning.comparison.splits import SplitPlan
from autotune.learning.comparison.syntactic_score import SyntacticScore

MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedScore:
    """The scores of one model trained on a number of rows.

    Errors are shares; null means that no trial has a value.
    """

    model: str
    kind: Kind
    """analytical: an engine; learned: from measurements alone; hybrid: from both."""
    size: int
    group: Value | None
    """The value left out; null: over all of them, or none was."""
    measures: Mapping[Measure, ScoreSpread | None]
    """error_rate: mean absolute percentage error; mdape: its median; tau_b; coverage: the share of
    rows within their interval; half_width of it; answered: the share of rows that the model says
    something of; outside: that of rows outside the training box, where no interval is warranted."""
    top_loss: Mapping[int, ScoreSpread | None]
    """By k: how much slower the fastest of the k predicted best is than the fastest."""
    fit_s: float | None
    """Seconds of a fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFits:
    """A model that could not be fitted."""

    model: str
    reason: str
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPayoff:
    """The training size from which on a model beats an analytical one."""

    model: str
    against: str
    error: Payoff
    loss: Mapping[int, Payoff]
    """By k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPayoff:
    """The first model of a kind that beats the best analytical model."""

    kind: Kind
    """learned or hybrid."""
    measure: str
    """error_rate, or top_3_loss for k = 3."""
    first: Payoff
    up_to: int
    """The largest size that was tried: null in ``first`` is never up to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedMeasurement:
    """The score of one half of the repetitions as a prediction of the other: the noise floor."""

    error_rate: ScoreSpread | None
    mdape: ScoreSpread | None
    top_loss: Mapping[int, ScoreSpread | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCurves:
    """Learning curves over repeated, seeded splits that are the same for all models."""

    models: tuple[str, ...]
    split_plan: SplitPlan
    level: float
    points: tuple[TrainedScore, ...]
    failures: tuple[FailedFits, ...]
    pays: tuple[ModelPayoff, ...]
    first: tuple[FirstPayoff, ...]
    """Where learning starts to pay."""
    floor: RepeatedMeasurement | None
    """null: nothing was measured twice."""
    interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaScore:
    """The syntactic score of a learned formula against the analytical one."""

    model: str
    score: SyntacticScore


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparisonDocument:
    """``autotune learn compare --json``: models compared over one table."""

    schema: Literal["autotune.learn.compare/1"] = "autotune.learn.compare/1"
    data: TableSource
    convention: Convention
    """Of the distances: textbook, kaltenecker."""
    curves: LearningCurves
    trained: int
    """Rows that the models of ``semantic``, ``syntactic`` and ``learned`` were fitted to."""
    semantic: tuple[Match, ...]
    analytical_formula: str | None
    syntactic: tuple[FormulaScore, ...]
    learned: tuple[Learned, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateDocument:
    """``autotune evaluate --json``: models compared over the candidates of a study."""

    schema: Literal["autotune.evaluate/1"] = "autotune.evaluate/1"
    study: EvaluatedStudy
    measured: int
    """Candidates that this command measured."""
    curves: LearningCurves
    notes: tuple[str, ...]


def comparison(compared: ModelComparison) -> ModelComparisonDocument:
    """The document of a comparison."""
    formula = compared.request.formula
    return ModelComparisonDocument(
        data=TableSource.of(compared.table),
        convention=compared.request.convention,
        curves=learning_curves(compared.curve),
        trained=compared.trained,
        semantic=compared.matches,
        analytical_formula=None if formula is None else str(formula),
        syntactic=tuple(FormulaScore(model=m, score=score) for m, score in compared.syntactic),
        learned=compared.learned,
        notes=compared.notes,
    )


def evaluation(evaluated: ModelEvaluation, measured: int = 0) -> EvaluateDocument:
    """The document of an evaluation; ``measured``: how many candidates were measured for it."""
    return EvaluateDocument(
        study=evaluated.study,
        measured=measured,
        curves=learning_curves(evaluated.curve),
        notes=evaluated.notes,
    )


def learning_curves(curve: CurveTable) -> LearningCurves:
    """The part of a document with learning curves and the sizes at which models beat engines."""
    rivals = curve.of_kind("analytical")
    groups: tuple[Value | None, ...] = (None, *curve.groups)
    return LearningCurves(
        models=curve.models,
        split_plan=curve.split_plan,
        level=curve.level,
        points=tuple(
            _point(curve, model, size, group)
            for group in groups
            for model in curve.models
            for size in curve.split_plan.sizes
        ),
        failures=tuple(
            FailedFits(model=model, reason=reason, sizes=sizes)
            for (model, reason), sizes in curve.failures().items()
        ),
        pays=tuple(
            _pays(curve, model, rival)
            for rival in rivals
            for model in curve.models
            if model not in rivals
        ),
        first=_first(curve),
        floor=_floor(curve),
        interrupted=curve.interrupted,
    )


def _pays(curve: CurveTable, model: str, rival: str) -> ModelPayoff:
    return ModelPayoff(
        model=model,
        against=rival,
        error=payoff(curve, model, rival),
        loss={k: payoff(curve, model, rival, k) for k in curve.tops},
    )


def _first(curve: CurveTable) -> tuple[FirstPayoff, ...]:
    kinds: tuple[Kind, ...] = ("learned", "hybrid")
    return tuple(
        FirstPayoff(
            kind=kind,
            measure="error_rate" if k is None else f"top_{k}_loss",
            first=first,
            up_to=curve.split_plan.sizes[-1],
        )
        for k in (None, *curve.tops)
        for kind in kinds
        if (first := earliest(curve, kind, k)) is not None
    )


def _floor(curve: CurveTable) -> RepeatedMeasurement | None:
    if not curve.floor:
        return None
    return RepeatedMeasurement(
        error_rate=curve.floor_point("error_rate"),
        mdape=curve.floor_point("mdape"),
        top_loss={k: curve.floor_loss(k) for k in curve.tops},
    )


def _point(curve: CurveTable, model: str, size: int, group: Value | None) -> TrainedScore:
    return TrainedScore(
        model=model,
        kind=curve.kind(model),
        size=size,
        group=group,
        measures={measure: curve.point(model, size, measure, group) for measure in MEASURES},
        top_loss={k: curve.top_loss(model, size, k, group) for k in curve.tops},
        fit_s=curve.fit_seconds(model, size),
    )
