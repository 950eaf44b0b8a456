"""Tables fit the width of the terminal, break no word, and lose nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.results.report.text_style import MARKS, TextStyle, broken, styled
from autotune.results.report.text_table import columns

ROWS = (
    ("", "predicted", "interval", "candidate", "reason"),
    ("1~", "12.34 ms", "11.9 to 12.8 ms", "jli-pad5@heat2d-N1024-T2",
     "three sweeps over rows in memory; half of the time is moving lines"),
    ("2 ", "15.00 ms", "14.1 to 16.3 ms", "b1=64-b2=32-u4@heat2d-N1024-T2", "arithmetic"),
)  # fmt: skip
AT = {
    60: """\
    predicted  candidate
1~   12.34 ms  jli-pad5@heat2d-N1024-T2
      interval: 11.9 to 12.8 ms; reason: three sweeps over
        rows in memory; half of the time is moving lines
2    15.00 ms  b1=64-b2=32-u4@heat2d-N1024-T2
      interval: 14.1 to 16.3 ms; reason: arithmetic""",
    80: """\
    predicted  interval         candidate
1~   12.34 ms  11.9 to 12.8 ms  jli-pad5@heat2d-N1024-T2
      three sweeps over rows in memory; half of the time is moving lines
2    15.00 ms  14.1 to 16.3 ms  b1=64-b2=32-u4@heat2d-N1024-T2
      arithmetic""",
    120: f"""\
    predicted  interval         candidate                       reason
1~   12.34 ms  11.9 to 12.8 ms  jli-pad5@heat2d-N1024-T2        three sweeps over rows in memory;\
 half of the time is
{"":64}moving lines
2    15.00 ms  14.1 to 16.3 ms  b1=64-b2=32-u4@heat2d-N1024-T2  arithmetic""",
    200: """\
    predicted  interval         candidate                       reason
1~   12.34 ms  11.9 to 12.8 ms  jli-pad5@heat2d-N1024-T2        three sweeps over rows in memory;\
 half of the time is moving lines
2    15.00 ms  14.1 to 16.3 ms  b1=64-b2=32-u4@heat2d-N1024-T2  arithmetic""",
}


@pytest.mark.parametrize("width", AT)
def test_columns_wrap_and_then_go_below_their_row(width):
    with styled(TextStyle(width=width)):
        assert columns(ROWS, right=(0, 1), fold=(4, 2)) == AT[width]


def test_without_a_width_lines_are_as_long_as_they_are():
    assert columns(ROWS, right=(0, 1)) == AT[200]


def test_a_table_of_numbers_is_continued_below():
    head = ("model", *(f"{n} rows" for n in (5, 10, 20, 40)))
    with styled(TextStyle(width=30)):
        shown = columns([head, ("ridge", *["12.5 %"] * 4)], right=range(1, 5), matrix=True)
    assert shown.splitlines() == [
        "                            20",
        "model  5 rows  10 rows    rows",
        "ridge  12.5 %   12.5 %  12.5 %",
        "",
        "model  40 rows",
        "ridge   12.5 %",
    ]


def test_a_long_name_stands_above_its_row():
    rows = [("candidate", "time", "status"), ("x" * 50, "1 ms", "ok"), ("jli", "2 ms", "ok")]
    with styled(TextStyle(width=40)):
        assert columns(rows, right=(1,)).splitlines() == [
            "candidate                   time  status",
            "x" * 50,
            "                            1 ms  ok",
            "jli                         2 ms  ok",
        ]


CELLS = st.lists(
    st.text(st.sampled_from("abcdefgh1=-@."), min_size=1, max_size=12), max_size=9
).map(" ".join)


@st.composite
def tables(draw):
    count = draw(st.integers(1, 9))
    rows = draw(st.lists(st.tuples(*[CELLS] * count), min_size=1, max_size=5))
    return rows, draw(st.sets(st.integers(0, count - 1)))


@given(tables(), st.sampled_from([60, 80, 120, 200]), st.booleans(), st.booleans(), st.booleans())
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(
    table, width, headed, matrix, indented
):
    rows, right = table
    options = {"right": right, "headed": headed, "matrix": matrix, "indent": "  " * indented}
    with styled(TextStyle(width=width)):
        shown = columns(rows, **options)
    assert all(len(line) <= width for line in shown.splitlines())
    words = set(re.split(r"[\s;]+", shown.replace(":", " ")))
    body = rows[1:] if headed else rows
    for cell in (cell for row in body for cell in row if cell not in ("-",)):
        assert set(cell.split()) <= words


@given(st.text(st.sampled_from("ab \n"), max_size=200), st.sampled_from([20, 60]))
def test_text_is_broken_between_words_only(text, width):
    with styled(TextStyle(width=width)):
        shown = broken(text)
    assert shown.split() == text.split()
    for line in shown.splitlines():
        assert len(line) <= width or " " not in line.strip()


def test_rows_have_tones_where_there_are_colours():
    rows = [("name",), ("good",), ("bad",)]
    tones = {1: "winner", 2: "failure"}
    assert columns(rows, tones=tones) == "name\ngood\nbad"
    with styled(TextStyle(colour=True)):
        shown = columns(rows, tones=tones).splitlines()
    assert shown == [
        "name",
        f"{MARKS['winner']}good{MARKS[None]}",
        f"{MARKS['failure']}bad{MARKS[None]}",
    ]
