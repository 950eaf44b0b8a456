"""The documents of ``autotune learn compare`` and ``autotune evaluate``: models compared."""

from typing import TypedDict

from autotune.domain.tables.parameter import Value
from autotune.learning.comparison.learning_curves import CurveTable, Kind, Measure, Spread
from autotune.learning.comparison.model_comparison import Comparison, Match
from autotune.learning.comparison.model_evaluation import Evaluation
from autotune.learning.comparison.payoff import Payoff, earliest, payoff
from autotune.learning.comparison.syntactic_score import SyntacticScore
from autotune.learning.models.base import Explanation


class SpreadRow(TypedDict):
    """Over the trials that have a value."""

    median: float | None
    """null: infinite."""
    low: float | None
    """The lower quartile."""
    high: float | None
    mean: float | None
    trials: int


class PointRow(TypedDict):
    """One model, trained on so many rows. Errors are shares; null: no trial has a value."""

    model: str
    kind: str
    """analytical: an engine; learned: from measurements alone; hybrid: from both."""
    size: int
    group: Value | None
    """The value left out; null: over all of them, or none was."""
    error_rate: SpreadRow | None
    """Kaltenecker's name for the mean absolute percentage error (MAPE)."""
    mdape: SpreadRow | None
    """Median absolute percentage error."""
    tau_b: SpreadRow | None
    top_loss: dict[str, SpreadRow | None]
    """By k: how much slower the fastest of the k predicted best is than the fastest."""
    coverage: SpreadRow | None
    """The share of rows within their interval."""
    half_width: SpreadRow | None
    answered: SpreadRow | None
    """The share of rows that the model says something of."""
    outside: SpreadRow | None
    """The share of rows outside the training box, where no interval is warranted."""
    fit_s: float | None
    """Seconds of a fit."""


class FailureRow(TypedDict):
    """A model that could not be fitted."""

    model: str
    reason: str
    sizes: list[int]


class GainRow(TypedDict):
    """How much lower error or loss is than that of the analytical model, paired over the splits."""

    size: int
    value: float
    """Median of the splits for the error rate, mean for a loss; positive is better."""
    interval: list[float] | None
    """Bootstrap over the splits (the values left out) at ``level``; null for fewer than five."""
    splits: int


class PayoffRow(TypedDict):
    """From which training size a model is better, there and at all larger ones; null: at none."""

    model: str
    against: str
    seems: int | None
    """By the gain itself."""
    sure: int | None
    """And with the whole interval above zero there."""
    gains: list[GainRow]


class PaysRow(TypedDict):
    """From which training size a model beats an analytical one; null: at none."""

    model: str
    against: str
    error_rate: int | None
    top_loss: dict[str, int | None]
    error: PayoffRow
    loss: dict[str, PayoffRow]
    """By k."""


class FirstRow(TypedDict):
    """The first model of a kind that beats the best analytical one."""

    kind: str
    """learned or hybrid."""
    measure: str
    """error_rate, or top_3_loss for k = 3."""
    first: PayoffRow
    up_to: int
    """The largest size that was tried: null in ``first`` is never up to it."""


class FloorRow(TypedDict):
    """What half of the repetitions scores on the other half: the noise floor."""

    error_rate: SpreadRow | None
    mdape: SpreadRow | None
    top_loss: dict[str, SpreadRow | None]


class CurveRow(TypedDict):
    """Learning curves over repeated, seeded, paired splits."""

    models: list[str]
    sizes: list[int]
    repeats: int
    seed: int
    drawing: str
    """How training rows were chosen: random, sobol, d-optimal."""
    leave_out: str | None
    """The parameter of which each value in turn is scored on and never learned from."""
    level: float
    points: list[PointRow]
    failures: list[FailureRow]
    pays: list[PaysRow]
    first: list[FirstRow]
    """Where learning starts to pay."""
    floor: FloorRow | None
    """null: nothing was measured twice."""
    interrupted: bool


