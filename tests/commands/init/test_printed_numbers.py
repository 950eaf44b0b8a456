"""Times, rates and answers in what programs print."""

import re

import pytest

from autotune.commands.init.time_units import TIME_UNITS, unit_of
from autotune.commands.init.trying.printed_numbers import (
    comma_lines,
    printed_answers,
    printed_numbers,
    ratio_pattern,
)
from autotune.units import parse

STREAM = """\
Your clock granularity/precision appears to be 1 microseconds.
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           12345.6     0.012932     0.0129       0.0141
Triad:          10345.6     0.022932     0.0229       0.0241
Solution Validates: avg error less than 1.000000e-13 on all three arrays
"""
NPB = (
    " Time in seconds =    0.05\n Mop/s total     =     1234.5\n Verification    =    SUCCESSFUL\n"
)
OPENSSL = """\
Doing sha256 ops for 3s on 16 size blocks: 1234567 sha256 ops in 2.99s
The 'numbers' are in 1000s of bytes per second processed.
sha256           45678.12k   123456.78k
"""


@pytest.mark.parametrize("line", ["took 250 UNIT", "Elapsed (UNIT): 250", "time in UNIT: 250"])
@pytest.mark.parametrize("unit", TIME_UNITS)
def test_any_spelling_of_a_unit_of_time_is_one_that_descriptions_have(unit: str, line: str) -> None:
    number = printed_numbers(line.replace("UNIT", unit), 1e7)[0]
    assert number.unit == unit_of(unit)
    assert parse(f"1 {number.unit}", "time") > 0


@pytest.mark.parametrize(
    ("text", "value", "unit", "better"),
    [
        (STREAM, 10345.6, "MB/s", "more"),
        (NPB, 1234.5, "Mop/s", "more"),
        (OPENSSL, 45678.12, "kB/s", "more"),
        ("eigen real  0.46s \t38.0 GFLOPS \t(0.95s)\n", 38.0, "GFLOPS", "more"),
        (" 3#f : 2119 -> 665 (x3.186),  323.4 MB/s , 1072.6 MB/s\n", 323.4, "MB/s", "more"),
        ("a 1 MB/s\r\n-3#f : 2 -> 1, 1.5 MB/s\r 3#f : 2 -> 1, 2.5 MB/s\n", 2.5, "MB/s", "more"),
        ("100 loops, best of 5: 12.3 usec per loop\n", 12.3, "usec/loop", "less"),
        ("init time 0.1 s\ntook 2.5 s\n", 2.5, "s", "less"),
        ("Elapsed (ms): 12.5\nNorm = 3.5\n", 12.5, "ms", "less"),
        ('{"time": 0.12, "n": 8}\n', 0.12, "s", "less"),
        ('{"block": 8, "time_ms": 12.5, "n": 4}\n', 12.5, "ms", "less"),
        ('{"time_ms": 1250, "items_per_second": 2.5e6}\n', 2.5e6, "items_per_second", "more"),
        ("Performance: 12.5 ns/day 1.9 hour/ns\n", 12.5, "ns/day", "more"),
        ("12.5 ns per day\n", 12.5, "ns per day", "more"),
        ("2.5 ms per step\n", 2.5, "ms/step", "less"),
        ("sizes 1024,4,0.25 s\n", 0.25, "s", "less"),
        ("\x1b[1mtime\x1b[0m \x1b[32m0.25\x1b[0m s\n", 0.25, "s", "less"),
        ("time 7.1 s\ntime 0.3 s\n", 0.3, "s", "less"),
    ],
)
def test_the_number_that_a_program_is_run_for_comes_first(
    text: str, value: float, unit: str, better: str
) -> None:
    number = printed_numbers(text, 5.0)[0]
    assert (number.value, number.unit, number.better) == (value, unit, better)


@pytest.mark.parametrize("text", ["", "hello\n", "n = 5\n", "time 99 s\n", "12 times\n"])
def test_what_is_no_time_of_this_run_is_none(text: str) -> None:
    assert printed_numbers(text, 5.0) == []


@pytest.mark.parametrize(
    "line",
    ["Laufzeit: 0,0379 s", "rate 10,557 MB/s", "took 38,050,869 ns", "took 1.234,5 ms",
     "Elapsed: 1:12.5", "total 0:00:02 s", "took 1'234'567 ns", "took 1\u202f234 ms",
     "10,512,243.5 ops/s"],
)  # fmt: skip
def test_a_part_of_a_number_with_commas_is_no_number(line: str) -> None:
    assert printed_numbers(line, 5.0) == []
    assert comma_lines(f"n 3,4\n{line}\n") == [line]


def test_an_answer_with_groups_of_digits_is_checked_as_a_whole() -> None:
    answers, differing = printed_answers("sum: 1,234,567\n", "sum: 1,234,567\n")
    assert [answer.text for answer in answers] == ["1,234,567"]
    assert printed_answers("sum: 1,234\n", "sum: 1,235\n") == ([], ["sum: 1,234 | 1,235"])
    assert not differing
    assert printed_answers("total 00:00:01\n", "total 00:00:01\n") == ([], [])


def test_a_pattern_finds_other_numbers_in_the_same_line() -> None:
    number = printed_numbers("run 3, block 64: time 0.25 s\n", 1.0)[0]
    match = re.search(number.pattern, "run 12, block 8: time 1.5e-1 s")
    assert match is not None
    assert match.group(1) == "1.5e-1"


def test_lines_that_are_alike_are_samples_of_a_run() -> None:
    assert printed_numbers("step 1: 0.2 s\nstep 2: 0.3 s\n", 1.0)[0].count == 2


def test_an_answer_is_what_two_runs_print_alike() -> None:
    first = "time 0.1 s\nresidual 1.5e-9\nchecksum 12.25\n"
    second = "time 0.2 s\nresidual 1.7e-9\nchecksum 12.25\n"
    answers, differing = printed_answers(first, second)
    assert [answer.text for answer in answers] == ["12.25"]
    assert differing == ["residual 1.5e-9 | 1.7e-9"]


def test_words_of_success_are_answers() -> None:
    assert printed_answers(NPB, NPB)[0][0].text == "SUCCESSFUL"
    assert printed_answers(STREAM, STREAM)[0][0].text == "Validates"


def test_a_ratio_in_the_line_of_a_rate() -> None:
    line = " 3#f : 2119 -> 665 (x3.186),  323.4 MB/s , 1072.6 MB/s"
    pattern = ratio_pattern(printed_numbers(line, 1.0)[0])
    match = re.search(pattern, "12#f : 2119 -> 500 (x4.2),  9 MB/s")
    assert match is not None
    assert match.group(1) == "4.2"
    assert ratio_pattern(printed_numbers("took 1 s (2.5 %)", 1.5)[0]) == ""


def test_a_word_that_begins_with_a_digit_is_an_answer_as_a_whole() -> None:
    answers, differing = printed_answers("digest 2daeb1f3", "digest 2daeb1f3")
    assert [answer.text for answer in answers] == ["2daeb1f3"]
    assert differing == []
    assert printed_answers("digest 2daeb1f3", "digest 2daeb1f4")[0] == []
