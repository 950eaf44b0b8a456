"""The measured candidates of a study in T4, the results format of the auto-tuning community.

Source: the T4 results schema 1.0.0 (schema/T4/1.0.0/results-schema.json of Kernel Tuner 1.x). A
configuration holds the problem, the parameters, and how a candidate is built and run. Times are in
seconds. Beside ``time`` the measurements hold ``predicted``, and the metrics of a program in their
units. Where the objective is one of these, ``objective`` of the metadata says which of two values
is the better.
"""

import dataclasses
import json
from collections.abc import Sequence

from autotune.domain.metric import TIME as SECONDS
from autotune.domain.results import Status
from autotune.domain.variant import Value
from autotune.files.recorded.t4_results import INVALIDITY, PREDICTED, STATUS, TIME, VERSION
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)
from autotune.results.export.export_table import samples, values
from autotune.version import VERSION as OWN_VERSION

AUTOTUNER = "autotune-ecm"
_SAID = {status: word for word, status in INVALIDITY.items()}
_FAILED: dict[Status, str] = {
    "build-failed": "CompilationFailedConfig",
    "crashed": "RuntimeFailedConfig",
    "timed-out": "RuntimeFailedConfig",
    "unreadable": "RuntimeFailedConfig",
    "wrong-result": "InvalidConfig",
    "out-of-bounds": "InvalidConfig",
    "implausible": "InvalidConfig",
}
"""What stands in place of the time of a failure. Where the format has no word for a status, a
measurement named ``status`` holds ours."""


def write(result: StudyEvaluation, problems: Sequence[ProblemEvaluation]) -> tuple[str, list[str]]:
    """The text of a T4 file of a study, and notes on what it leaves out.

    Candidates that have no time because other programs disturbed them are left out, for that tells
    nothing about the candidate.
    """
    skipped, results = 0, []
    for problem in problems:
        for row in problem.rows:
            if row.measurement is None:
                continue
            if row.status == "contended" or (row.status == "ok" and row.measured is None):
                skipped += 1
            else:
                results.append(_result(problem, row))
    last = result.study.runs[-1]
    document = {
        "schema_version": VERSION,
        "metadata": {
            "autotuner": AUTOTUNER,
            "autotuner_version": OWN_VERSION,
            "timeunit": "seconds",
            "timestamp": last.started,
            "device": last.machine.title,
            "machine_identity": last.machine_identity,
            "study": result.study.name,
            **_objective(problems),
        },
        "results": results,
    }
    notes = [f"{skipped} candidates left out: no undisturbed sample"] if skipped else []
    if len(problems) > 1:
        notes.append(f"{len(problems)} problems in one file: to search one, export it by --problem")
    return json.dumps(document, indent=1, allow_nan=False) + "\n", notes


def is_own(text: str) -> bool:
    """Whether a file is a T4 file written by autotune."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    metadata = content.get("metadata") if isinstance(content, dict) else None
    return isinstance(metadata, dict) and metadata.get("autotuner") == AUTOTUNER


def _result(problem: ProblemEvaluation, row: EvaluatedCandidate) -> dict[str, object]:
    measurement, status = row.measurement, row.status or "ok"
    taken = next((s.taken for s in measurement.samples), "") if measurement else ""
    goal = problem.problem.goal
    time = row.measured if goal.timed else row.metrics.get(TIME)
    failure = None if status == "ok" else _FAILED.get(status, "RuntimeFailedConfig")
    measurements: list[dict[str, object]] = [
        {"name": TIME, "value": failure or time, "unit": "seconds"}
    ]
    for metric in problem.problem.metrics:
        value: object = row.metrics.get(metric.name)
        if metric == goal and row.measured is not None:
            value = goal.value(row.measured)
        if failure is not None or value is not None:
            measurements.append(
                {"name": metric.name, "value": failure or value, "unit": metric.unit}
            )
    taken_times = samples(measurement) if goal.timed else values(measurement, SECONDS)
    if status not in _SAID:
        measurements.append({"name": STATUS, "value": status, "unit": ""})
    if row.predicted is not None:
        measurements.append({"name": PREDICTED, "value": row.predicted, "unit": "seconds"})
    return {
        "timestamp": taken,
        "configuration": _configuration(problem, row),
        "times": {"runtimes": list(taken_times)} if status == "ok" else {},
        "invalidity": _SAID.get(status, "correctness"),
        "correctness": int(status == "ok"),
        "measurements": measurements,
        "objectives": [goal.name],
    }


def _objective(problems: Sequence[ProblemEvaluation]) -> dict[str, object]:
    """The objective with its unit and direction, where it is not the time."""
    goals = list({problem.problem.goal for problem in problems})
    if len(goals) != 1 or goals[0].timed:
        return {}
    return {"objective": dataclasses.asdict(goals[0])}


def _configuration(problem: ProblemEvaluation, row: EvaluatedCandidate) -> dict[str, Value]:
    """The settings of a candidate; if a parameter has the same name, ``autotune_`` is prefixed."""
    candidate = row.candidate
    ours: dict[str, Value] = {
        "problem": problem.label,
        **dataclasses.asdict(candidate.layout),
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
    }
    columns = {
        f"autotune_{k}" if k in candidate.parameters else k: value for k, value in ours.items()
    }
    return {**candidate.parameters, **columns}