class SemanticsRow(TypedDict):
    """The semantic measures of a model relative to a reference over the same rows."""

    model: str
    reference: str
    """``measured``, or a model."""
    rows: int
    unit: str
    error_rate: float
    mdape: float
    cosine: float | None
    jaccard: float | None
    manhattan: float
    euclidean: float
    minkowski_3: float
    chebyshev: float
    tau_b: float | None


class TermRow(TypedDict):
    """What one term of the union of two models scores."""

    term: str
    group: list[str]
    side: str
    """both, analytical, empirical"""
    score: float


class SyntacticRow(TypedDict):
    """The syntactic score of a learned formula against the analytical one."""

    model: str
    published: float
    normalised: float
    terms: list[TermRow]


class InfluenceRow(TypedDict):
    """A term of a learned model."""

    text: str
    coefficient: float | None
    influence: float


class LearnedRow(TypedDict):
    """What a model learned from the largest training set."""

    model: str
    formula: str | None
    terms: list[InfluenceRow]
    notes: list[str]


class CompareDocument(TypedDict):
    """Models compared over one table."""

    schema: str
    """autotune.learn.compare/1"""
    table: str
    source: str
    rows: int
    quantity: str
    unit: str
    convention: str
    """Of the distances: textbook, kaltenecker."""
    curve: CurveRow
    trained: int
    """Rows that the models of ``semantic``, ``syntactic`` and ``learned`` were fitted to."""
    semantic: list[SemanticsRow]
    analytical_formula: str | None
    syntactic: list[SyntacticRow]
    learned: list[LearnedRow]
    notes: list[str]
    treated: list[str]


class EvaluateDocument(TypedDict):
    """Models compared over the candidates of a study."""

    schema: str
    """autotune.evaluate/1"""
    study: str
    rows: int
    random: int
    """Candidates measured at random: only these are scored on."""
    engines: list[str]
    parameters: list[str]
    """What candidates differ in, and ``--leave-out`` may name."""
    problems: list[str]
    """Rankings and losses are those within a problem."""
    measured: int
    """Candidates that this command measured."""
    curve: CurveRow
    notes: list[str]


def comparison(found: Comparison) -> CompareDocument:
    """The document of a comparison."""
    formula = found.request.formula
    return CompareDocument(
        schema="autotune.learn.compare/1",
        table=found.table.name,
        source=found.table.source,
        rows=len(found.table),
        quantity=found.table.quantity,
        unit=found.table.unit,
        convention=found.request.convention,
        curve=curve(found.curve),
        trained=found.trained,
        semantic=[_semantics(match) for match in found.matches],
        analytical_formula=None if formula is None else str(formula),
        syntactic=[_syntactic(name, score) for name, score in found.syntactic],
        learned=[
            LearnedRow(
                model=one.model,
                formula=one.formula,
                terms=influences(one.explanation),
                notes=list(one.explanation.notes),
            )
            for one in found.learned
        ],
        notes=list(found.notes),
        treated=list(found.table.treated),
    )


def evaluation(found: Evaluation, measured: int = 0) -> EvaluateDocument:
    """The document of an evaluation; ``measured``: candidates that were measured for it."""
    return EvaluateDocument(
        schema="autotune.evaluate/1",
        study=found.study,
        rows=found.rows,
        random=found.random,
        engines=list(found.engines),
        parameters=list(found.parameters),
        problems=list(found.problems),
        measured=measured,
        curve=curve(found.curve),
        notes=list(found.notes),
    )


def curve(found: CurveTable) -> CurveRow:
    """Learning curves, and where the other models beat the analytical ones."""
    rivals = found.of_kind("analytical")
    groups: tuple[Value | None, ...] = (None, *found.groups)
    return CurveRow(
        models=list(found.models),
        sizes=list(found.course.sizes),
        repeats=found.course.repeats,
        seed=found.course.seed,
        drawing=found.course.drawing,
        leave_out=found.course.leave_out or None,
        level=found.level,
        points=[
            _point(found, model, size, group)
            for group in groups
            for model in found.models
            for size in found.course.sizes
        ],
        failures=[
            FailureRow(model=model, reason=reason, sizes=list(sizes))
            for (model, reason), sizes in found.failures().items()
        ],
        pays=[
            _pays(found, model, rival)
            for rival in rivals
            for model in found.models
            if model not in rivals
        ],
        first=_first(found),
        floor=_floor(found),
        interrupted=found.interrupted,
    )


