"""SMG2000: the compact form, its expansion, what is printed of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.learning.formulas.base import PowerFactor, combined
from autotune.learning.formulas.smg2000 import Dimensions, Smg2000, expansion
from autotune.learning.formulas.term_polynomial import log2, power

MACHINE = {"alpha": 11.6e-6, "beta": 60.6e-9, "f": 0.039e-9}
DIMENSIONS = st.sampled_from([1, 2, 3])


def model(dimensions: Dimensions, scale: float = 1.0) -> Smg2000:
    """On the machine above."""
    return Smg2000(dimensions=dimensions, scale=scale, **MACHINE)


@settings(max_examples=50, deadline=None)
@given(
    dimensions=DIMENSIONS,
    nx=st.integers(2, 4000),
    p=st.tuples(st.integers(2, 64), st.integers(1, 64), st.integers(1, 64)),
    scale=st.floats(0.1, 1000),
)
def test_the_expansion_is_the_compact_form(
    dimensions: Dimensions, nx: int, p: tuple[int, int, int], scale: float
) -> None:
    numbers = zip(("nx", "px", "py", "pz"), (nx, *p), strict=True)
    values = {name: np.array([float(number)]) for name, number in numbers}
    compact = model(dimensions, scale).evaluate(values)
    constants = {name: np.array([number]) for name, number in MACHINE.items()}
    expanded = scale * expansion(dimensions).evaluate(values | constants)
    assert expanded == pytest.approx(compact, rel=1e-9)


def test_one_dimension_by_hand() -> None:
    values = {"nx": np.array([1024.0]), "px": np.array([4.0])}
    expected = 2 * 12 * (MACHINE["alpha"] + MACHINE["beta"]) + 6 * 1024 * MACHINE["f"]
    assert model(1).evaluate(values) == pytest.approx(expected)


def test_three_dimensions_by_hand() -> None:
    numbers = {"nx": 8.0, "px": 2.0, "py": 1.0, "pz": 4.0}
    values = {name: np.array([number]) for name, number in numbers.items()}
    messages = 4 * 5 * (1 + 2 * 3 * (4 + 1))
    doubles = 4 * 64 * (5 + 2 * 4 + 2 * 3)
    expected = messages * MACHINE["alpha"] + doubles * MACHINE["beta"] + 48 * 512 * MACHINE["f"]
    assert model(3).evaluate(values) == pytest.approx(expected)


def test_one_process_sends_nothing() -> None:
    values = {name: np.array([1.0]) for name in ("px", "py", "pz")} | {"nx": np.array([100.0])}
    assert model(3).evaluate(values) == pytest.approx(48e6 * MACHINE["f"])


def test_constants_may_differ_from_row_to_row() -> None:
    values = {"nx": np.array([64.0, 64.0]), "px": np.array([2.0, 2.0])}
    found = model(1).evaluate(values | {"alpha": np.array([MACHINE["alpha"], 0.0])})
    assert found[0] - found[1] == pytest.approx(2 * 7 * MACHINE["alpha"])


def test_the_printed_three_dimensional_expansion_has_six_errors() -> None:
    """K'16 3.1.2: what the text prints, and what it takes to make it the compact form."""
    found = expansion(3).coefficients
    alpha, beta, nx = power("alpha"), power("beta"), power("nx", 2)
    (single,) = (log2("nx") * alpha).coefficients
    assert found[single] == 4  # 8 is printed
    (missing,) = (log2("nx") * log2("nx") * log2("px") * alpha).coefficients
    assert found[missing] == 8  # nothing is printed
    for name, number in (("px", 8), ("py", 8), ("nx", 20)):  # without beta they are printed
        (with_beta,) = (nx * log2(name) * beta).coefficients
        (without,) = (nx * log2(name)).coefficients
        assert found[with_beta] == number
        assert without not in found


def test_terms_merge_latency_and_bandwidth() -> None:
    terms = combined(model(1, scale=500).terms())
    sent = 500 * 2 * (MACHINE["alpha"] + MACHINE["beta"])
    assert terms == pytest.approx(
        {
            frozenset([PowerFactor("log2", "nx", 1.0)]): sent,
            frozenset([PowerFactor("log2", "px", 1.0)]): sent,
            frozenset([PowerFactor("power", "nx", 1.0)]): 500 * 6 * MACHINE["f"],
        }
    )


def test_it_prints_itself_with_its_constants() -> None:
    text = str(model(2, scale=500))
    assert text.startswith("T = 500 (4 L_y (L_x + 1) alpha + 4 nx (L_x + L_y) beta + 20 nx^2 f); ")
    assert "L_y = log2(py nx)" in text
    assert "f = 3.9e-11 s" in text
    assert text.endswith("; with one process alpha and beta are 0")


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(InputError, match="smg2000-2d: no values of py"):
        model(2).evaluate({"nx": np.ones(1), "px": np.ones(1)})


@pytest.mark.parametrize("wrong", [{"f": 0.0}, {"alpha": -1e-6}, {"scale": float("nan")}])
def test_constants_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="smg2000-1d"):
        Smg2000(dimensions=1, **(MACHINE | wrong))
