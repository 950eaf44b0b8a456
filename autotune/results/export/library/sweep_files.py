"""The files of a library of sweeps over a grid, by name."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from autotune.domain.problem import StencilProblem
from autotune.language.expression import show
from autotune.measuring.verification import verify
from autotune.results.export.library.library_files import (
    PLACES,
    candidates,
    entry,
    rows,
    shared_fields,
    texts,
)
from autotune.results.export.library.sweep_facts import SweepFacts

_SWEEPS = 3
"""That the self-test takes, and as many more as a code makes in one pass."""
_COLUMNS = 90


@dataclass(frozen=True, slots=True)
class _GridTest:
    """A small grid with the values that the reference computes."""

    extents: tuple[int, ...]
    elements: int
    """Of an array, border included."""
    sweeps: int
    places: tuple[int, ...]
    """Elements of an array that are compared."""
    values: tuple[float, ...]
    largest: float


def files(facts: SweepFacts) -> dict[str, str]:
    """Path in the folder of the library to text."""
    return texts(facts, dict(_fields(facts)), ("sweeper.h", "grids.h"), "sweep")


def _fields(facts: SweepFacts) -> Iterator[tuple[str, object]]:
    stencil, test = facts.problem.stencil, _self_test(facts)
    state, *coefficients = facts.arrays
    yield from shared_fields(facts, stencil.title, _about(facts))
    yield "handle", "grid"
    yield "unit", "points"
    yield "per", "sweep"
    yield "kind", "sweeper"
    yield "runtime", "grids.h"
    yield "dimensions", stencil.dimensions
    yield "dimension_types", ", ".join("int" for _ in stencil.dimensions)
    yield "radius", stencil.radius
    yield "alone", stencil.order == "lexicographic"
    yield "extents", facts.extents
    yield "sizes", ", ".join(f"long {extent}" for extent in facts.extents)
    yield "shape", " x ".join(f"({extent} + {2 * stencil.radius})" for extent in facts.extents)
    yield "arrays", facts.arrays
    yield "read", [f"const double *{array}" for array in facts.arrays]
    yield "written", [f"double *{array}" for array in facts.arrays]
    yield "swept", [f"double *{state}", *(f"const double *{array}" for array in coefficients)]
    yield "coefficients", stencil.coefficients_read
    yield "coefficients_tuple", repr(stencil.coefficients_read).replace("'", '"')
    yield "entries", [", ".join(entry(*row)) for row in rows(facts)]
    yield "size", test.extents
    yield "elements_tested", test.elements
    yield "sweeps", test.sweeps
    yield "places", test.places
    yield "values", [repr(value) for value in test.values]
    yield "largest_value", repr(test.largest)


def _about(facts: SweepFacts) -> Iterator[str]:
    """What a sweep computes, in lines."""
    stencil = facts.problem.stencil
    if stencil.source:
        yield from textwrap.wrap(f"Source: {stencil.source}.", _COLUMNS)
    order = {
        "jacobi": "from the values before the sweep",
        "lexicographic": "in place, one after the other in the order of the rows",
        "red-black": "in place, first those whose indices have an even sum",
    }[stencil.order]
    yield f"A sweep replaces u at all points, {order}, by"
    yield from textwrap.wrap(f"  {show(stencil.body)}", _COLUMNS, subsequent_indent="  ")
    if stencil.constants:
        constants = ", ".join(
            f"{name} = {show(value)}" for name, value in stencil.constants.items()
        )
        yield from textwrap.wrap(f"with {constants}.", _COLUMNS)


def _self_test(facts: SweepFacts) -> _GridTest:
    """The smallest grid on which every code of the library runs through all of its cases."""
    chosen = candidates(facts, facts.problem)
    awkward = [cast("StencilProblem", verify.verification_problem(c)).extents for c in chosen]
    problem = facts.problem.at(tuple(max(extents) for extents in zip(*awkward, strict=True)))
    sweeps = max(verify.steps(candidate, _SWEEPS) for candidate in chosen)
    state = verify.reference_state(problem, sweeps)
    inner = np.unique(np.linspace(0, problem.n - 1, PLACES).round().astype(int))
    radius = problem.stencil.radius
    shape = tuple(extent + 2 * radius for extent in problem.extents)
    points = np.unravel_index(inner, problem.extents)
    places = np.ravel_multi_index(tuple(point + radius for point in points), shape)
    return _GridTest(
        extents=problem.extents,
        elements=int(np.prod(shape)),
        sweeps=sweeps,
        places=tuple(places.tolist()),
        values=tuple(state[inner].tolist()),
        largest=float(np.abs(state).max()),
    )
