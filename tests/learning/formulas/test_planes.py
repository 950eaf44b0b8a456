"""Planes as a formula: the engine's arithmetic, blocks, terms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stencil_samples import MACHINE, candidate, problem

from autotune.learning.formulas.base import combined
from autotune.learning.formulas.planes_formula import Grids, Planes, hits
from autotune.learning.formulas.term_polynomial import Polynomial
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine

MODEL = Planes(
    order=1,
    elements_per_line=8,
    caches=(4096.0, 65536.0, 4e6),
    write_allocate=(True, True, True),
    costs=(1e-9, 2e-9, 4e-9, 9e-9),
)


def point(*extents: float) -> dict[str, np.ndarray]:
    """One grid."""
    return {name: np.array([value]) for name, value in zip("IJK", extents, strict=True)}


@settings(max_examples=50, deadline=None)
@given(
    extents=st.tuples(*[st.integers(4, 400)] * 3),
    blocks=st.tuples(*[st.integers(1, 500)] * 3),
)
def test_time_is_lines_times_costs(
    extents: tuple[int, int, int], blocks: tuple[int, int, int]
) -> None:
    values = point(*extents) | {
        f"T{name}": np.array([float(b)]) for name, b in zip("IJK", blocks, strict=True)
    }
    cut = np.minimum(np.array([blocks], dtype=float), np.array([extents], dtype=float))
    grids = Grids(
        extents=np.array([extents], dtype=float),
        blocks=cut,
        order=np.array([1.0]),
        planar=np.array([False]),
    )
    lines = hits(grids, np.array([MODEL.caches]), MODEL.write_allocate, 8)
    assert MODEL.evaluate(values) == pytest.approx(lines[0] @ np.array(MODEL.costs))


def test_terms_are_the_time_where_whole_lines_fill_the_rows() -> None:
    at = {"I": 198.0, "J": 120.0, "K": 64.0}  # 198 + 2 ghosts are 25 lines
    model = replace(MODEL, at=at, scale=3.0)
    whole = Polynomial(combined(model.terms()))
    here = point(*at.values())
    assert whole.evaluate(here) == pytest.approx(model.evaluate(here), rel=1e-12)
    assert model.evaluate(here) == pytest.approx(3 * MODEL.evaluate(here))


def test_every_line_is_counted_once() -> None:
    """Inner cache, then the others, then memory: 2 P - 1 planes in all."""
    lines = MODEL.lines(point(200, 200, 200))
    assert lines.sum() == pytest.approx(26 * 202 * 202 * 5)
    assert (lines >= 0).all()


def test_it_says_what_each_level_delivers() -> None:
    text = str(MODEL)
    assert "ceil((I+2)/8) (J+2) (K+2)" in text
    assert "9e-09 s (memory)" in text
    assert "the planes at I = 200" in text


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="costs"):
        replace(MODEL, costs=(1e-9,))
    with pytest.raises(ValueError, match="cache 2"):
        replace(MODEL, caches=(4096.0, 0.0, 1e6))


def test_the_formula_of_a_machine_is_what_its_engine_predicts() -> None:
    """One thread, no blocks: the engine and its formula say the same."""
    engine = PlanesEngine(MACHINE)
    on = problem(40, 56, 64)
    (predicted,) = engine.predict([candidate(on)])
    formula = engine.formula(order=on.stencil.radius)
    values = point(64, 56, 40)
    assert formula.evaluate(values)[0] == pytest.approx(predicted.seconds)
