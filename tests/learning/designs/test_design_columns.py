"""Columns of linear models: their codes by hand, and which of them depend on others."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import Parameter, categorical, numeric
from autotune.learning.designs.design_columns import Terms, model_columns
from autotune.learning.designs.plackett_burman import matrix
from autotune.learning.designs.row_rules import Row

A, B = numeric("a", [0, 5, 10]), numeric("b", [1, 3])
GRID: list[Row] = list(product((0, 5, 10), (1, 3)))


def test_main_effects_are_coded_from_minus_one_to_one() -> None:
    columns = model_columns([A, B], GRID, "linear")
    assert columns.names == ("1", "a", "b")
    assert columns.dependent == ()
    assert columns.matrix.tolist() == [
        [1, -1, -1], [1, -1, 1], [1, 0, -1], [1, 0, 1], [1, 1, -1], [1, 1, 1],
    ]  # fmt: skip


def test_products_and_squares_follow_the_lower_orders() -> None:
    columns = model_columns([A, B], GRID, "quadratic")
    assert columns.names == ("1", "a", "b", "a * b", "a^2")
    assert columns.matrix[:, 3].tolist() == [1, -1, 0, 0, -1, 1]
    assert columns.matrix[:, 4].tolist() == [1, 1, 0, 0, 1, 1]
    assert columns.dependent == ("b^2",), "of two levels a square is the constant"
    assert model_columns([A, B], GRID, "interactions").names == ("1", "a", "b", "a * b")


def test_positive_numbers_over_a_factor_of_8_are_coded_by_their_logarithm() -> None:
    def codes(*values: int) -> list[float]:
        rows: list[Row] = [(value,) for value in values]
        return [
            float(code)
            for code in model_columns([numeric("n", values)], rows, "linear").matrix[:, 1]
        ]

    assert codes(1, 2, 4, 16) == pytest.approx([-1, -0.5, 0, 1])
    assert codes(1, 2, 8) == pytest.approx([-1, -1 / 3, 1]), "a factor of 8 exactly"
    assert codes(1, 4, 7) == pytest.approx([-1, 0, 1])
    assert codes(0, 8, 16) == pytest.approx([-1, 0, 1]), "0 has no logarithm"


def test_categories_are_differences_from_the_mean() -> None:
    """Each column sums up to nothing over a balanced design; the last category is all -1."""
    rows: list[Row] = [("x",), ("y",), ("z",)]
    columns = model_columns([categorical("c", ["x", "y", "z"])], rows, "quadratic")
    assert columns.names == ("1", "c=x", "c=y")
    assert columns.matrix.tolist() == [[1, 1, 0], [1, 0, 1], [1, -1, -1]]


def test_products_with_a_category_take_each_of_its_columns() -> None:
    parameters = [categorical("c", ["x", "y", "z"]), B]
    rows: list[Row] = list(product("xyz", (1, 3)))
    columns = model_columns(parameters, rows, "interactions")
    assert columns.names == ("1", "c=x", "c=y", "b", "c * b", "c * b")
    assert columns.matrix[:, 4].tolist() == [-1, 1, 0, 0, 1, -1]


def test_parameters_of_one_value_have_no_column() -> None:
    rows: list[Row] = [(7, 1), (7, 3)]
    assert model_columns([numeric("n", [7]), B], rows, "quadratic").names == ("1", "b")


def test_terms_that_rows_cannot_tell_apart_are_named_and_left_out() -> None:
    """b follows from a in these rows, so that their product is a square."""
    rows: list[Row] = [(0, 1), (5, 2), (10, 3)]
    columns = model_columns([A, numeric("b", [1, 2, 3])], rows, "quadratic")
    assert columns.names == ("1", "a", "a * b")
    assert columns.dependent == ("b", "a^2", "b^2")


def test_a_column_that_does_not_vary_is_the_constant() -> None:
    rows: list[Row] = [(5, 1), (5, 3)]
    columns = model_columns([A, B], rows, "linear")
    assert (columns.names, columns.dependent) == (("1", "b"), ("a",))


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 5, 10]), st.sampled_from([1, 3]), st.sampled_from("xyz")),
        min_size=1, max_size=12,
    ),
    st.sampled_from(["linear", "interactions", "quadratic"]),
)  # fmt: skip
def test_what_is_left_has_full_rank_and_spans_all_terms(rows: list[Row], terms: Terms) -> None:
    parameters: list[Parameter] = [A, B, categorical("c", ["x", "y", "z"])]
    everywhere: list[Row] = list(product((0, 5, 10), (1, 3), "xyz"))
    columns = model_columns(parameters, rows, terms)
    whole = model_columns(parameters, [*rows, *everywhere], terms)
    assert np.linalg.matrix_rank(columns.matrix) == columns.matrix.shape[1] == len(columns.names)
    assert np.linalg.matrix_rank(whole.matrix[: len(rows)]) == len(columns.names)
    assert set(columns.names) | set(columns.dependent) >= set(whole.names)


@pytest.mark.parametrize(("n", "levels"), [(9, 3), (27, 3), (25, 5)])
def test_main_effects_of_a_plackett_burman_design_are_orthogonal(n: int, levels: int) -> None:
    """The squares of levels coded from -1 to 1 have the mean (l + 1) / (3 (l - 1))."""
    columns = 4
    parameters = [numeric(f"p{k}", range(levels)) for k in range(columns)]
    rows: list[Row] = [tuple(row) for row in matrix(n, levels, columns).tolist()]
    coded = model_columns(parameters, rows, "linear").matrix
    mean = (levels + 1) / (3 * (levels - 1))
    expected = n * np.diag([1.0] + [mean] * columns)
    assert coded.T @ coded == pytest.approx(expected, abs=1e-9)
