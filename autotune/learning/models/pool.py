"""The pool: several models, weighted by their errors on held-out rows.

    log T = sum w_m log T_m / sum w_m,   w_m = (mean |log(T / T_m)| over held-out rows)^-4

No member is best on all tables. The weighted pool is as good as its best member, within noise, and
a member that fails does not spoil it. Only members that may extrapolate predict a row outside the
training box, and a member without a prediction for a row is left out there. Where a parameter that
was constant in training has another value (such as another size), only the analytical model can
know its effect. There only the members that are in proportion to it predict, if there are any. The
interval comes from the held-out predictions of the members with the same weights, so its width
shows the errors of the pool, not of its members.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.models.base import Bools, Explanation, Floats, Predictor, Regressor
from autotune.learning.models.conformal import Calibrated, Fold, HeldOut, cut, hold_out, one_thread
from autotune.learning.models.effects import total_effects
from autotune.learning.models.encode import Encoder
from autotune.learning.models.hybrid import ResidualModel, ScaledAnalytical, Stacked
from autotune.learning.models.kriging import Kriging
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.trees import Trees

_POWER = 4
_LEAST = 1e-6
"""Errors below this are none."""


def members() -> tuple[Regressor, ...]:
    """The members of the pool; those that need an analytical model are dropped where
    there is none.
    """
    return (
        Ridge(),
        Kriging(name="kriging", trend=True),
        Trees(),
        ScaledAnalytical(),
        Stacked(name="am-feature-ridge", base=Ridge()),
        Stacked(name="am-feature-kriging", base=Kriging(name="kriging", trend=True)),
        Stacked(name="am-feature-log", base=Trees()),
        ResidualModel(name="am-residual-gp", base=Kriging()),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """A trained member of the pool with its predictions of held-out rows."""

    name: str
    predictor: Predictor
    extrapolates: bool
    relative: bool
    """What it says is in proportion to the analytical model."""
    held_out: HeldOut
    error: float
    """Mean |log(T / predicted)| over the held-out rows of which it says something, over the share
    of these; inf where there are none."""

    @property
    def weight(self) -> float:
        """The weight of the member; zero where it predicted no held-out row."""
        return max(self.error, _LEAST) ** -_POWER if np.isfinite(self.error) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolPredictor:
    """Predicts by the weighted mean of the logarithms of the members' predictions."""

    members: tuple[Member, ...]
    encoder: Encoder
    table: MeasurementTable
    notes: tuple[str, ...]

    @property
    def formula(self) -> str | None:
        """The formula of the only member with a weight above zero; None where several have one."""
        heavy = [member for member in self.members if self.weights()[member.name] > 0.99]
        return heavy[0].predictor.formula if heavy else None

    def weights(self) -> dict[str, float]:
        """The weight of each member, with the sum 1; equal weights where no member has held-out
        predictions.
        """
        total = sum(member.weight for member in self.members)
        even = 1 / len(self.members)
        return {m.name: m.weight / total if total else even for m in self.members}

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions of the response; nan where no member has a prediction."""
        said = [member.predictor.predict(inputs) for member in self.members]
        beyond, novel = self.encoder.outside_varied(inputs), self.encoder.outside_constant(inputs)
        predicted = np.zeros(len(inputs), dtype=bool)
        for member, values in zip(self.members, said, strict=True):
            if member.relative and member.weight > 0:
                predicted |= _usable(values) & (member.extrapolates | ~beyond)
        silent = []
        for member in self.members:
            away = beyond if member.relative else beyond | novel
            barred = away & (not member.extrapolates)
            silent.append(barred if member.relative else barred | (novel & predicted))
        return self._mean(said, silent)

    def held_out(self) -> Floats:
        """(n,) predictions of the training rows by members that were trained without them."""
        held = [member.held_out for member in self.members]
        silent = [m.held_out.outside & (not m.extrapolates) for m in self.members]
        return self._mean([forecast.median for forecast in held], silent)

    def _mean(self, said: Sequence[Floats], silent: Sequence[Bools]) -> Floats:
        """The weighted mean in the logarithm of the members' predictions.

        ``silent``: for each member the rows for which it does not count.
        """
        weights = self.weights()
        total = np.zeros(len(said[0]))
        sums = np.zeros(len(said[0]))
        for member, values, barred in zip(self.members, said, silent, strict=True):
            counts = _usable(values) & ~barred
            weight = weights[member.name] * counts
            sums += weight * np.log(np.where(counts, values, 1.0))
            total += weight
        mean: Floats = np.where(total > 0, np.exp(sums / np.where(total > 0, total, 1.0)), np.nan)
        return mean

    def explain(self) -> Explanation:
        """Total effects of the parameters and the analytical model; the weights as notes."""
        weights = sorted(self.weights().items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{name} {100 * w:.0f} %" for name, w in weights if w >= 0.005)
        notes = (f"weights: {shares}", *self.notes)
        return total_effects(self.predict, self.table, notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A model that pools several regressors, weighted by their held-out errors; see the module
    pool.
    """

    name: str = "pool"
    extrapolates: bool = True
    members: tuple[Regressor, ...] = field(default_factory=members)

    def fit(self, table: MeasurementTable, seed: int = 0) -> Calibrated:
        """Fit all members to a table; where no member can be, the InputError of the first."""
        trained: list[Member] = []
        left_out: dict[str, list[str]] = {}
        faults: list[InputError] = []
        cuts = cut(table, seed)
        with one_thread():
            for regressor in self.members:
                try:
                    trained.append(_member(regressor, table, cuts, seed))
                except InputError as error:
                    faults.append(error)
                    left_out.setdefault(error.faults[0].found, []).append(regressor.name)
        if not trained:
            raise faults[0]
        encoder = Encoder.fit(table.inputs)
        predictor = PoolPredictor(
            members=tuple(trained),
            encoder=encoder,
            table=table,
            notes=tuple(f"without {', '.join(names)}: {why}" for why, names in left_out.items()),
        )
        held = HeldOut(median=predictor.held_out(), outside=trained[0].held_out.outside)
        return Calibrated(
            predictor=predictor,
            encoder=encoder,
            extrapolates=self.extrapolates,
            held_out=held.median,
            errors=held.errors(table.response),
            held_outside=held.outside,
        )


def _usable(values: Floats) -> Bools:
    return (values > 0) & np.isfinite(values)


def _member(
    regressor: Regressor, table: MeasurementTable, cuts: Sequence[Fold], seed: int
) -> Member:
    whole = regressor.train(table, seed)
    held = hold_out(regressor, cuts, len(table), seed, whole)
    errors = held.errors(table.response)
    tested = errors[np.isfinite(errors)]
    return Member(
        name=regressor.name,
        predictor=whole,
        extrapolates=regressor.extrapolates,
        relative=isinstance(regressor, ScaledAnalytical | ResidualModel),
        held_out=held,
        error=float(tested.mean()) * len(errors) / tested.size if tested.size else np.inf,
    )
