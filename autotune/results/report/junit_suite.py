"""Test cases as JUnit XML, as CI servers read it."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold (XML 1.0, 2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitCase:
    """One test case: its name, how it ended, and what there is to say of it."""

    name: str
    outcome: Literal["passed", "failure", "skipped", "error"]
    message: str = ""
    """In one line; of a case that passed none."""
    text: str = ""


def document(suite: str, owner: str, cases: Sequence[JUnitCase]) -> str:
    """The document with one suite of cases; ``owner`` is the name of their class.

    A name that comes again gets a number: a CI server takes equal names for one.
    """
    root_suite = ElementTree.Element("testsuite")
    names: dict[str, int] = {}
    for case in cases:
        attributes = {"classname": owner, "name": _unique(case.name, names), "time": "0"}
        element = ElementTree.SubElement(
            root_suite, "testcase", {name: _clean(text) for name, text in attributes.items()}
        )
        if case.outcome == "passed":
            entry = ElementTree.SubElement(element, "system-out")
        else:
            message = {"message": _clean(case.message)}
            entry = ElementTree.SubElement(element, case.outcome, message)
        entry.text = _clean(case.text)
    counts = {
        "tests": len(cases),
        "failures": sum(case.outcome == "failure" for case in cases),
        "skipped": sum(case.outcome == "skipped" for case in cases),
        "errors": sum(case.outcome == "error" for case in cases),
    }
    root_suite.attrib |= {"name": _clean(suite)}
    root_suite.attrib |= {name: str(number) for name, number in counts.items()}
    root = ElementTree.Element("testsuites", {k: str(v) for k, v in counts.items()})
    root.append(root_suite)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _unique(name: str, names: dict[str, int]) -> str:
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
