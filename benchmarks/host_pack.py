"""A recording of a space of this host as a recorded space, with the halves of its rounds."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from host_record import BEST, Recording, recording, taken
from record_halves import written
from record_space import packed_rows

from autotune.files.store import StudyRecord
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, evaluate
from autotune.results.export import t4_export

_DIGITS = 7


def pack(record: StudyRecord, path: Path) -> int:
    """Write the recorded space and its halves; the number of bytes of the first."""
    result = evaluate(record)
    (problem,) = result.problems
    measured = recording(record)
    rows = [row for row in problem.rows if row.measurement is not None]
    problem = replace(problem, rows=tuple(_recorded(row, measured) for row in rows))
    text, notes = t4_export.write(result, [problem])
    if notes:
        raise ValueError("; ".join(notes))
    document = json.loads(text)
    document["metadata"] |= metadata(record, measured)
    packed = packed_rows(document, samples=False)
    path.write_bytes(packed)
    pairs = [measured.halves.get(row.candidate.identity, (None, None)) for row in problem.rows]
    ran = [pair for row, pair in zip(problem.rows, pairs, strict=True) if row.status == "ok"]
    written(path, [[_rounded(seconds) for seconds in pair] for pair in ran])
    return len(packed)


def metadata(record: StudyRecord, measured: Recording) -> dict[str, Any]:
    """What the file says of how it was recorded."""
    last = record.runs[-1]
    return {
        "recorded": taken(record),
        "compilers": last.versions.get("compilers", ""),
        "tools": last.versions.get("tools", ""),
        "rounds_of_all": measured.least,
        "best": BEST,
        "rounds_of_best": measured.rounds,
        "half_width_95_of_best": _rounded(measured.width),
        "noise_floor": _rounded(measured.floor),
        "build_s": round(measured.build_s, 1),
        "launch_s": round(measured.launch_s, 1),
    }


def _recorded(row: EvaluatedCandidate, measured: Recording) -> EvaluatedCandidate:
    """A candidate with the time or the failure of all sessions."""
    assert row.measurement is not None
    identity = row.candidate.identity
    status = measured.failed.get(identity, "ok")
    return replace(
        row,
        measured=measured.seconds.get(identity),
        measurement=replace(row.measurement, status=status),
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds:.{_DIGITS}g}")
