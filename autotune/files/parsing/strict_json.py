"""Reads JSON of other programs strictly: each key once, and whole numbers of any length."""

import json
from collections.abc import Callable, Sequence

from autotune.files.parsing.faults import Faults

_DIGITS = 300
"""No float holds whole numbers of more digits: those are infinite here."""


def document(
    text: str,
    faults: Faults,
    formats: str,
    closed: Callable[[str], dict[str, object] | None] = lambda _: None,
) -> dict[str, object]:
    """The object that a JSON text holds; InputError, with the place, for anything else.

    ``formats`` describes what was expected. ``closed`` returns the content of a text that its
    writer has not finished, or None where the text is no such text.
    """
    content: object
    try:
        content = loads(text, faults)
    except RecursionError as error:
        raise faults.fail("", "nested too deeply", formats) from error
    except json.JSONDecodeError as error:
        content = closed(text)
        if content is None:
            at_end = error.pos >= len(error.doc.rstrip())
            raise faults.fail(
                f"{error.lineno}:{error.colno}",
                f"not JSON: {error.msg}" + ("; the file ends here" if at_end else ""),
                "a whole JSON document",
                "cut off? copy or download it again",
            ) from error
    if not isinstance(content, dict):
        raise faults.fail("", "JSON, but a list at its top", formats)
    return content


def loads(text: str, faults: Faults) -> object:
    """The value that a JSON text holds; InputError for an object that has a key twice.

    Raises json.JSONDecodeError where it is not JSON, RecursionError where it is nested too deeply.
    """

    def once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            again = next(key for key in keys if keys.count(key) > 1)
            raise faults.fail("", f"the key {again!r} twice in one object", "each key once")
        return mapping

    return json.loads(text, object_pairs_hook=once, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
