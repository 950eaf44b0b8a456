"""Numbers and loops in words, and rows as columns of text: what a reader of a report gets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.metric import Metric
from autotune.domain.ranking import Role
from autotune.domain.results import Part, Prediction
from autotune.models.engines.base import CompiledSweep
from autotune.models.incore.base import InCoreResult
from autotune.results.explanation import loop_words
from autotune.results.explanation.explained import ExplainedCandidate
from autotune.results.report import change_words
from autotune.results.report.text_table import columns

# --- changes of a time ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0.0, "no change"), (0.007, "no change"), (-0.007, "no change"),
        (0.0145, "1 % more time"), (-0.0145, "1 % less time"), (-1.0, "50 % less time"),
        (-3.0, "88 % less time"), (0.98, "97 % more time"), (1.0, "2 times the time"),
        (2.0, "4 times the time"), (6.0, "64 times the time"),
    ],
)  # fmt: skip
def test_a_change_of_the_logarithm_in_words(size, text):
    assert change_words.change(size) == text


@given(st.floats(0.01, 8), st.floats(0.01, 8))
def test_a_larger_change_never_reads_as_a_smaller_one(a, b):
    def said(size):
        text = change_words.change(size)
        if text == "no change":
            return 0.0
        number = float(text.split()[0])
        return number * 100 if "times" in text else 100 + number

    low, high = sorted((a, b))
    assert said(low) <= said(high) + 6  # two digits of a factor below ten


def test_a_trend_goes_from_the_smallest_to_the_largest_value():
    assert change_words.trend("bi", [2, 4, 8], 2.0) == (
        "bi from 2 to 8: 4 times the time, 2 times the time a doubling"
    )
    assert change_words.trend("bi", [0, 8], -1.0) == "bi from 0 to 8: 50 % less time"


def test_values_are_written_as_a_sentence_has_them():
    assert [change_words.shown(v) for v in ("x", 8, 0.5, 1e6)] == ["x", "8", "0.5", "1e+06"]


@pytest.mark.parametrize(
    ("texts", "joined"),
    [(["a"], "a"), (["a", "b"], "a or b"), (list("abcde"), "a, b, c, d or e"),
     (list("abcdef"), "a, b, c, d or 2 others")],
)  # fmt: skip
def test_few_texts_are_joined_and_many_are_counted(texts, joined):
    assert change_words.few(texts, "or") == joined


def test_many_changes_are_cut_in_the_middle():
    slower = {f"{k} % more time": [str(k)] for k in range(1, 8)}
    text = change_words.listed(slower)
    assert text == (
        "1 takes 1 % more time, 2 takes 2 % more time, 3 takes 3 % more time, ...,"
        " 7 takes 7 % more time"
    )


# --- columns of text --------------------------------------------------------------------------


def test_columns_are_aligned_and_the_last_is_not_padded():
    rows = [("a", "1", "short"), ("bbb", "22", "a longer text")]
    assert columns(rows) == "a    1   short\nbbb  22  a longer text"
    assert columns(rows, right=[1]) == "a     1  short\nbbb  22  a longer text"
    assert columns([]) == ""


@given(st.lists(st.tuples(*[st.text("ab ", max_size=4)] * 3), max_size=5))
def test_no_cell_is_lost(rows):
    lines = columns(rows).split("\n") if rows else []
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        for cell in row:
            assert cell.strip() in line
        assert line == line.rstrip()


# --- compiled loops ---------------------------------------------------------------------------

PLAIN = InCoreResult(
    T_OL=2.0, T_nOL=1.0, chain=0.5, bottleneck="port 2D", iterations=4, route="osaca:HSW",
    approximate=False, vector=32, loads=3.0, stores=1.0,
)  # fmt: skip


def loop(sweep="lc", kernel=None, **change):
    return CompiledSweep(sweep=sweep, kernel=kernel or sweep, result=replace(PLAIN, **change))


def candidate(*loops, seconds=None, busy=None):
    parts = [
        Part(sweep=sweep, kind=kind, seconds=value)
        for kind, values in (("sweep", seconds or {}), ("T_OL", busy or {}))
        for sweep, value in values.items()
    ]
    prediction = Prediction(
        seconds=1.0, interval=None, parts=tuple(parts), engine="reuse", reason="r"
    )
    return ExplainedCandidate(name="c", prediction=prediction, loops=loops)


LC = Role(kernels=frozenset({"LC"}), parts=())
RHS = Role(kernels=frozenset({"RHS"}), parts=())


def test_the_main_loop_of_a_kernel_takes_most_of_its_time():
    first, second, other = loop("lc_0", "lc"), loop("lc_1", "lc"), loop("rhs")
    told = candidate(first, second, other, seconds={"lc_0": 1.0, "lc_1": 2.0, "rhs": 9.0})
    assert loop_words.main_loop(told, LC) == second
    assert loop_words.main_loop(told, RHS) == other
    assert loop_words.main_loop(candidate(other), LC) is None


def test_a_form_of_a_kernel_plays_its_role_and_a_fused_one_all_of_its_roles():
    first = loop("rhs_first", "rhs_first")
    assert loop_words.main_loop(candidate(first), RHS) == first
    fused = loop("both", "rhs+lc")
    assert loop_words.main_loop(candidate(fused), RHS) is None
    both = Role(kernels=frozenset({"RHS", "LC"}), parts=())
    assert loop_words.main_loop(candidate(fused), both) == fused


def test_a_loop_is_told_by_its_cycles_a_line_and_what_is_busiest():
    assert loop_words.in_words(loop()) == "its loop needs 16 cycles a line, bound by port 2D"
    chained = loop(bottleneck="chain", T_OL=4.0, chain=4.0)
    assert loop_words.in_words(chained) == (
        "its loop needs 32 cycles a line, bound by a loop-carried chain of 4 cycles a component"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"vector": 8}, ["scalar code"]),
        ({"chain_forwards": 1.0, "forwards": 1.0}, ["a chain through memory (store forwarding)"]),
        ({"forwards": 0.25}, ["2 loads a line of what was just stored"]),
        ({"forwards": 0.04}, []),
        ({"blocked": 0.125}, ["1 loads a line wider than the store they wait for"]),
        ({"crossing": 0.5}, ["4 line-crossing vector loads a line"]),
        ({"gathers": 1.0, "calls": 1.0},
         ["irregular loads (gathers)", "calls of library functions"]),
        ({"unknown": ("a", "b", "c", "d")}, ["instructions that OSACA does not know (a, b, c)"]),
    ],
)  # fmt: skip
def test_what_is_unusual_about_a_loop(change, words):
    assert list(loop_words.unusual(loop(**change))) == words


def test_two_loops_differ_in_what_binds_them_and_in_what_is_unusual():
    scalar, chained = loop(vector=8), loop(bottleneck="chain", calls=1.0)
    assert loop_words.compared(scalar, chained, moving=True) == [
        "bound by port 2D against a loop-carried chain of 0.5 cycles a component",
        "it has scalar code",
        "the other has calls of library functions",
    ]
    assert loop_words.compared(scalar, scalar, moving=True) == []
    assert loop_words.compared(None, scalar, moving=True) == []
    assert loop_words.compared(scalar, None, moving=True) == []


def test_the_work_of_two_candidates_as_ratios():
    once = candidate(loop(), busy={"lc": 2.0})
    twice = candidate(loop(), busy={"lc": 4.0})
    assert loop_words.executed(twice, once, LC) == [
        "its loops go through 2 x the components, 2 x the loads, 2 x the stores"
    ]
    assert loop_words.executed(once, once, LC) == []
    more = candidate(loop(loads=4.5), busy={"lc": 2.0})
    assert loop_words.executed(more, once, LC) == ["its loops go through 1.5 x the loads"]
    assert loop_words.executed(once, candidate(), LC) == []


def test_loops_over_the_same_components_are_added_up():
    halves = candidate(loop("lc_0", "lc"), loop("lc_1", "lc"), busy={"lc_0": 1.0, "lc_1": 1.0})
    assert loop_words.executed(halves, candidate(loop(), busy={"lc": 2.0}), LC) == []


@pytest.mark.parametrize(
    ("size", "text"),
    [(1.0, "50 % less speed"), (-0.5, "41 % more speed"), (-2.0, "4 times the speed")],
)
def test_changes_of_a_rate_are_those_of_its_value(size: float, text: str) -> None:
    speed = Metric("speed", "MB/s", "more")
    assert change_words.change(size, speed) == text
    assert change_words.listed({text: ["8", "16"]}, speed) == f"8 and 16 have {text}"
    assert change_words.change(1.0, Metric("size", "B")) == "2 times the size"
