"""The examples in docstrings answer what they say they answer."""

import doctest
import importlib
from pathlib import Path

import pytest

import autotune

PACKAGE = Path(autotune.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if "\n    >>> " in (text := path.read_text()) or "\n>>> " in text
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
