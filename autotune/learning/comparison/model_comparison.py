"""Compares models with measurements, with the analytical model, and as formulas.

    learning curve   every model, by how many rows it has seen                    ``curves``
    semantic         predictions of a model fitted to the largest training set    ``measures``
    syntactic        terms of learned formulas against those of an analytical one ``syntactic``

Two strategies of Kaltenecker (2016, chapter 4), semantic and syntactic, with his convention of the
distances on request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError, unknown_name
from autotune.learning.comparison.curve_fits import ComparedModel, Scoring, learning_curve
from autotune.learning.comparison.learning_curves import CurveTable, Kind
from autotune.learning.comparison.measures import Convention, Semantics, semantics
from autotune.learning.comparison.noise_floor import halves_of
from autotune.learning.comparison.splits import SplitPlan, TrainTestSplit
from autotune.learning.comparison.syntactic_score import SyntacticScore, score
from autotune.learning.formulas.base import Formula
from autotune.learning.influence.influence_model import InfluencePredictor
from autotune.learning.models import catalogue
from autotune.learning.models.analytical_model import Untrained
from autotune.learning.models.base import Explanation, Fitted, Floats, Forecast
from autotune.learning.models.conformal import Calibrated
from autotune.learning.models.formula_predictions import terms_of
from autotune.learning.models.hybrid import analytical
from autotune.learning.models.parts import ByPart
from autotune.learning.models.terms import Sum
from autotune.learning.pmnf.pmnf_model import FittedPmnf
from autotune.progress import Progress

ANALYTICAL = "analytical"
MEASURED = "measured"
LEARNED_POOL = "pool-learned"
"""The pool without an analytical model, where there is one."""
NAMES = (ANALYTICAL, *catalogue.MODELS, LEARNED_POOL)
"""What contenders are called."""
_ALWAYS = ("pool", "influence", "ridge", "trees", "gp")
_HYBRID = ("am-scaled", "am-feature-log", "am-residual-gp")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest:
    """The settings of a comparison of models.

    ``formula``: an analytical formula whose terms are compared with those of learned formulas.
    ``constant``: whether constant terms count in that comparison.
    """

    split_plan: SplitPlan
    scoring: Scoring = field(default_factory=Scoring)
    convention: Convention = "textbook"
    formula: Formula | None = None
    constant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The semantic measures of one model, relative to a reference over the same rows."""

    model: str
    semantics: Semantics


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The formula and the explanation of a model fitted to the largest training set."""

    model: str
    formula: str | None
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelComparison:
    """The result of comparing models over one table."""

    table: MeasurementTable
    request: ComparisonRequest
    curve: CurveTable
    trained: int
    """Rows that the models of ``matches`` and ``learned`` were fitted to."""
    matches: tuple[Match, ...]
    """Against what was measured on rows not learned from; then, where there is one, the analytical
    model relative to each learned one over all rows, as in Kaltenecker's Table 4.1."""
    syntactic: tuple[tuple[str, SyntacticScore], ...] = ()
    learned: tuple[Learned, ...] = ()
    notes: tuple[str, ...] = ()


def default_models(table: MeasurementTable, formula: Formula | None = None) -> tuple[str, ...]:
    """The names of the models that are compared by default.

    They are pool, influence, ridge, trees and gp, and pmnf for tables of one to three numeric
    parameters. A table with analytical predictions adds the analytical model, the pool without it,
    and hybrid models. A formula adds influence-raw, a sum of terms to compare with it.
    """
    varying = [p for p in table.parameters if p.numeric]
    few = len(varying) == len(table.parameters) <= 3
    names = [*_ALWAYS, *(["pmnf"] if few else [])]
    if formula is not None:
        names.append("influence-raw")
    if has_analytical(table):
        names = [ANALYTICAL, names[0], LEARNED_POOL, *names[1:], *_HYBRID]
    return tuple(names)


def has_analytical(table: MeasurementTable) -> bool:
    """Whether the table has a positive analytical prediction for at least one row."""
    return bool(np.isfinite(analytical(table.inputs)).any())


def contenders(table: MeasurementTable, names: Sequence[str]) -> tuple[ComparedModel, ...]:
    """The models of these names, with the table each is fitted to; ``analytical`` is a valid name.

    Raises InputError for unknown names, and for models that need analytical predictions where the
    table has none.
    """
    compared = []
    for name in dict.fromkeys(names):
        if name not in NAMES:
            raise InputError(unknown_name("models", "model", name, NAMES))
        if (name == ANALYTICAL or catalogue.analytical(name)) and not has_analytical(table):
            raise InputError(
                Fault(
                    where="models",
                    found=f"{name}, of a table without an analytical model",
                    expected="predictions beside the rows",
                    hint="a column predicted_s, --analytical COLUMN, or --formula NAME",
                )
            )
        compared.append(_contender(table, name))
    return tuple(compared)


