"""A model of one study as a prior on another: what it expects of candidates is a hint.

The pool is trained on the timed candidates of the other study, with what was predicted for them,
and asked about the candidates of this one, with what is predicted for them here. A hint counts as
a time of another machine does: off by an unknown factor that all share, and by what differs from
machine to machine, beside the error that the pool had on rows it had not seen. It orders what is
measured first and is outweighed by times of this machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.learn.cleaning import Cell
from autotune.learn.models import model
from autotune.learn.parameter import Value
from autotune.learn.table import Inputs, Table
from autotune.pipeline.learn_study import candidate_settings, study_table
from autotune.results import Prediction
from autotune.search.pool import forecast, plain
from autotune.store.records import CandidateRecord, StudyRecord
from autotune.trials import Known
from autotune.variant import Candidate

_MOST = 120
"""Hints; of more, the faster half of these and others spread evenly over the rest."""
_BUILT = ("compiler", "flags")
"""What another machine need not have alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What a model of another study expects of candidates; ``note`` says of how many, or why none.

    A candidate that lies outside of what the other study tried is not spoken of.
    """

    hints: tuple[Known, ...]
    note: str


def prior(
    study: StudyRecord,
    candidates: Sequence[Candidate],
    predictions: Sequence[Prediction],
    records: Mapping[str, CandidateRecord],
    seed: int = 0,
) -> Prior:
    """Hints from ``study``.

    ``predictions``: in the order of the candidates. ``records``: of the candidates, by identity.

    InputError where the study has nothing to learn from.
    """
    table = study_table(study).table
    settings = candidate_settings([records[c.identity] for c in candidates])
    rows: list[tuple[Value, ...]] = []
    chosen: list[int] = []
    for place, known in enumerate(settings):
        row = _row(known, table)
        if row is not None:
            rows.append(row)
            chosen.append(place)
    name = f"study {study.name}"
    if not rows:
        return Prior(hints=(), note=f"{name} says nothing as a prior: {_apart(settings, table)}")
    analytical = None
    if table.inputs.analytical is not None:
        times = [predictions[place].seconds for place in chosen]
        analytical = np.array([t or np.nan for t in times], dtype=np.float64)
    inputs = Inputs(parameters=table.parameters, rows=tuple(rows), analytical=analytical)
    fitted = model("pool").fit(table, seed)
    outside = fitted.predict(inputs).outside
    middle, variance = forecast(fitted, inputs)
    usable = np.flatnonzero(np.isfinite(middle) & ~outside)
    fastest_first = usable[np.argsort(middle[usable], kind="stable")]
    hints = tuple(
        Known(
            candidate=candidates[chosen[place]],
            seconds=float(np.exp(middle[place])),
            sigma=float(np.sqrt(variance[place])),
        )
        for place in _some(fastest_first.tolist())
    )
    note = f"the pool of {name} expects {len(usable)} of {len(candidates)} candidates"
    if len(hints) < len(usable):
        note += f", {len(hints)} of them"
    return Prior(hints=hints, note=f"{note} as a hint")


def _row(known: Mapping[str, Cell], table: Table) -> tuple[Value, ...] | None:
    """The values of a candidate as the table has them; None where it differs in what is fixed."""
    for name, value in table.constants:
        if name not in _BUILT and _as_text(known.get(name)) != _as_text(value):
            return None
    found: list[Value] = []
    for parameter in table.parameters:
        if parameter.name not in known and parameter.numeric:
            return None
        try:
            found.append(plain(known.get(parameter.name), parameter))
        except ValueError:  # a text where there are numbers
            return None
    return tuple(found)


def _as_text(cell: Cell) -> str:
    if isinstance(cell, bool | int | float):
        return f"{float(cell):.12g}"
    return cell or "none"


def _apart(settings: Sequence[Mapping[str, Cell]], table: Table) -> str:
    """The first thing that is fixed there and otherwise here."""
    for name, value in table.constants:
        here = sorted({_as_text(one.get(name)) for one in settings})
        if name not in _BUILT and _as_text(value) not in here:
            return f"{name} is {_as_text(value)} there, {', '.join(here[:3])} here"
    return "its candidates have other parameters"


def _some(places: list[int]) -> list[int]:
    if len(places) <= _MOST:
        return places
    fastest, rest = places[: _MOST // 2], places[_MOST // 2 :]
    return fastest + [rest[k] for k in np.linspace(0, len(rest) - 1, _MOST // 2).astype(int)]
