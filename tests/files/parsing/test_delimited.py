"""Lines of CSV: separators, cells, and which columns and lines are left out."""

import pytest

from autotune.domain.tables.parameter import numeric
from autotune.errors import InputError
from autotune.files.parsing import delimited
from autotune.files.parsing.faults import Faults


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        (" 8 ", False, 8), ("8.0", False, 8), ("0.5", False, 0.5), ("0,5", True, 0.5),
        ("-1,5e3", True, -1500), ("0,5", False, "0,5"), ("1,2,3", True, "1,2,3"),
        ("true", False, True),
        ("", False, None), ("NaN", False, None), ("null", False, None), ("inf", False, None),
        ("1e999", False, None), ("1_000", False, "1_000"), ("x", False, "x"),
    ],
)  # fmt: skip
def test_a_cell_is_a_number_a_text_or_nothing(text, comma, value):
    assert delimited.setting(text, comma) == value
    numeric = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    assert delimited.number_of(text, comma) == numeric


@pytest.mark.parametrize(
    ("text", "good"),
    [("x", True), ("8", True), ("8.0", False), ("nan", False), ("", False), ("true", False),
     (" x", False), ("1e3", False)],
)  # fmt: skip
def test_a_text_is_the_same_where_it_prints_as_it_is_read(text, good):
    assert delimited.reads_back(text) == good


def test_an_index_without_a_name_is_left_out():
    table = delimited.split("tile,time\n0,8,1\n1,16,2\n", Faults("f"), {})
    assert table.header == ["tile", "time"]
    assert table.rows == [(2, ["8", "1"]), (3, ["16", "2"])]
    assert table.treated == ["column 1 has no name: taken as an index and left out"]


def test_a_line_of_another_length_is_left_out_with_a_fault():
    faults = Faults("f")
    table = delimited.split("a,b\n1\n2,3\n", faults, {})
    assert table.rows == [(3, ["2", "3"])]
    assert [str(fault) for fault in faults.faults] == [
        "f:2: 1 values; expected 2, as the header (cut off?)"
    ]


def test_a_comma_is_decimal_where_another_separator_stands():
    assert delimited.split("a;b\n0,5;1\n", Faults("f"), {}).decimal_comma
    assert not delimited.split("a,b\n0.5,1\n", Faults("f"), {}).decimal_comma


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("\n\n", "f: lines without a value; expected a header, and a row per measurement"),
        ("a\n1\n",
         "f:1: columns: a; expected parameters, and what was measured in the last column"),
        ("1,2\n3,4\n", "f:1: no header; expected the names of the columns in the first line"),
        ("a,b,a\n1,2,3\n", "f:1: two columns named a; expected each name once"),
        ("," * 10_000 + "\n", "f:1: more than 10000 columns; expected a column per parameter"),
    ],
    ids=range(5),
)  # fmt: skip
def test_wrong_lines_are_refused_with_their_numbers(text, fault):
    with pytest.raises(InputError) as raised:
        delimited.split(text, Faults("f"), {})
    assert str(raised.value) == fault


def test_lines_may_list_the_options_that_are_chosen():
    domains = {name: numeric(name, [0, 1]) for name in ("root", "a", "b")}
    table = delimited.split("a;0,5\nb;a;1,5\n;2\n", Faults("f"), domains)
    assert table.header == ["root", "a", "b", "performance"]
    assert [row for _, row in table.rows] == [
        ["1", "1", "0", "0,5"], ["1", "1", "1", "1,5"], ["1", "0", "0", "2"],
    ]  # fmt: skip
    with pytest.raises(InputError) as raised:
        delimited.split("a;0,5\nc;1\n", Faults("f"), domains)
    assert str(raised.value) == "f:2: unknown option 'c'; expected one of a, b, root"
