import numpy as np
import pytest

from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import points


def test_numbers_lie_on_their_index_and_texts_are_equally_apart() -> None:
    found = levels([(1, "x"), (2, "y"), (64, "z")])
    numbers, texts = found.tables
    assert numbers == pytest.approx((np.subtract.outer([0, 1, 2], [0, 1, 2]) / 2) ** 2)
    assert texts == pytest.approx(1 - np.eye(3))


def test_none_is_apart_from_all_numbers() -> None:
    table = levels([("none",), (4,), (8,), (16,)]).tables[0]
    assert table[0, 1:].min() >= 1
    assert table[1, 2] == pytest.approx(0.25)


def test_true_is_not_one() -> None:
    found = levels([(True,), (1,), (2,)])
    assert len(found.tables[0]) == 3


def test_parameters_with_one_value_say_nothing() -> None:
    assert levels([(1, 5), (2, 5)]).parameters == 1
    assert levels([(7, "a")]).parameters == 1


def test_changes_count_the_parameters_that_differ() -> None:
    found = levels([(1, "a"), (1, "b"), (2, "b")])
    assert found.changes(0, np.array([0, 1, 2])).tolist() == [0, 1, 2]


def test_points_refuse_what_is_no_space() -> None:
    with pytest.raises(ValueError, match="same values"):
        points(("a",), ((1,), (1,)))
    with pytest.raises(ValueError, match="2 values for 1"):
        points(("a",), ((1, 2),))
    with pytest.raises(ValueError, match="positive"):
        points(("a",), ((1,), (2,)), predicted=np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="shape"):
        points(("a",), ((1,), (2,)), predicted=np.array([1.0]))
    assert len(points(("a",), ((1,), (1,)), group=np.array([0, 1]))) == 2


def test_texts_among_numbers_are_farther_from_them_than_from_one_another() -> None:
    """One-hot over root 2, beside the index in [0, 1], on which texts are in the middle."""
    table = levels([("a",), ("b",), (1,), (2,), (8,)]).tables[0]
    assert table[0, 1] == pytest.approx(1.0)
    assert table[0, 2:] == pytest.approx([1.0 + 0.25, 1.0, 1.0 + 0.25])
    assert table[2:, 2:] == pytest.approx(np.subtract.outer([0, 0.5, 1], [0, 0.5, 1]) ** 2)
    assert (table == table.T).all()


def test_numbers_are_ordered_by_size_and_texts_by_letter() -> None:
    found = levels([(10, "b"), (9, "a"), (100.0, "c")])
    assert found.index.tolist() == [[1, 1], [0, 0], [2, 2]]


def test_rows_pick_their_levels_from_tables_laid_end_to_end() -> None:
    found = levels([(1, "a"), (2, "b"), (4, "c"), (1, "b")])
    assert found.sizes == [3, 3]
    assert found.starts.tolist() == [0, 9]
    assert found.indicator(np.array([2, 3])).toarray().tolist() == [
        [0, 0, 1, 0, 0, 1],
        [1, 0, 0, 0, 1, 0],
    ]
    flat = np.concatenate([table.ravel() for table in found.tables])
    for place, table in enumerate(found.tables):
        size = len(table)
        start = found.starts[place]
        assert flat[start : start + size**2].reshape(size, size) == pytest.approx(table)
