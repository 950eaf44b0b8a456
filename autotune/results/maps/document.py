"""The document of ``autotune map --json``."""

from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.decision_map import Choice, DecisionMap, MapCell, Summary
from autotune.domain.variant import Value


class ContenderRow(TypedDict):
    """A variant and a build, at any size with any threads."""

    label: str
    variant: str
    parameters: dict[str, Value]
    compiler: str
    flags: list[str]
    cells: int
    """That it wins."""
    shipped_cells: int
    """In which it is run when few candidates are shipped; 0: it need not be shipped."""


class ChoiceRow(TypedDict):
    """One contender in a cell."""

    contender: str
    candidate: str
    """Identity."""
    seconds: float
    """Expected time of a step."""
    expected_loss: float
    loss_bound: float
    between_bound: float
    """Up to half way to the next sizes, by interpolated times."""


class CellRow(TypedDict):
    """A size with a number of threads."""

    problem: str
    size: int
    n: int
    threads: int
    winner: ChoiceRow
    probability: float
    """That the winner is the fastest of all."""
    second: str | None
    shipped: ChoiceRow
    measured_s: dict[str, float]
    """Contender to its measured seconds."""
    failed: dict[str, str]
    """Contender to its status."""


class LossRow(TypedDict):
    """Of all cells: shares of the least time."""

    expected: float
    mean_bound: float
    max_bound: float


class MapRow(TypedDict):
    """One map."""

    label: str
    size_name: str
    engine: str | None
    sizes: list[int]
    threads: list[int]
    tolerance: float
    level: float
    """Probability of all bounds."""
    loss: LossRow
    """Of following the winners."""
    shipped_loss: LossRow
    """Of following the few candidates."""
    price_mean: float
    """Expected loss of the few against the winners."""
    price_max: float
    measured: int
    """Pairs of contender and cell, each time counted."""
    pairs: int
    """That are legal."""
    left_out: int
    stopped: str
    contenders: list[ContenderRow]
    cells: list[CellRow]


class MapDocument(TypedDict):
    """``autotune map --json``."""

    schema: str
    study: str
    store: str
    rule: str
    """Between the cells."""
    maps: list[MapRow]


def document(study: str, store: str, maps: Sequence[DecisionMap]) -> MapDocument:
    """The maps of a study."""
    return {
        "schema": "autotune.map/1",
        "study": study,
        "store": store,
        "rule": "nearest number of threads, then nearest size, by ratio",
        "maps": [_map(each) for each in maps],
    }


def _map(chart: DecisionMap) -> MapRow:
    wins = [cell.winner.contender for cell in chart.cells]
    runs = [cell.merged.contender for cell in chart.cells]
    return {
        "label": chart.label,
        "size_name": chart.size_name,
        "engine": chart.engine or None,
        "sizes": list(chart.sizes),
        "threads": list(chart.threads),
        "tolerance": chart.tolerance,
        "level": chart.level,
        "loss": _loss(chart.whole),
        "shipped_loss": _loss(chart.merged),
        "price_mean": chart.price[0],
        "price_max": chart.price[1],
        "measured": chart.evaluations,
        "pairs": chart.pairs,
        "left_out": chart.left_out,
        "stopped": chart.stopped,
        "contenders": [
            {
                "label": one.label,
                "variant": one.variant,
                "parameters": dict(one.parameters),
                "compiler": one.compiler,
                "flags": list(one.flags),
                "cells": wins.count(k),
                "shipped_cells": runs.count(k),
            }
            for k, one in enumerate(chart.contenders)
        ],
        "cells": [_cell(chart, cell) for cell in chart.cells],
    }


def _cell(chart: DecisionMap, cell: MapCell) -> CellRow:
    labels = [one.label for one in chart.contenders]
    return {
        "problem": cell.problem,
        "size": cell.size,
        "n": cell.n,
        "threads": cell.threads,
        "winner": _choice(labels, cell.winner),
        "probability": cell.probability,
        "second": None if cell.second is None else labels[cell.second],
        "shipped": _choice(labels, cell.merged),
        "measured_s": {labels[k]: seconds for k, seconds in cell.measured.items()},
        "failed": {labels[k]: status for k, status in cell.failed.items()},
    }


def _choice(labels: Sequence[str], choice: Choice) -> ChoiceRow:
    return {
        "contender": labels[choice.contender],
        "candidate": choice.candidate,
        "seconds": choice.seconds,
        "expected_loss": choice.loss,
        "loss_bound": choice.bound,
        "between_bound": choice.between,
    }


def _loss(found: Summary) -> LossRow:
    return {
        "expected": found.mean,
        "mean_bound": found.mean_bound,
        "max_bound": found.max_bound,
    }
