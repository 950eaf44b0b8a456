"""The numbers of the page of benchmarks/accuracy.py: predicted and measured times as points."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from accuracy_score import Predicted, Times
from accuracy_tables import class_of
from accuracy_terms import Term

from autotune.domain.machine import Machine

_GRAIN = 0.01
"""Decades: points so near to one another are drawn once."""
_LEAST = 0.01
"""A term with a smaller share of the measured step is not drawn: it is mostly the timers."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points of one colour: seconds per step."""

    name: str
    measured: tuple[float, ...]
    predicted: tuple[float, ...]
    count: int
    """Points before those that lie on one another were left out."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Predicted against measured times in one pair of axes."""

    title: str
    clouds: tuple[Cloud, ...]


def cell_panels(
    found: Sequence[Times], predicted: Sequence[Predicted], machine: Machine
) -> list[Panel]:
    """All candidates of all cells: a panel per family and threads, a cloud per regime."""
    points: dict[str, list[tuple[str, float, float]]] = {}
    for times, said in zip(found, predicted, strict=True):
        ivp = times.candidates[0].problem.family == "ivp"
        family = "PIRK methods" if ivp else "stencils"
        regime, threads = class_of(times, machine).split()
        points.setdefault(f"{family}, {_threads(threads)}", []).extend(
            (regime, float(m), float(p)) for m, p in zip(times.seconds, said.seconds, strict=True)
        )
    return [_panel(title, points[title]) for title in sorted(points)]


def term_panels(terms: Sequence[Term]) -> list[Panel]:
    """The terms of the step: a panel per term, a cloud per regime."""
    drawn = [term for term in terms if term.measured > _LEAST * term.step]
    names = dict.fromkeys(term.name for term in drawn)
    return [
        _panel(
            name,
            [
                (term.group.split()[0], term.measured, term.predicted)
                for term in drawn
                if term.name == name
            ],
        )
        for name in names
    ]


def _panel(title: str, points: Sequence[tuple[str, float, float]]) -> Panel:
    regimes = sorted({regime for regime, _, _ in points})
    return Panel(
        title,
        tuple(_cloud(name, [(m, p) for r, m, p in points if r == name]) for name in regimes),
    )


def _cloud(name: str, points: Iterable[tuple[float, float]]) -> Cloud:
    """Points with a place on logarithmic axes; one of those that lie on one another."""
    drawable = [(m, p) for m, p in points if m > 0 and p > 0 and math.isfinite(p)]
    places = {tuple(np.round(np.log10(point) / _GRAIN).astype(int)): point for point in drawable}
    return Cloud(
        name,
        tuple(m for m, _ in places.values()),
        tuple(p for _, p in places.values()),
        len(drawable),
    )


def _threads(name: str) -> str:
    count = int(name.removeprefix("T"))
    return "one thread" if count == 1 else f"{count} threads"
