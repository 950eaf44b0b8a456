"""The performance model normal form as a model: Extra-P's formula, with intervals and warnings.

    T = sum over k of c_k * product over parameters of p^i log2(p)^j

The formula is Extra-P's, digit by digit (mean of the repetitions, raw target). Added to it are an
interval that spans all models that fit the points about as well, and a note for each row beyond the
points seen in training.
"""

from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import Fault, InputError
from autotune.learning.models.base import Explanation, Floats, Forecast, ModelTerm
from autotune.learning.models.encode import Encoder
from autotune.learning.models.terms import CONSTANT, Product, Sum, formula, show, text
from autotune.learning.pmnf.goodness_of_fit import GoodnessOfFit
from autotune.learning.pmnf.one_parameter import EXPONENTS, Exponents, Single, search
from autotune.learning.pmnf.rival_models import Rivals, rivals
from autotune.learning.pmnf.several_parameters import Combined, combine, design, line

LEAST = 5
"""Points along a parameter, as Extra-P asks for."""
MOST = 3
"""Parameters."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedPmnf:
    """A fitted model in performance model normal form, with rival models that fit about as well."""

    names: tuple[str, ...]
    """The parameters that vary."""
    chosen: Combined
    rivals: Rivals
    encoder: Encoder
    quantity: str
    contributions: dict[Product, float]
    """The share of the variation that each term makes."""

    @property
    def figures(self) -> GoodnessOfFit:
        """SMAPE, RSS and the other measures of fit that Extra-P prints.

        They are of leave-one-out predictions for one parameter, and of the fit for several.
        """
        return self.chosen.figures

    @property
    def terms(self) -> Sum:
        """The coefficient of each term, the constant first."""
        products = [
            CONSTANT,
            *(_product(form, self.chosen, self.names) for form in self.chosen.form),
        ]
        return dict(zip(products, self.chosen.coefficients, strict=True))

    @property
    def formula(self) -> str:
        """The formula as text: ``time = 1.3742 + 6.6981 * log2(y)``."""
        return f"{self.quantity} = {formula(self.terms)}"

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:
        """The median and the interval of each row.

        Where the model falls to 0 or below, the median is nan and a note says so. Beyond the range
        of the training points, the interval is valid only if the true growth is one of the family
        of models.
        """
        if not 0 < level < 1:
            fault = Fault(where="level", found=str(level), expected="a share between 0 and 1")
            raise InputError(fault)
        points = np.column_stack([inputs.numbers(name) for name in self.names])
        usable = (points > 0).all(axis=1)
        median = np.full(len(inputs), np.nan)
        low, high = np.zeros(len(inputs)), np.full(len(inputs), np.inf)
        if usable.any():
            some = points[usable]
            matrix = design(self.chosen.form, self.chosen.exponents, some)
            value = matrix @ np.array(self.chosen.coefficients)
            median[usable] = np.where(value > 0, value, np.nan)
            low[usable], high[usable] = self.rivals.interval(some, level)
        low, high = np.fmin(low, median), np.fmax(high, median)
        low, high = np.where(np.isnan(median), 0.0, low), np.where(np.isnan(median), np.inf, high)
        outside = self.encoder.outside(inputs)
        notes = self._warnings(points, outside & usable, level)
        if np.isnan(median).any():
            count = int(np.isnan(median).sum())
            notes.append(f"the model is not above 0 in {count} rows: nothing is said of them")
        return Forecast(median=median, low=low, high=high, outside=outside, notes=tuple(notes))

    def explain(self) -> Explanation:
        """The terms by their share of the variation; a note says how many other models
        fit as well.
        """
        terms = [
            ModelTerm(text=text(p), coefficient=c, influence=self.contributions.get(p, 0.0))
            for p, c in self.terms.items()
        ]
        others = len(self.rivals.plausible(0.9)) - 1
        notes = [f"{name} did not vary in training" for name in self.encoder.constant]
        if others > 0:
            notes.append(f"{others} other models fit about as well (90 %)")
        return Explanation.of(terms, notes)

    def _warnings(self, points: Floats, outside: np.ndarray, level: float) -> list[str]:
        """One sentence for each parameter on how far the farthest row lies beyond the range seen in
        training.
        """
        notes = []
        spans = {name: (low, high) for name, low, high in self.encoder.ranges}
        for place, name in enumerate(self.names):
            low, high = spans[name]
            values = np.maximum(points[:, place], np.finfo(float).tiny)
            with np.errstate(over="ignore"):  # of values next to 0
                factors = np.maximum(values / high, low / values)
            beyond = np.flatnonzero(outside & (factors > 1))
            if not len(beyond):
                continue
            far = beyond[np.argmax(factors[beyond])]
            least, most = self.rivals.values(points[[far]], level)
            count = len(self.rivals.plausible(level))
            value, factor = show(float(values[far])), show(float(factors[far]), 3)
            notes.append(
                f"{name} = {value} is {factor} times beyond the points seen ({show(low)} to"
                f" {show(high)}): {count} models that fit them about as well say"
                f" {show(float(least[0]), 3)} to {show(float(most[0]), 3)} there"
            )
        return notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Pmnf:
    """Extra-P's search for a model in performance model normal form; see the modules pmnf_model,
    one_parameter and several_parameters.

    ``constant_left_out``: judge the constant by its leave-one-out error like the other models,
    which Extra-P does not.
    """

    name: str = "pmnf"
    extrapolates: bool = True
    exponents: tuple[Exponents, ...] = EXPONENTS
    constant_left_out: bool = False

    def fit(self, table: MeasurementTable, seed: int = 0) -> FittedPmnf:  # noqa: ARG002
        """Fit to a table, without randomness.

        Raises InputError for categories, for no or more than three parameters that vary, for values
        that are not positive, and for fewer than five points along a parameter.
        """
        encoder = Encoder.fit(table.inputs)
        names = _names(table, encoder)
        points, values, noise = _means(table, names)
        axes = [line(points, values, place) for place in range(len(names))]
        for name, (coordinates, _) in zip(names, axes, strict=True):
            if len(coordinates) < LEAST:
                expected = f"at least {LEAST}, all other parameters being equal"
                raise _fault(table, f"{len(coordinates)} points along {name}", expected)
        singles = tuple(
            search(at, mean, self.exponents, constant_left_out=self.constant_left_out)
            for at, mean in axes
        )
        chosen = _combined_of(singles[0]) if len(names) == 1 else combine(points, values, singles)
        return FittedPmnf(
            names=names,
            chosen=chosen,
            rivals=rivals(points, values, chosen, noise),
            encoder=encoder,
            quantity=table.quantity,
            contributions=_contributions(chosen, names, points),
        )


def _combined_of(single: Single) -> Combined:
    """The model of one parameter in the form of a model of several."""
    if single.exponents is None:
        return Combined(
            form=(), exponents=(None,), coefficients=(single.constant,), figures=single.figures
        )
    return Combined(
        form=((0,),),
        exponents=(single.exponents,),
        coefficients=(single.constant, single.slope),
        figures=single.figures,
    )


def _names(table: MeasurementTable, encoder: Encoder) -> tuple[str, ...]:
    """The names of the parameters that vary; InputError where their values do not allow
    the search.
    """
    varying = [p for p in table.parameters if p.name not in encoder.constant]
    texts = [p.name for p in varying if not p.numeric]
    if texts:
        raise _fault(table, f"{texts[0]} is categorical", "numeric parameters only")
    if not 1 <= len(varying) <= MOST:
        raise _fault(table, f"{len(varying)} parameters vary", f"one to {MOST}")
    for parameter in varying:
        if table.inputs.numbers(parameter.name).min() <= 0:
            raise _fault(table, f"{parameter.name} is not always positive", "values above 0")
    return tuple(parameter.name for parameter in varying)


def _fault(table: MeasurementTable, found: str, expected: str) -> InputError:
    hint = "a performance model normal form is about how a time grows with a few numbers"
    return InputError(
        Fault(where=table.source or table.name, found=found, expected=expected, hint=hint)
    )


def _means(table: MeasurementTable, names: tuple[str, ...]) -> tuple[Floats, Floats, float]:
    """The distinct points, the mean of all repetitions at each point, and the relative variance of
    such a mean.

    The variance is 0 where no point was repeated.
    """
    columns = np.column_stack([table.inputs.numbers(name) for name in names])
    gathered: dict[tuple[float, ...], list[float]] = {}
    for point, repetitions in zip(columns.tolist(), table.repetitions, strict=True):
        gathered.setdefault(tuple(point), []).extend(repetitions)
    values = np.array([np.mean(repeated) for repeated in gathered.values()])
    variances = [
        float(np.var(repeated, ddof=1)) / len(repeated) / float(np.mean(repeated)) ** 2
        for repeated in gathered.values()
        if len(repeated) > 1
    ]
    return np.array(list(gathered)), values, float(np.mean(variances)) if variances else 0.0


def _product(factors: tuple[int, ...], chosen: Combined, names: tuple[str, ...]) -> Product:
    pairs = ((names[place], chosen.exponents[place]) for place in factors)
    return frozenset(f for name, pair in pairs if pair is not None for f in pair.factors(name))


def _contributions(
    chosen: Combined, names: tuple[str, ...], points: Floats
) -> dict[Product, float]:
    """The share of each term: its covariance with the model over the variance of the model; 0 where
    negative.
    """
    parts = design(chosen.form, chosen.exponents, points) * np.array(chosen.coefficients)
    centred = parts - parts.mean(axis=0)
    total = centred.sum(axis=1)
    variance = float(total @ total)
    shares = np.clip(centred.T @ total / variance, 0.0, 1.0) if variance else np.zeros(len(parts.T))
    products = [_product(factors, chosen, names) for factors in chosen.form]
    return dict(zip(products, shares[1:].tolist(), strict=True))
