import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_conformance import planted

from autotune.learning.models.ridge import Ridge, fit


def test_the_penalty_has_the_least_leave_one_out_error() -> None:
    chance = np.random.default_rng(3)
    matrix = chance.normal(size=(12, 4))
    target = matrix @ [1.0, -2.0, 0.0, 0.5] + chance.normal(0, 0.5, 12)
    found = fit(matrix, target)

    def left_out(row: int) -> float:
        rest = np.arange(12) != row
        mean, scale = matrix.mean(axis=0), matrix.std(axis=0)
        x = np.column_stack([np.ones(11), (matrix[rest] - mean) / scale])
        penalty = found.penalty * np.diag([0.0, 1, 1, 1, 1])
        b = np.linalg.solve(x.T @ x + penalty, x.T @ target[rest])
        return float(target[row] - np.concatenate([[1.0], (matrix[row] - mean) / scale]) @ b)

    assert found.held_out == pytest.approx([left_out(row) for row in range(12)], abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.integers(0, 100))
def test_exact_powers_are_recovered(slopes: list[float], seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(20, 3))
    found = fit(matrix, 1.5 + matrix @ slopes)
    assert found.coefficients == pytest.approx(slopes, abs=1e-3)
    assert found.intercept == pytest.approx(1.5, abs=1e-3)


def test_collinear_terms_share_their_coefficient() -> None:
    x = np.random.default_rng(0).normal(size=30)
    found = fit(np.column_stack([x, x]), 2 * x)
    assert found.coefficients == pytest.approx([1.0, 1.0], abs=1e-3)
    assert found.rank == 1


def test_the_formula_evaluates_to_the_prediction() -> None:
    table = planted(40)
    fitted = Ridge().train(table)
    assert fitted.formula.startswith("time = ")
    n, threads, order = table.inputs.rows[0]
    text = fitted.formula.partition("= ")[2].replace("^", "**")
    for name in ("jil", "jli", "lij"):
        text = text.replace(f"[order = {name}]", str(int(order == name)))
    value = np.prod([_power(factor, {"n": n, "threads": threads}) for factor in text.split(" * ")])
    assert value == pytest.approx(fitted.predict(table.inputs)[0], rel=0.05)


def _power(factor: str, values: dict) -> float:
    base, _, exponent = factor.partition("**")
    return float(values.get(base, base)) ** float(exponent or 1)


def test_too_few_rows_and_terms_that_vary_together_are_stated() -> None:
    few = Ridge().train(planted(3)).explain()
    assert any("the penalty decides" in note for note in few.notes)
