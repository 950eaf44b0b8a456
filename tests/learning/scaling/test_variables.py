"""Variables carry unit and transformation; a size made of a column can be turned back into it."""

import pytest

from autotune.errors import InputError
from autotune.learning.scaling.variables import Variable, variable


def test_a_variable_says_what_it_is():
    size = Variable(symbol="SIZE", formula="nx*ny*nz", unit="cells")
    assert str(size) == "SIZE = nx*ny*nz [cells]"
    assert size.logarithm == "log2(SIZE)"
    assert size.columns == ("nx", "ny", "nz")
    assert size.value({"nx": 2, "ny": 3, "nz": 4}) == 24


def test_a_hidden_index_is_turned_back_into_its_column():
    """Garren's CG: SIZE_K = 60 index - 50."""
    index = Variable(symbol="SIZE", formula="(K + 50)/60")
    assert index.value({"K": 2050}) == 35
    assert index.column(35.0) == pytest.approx(2050)
    assert index.column(47.0) == pytest.approx(2770)


def test_powers_are_turned_back_and_products_are_not():
    assert Variable(symbol="SIZE", formula="n**3").column(1000.0) == pytest.approx(10)
    assert Variable(symbol="SIZE", formula="nx*ny").column(1000.0) is None
    assert Variable(symbol="SIZE", formula="100 - n").column(150.0) is None


def test_a_column_may_have_any_name():
    found = variable("P", "MPI ranks", where="--processors", columns=["MPI ranks", "n"])
    assert found.value({"MPI ranks": 8}) == 8
    assert found.column(8.0) == 8.0


def test_unknown_columns_and_what_is_no_arithmetic_are_refused():
    with pytest.raises(InputError, match="did you mean ranks"):
        variable("P", "rank", where="--processors", columns=["ranks", "n"])
    with pytest.raises(InputError, match="not an expression"):
        variable("SIZE", "nx*", where="--size", columns=["nx"])
