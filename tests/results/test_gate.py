"""The verdict of a check in words, as Markdown and as JUnit XML."""

import xml.etree.ElementTree as ElementTree

from autotune.domain.metric import TIME, Metric
from autotune.results.gate import gate_junit, gate_markdown, gate_words
from autotune.results.gate.gate_verdict import BaselineRatio, GateCheck, GateOutcome, ProblemGate
from autotune.statistics.drift import Contest
from autotune.statistics.slowdown_test import SlowdownReading

SPEED = Metric("speed", "MB/s", "more")


def problem(label: str, outcome: GateOutcome, ratio: float = 1.0, **fields: object) -> ProblemGate:
    reading = None
    if outcome in ("slower", "within", "open"):
        contest = Contest(ratio, ratio / 1.02, ratio * 1.02, 20)
        reading = SlowdownReading(slowdown=contest, outcome=outcome, resolution=0.06)
    values: dict[str, object] = {
        "problem": label,
        "objective": TIME,
        "candidate": f"block8@{label}:abc",
        "way": "revision",
        "outcome": outcome,
        "reading": reading,
        "then": 0.01,
        "now": 0.01 * ratio,
    }
    return ProblemGate(**(values | fields))


def check(*problems: ProblemGate) -> GateCheck:
    return GateCheck(
        config="solver",
        old="revision HEAD~1 (1f2e, a|b)",
        new="solver.yaml",
        limit=0.03,
        error=0.05,
        problems=problems,
        notes=("new is the working tree",),
    )


def test_a_regression_fails_and_says_how_much() -> None:
    result = check(problem("a", "slower", 1.2), problem("b", "within", 0.9))
    assert not result.passes
    text = gate_words.text(result)
    assert "slower by +20.0 % (+17.6 % to +22.4 %) in 20 rounds: more than 3 % is proven" in text
    assert text.endswith("regression: slower by more than 3 % in 1 problem of 2")


def test_what_is_not_provable_passes_with_its_resolution() -> None:
    result = check(problem("a", "open", 1.02), problem("b", "not compared", detail="no study"))
    assert result.passes
    text = gate_words.text(result)
    assert "a slowdown of 6 % would have been proven" in text
    assert text.endswith("no regression of more than 3 % is provable")


def test_values_of_more_is_better_are_shown_as_they_are() -> None:
    row = gate_words.cells(problem("a", "open", objective=SPEED, then=100.0, now=90.0))
    assert row[1:3] == ("100 MB/s", "90 MB/s")


def test_stored_times_show_the_baseline_beside_them() -> None:
    ratio = BaselineRatio(then=1.5, now=1.2)
    gate = problem("a", "open", way="stored times", baseline=ratio)
    assert any("1.500x then, 1.200x now" in text for text in gate_words.sentences(gate, 0.03))


def test_junit_has_a_case_for_every_problem() -> None:
    gates = (
        problem("a", "slower", 1.2),
        problem("b", "failed", detail="crashed: \x00 it did"),
        problem("c", "not compared", detail="another size"),
        problem("d", "same program", detail="one program"),
        problem("d", "within"),
    )
    root = ElementTree.fromstring(gate_junit.junit(check(*gates)))
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    names = [case.get("name") for case in root.iter("testcase")]
    assert names == ["a", "b", "c", "d", "d (2)"]


def test_markdown_escapes_what_comes_from_outside() -> None:
    text = gate_markdown.markdown(check(problem("a|b", "within")))
    assert r"a\|b" in text
    assert text.startswith("## Run time: no regression")
    assert text.count("\n| ") == 2