def by_part(
    table: MeasurementTable, parts: Mapping[str, MeasurementTable], names: Sequence[str]
) -> tuple[ComparedModel, ...]:
    """Models that fit each part of the program separately and sum the forecasts, one for each
    learned model in ``names``.

    ``table``: the whole program. Raises InputError where none of the models can be fitted by part.
    """
    bare = replace(table, inputs=replace(table.inputs, analytical=None))
    summed = [n for n in names if n in catalogue.CALIBRATING and not catalogue.analytical(n)]
    if not summed:
        found = f"by part: {', '.join(names)}"
        expected = "a learned model with held-out rows, such as pool or ridge"
        raise InputError(Fault(where="models", found=found, expected=expected))
    made = [ByPart(parts=parts, model=catalogue.CALIBRATING[name]()) for name in summed]
    return tuple(ComparedModel(name=model.name, model=model, table=bare) for model in made)


def _contender(table: MeasurementTable, name: str) -> ComparedModel:
    if name == ANALYTICAL:
        return ComparedModel(name=name, model=Untrained(), table=table, kind="analytical")
    if name == LEARNED_POOL:
        bare = replace(table, inputs=replace(table.inputs, analytical=None))
        return ComparedModel(name=name, model=catalogue.model(catalogue.DEFAULT), table=bare)
    both = catalogue.analytical(name) or (name == catalogue.DEFAULT and has_analytical(table))
    kind: Kind = "hybrid" if both else "learned"
    return ComparedModel(name=name, model=catalogue.model(name), table=table, kind=kind)


def compare(
    entered: Sequence[ComparedModel], request: ComparisonRequest, progress: Progress | None = None
) -> ModelComparison:
    """Compare all models over the table that they share; InputError where it has too few rows.

    Where the request has no repeated measurements, those in the table are used for the noise floor.
    """
    table = entered[0].table
    scoring = request.scoring
    if scoring.halves is None:
        scoring = replace(scoring, halves=halves_of(table))
    curve = learning_curve(entered, request.split_plan, scoring, progress)
    size = request.split_plan.sizes[-1]
    splits = request.split_plan.splits(table, scoring.eligible, scoring.problems)
    split = next(s for s in splits if s.size == size)
    notes: list[str] = []
    fits = _fits(entered, split, request.split_plan.seed, notes)
    matches = [
        match
        for name, fitted in fits.items()
        if (match := _against_measured(name, fitted, table.take(split.test), request.convention))
    ]
    guess = analytical(table.inputs)
    if np.isfinite(guess).any():
        matches += _against_learned(fits, table, guess, request.convention)
    sums = {name: terms for name, fitted in fits.items() if (terms := terms_learned(fitted))}
    return ModelComparison(
        table=table,
        request=request,
        curve=curve,
        trained=size,
        matches=tuple(matches),
        syntactic=_syntactic(sums, request, notes),
        learned=tuple(
            Learned(model=name, formula=fitted.formula, explanation=fitted.explain())
            for name, fitted in fits.items()
            if name != ANALYTICAL
        ),
        notes=tuple(notes),
    )


def _fits(
    entered: Sequence[ComparedModel], split: TrainTestSplit, seed: int, notes: list[str]
) -> dict[str, Fitted]:
    fits: dict[str, Fitted] = {}
    for contender in entered:
        try:
            fits[contender.name] = contender.model.fit(contender.table.take(split.train), seed)
        except InputError as error:
            notes.append(f"{contender.name}: {error}")
    return fits


def _against_measured(
    name: str, fitted: Fitted, test: MeasurementTable, convention: Convention
) -> Match | None:
    forecast: Forecast = fitted.predict(test.inputs)
    predicted = np.isfinite(forecast.median)
    if not predicted.any():
        return None
    similarities = semantics(
        forecast.median[predicted],
        test.response[predicted],
        name=MEASURED,
        unit=test.unit,
        convention=convention,
    )
    return Match(model=name, semantics=similarities)


def _against_learned(
    fits: dict[str, Fitted], table: MeasurementTable, guess: Floats, convention: Convention
) -> list[Match]:
    """The semantic measures of the analytical model relative to each learned model, over all rows
    that both predict.
    """
    rows = []
    for name, fitted in fits.items():
        if name == ANALYTICAL:
            continue
        learned = fitted.predict(table.inputs).median
        both_finite = np.isfinite(learned) & np.isfinite(guess)
        if both_finite.any():
            measured = semantics(
                guess[both_finite],
                learned[both_finite],
                name=name,
                unit=table.unit,
                convention=convention,
            )
            rows.append(Match(model=ANALYTICAL, semantics=measured))
    return rows


def terms_learned(fitted: Fitted) -> Sum | None:
    """The terms of a fitted model that is a sum of terms; None for any other model, such as a
    product.
    """
    if isinstance(fitted, FittedPmnf):
        return fitted.terms
    if isinstance(fitted, Calibrated) and isinstance(fitted.predictor, InfluencePredictor):
        return fitted.predictor.terms if fitted.predictor.target == "raw" else None
    return None


def _syntactic(
    sums: dict[str, Sum], request: ComparisonRequest, notes: list[str]
) -> tuple[tuple[str, SyntacticScore], ...]:
    if request.formula is None:
        return ()
    if not sums:
        notes.append("no model is a sum of terms: influence-raw and pmnf are")
    ours = terms_of(request.formula)
    return tuple((n, score(ours, terms, constant=request.constant)) for n, terms in sums.items())
