"""A check as JUnit XML: a test case for every problem."""

from autotune.results.gate import gate_words
from autotune.results.gate.gate_verdict import GateCheck, ProblemGate
from autotune.results.report import junit_suite
from autotune.results.report.junit_suite import JUnitCase


def junit(check: GateCheck) -> str:
    """The document: a regression is a failure, a program that does not run an error, what was not
    compared is skipped.
    """
    cases = [_case(problem, check.limit) for problem in check.problems]
    return junit_suite.document(f"slowdown of {check.config}", check.config, cases)


def _case(problem: ProblemGate, limit: float) -> JUnitCase:
    words = list(gate_words.sentences(problem, limit))
    text = "\n".join([problem.candidate, *words])
    if problem.outcome == "slower":
        return JUnitCase(name=problem.problem, outcome="failure", message=words[0], text=text)
    if problem.outcome == "failed":
        message = words[0].splitlines()[0]
        return JUnitCase(name=problem.problem, outcome="error", message=message, text=text)
    if problem.outcome == "not compared":
        return JUnitCase(name=problem.problem, outcome="skipped", message=words[0], text=text)
    return JUnitCase(name=problem.problem, outcome="passed", text=text)
