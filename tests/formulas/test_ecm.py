"""Predictions of an engine as a formula of the size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stencil_samples import MACHINE, candidate, problem

from autotune.errors import InputError
from autotune.formulas.base import Factor, combined
from autotune.formulas.ecm import ecm
from autotune.prediction.planes import PlanesEngine
from autotune.results import Part, Prediction

LINEAR = frozenset([Factor("power", "n", 1.0)])


def prediction(n: float, *, start: float = 0.0, extra: float = 0.0) -> Prediction:
    """Two sweeps in proportion to n, barriers, communication of a start and a slope."""
    parts = [
        Part(sweep="rhs", kind="T_OL", seconds=1e-9 * n),
        Part(sweep="rhs", kind="MEM", seconds=3e-9 * n),
        Part(sweep="rhs", kind="T_nOL", seconds=2e-9 * n),
        Part(sweep="rhs", kind="sweep", seconds=5e-9 * n),
        Part(sweep="update", kind="sweep", seconds=2e-9 * n),
        Part(sweep="barrier", kind="barrier", seconds=4e-6),
        Part(sweep="communication", kind="communication", seconds=start + 1e-9 * n),
    ]
    seconds = sum(p.seconds for p in parts if p.kind in ("sweep", "barrier", "communication"))
    return Prediction(
        seconds=seconds + extra, interval=None, parts=tuple(parts), engine="reuse", reason=""
    )


def test_one_prediction_scales_its_sweeps_alone() -> None:
    found = ecm({1e6: prediction(1e6)})
    at = found.evaluate({"n": np.array([1e6, 2e6])})
    assert at[0] == pytest.approx(prediction(1e6).seconds)
    assert at[1] - at[0] == pytest.approx(7e-9 * 1e6)
    assert combined(found.terms()) == pytest.approx({LINEAR: 7e-9, frozenset(): 4e-6 + 1e-3})


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(1000, 10**8), min_size=2, max_size=5), st.floats(0, 1e-3))
def test_what_is_linear_is_recovered(sizes: set[int], start: float) -> None:
    found = ecm({float(n): prediction(n, start=start) for n in sizes})
    n = np.array(sorted(sizes), dtype=float)
    expected = [prediction(each, start=start).seconds for each in n]
    assert found.evaluate({"n": n}) == pytest.approx(expected, rel=1e-6)
    assert found.worst < 1e-6


def test_a_sweep_says_what_bounds_it() -> None:
    found = ecm({1e6: prediction(1e6)})
    assert [term.text for term in found.terms()] == [
        "rhs: MEM, T_nOL", "update", "barrier", "communication",
    ]  # fmt: skip
    assert "reuse at n = 1e+06, within 0.0 %" in str(found)


def test_what_does_not_add_up_is_refused() -> None:
    with pytest.raises(InputError, match="parts of"):
        ecm({1e6: prediction(1e6, extra=1.0)})


def test_an_engine_that_cannot_say_gives_no_formula() -> None:
    silent = Prediction(seconds=None, interval=None, parts=(), engine="x", reason="no figure of L3")
    with pytest.raises(InputError, match="no figure of L3"):
        ecm({1.0: silent})
    with pytest.raises(InputError, match="no prediction"):
        ecm({})


def test_the_parts_of_an_engine_add_up() -> None:
    """Planes on growing cubes: within the jumps of the cache sizes."""
    engine = PlanesEngine(MACHINE)
    sides = (64, 96, 128)
    made = engine.predict([candidate(problem(side, side, side)) for side in sides])
    found = ecm({float(side**3): each for side, each in zip(sides, made, strict=True)})
    assert found.name == "ecm-planes"
    assert found.worst < 0.3
    one = ecm({float(64**3): made[0]})
    assert one.evaluate({"n": np.array([64.0**3])})[0] == pytest.approx(made[0].seconds)
