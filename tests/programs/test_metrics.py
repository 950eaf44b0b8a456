"""Metrics of programs: read by pattern, JSON path or CSV column, optimised, and kept in bounds."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.domain.metric import TIME, Metric, positive_cost
from autotune.domain.program import Program
from autotune.results.report.words import first_words
from autotune.statistics import pareto
from autotune.toolchain.child_process import ProcessOutcome
from autotune.units import Seconds
from autotune.workloads.program.measuring.printed_output import (
    UnreadableOutput,
    out_of_bounds,
    values,
)

COMPRESSOR = """\
schema: autotune.program/1
title: A compressor that knows its ratio and its rate
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{level}"]
parameters: {level: [1, 2, 3]}
metrics:
  speed: {pattern: "([0-9.]+) MB/s", unit: MB/s, better: more}
  ratio: {pattern: "ratio (\\\\S+)", better: more}
objective: speed
bounds: [ratio >= 3]
"""
SETTINGS = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "{n: 500}", "{}"
)


def program(tmp_path: Path, text: str = COMPRESSOR) -> Program:
    path = own.put(tmp_path, text, SETTINGS, {"tiny.py": "pass\n"})
    subject = own.opened(path)[0].subject
    assert isinstance(subject, Program)
    return subject


def printed(out: str, err: str = "") -> ProcessOutcome:
    return ProcessOutcome(
        code=0, signal=None, timed_out=False, flooded=False, out=out, err=err, seconds=Seconds(2.0)
    )


def test_metrics_are_read_beside_the_time_of_the_process(tmp_path: Path) -> None:
    outcome = printed("ratio 3.5\n410.5 MB/s\n395 MB/s\n")
    assert values(program(tmp_path), outcome) == (
        {"time": 2.0, "speed": 410.5, "ratio": 3.5},
        {"time": 2.0, "speed": 395.0, "ratio": 3.5},
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_column_of_a_table_has_a_value_in_every_row(tmp_path: Path, separator: str) -> None:
    text = COMPRESSOR.replace('{pattern: "([0-9.]+) MB/s"', '{csv: "rate, MB/s"').replace(
        '{pattern: "ratio (\\\\S+)"', "{json: result.ratio"
    )
    rows = [["level", '"rate, MB/s"'], ["1", "410"], ["2", "395"]]
    table = "\n".join(separator.join(row) for row in rows)
    outcome = printed(f'begun\n{table}\n\n{{"result": {{"ratio": 3.5}}}}\n')
    assert [sample["speed"] for sample in values(program(tmp_path, text), outcome)] == [410, 395]


@pytest.mark.parametrize(
    "line",
    ["1 MB/s\r250 MB/s\r410 MB/s\r\r\n", " 1# 1234.5 MB/s\r 1# 410.0 MB/s\r 1#\n"],
    ids=["progress", "zstd"],
)
def test_a_line_that_is_overwritten_counts_as_it_ends(tmp_path: Path, line: str) -> None:
    outcome = printed(f"ratio 3.5\n{line}")
    assert [sample["speed"] for sample in values(program(tmp_path), outcome)] == [410.0]


@pytest.mark.parametrize(
    "number", ["0.0_1", "\uff11\uff12", "5e-324", "1e-310", "nan", "inf", "-1", "0", "1,5", "0x10"]
)
def test_what_is_no_plain_positive_number_is_no_objective(tmp_path: Path, number: str) -> None:
    text = COMPRESSOR.replace("([0-9.]+) MB/s", "(\\\\S+) MB/s")
    with pytest.raises(UnreadableOutput, match="where speed should be"):
        values(program(tmp_path, text), printed(f"ratio 3\n{number} MB/s\n"))
    timed = own.opened(own.put(tmp_path / "timed"))[0].subject
    assert isinstance(timed, Program)
    with pytest.raises(UnreadableOutput, match="where its time should be"):
        values(timed, printed(f"time {number} s\n"))


def test_numbers_of_fortran_are_plain(tmp_path: Path) -> None:
    text = COMPRESSOR.replace("([0-9.]+) MB/s", "(\\\\S+) MB/s")
    (sample,) = values(program(tmp_path, text), printed("ratio -3.D+00\n.41D+3 MB/s\n"))
    assert sample == {"time": 2.0, "speed": 410.0, "ratio": -3.0}


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("410 MB/s\n", "printed no value of ratio"),
        ("ratio 3\n", "printed no value of speed"),
        ("ratio 3\nratio 4\n1 MB/s\n2 MB/s\n3 MB/s\n", "printed 3 of speed and 2 of ratio"),
    ],
)
def test_missing_values_are_named(tmp_path: Path, out: str, words: str) -> None:
    with pytest.raises(UnreadableOutput, match=words):
        values(program(tmp_path), printed(out))


def test_a_pattern_that_matches_nothing_is_named_beside_what_was_printed(tmp_path: Path) -> None:
    lines = [f"line {number} error" for number in range(100)]
    with pytest.raises(UnreadableOutput) as caught:
        values(program(tmp_path), printed("\n".join(["ratio 3.5", *lines])))
    reason, *shown = str(caught.value).splitlines()
    assert reason == (
        "the program printed no value of speed: no line matches the pattern '([0-9.]+) MB/s';"
        " it printed:"
    )
    assert (shown[0], shown[-1], len(shown)) == ("ratio 3.5", "line 99 error", 17)
    assert shown[8] == "... (85 lines)"
    assert first_words(str(caught.value)) == reason.removesuffix("; it printed:")


def test_of_binary_output_only_lines_of_text_are_shown(tmp_path: Path) -> None:
    with pytest.raises(UnreadableOutput) as caught:
        values(program(tmp_path), printed("\x1f\x8b\x00\ufffd\nratio 3.5\n\ufffd\x07\n"))
    assert str(caught.value).splitlines()[1:] == ["ratio 3.5"]
    with pytest.raises(UnreadableOutput, match="what it printed is no text"):
        values(program(tmp_path), printed("\x1f\x8b\x00\ufffd\n" * 100))


def test_a_bound_that_does_not_hold_is_named_with_its_values(tmp_path: Path) -> None:
    text = COMPRESSOR.replace(
        "[ratio >= 3]", "[ratio >= 3, {require: time < level, reason: too slow}]"
    )
    subject = program(tmp_path, text)
    assert not out_of_bounds(subject, {"ratio": 3.5, "time": 2.0, "level": 3})
    found = out_of_bounds(subject, {"ratio": 2.98765432, "time": 2.0, "level": 3})
    assert found == "ratio >= 3 does not hold: ratio = 2.98765"
    found = out_of_bounds(subject, {"ratio": 3.5, "time": 2.0, "level": 1})
    assert found == "time < level does not hold: time = 2, level = 1 (too slow)"
    assert "cannot be judged" in out_of_bounds(subject, {"ratio": 1e300, "time": 2.0, "level": ""})


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("objective: speed", "objective: sped", "tiny.yaml:9", "did you mean speed?"),
        ("bounds: [ratio >= 3]", "bounds: [ration >= 3]", "tiny.yaml:10", "did you mean ratio?"),
        ("bounds: [ratio >= 3]", "bounds: [ratio >]", "tiny.yaml:10", "ratio >"),
        ("better: more}\n  ratio", "beter: more}\n  ratio", "tiny.yaml:7", "did you mean better?"),
        ("better: more}\n  ratio", "better: most}\n  ratio", "tiny.yaml:7", "did you mean more?"),
        (", better: more}\n  ratio", "}\n  ratio", "tiny.yaml:7", "'better' is missing"),
        ("  speed:", "  time:", "tiny.yaml:7", "none of time, energy, memory"),
        ("  speed:", "  level:", "tiny.yaml:7", "a parameter or an argument already"),
        ('"([0-9.]+) MB/s"', '"[0-9.]+ MB/s"', "tiny.yaml:7", "0 groups"),
        ('{pattern: "([0-9.]+) MB/s"', "{json: a.b, csv: c", "tiny.yaml:7", "one of pattern, json"),
        ("objective: speed", "time: {pattern: (.), wall: true}", "tiny.yaml:9", "is read by one"),
        ("objective: speed", "time: {unit: s}", "tiny.yaml:9", "a time is read by one of"),
        (
            "objective: speed",
            "objective: speed\nmodel: {formula: level}",
            "tiny.yaml:10",
            "a model predicts the time",
        ),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    assert old in COMPRESSOR
    path = own.put(tmp_path, COMPRESSOR.replace(old, new), SETTINGS, {"tiny.py": "pass\n"})
    found = "\n".join(own.faults(path))
    assert place in found
    assert words in found


def test_the_cost_of_a_rate_is_its_reciprocal() -> None:
    speed, error = Metric("speed", "MB/s", "more"), Metric("error")
    assert speed.cost(400.0) == 1 / 400
    assert speed.value(speed.cost(410.0)) == pytest.approx(410)
    assert error.cost(1e-6) == error.value(1e-6) == 1e-6
    assert (speed.show(1 / 400), error.show(1e-6)) == ("400 MB/s", "1e-06")


def test_an_exact_result_is_on_the_front() -> None:
    error = Metric("error")
    costs = {
        name: {"time": time} | positive_cost(error, value)
        for name, time, value in (("fast", 1.0, 1e-3), ("exact", 1.0, 0.0), ("slow", 2.0, 1e-300))
    }
    assert pareto.front(costs, ("time", "error")) == ("exact",)
    assert error.value(costs["exact"]["error"]) == 0
    assert error.show(costs["exact"]["error"]) == "0"
    assert positive_cost(TIME, 0.0) == positive_cost(Metric("rate", better="more"), 0.0) == {}


SCRIPT = """\
import sys
level = int(sys.argv[1])
print("ratio", 4 - 0.5 * level)
print(100 * level, "MB/s")
print(100 * level + 1, "MB/s")
"""


def test_a_launch_keeps_every_metric_and_judges_the_bounds(tmp_path: Path) -> None:
    path = own.put(tmp_path, COMPRESSOR, SETTINGS, {"tiny.py": SCRIPT})
    _, measurer, named = own.opened(path)
    launches = {
        level: measurer.launch(
            measurer.prepare(candidate),
            round_number=0,
            launch=0,
            expected=1e-9,
            on_sample=lambda sample: None,
        )
        for level, candidate in named.items()
    }
    assert launches["2"].status == "ok"
    first, second = launches["2"].samples
    assert (first.seconds, second.seconds) == (1 / 200, 1 / 201)
    assert (first.metrics["speed"], first.metrics["ratio"]) == (200.0, 3.0)
    assert first.metrics["time"] == first.conditions["wall_s"]
    assert launches["3"].status == "out-of-bounds"
    assert launches["3"].detail == "ratio >= 3 does not hold: ratio = 2.5"
