"""JSON that somebody else wrote: each key once, and whole numbers of any length."""

import json
from collections.abc import Sequence

from autotune.files.recorded.recorded_faults import Faults

_DIGITS = 300
"""No float holds whole numbers of more digits: those are infinite here."""


def loads(text: str, faults: Faults) -> object:
    """What a JSON text holds; InputError for an object that has a key twice.

    json.JSONDecodeError where it is not JSON, RecursionError where it is nested too deeply.
    """

    def once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            again = next(key for key in keys if keys.count(key) > 1)
            raise faults.fail("", f"the key {again!r} twice in one object", "each key once")
        return found

    return json.loads(text, object_pairs_hook=once, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
