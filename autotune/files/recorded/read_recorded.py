"""Reads a recorded space in any of its formats, recognised by content, not by file name."""

import re
from pathlib import Path

from autotune.domain.metric import TIME, Metric
from autotune.files.parsing import strict_json
from autotune.files.parsing import text_content as content
from autotune.files.parsing.faults import Faults
from autotune.files.recorded import csv_table, kernel_tuner_cache, t4_results
from autotune.files.recorded.recorded_space import RecordedSpace, Row, assemble

_ENDINGS = (".gz", ".json", ".csv", ".txt")
PROBLEM = "problem"
"""The parameter that says what is computed, in files that autotune writes."""
_AUTOTUNE = re.compile(r'"autotuner": *"autotune-ecm"|parameter:')
_HEAD = 4096
"""So near to the start a file of ours says so."""


def read(path: Path, *, several: bool = False, goal: Metric = TIME) -> RecordedSpace:
    """The recorded space in a file: T4 results, a Kernel Tuner cache, or CSV; each may be gzipped.

    T4 and CSV as ``autotune export`` writes them are included. Several problems in a file are
    accepted only with ``several``, since a search cannot compare their times. ``goal``: the metric
    that a last column of this name holds in CSV that says nothing of its direction. Raises
    InputError, with the place inside the file, for another format or version, for a file that is
    cut off, and for rows that cannot be used.
    """
    faults = Faults(str(path))
    text = content.text(path, faults, _FORMATS)
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if not start:
        raise faults.fail("", "the file is empty", _FORMATS)
    device, metric = "", TIME
    if start in ("{", "["):
        parsed = strict_json.document(
            text, faults, _FORMATS, lambda cut: kernel_tuner_cache.closed(cut, faults)
        )
        rows, unit, kind = _structured(parsed, faults)
        device = _device(parsed)
        metric = t4_results.objective(parsed) if "results" in parsed else TIME
        unit = unit if metric.timed else metric.unit
    else:
        table = csv_table.candidate_rows(text, faults, goal)
        metric = table.metric
        rows, unit, kind = table.rows, table.unit, "; ".join(("CSV", *table.treated))
    faults.settle()
    of_ours = _AUTOTUNE.search(text, 0, _HEAD) is not None
    _check(rows, faults, one_problem=of_ours and not several)
    name = content.bare_name(path, _ENDINGS)
    source = f"{path} ({kind})"
    return assemble(rows, name=name, source=source, unit=unit, device=device, metric=metric)


_FORMATS = "T4 results (JSON), a Kernel Tuner cache (JSON) or CSV with a header"


def _structured(content: dict[str, object], faults: Faults) -> tuple[list[Row], str, str]:
    if "cache" in content:
        return *kernel_tuner_cache.rows(content, faults), "Kernel Tuner cache"
    if "results" in content:
        return *t4_results.rows(content, faults), "T4"
    keys = ", ".join(sorted(map(str, content))[:5]) or "nothing"
    raise faults.fail("", f"JSON with the keys {keys}", "`results` (T4) or `cache` (Kernel Tuner)")


def _device(content: dict[str, object]) -> str:
    """The name of the machine: ``device_name`` of a Kernel Tuner cache, ``metadata.device`` of T4
    results by autotune.
    """
    metadata = content.get("metadata")
    device = metadata.get("device") if isinstance(metadata, dict) else content.get("device_name")
    return device if isinstance(device, str) else ""


def _check(rows: list[Row], faults: Faults, *, one_problem: bool) -> None:
    """Check that all rows set the same parameters, no two rows set equal values, and at least one
    row is ok.
    """
    if not rows:
        raise faults.fail("", "no rows", "at least one measured candidate")
    names = list(rows[0].settings)
    first: dict[tuple[object, ...], str] = {}
    for row in rows:
        missing = [name for name in names if name not in row.settings]
        extra = [name for name in row.settings if name not in names]
        if missing or extra:
            found = ("no " + ", ".join(missing) if missing else "") or f"also {', '.join(extra)}"
            faults.add(row.place, found, f"the parameters of the first row: {', '.join(names)}")
            continue
        values = tuple(row.settings[name] for name in names)
        if values in first:
            found = f"the same candidate as at {first[values]}"
            hint = "keep one of them: a recorded space has one time for each"
            faults.add(row.place, found, "every candidate once", hint)
        first.setdefault(values, row.place)
    faults.settle()
    if not any(row.status == "ok" for row in rows):
        statuses = ", ".join(sorted({row.status for row in rows}))
        raise faults.fail("", f"all {len(rows)} candidates failed ({statuses})", "one that is ok")
    problems = {str(row.settings.get(PROBLEM, "")) for row in rows}
    if one_problem and len(problems) > 1:
        hint = "export each by itself: autotune export STUDY --problem LABEL"
        raise faults.fail("", f"{len(problems)} problems", "the candidates of one problem", hint)
    if not any(len({row.settings[name] for row in rows}) > 1 for name in names):
        raise faults.fail("", "one candidate", "at least two, to choose from")
