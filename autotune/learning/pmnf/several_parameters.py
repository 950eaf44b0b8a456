"""Models of two or three parameters: the terms found along each axis, combined (Calotoiu et al.
2016).

Each parameter is first modelled alone, along the lines of points that differ only in it. Its terms
are then combined to sums and products and refitted to all points; the form of the least SMAPE wins.
As in Extra-P 4 (modeler "Multi-Parameter", point selection "auto").
"""

import itertools
from dataclasses import dataclass

import numpy as np

from autotune.learning.models.base import Floats
from autotune.learning.pmnf.goodness_of_fit import GoodnessOfFit, figures
from autotune.learning.pmnf.one_parameter import CONTRIBUTION, Exponents, Single
from autotune.statistics.least_squares import least_squares

Form = tuple[tuple[int, ...], ...]
"""Terms beside the constant, each by the parameters that are multiplied in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """A model of several parameters: a form, its exponents, and the coefficients of the constant
    and each term.
    """

    form: Form
    exponents: tuple[Exponents | None, ...]
    coefficients: tuple[float, ...]
    figures: GoodnessOfFit


def line(points: Floats, values: Floats, axis: int) -> tuple[Floats, Floats]:
    """The data along one axis: the distinct coordinates of the points (n, parameters), ascending,
    and mean values there.

    The means are over the longest lines along the axis; only lines that contain the first
    coordinate of the first of them are used.
    """
    lines: dict[tuple[float, ...], dict[float, float]] = {}
    for point, value in zip(points.tolist(), values.tolist(), strict=True):
        rest = (*point[:axis], *point[axis + 1 :])
        lines.setdefault(rest, {})[point[axis]] = value
    longest = max(len(along_line) for along_line in lines.values())
    kept = [along_line for along_line in lines.values() if len(along_line) == longest]
    first = next(iter(kept[0]))
    through = [along_line for along_line in kept if first in along_line]
    coordinates = sorted({coordinate for along_line in through for coordinate in along_line})
    means = [
        float(
            np.mean([along_line[coordinate] for along_line in through if coordinate in along_line])
        )
        for coordinate in coordinates
    ]
    return np.array(coordinates), np.array(means)


def forms(parameters: tuple[int, ...]) -> tuple[Form, ...]:
    """The forms that are tried: sums of products, 4 for two parameters, 23 for three.

    >>> forms((0, 1))
    (((0, 1),), ((0,), (1,)), ((0,), (0, 1)), ((1,), (0, 1)))
    """
    every = parameters
    alone: Form = tuple((p,) for p in parameters)
    if len(parameters) < 2:
        return (alone,)
    shapes: list[Form] = [(every,), alone]
    if len(parameters) == 2:
        return (*shapes, *((single, every) for single in alone))
    pairs = tuple(itertools.combinations(parameters, 2))
    rest = {pair: next((p,) for p in parameters if p not in pair) for pair in pairs}
    shapes += [(every, single) for single in alone]
    shapes += [(every, pair) for pair in pairs]
    shapes += [(every, pair, rest[pair]) for pair in pairs]
    shapes += [(every, *two) for two in itertools.combinations(alone, 2)]
    for pair in pairs:
        shapes.append((pair, rest[pair]))
        shapes += [(pair, rest[pair], (p,)) for p in pair]
    return tuple(shapes)


def combine(points: Floats, values: Floats, singles: tuple[Single, ...]) -> Combined:
    """The best combination of the models of each axis, fitted at points (n, parameters)."""
    exponents = tuple(single.exponents for single in singles)
    varying = tuple(place for place, pair in enumerate(exponents) if pair is not None)
    if not varying:
        mean = float(values.mean())
        fit = figures(np.full(len(values), mean), values, terms=0)
        return Combined(form=(), exponents=exponents, coefficients=(mean,), figures=fit)
    if len(varying) == 1:
        return _of_one_parameter(points, values, singles, varying[0])
    best: Combined | None = None
    for form in forms(varying):
        matrix = design(form, exponents, points)
        coefficients = least_squares(matrix, values)
        shares = np.abs(matrix * coefficients / values[:, None]).max(axis=0)
        if best is not None and (shares[1:] < CONTRIBUTION).any():
            continue
        fit = figures(matrix @ coefficients, values, terms=sum(map(len, form)))
        if best is None or fit.smape < best.figures.smape:
            fitted = tuple(coefficients.tolist())
            best = Combined(form=form, exponents=exponents, coefficients=fitted, figures=fit)
    assert best is not None
    return best


def _of_one_parameter(
    points: Floats, values: Floats, singles: tuple[Single, ...], place: int
) -> Combined:
    """The model where only one parameter matters: the one along its axis, or refitted to all
    points, whichever fits better.
    """
    single, exponents = singles[place], tuple(single.exponents for single in singles)
    form: Form = ((place,),)
    matrix = design(form, exponents, points)
    along = np.array([single.constant, single.slope])
    again = least_squares(matrix, values)
    kept, refitted = (figures(matrix @ c, values, terms=1) for c in (along, again))
    better = refitted.smape < kept.smape
    return Combined(
        form=form,
        exponents=exponents,
        coefficients=tuple((again if better else along).tolist()),
        figures=refitted if better else kept,
    )


def design(form: Form, exponents: tuple[Exponents | None, ...], points: Floats) -> Floats:
    """The constant and the terms of a form at points (n, parameters): (n, 1 + terms)."""
    matrix = np.ones((len(points), 1 + len(form)))
    for column, factors in enumerate(form, start=1):
        for place in factors:
            pair = exponents[place]
            assert pair is not None
            matrix[:, column] *= pair.of(points[:, place])
    return matrix
