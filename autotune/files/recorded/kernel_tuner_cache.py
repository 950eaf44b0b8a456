"""The cache file of Kernel Tuner: configurations by key, written line by line during tuning.

Files without a version (most) and those of versions 1.x of its schema have the same form. Until the
tuner closes the file, the last two brackets are missing, and it mostly ends in a comma. A time is
in milliseconds (what Kernel Tuner's own observers give). A failure is the name of an error, in
place of the objective or as ``__error__``. The objective itself is ignored, since times are always
recorded too.
"""

import json
from collections.abc import Mapping
from typing import TypeGuard

from autotune.domain.results import Status
from autotune.files.parsing import strict_json
from autotune.files.parsing.faults import Faults
from autotune.files.recorded.recorded_space import Row, Setting, left_out, positive, settings_of
from autotune.files.recorded.t4_results import check_version

_MILLI = 1e-3
FAILURES: Mapping[str, Status | None] = {
    "CompilationFailedConfig": "build-failed",
    "RuntimeFailedConfig": "crashed",
    "ErrorConfig": "wrong-result",
    "InvalidConfig": None,
}
"""The errors that Kernel Tuner records, in our words; None: no legal candidate."""


def closed(text: str, faults: Faults) -> dict[str, object] | None:
    """The content of a cache whose file was not closed; None where the text is no such file."""
    try:
        content = strict_json.loads(text.rstrip().removesuffix(",") + "}}", faults)
    except (json.JSONDecodeError, RecursionError):
        return None
    return content if isinstance(content, dict) and "cache" in content else None


def rows(content: Mapping[str, object], faults: Faults) -> tuple[list[Row], str]:
    """The rows of a cache, and the unit of their times, always ``s``. Faults found are added to
    ``faults``.
    """
    check_version(content, faults)
    entries, names = content["cache"], content.get("tune_params_keys")
    if not isinstance(entries, dict):
        raise faults.fail("cache", f"{type(entries).__name__}", "configurations by their keys")
    if not (isinstance(names, list) and names and all(isinstance(n, str) for n in names)):
        raise faults.fail("tune_params_keys", "not a list of names", "the tunable parameters")
    kept = [_row(f"cache[{key!r}]", entry, names, faults) for key, entry in entries.items()]
    return [row for row in kept if row is not None], "s"


def _row(place: str, raw: object, names: list[str], faults: Faults) -> Row | None:
    if not isinstance(raw, dict):
        return left_out(faults, place, f"{type(raw).__name__}", "a configuration with its time")
    missing = [name for name in names if name not in raw]
    if missing:
        return left_out(faults, place, f"no {', '.join(missing)}", f"all of {', '.join(names)}")
    settings: dict[str, Setting] | None = settings_of({name: raw[name] for name in names})
    if settings is None:
        return left_out(
            faults, place, "a parameter that is not a scalar", "numbers, text, true, false"
        )
    failed = next((v for k, v in raw.items() if k not in names and _is_failure(v)), None)
    if failed is not None:
        status = FAILURES[failed]
        if status is None:
            return None
        return Row(place=place, settings=settings, seconds=None, status=status)
    seconds = positive(raw.get("time"))
    if seconds is None:
        others = ", ".join(k for k in raw if k not in names)
        found = f"the time is {raw['time']!r}" if "time" in raw else f"no time, but {others}"
        return left_out(faults, place, found, _EXPECTED, "only times can be used")
    times = raw.get("times")
    samples = [positive(time) for time in times] if isinstance(times, list) else []
    return Row(
        place=place,
        settings=settings,
        seconds=seconds * _MILLI,
        samples=tuple(time * _MILLI for time in samples if time is not None),
    )


def _is_failure(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value in FAILURES


_EXPECTED = f"a positive number or one of {', '.join(FAILURES)}"
