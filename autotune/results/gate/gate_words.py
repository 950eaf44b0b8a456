"""A check in words: a headline, a sentence for every problem, the table of the terminal."""

from collections.abc import Iterator, Mapping

from autotune.results.gate.gate_verdict import (
    WAYS,
    BaselineRatio,
    GateCheck,
    GateOutcome,
    ProblemGate,
)
from autotune.results.report.number_words import NONE, metric, percent, seconds
from autotune.results.report.text_table import columns
from autotune.units import counted

OUTCOMES: Mapping[GateOutcome, str] = {
    "slower": "REGRESSION",
    "within": "no regression",
    "open": "none provable",
    "same program": "same program",
    "not compared": "NOT COMPARED",
    "failed": "FAILED",
}
HEAD = ("problem", "then", "now", "slowdown", "verdict", "would be proven")


def headline(check: GateCheck) -> str:
    """The verdict on all problems in one line."""
    limit = share(check.limit)
    if check.failures:
        return f"failed: {counted(len(check.failures), 'problem')} of {len(check.problems)}"
    if check.regressions:
        number = counted(len(check.regressions), "problem")
        return f"regression: slower by more than {limit} in {number} of {len(check.problems)}"
    unknown = [problem for problem in check.problems if problem.outcome == "not compared"]
    if unknown and len(unknown) == len(check.problems):
        return "nothing was compared: the check proves nothing"
    if all(problem.outcome in ("within", "same program") for problem in check.problems):
        return f"no regression: nothing is slower by more than {limit}"
    return f"no regression of more than {limit} is provable"


def sentences(problem: ProblemGate, limit: float) -> Iterator[str]:
    """What there is to say of one problem, a sentence each."""
    reading = problem.reading
    if reading is None:
        yield problem.detail
        return
    slowdown = f"{problem.ratio_words} in {counted(reading.rounds, 'round')}"
    if problem.outcome == "slower":
        yield f"slower by {slowdown}: more than {share(limit)} is proven"
    elif problem.outcome == "within":
        yield f"the time changed by {slowdown}: more than {share(limit)} is ruled out"
    else:
        yield f"the time changed by {slowdown}: neither side of {share(limit)} is proven"
    yield f"a slowdown of {share(reading.resolution)} would have been proven (in 4 of 5 cases)"
    yield f"compared: {WAYS[problem.way]}"
    if problem.baseline is not None:
        yield _baseline(problem.baseline)
    if problem.detail:
        yield problem.detail


def text(check: GateCheck) -> str:
    """The check for a terminal: what was compared, a row for every problem, and the verdict."""
    lines = [f"old: {check.old}", f"new: {check.new}", ""]
    rows = [HEAD, *(cells(problem) for problem in check.problems)]
    lines += [columns(rows, right=(1, 2)), ""]
    for problem in check.problems:
        lines += [f"{problem.problem}: {problem.candidate}"]
        lines += [f"  {sentence}" for sentence in sentences(problem, check.limit)]
    lines += [f"note: {note}" for note in check.notes]
    return "\n".join([*lines, "", headline(check)])


def cells(problem: ProblemGate) -> tuple[str, ...]:
    """The row of a problem under ``HEAD``."""
    reading = problem.reading
    return (
        problem.problem,
        _value(problem, problem.then),
        _value(problem, problem.now),
        problem.ratio_words or NONE,
        OUTCOMES[problem.outcome],
        NONE if reading is None else share(reading.resolution),
    )


def share(value: float) -> str:
    """A share in percent, as a user writes one.

    >>> share(0.03), share(0.0712)
    ('3 %', '7.1 %')
    """
    return percent(value).replace(".0 %", " %")


def _value(problem: ProblemGate, value: float | None) -> str:
    goal = problem.objective
    return seconds(value, goal) if goal.timed else metric(goal, value)


def _baseline(ratio: BaselineRatio) -> str:
    return (
        f"against the baseline, launched in the same rounds: {ratio.then:.3f}x then,"
        f" {ratio.now:.3f}x now (no drift of the host; a slowdown of both is not seen in it)"
    )
