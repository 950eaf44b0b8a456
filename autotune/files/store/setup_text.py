"""Texts of configurations that studies were begun with: in which keys two of them differ."""

from typing import cast

import yaml

_WORDS = ("title",)
"""Keys that change nothing in what a study does."""
_DEFINITIONS = "# definitions: "
"""Begins the last line: digests of the definitions that the configuration names."""


def changed_keys(before: str, after: str) -> list[str]:
    """The keys whose values differ between two texts, in the order of the texts; empty where only
    titles, comments or the layout differ.

    >>> changed_keys("title: a\\nthreads: [1]", "title: b\\nthreads: [2]  # two")
    ['threads']
    """
    first, second = _values(before), _values(after)
    if first is None or second is None:
        return ["the configuration"]
    every = dict.fromkeys([*first, *second])
    missing = object()
    return [
        str(key)
        for key in every
        if key not in _WORDS and first.get(key, missing) != second.get(key, missing)
    ]


def _values(text: str) -> dict[object, object] | None:
    """The values of a configuration by key, and its definitions; None for a text without keys."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(values, dict):
        return None
    lines = [line for line in text.splitlines() if line.startswith(_DEFINITIONS)]
    return cast(dict[object, object], values) | {"the definitions that it names": lines[-1:]}