def _pays(found: CurveTable, model: str, rival: str) -> PaysRow:
    error = payoff(found, model, rival)
    losses = {str(k): payoff(found, model, rival, k) for k in found.tops}
    return PaysRow(
        model=model,
        against=rival,
        error_rate=error.seems,
        top_loss={k: one.seems for k, one in losses.items()},
        error=_payoff(error),
        loss={k: _payoff(one) for k, one in losses.items()},
    )


def _payoff(one: Payoff) -> PayoffRow:
    return PayoffRow(
        model=one.model,
        against=one.against,
        seems=one.seems,
        sure=one.sure,
        gains=[
            GainRow(
                size=gain.size,
                value=gain.value,
                interval=None if gain.low is None or gain.high is None else [gain.low, gain.high],
                splits=gain.splits,
            )
            for gain in one.gains
        ],
    )


def _first(found: CurveTable) -> list[FirstRow]:
    rows = []
    kinds: tuple[Kind, ...] = ("learned", "hybrid")
    for k in (None, *found.tops):
        for kind in kinds:
            first = earliest(found, kind, k)
            if first is not None:
                measure = "error_rate" if k is None else f"top_{k}_loss"
                rows.append(
                    FirstRow(
                        kind=kind, measure=measure, first=_payoff(first), up_to=first.sizes[-1]
                    )
                )
    return rows


def _floor(found: CurveTable) -> FloorRow | None:
    if not found.floor:
        return None
    return FloorRow(
        error_rate=_spread(found.floor_point("error_rate")),
        mdape=_spread(found.floor_point("mdape")),
        top_loss={str(k): _spread(found.floor_loss(k)) for k in found.tops},
    )


def _point(found: CurveTable, model: str, size: int, group: Value | None) -> PointRow:
    def of(measure: Measure) -> SpreadRow | None:
        return _spread(found.point(model, size, measure, group))

    return PointRow(
        model=model,
        kind=found.kind(model),
        size=size,
        group=group,
        error_rate=of("error_rate"),
        mdape=of("mdape"),
        tau_b=of("tau_b"),
        top_loss={str(k): _spread(found.top_loss(model, size, k, group)) for k in found.tops},
        coverage=of("coverage"),
        half_width=of("half_width"),
        answered=of("answered"),
        outside=of("outside"),
        fit_s=found.fit_seconds(model, size),
    )


def _spread(found: Spread | None) -> SpreadRow | None:
    if found is None:
        return None
    return SpreadRow(
        median=found.median,
        low=found.low,
        high=found.high,
        mean=found.mean,
        trials=found.trials,
    )


def influences(found: Explanation) -> list[InfluenceRow]:
    """The terms of a model, the largest influence first."""
    return [
        InfluenceRow(text=t.text, coefficient=t.coefficient, influence=t.influence)
        for t in found.terms
    ]


def _semantics(match: Match) -> SemanticsRow:
    s = match.semantics
    return SemanticsRow(
        model=match.model,
        reference=s.reference,
        rows=s.n,
        unit=s.unit,
        error_rate=s.error_rate,
        mdape=s.mdape,
        cosine=s.cosine,
        jaccard=s.jaccard,
        manhattan=s.manhattan,
        euclidean=s.euclidean,
        minkowski_3=s.minkowski_3,
        chebyshev=s.chebyshev,
        tau_b=s.tau_b,
    )


def _syntactic(name: str, found: SyntacticScore) -> SyntacticRow:
    return SyntacticRow(
        model=name,
        published=found.published,
        normalised=found.normalised,
        terms=[
            TermRow(term=t.term, group=list(t.group), side=t.side, score=t.score)
            for t in found.terms
        ],
    )
