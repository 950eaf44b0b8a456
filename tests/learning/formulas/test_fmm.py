"""FMM: the equations by hand, the maximum of each phase, the bounds of cache misses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.learning.formulas.base import PowerFactor, combined
from autotune.learning.formulas.fmm import NEAR, SEPARATED, Fmm

MODEL = Fmm(t_c=1e-10, beta=1e-9, cache=32768.0, line=8.0)


def point(N: float, q: float, k: float) -> dict[str, np.ndarray]:
    """One run."""
    return {"N": np.array([N]), "q": np.array([q]), "k": np.array([k])}


def test_cells_of_the_near_and_the_far_field() -> None:
    assert NEAR == 3**3
    assert SEPARATED == 6**3 - 3**3


def test_equations_by_hand() -> None:
    N, q, k, Z, L = 8192.0, 27.0, 4.0, 32768.0, 8.0
    flop = (27 * q * N * 1e-10, 189 * N / q * k**6 * 1e-10)
    memory = (
        N * 1e-9 + N * L / (Z ** (1 / 3) * q ** (2 / 3)) * 1e-9,
        N / q * k**6 * 1e-9 + N * k**2 * L / (q * Z ** (1 / 3)) * 1e-9,
    )
    expected = max(flop[0], memory[0]) + max(flop[1], memory[1])
    assert MODEL.evaluate(point(N, q, k)) == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(
    N=st.sampled_from([4096.0, 8192.0, 16384.0]),
    q=st.integers(8, 512),
    k=st.integers(2, 12),
)
def test_with_usual_constants_memory_never_wins(N: float, q: int, k: int) -> None:
    """A flop of 0.1 ns, a bandwidth of 8 GB/s: the model is pure arithmetic."""
    arithmetic = (27 * q * N + 189 * N / q * k**6) * 1e-10
    assert MODEL.evaluate(point(N, q, k)) == pytest.approx(arithmetic)


def test_terms_are_of_the_side_that_counts() -> None:
    terms = combined(MODEL.terms())
    N = PowerFactor("power", "N", 1.0)
    per_leaf = {N, PowerFactor("power", "q", -1.0)}
    assert terms == pytest.approx(
        {
            frozenset([N, PowerFactor("power", "q", 1.0)]): 2.7e-9,
            frozenset([*per_leaf, PowerFactor("power", "k", 6.0)]): 1.89e-8,
        }
    )
    assert {term.text for term in MODEL.terms()} == {"P2P arithmetic", "M2L arithmetic"}
    slow = replace(MODEL, beta=1e-6)
    assert {term.text for term in slow.terms()} == {"P2P memory", "M2L memory"}
    assert "P2P by memory, M2L by memory" in str(slow)


def test_constants_are_checked() -> None:
    with pytest.raises(ValueError, match="fmm: t_c"):
        Fmm(t_c=0, beta=1e-9, cache=1, line=1)
