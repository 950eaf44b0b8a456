"""The check of a run as JUnit XML: a test case for each assertion, as CI servers read it."""

from autotune.assertions.checking.verdicts import AssertionCheck, AssertionVerdict
from autotune.results.assertion import verdict_words
from autotune.results.report import junit_suite
from autotune.results.report.junit_suite import JUnitCase


def junit(check: AssertionCheck) -> str:
    """The document: one suite; what fails the run beside assertions is a case of its own."""
    cases = [_case(check, verdict) for verdict in check.verdicts]
    failing = [verdict for verdict in check.verdicts if verdict.outcome == "fail"]
    others = check.reasons[1:] if failing else check.reasons
    if others:
        text = "\n".join(others)
        cases.append(JUnitCase(name="(the run)", outcome="failure", message=others[0], text=text))
    return junit_suite.document(f"assertions of {check.program}", check.program, cases)


def _case(check: AssertionCheck, verdict: AssertionVerdict) -> JUnitCase:
    line = verdict_words.published(verdict)
    text = "\n".join([line, *verdict_words.sentences(verdict, check.ranks)])
    if verdict.outcome == "fail":
        message = verdict.causes[0].words if verdict.causes else line
        return JUnitCase(name=verdict.id, outcome="failure", message=message, text=text)
    if verdict.outcome == "not measured":
        return JUnitCase(name=verdict.id, outcome="skipped", message="nobody counted", text=text)
    return JUnitCase(name=verdict.id, outcome="passed", text=text)
