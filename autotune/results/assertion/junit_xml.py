"""The check of a run as JUnit XML: a test case for each assertion, as CI servers read it."""

import re
import xml.etree.ElementTree as ElementTree

from autotune.assertions.checking.verdicts import AssertionCheck, AssertionVerdict
from autotune.results.assertion import verdict_words

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold (XML 1.0, 2.2)."""


def junit(check: AssertionCheck) -> str:
    """The document: one suite; what fails the run beside assertions is a case of its own."""
    suite = ElementTree.Element("testsuite")
    names: dict[str, int] = {}
    for verdict in check.verdicts:
        case = _case(suite, check, _unique(verdict.id, names))
        line = verdict_words.published(verdict)
        words = [line, *verdict_words.sentences(verdict, check.ranks)]
        if verdict.outcome == "fail":
            _entry(case, "failure", _message(verdict, line), "\n".join(words))
        elif verdict.outcome == "not measured":
            _entry(case, "skipped", "nobody counted", "\n".join(words))
        else:
            _text(ElementTree.SubElement(case, "system-out"), "\n".join(words))
    failing = [verdict for verdict in check.verdicts if verdict.outcome == "fail"]
    others = check.reasons[1:] if failing else check.reasons
    if others:
        case = _case(suite, check, _unique("(the run)", names))
        _entry(case, "failure", others[0], "\n".join(others))
    cases = list(suite)
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
        "errors": 0,
    }
    suite.attrib |= {"name": _clean(f"assertions of {check.program}")}
    suite.attrib |= {name: str(number) for name, number in counts.items()}
    root = ElementTree.Element("testsuites", {k: str(v) for k, v in counts.items()})
    root.append(suite)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _case(suite: ElementTree.Element, check: AssertionCheck, name: str) -> ElementTree.Element:
    attributes = {"classname": _clean(check.program), "name": _clean(name), "time": "0"}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _unique(name: str, names: dict[str, int]) -> str:
    """The name, with a number where it comes again: a CI server takes equal names for one."""
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _message(verdict: AssertionVerdict, line: str) -> str:
    return verdict.causes[0].words if verdict.causes else line


def _entry(case: ElementTree.Element, tag: str, message: str, text: str) -> None:
    entry = ElementTree.SubElement(case, tag, {"message": _clean(message)})
    _text(entry, text)


def _text(element: ElementTree.Element, text: str) -> None:
    element.text = _clean(text)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
