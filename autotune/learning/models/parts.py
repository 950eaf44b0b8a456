"""Models that learn each part of a program separately and sum the forecasts.

A part is a multigrid level, or a phase of a variant. Each part grows by a law of its own; their sum
follows none. The time of the whole is forecast as the sum of the parts' medians. Its interval comes
from the sum of the held-out predictions of the parts, so that errors of parts that cancel or add up
are counted as they do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows, Tables
from autotune.errors import Fault, InputError
from autotune.learning.models.base import Bools, Explanation, Floats, Forecast, ModelTerm
from autotune.learning.models.conformal import Calibrated, Calibrating, HeldOut, forecast, reaches


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSum:
    """Fitted models of the parts by name.

    ``errors``: (n,) |log| errors of the held-out predictions of the whole. ``scale``: the median
    over the training rows of the whole over the sum of its parts; 1 where only the parts were
    measured.
    """

    parts: Mapping[str, Calibrated]
    scale: float
    shares: Mapping[str, float]
    """Of the whole, over the training rows."""
    errors: Floats
    held_outside: Bools

    @property
    def formula(self) -> str | None:
        """The sum of the formulas of the parts; None unless each part has one."""
        formulas = [fitted.formula for fitted in self.parts.values()]
        if any(formula is None for formula in formulas):
            return None
        total = " + ".join(f"({f.partition('= ')[2]})" for f in formulas if f is not None)
        return total if self.scale == 1 else f"{self.scale:.4g} * ({total})"

    def predict(
        self, inputs: ParameterRows | Mapping[str, ParameterRows], level: float = 0.9
    ) -> Forecast:
        """The forecast of the whole.

        ``inputs``: the rows for each part where analytical predictions differ between parts, else
        the same rows for all.
        """
        inputs_of = self._inputs_of_parts(inputs)
        forecasts = {
            name: part.predict(inputs_of[name], level) for name, part in self.parts.items()
        }
        total: Floats = self.scale * np.sum(
            [part_forecast.median for part_forecast in forecasts.values()], axis=0
        )
        outside = np.any([part_forecast.outside for part_forecast in forecasts.values()], axis=0)
        unknown = np.any(
            [np.isinf(part_forecast.high) for part_forecast in forecasts.values()], axis=0
        )
        reached = reaches(self.errors, self.held_outside, level, outside)
        notes = dict.fromkeys(
            note for part_forecast in forecasts.values() for note in part_forecast.notes
        )
        reached = np.where(unknown & outside, np.inf, reached)
        return forecast(total, reached, outside, tuple(notes))

    def _inputs_of_parts(
        self, inputs: ParameterRows | Mapping[str, ParameterRows]
    ) -> Mapping[str, ParameterRows]:
        if isinstance(inputs, ParameterRows):
            return dict.fromkeys(self.parts, inputs)
        missing = [name for name in self.parts if name not in inputs]
        if missing:
            raise InputError(
                Fault(where="parts", found=f"nothing is given for {', '.join(missing)}")
            )
        return inputs

    def explain(self) -> Explanation:
        """The terms of all parts, weighted by the parts' shares of the whole."""
        terms: list[ModelTerm] = []
        notes = [] if self.scale == 1 else [f"the whole is {self.scale:.3g} times its parts"]
        for name, fitted in self.parts.items():
            explanation = fitted.explain()
            terms += [
                replace(t, text=f"{name}: {t.text}", influence=t.influence * self.shares[name])
                for t in explanation.terms
            ]
            notes.append(f"{name}: {100 * self.shares[name]:.0f} % of the whole")
            notes += [f"{name}: {note}" for note in explanation.notes]
        return Explanation.of(terms, notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Fits a model to each part of a whole and sums their forecasts; see the module parts."""

    model: Calibrating

    def fit(
        self, parts: Mapping[str, MeasurementTable], whole: Floats | None = None, seed: int = 0
    ) -> FittedSum:
        """Fit the parts. ``parts`` hold the same rows in the same order.

        ``whole``: (n,) the time of the whole; the sum of the parts where the whole was not
        measured. Raises InputError where the rows of the parts differ.
        """
        tables = _matched(parts)
        measured: Floats = np.sum([table.response for table in tables.values()], axis=0)
        total = measured if whole is None else whole
        fitted = {name: self.model.fit(table, seed) for name, table in tables.items()}
        scale = 1.0 if whole is None else float(np.median(whole / measured))
        held: Floats = scale * np.sum([part.held_out for part in fitted.values()], axis=0)
        outside = np.any([part.held_outside for part in fitted.values()], axis=0)
        sums = {name: float(table.response.sum()) for name, table in tables.items()}
        everything = math.fsum(sums.values())
        return FittedSum(
            parts=fitted,
            scale=scale,
            shares={name: value / everything for name, value in sums.items()},
            errors=HeldOut(median=held, outside=outside).errors(total),
            held_outside=outside,
        )


def _matched(parts: Mapping[str, MeasurementTable]) -> dict[str, MeasurementTable]:
    if not parts:
        raise InputError(Fault(where="parts", found="none", expected="at least one table"))
    first, table = next(iter(parts.items()))
    for name, other in parts.items():
        if other.inputs.names != table.inputs.names or other.inputs.rows != table.inputs.rows:
            found = f"the rows of {name} are not those of {first}"
            expected = "every part measured on the same rows, in the same order"
            raise InputError(Fault(where="parts", found=found, expected=expected))
        if (other.quantity, other.unit) != (table.quantity, table.unit):
            found = f"{name} is {other.quantity} in {other.unit}, {first} {table.quantity}"
            raise InputError(Fault(where="parts", found=found, expected="one quantity and unit"))
    return dict(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByPart:
    """``Sum`` in the interface of a model of the whole program; the parts were measured over the
    same rows.

    It is fitted to a table with some of these rows, and learns from the parts of the rows. The
    response of the table is the time of the whole.
    """

    parts: Mapping[str, MeasurementTable]
    model: Calibrating

    @property
    def name(self) -> str:
        """The name of the model of each part, with the suffix ``-by-part``."""
        return f"{self.model.name}-by-part"

    @property
    def extrapolates(self) -> bool:
        """Whether the model of each part may predict outside the training box."""
        return self.model.extrapolates

    def fit(self, table: MeasurementTable, seed: int = 0) -> FittedSum:
        """Fit the parts of the rows of this table; KeyError for a row that the parts do
        not have.
        """
        first = next(iter(self.parts.values()))
        places = {row: place for place, row in enumerate(first.inputs.rows)}
        chosen = [places[row] for row in table.inputs.rows]
        parts = {name: part.take(chosen) for name, part in self.parts.items()}
        return Sum(model=self.model).fit(parts, table.response, seed)


def whole_and_parts(tables: Tables) -> tuple[MeasurementTable, dict[str, MeasurementTable]]:
    """The table of the whole program and the tables of its parts, over the rows that all of them
    have.

    A table that names no part is the whole; without such a table the whole is the sum of the parts.
    Raises InputError for fewer than two parts, for different quantities or units, and where no row
    is in all tables.
    """
    named = {table.part: table for table in tables if table.part}
    where = tables.tables[0].source
    quantities = sorted({table.quantity for table in tables})
    if len(quantities) > 1:
        hint = f"--response {quantities[0]}"
        raise InputError(
            Fault(where=where, found=f"{', '.join(quantities)}", expected="one of them", hint=hint)
        )
    if len(named) < 2:
        found, expected = f"{len(named)} parts of the program", "two regions or call paths"
        raise InputError(Fault(where=where, found=found, expected=expected))
    every = [*named.values(), *(table for table in tables if not table.part)]
    places = [{row: place for place, row in enumerate(t.inputs.rows)} for t in every]
    rows = [row for row in every[0].inputs.rows if all(row in place_of for place_of in places)]
    if not rows:
        raise InputError(Fault(where=where, found="no row of which all parts were measured"))
    aligned = [
        table.take([place_of[row] for row in rows])
        for table, place_of in zip(every, places, strict=True)
    ]
    parts = _matched(dict(zip(named, aligned, strict=False)))
    whole = aligned[-1] if len(aligned) > len(parts) else _total(aligned)
    lacking = max(len(table) for table in every) - len(rows)
    notes = (f"{lacking} rows that not all parts have left out",) if lacking else ()
    treated = dict.fromkeys(note for table in every for note in (*table.treated, *notes))
    return replace(whole, name=_shared_name(tables), treated=tuple(treated)), parts


def _total(parts: Sequence[MeasurementTable]) -> MeasurementTable:
    """A table whose response is the sum of the responses of all parts."""
    total: Floats = np.sum([part.response for part in parts], axis=0)
    return replace(parts[0], response=total, repetitions=(), statistic="as given", part="")


def _shared_name(tables: Tables) -> str:
    return f"{len([t for t in tables if t.part])} parts of {tables.tables[0].quantity}"
