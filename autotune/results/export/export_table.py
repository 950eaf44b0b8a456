"""A study as a table, the content of CSV and Parquet files: one row for each candidate that was
proposed and for the baselines.

The columns, in order; text is empty and numbers are absent where there is nothing to say:

    study, problem, family, size      the study; label, family and n of the problem
    candidate, variant                id and label of the variant
    parameter:NAME                    one for each parameter; ``none`` (CSV) where it is absent
    threads, ranks, nodes, communication, placement, compiler, flags
                                      how it is built and run
    rank                              place by prediction among all candidates of its problem,
                                      from 1
    engine, predicted_s, predicted_low_s, predicted_high_s
                                      who predicted, seconds, the interval that holds 80 %
    chosen                            why it was measured; empty: it was not
    status                            ok, build-failed, crashed, timed-out, unreadable,
                                      wrong-result, out-of-bounds, implausible, contended; empty:
                                      not measured
    best                              it is the choice of its problem
    baseline                          it is the baseline of its problem
    compared                          it takes part in the statistics of its problem
    verified, verified_error          compared with a reference; max abs(a - b) / max abs(b)
    run, machine                      the run of its time; identity of the machine
    detail                            compiler text, how it ended
    measured_low_s, measured_high_s   90 % interval of the time; it counts launches
    memory_bytes, energy_j            bytes resident at most; joules of a time step; if read
    samples, samples_s                how many samples, and each (CSV: between blanks)
    measured_s                        seconds per time step

Times are in seconds per time step (per run of an external program). Metrics of a program have
columns of their own, in the units that the program prints. They stand behind the parameters:

    metric:NAME [UNIT]                median of a metric that is not the objective

Where the objective is not the time, ``measured_s`` and ``samples_s`` are times all the same,
without an interval, and the last columns are those of the objective:

    metric:NAME:better                which of two values is the better: less, more
    metric:NAME:low [UNIT], metric:NAME:high [UNIT]
                                      90 % interval of the value; it counts launches
    metric:NAME:samples [UNIT]        the value of each sample
    metric:NAME [UNIT]                the value
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.metric import TIME, Metric
from autotune.domain.results import Measurement
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)

Cell = str | int | float | bool | None | tuple[float, ...]

SCHEMA = "autotune.table/1"
PARAMETER = "parameter:"
"""What the name of a parameter's column begins with."""
METRIC = "metric:"
"""What the name of a metric's column begins with."""
SAMPLES = "samples"
BEFORE = ("study", "problem", "family", "size", "candidate", "variant")
AFTER = (
    "threads", "ranks", "nodes", "communication", "placement", "compiler", "flags", "rank",
    "engine", "predicted_s", "predicted_low_s", "predicted_high_s", "chosen", "status", "best",
    "baseline", "compared", "verified", "verified_error", "run", "machine", "detail",
    "measured_low_s", "measured_high_s", "memory_bytes", "energy_j", "samples",
    "samples_s", "measured_s",
)  # fmt: skip
"""The columns before and behind those of the parameters."""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table of a study for other tools: names of columns, and rows of cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> list[Cell]:
        """The cells of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def table(result: StudyEvaluation, problems: Sequence[ProblemEvaluation]) -> ExportTable:
    """The stored candidates of problems as a table: each problem fastest first, those without a
    time last.
    """
    machines = {run.id: run.machine_identity for run in result.study.runs}
    everyone = [(problem, row) for problem in problems for row in _ordered(problem)]
    names = list(dict.fromkeys(n for _, row in everyone for n in row.candidate.parameters))
    goals = _distinct(problem.problem.goal for problem in problems if not _timed(problem))
    others = _distinct(metric for problem in problems for metric in problem.problem.others)
    columns = (
        *BEFORE,
        *(f"{PARAMETER}{name}" for name in names),
        *(f"{METRIC}{metric.title}" for metric in others),
        *AFTER,
        *(title for goal in goals for title in _titles(goal)),
    )
    rows = []
    for problem, row in everyone:
        cells = {
            "study": result.study.name,
            **_what(problem, row),
            **_predicted(row),
            **_measured(problem, row, machines),
            **_metrics(problem, row),
            **{f"{PARAMETER}{name}": row.candidate.parameters.get(name) for name in names},
        }
        rows.append(tuple(cells.get(name) for name in columns))
    return ExportTable(columns, tuple(rows))


def is_table(columns: Sequence[str]) -> bool:
    """Whether column names are those of an exported study."""
    fixed = [name for name in columns if not name.startswith((PARAMETER, METRIC))]
    return fixed == [*BEFORE, *AFTER]


def _ordered(problem: ProblemEvaluation) -> list[EvaluatedCandidate]:
    return sorted(problem.rows, key=lambda row: (row.measured is None, row.measured or 0.0))


def _what(problem: ProblemEvaluation, row: EvaluatedCandidate) -> dict[str, Cell]:
    candidate = row.candidate
    return {
        "problem": problem.label,
        "family": candidate.problem.family,
        "size": candidate.problem.components,
        "candidate": candidate.id,
        "variant": candidate.variant,
        **dataclasses.asdict(candidate.layout),
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        "baseline": candidate.baseline,
    }


def _predicted(row: EvaluatedCandidate) -> dict[str, Cell]:
    low, high = (row.prediction and row.prediction.interval) or (None, None)
    return {
        "rank": row.rank,
        "engine": row.prediction.engine if row.prediction else "",
        "predicted_s": row.predicted,
        "predicted_low_s": low,
        "predicted_high_s": high,
    }


def _measured(
    problem: ProblemEvaluation, row: EvaluatedCandidate, machines: Mapping[str, str]
) -> dict[str, Cell]:
    measurement = row.measurement
    timed = _timed(problem)
    low, high = (timed and row.interval) or (None, None)
    return {
        "chosen": row.chosen,
        "status": row.status or "",
        "best": problem.best is not None and row is problem.best,
        "compared": row.compared,
        "verified": measurement.verified if measurement else False,
        "verified_error": measurement.error if measurement else None,
        "run": measurement.run if measurement else "",
        "machine": machines.get(measurement.run, "") if measurement else "",
        "detail": measurement.detail if measurement else "",
        "measured_low_s": low,
        "measured_high_s": high,
        "memory_bytes": row.memory,
        "energy_j": row.energy,
        "samples": len(measurement.timed) if measurement else 0,
        "samples_s": samples(measurement) if timed else values(measurement, TIME),
        "measured_s": row.measured if timed else row.metrics.get(TIME.name),
    }


def _metrics(problem: ProblemEvaluation, row: EvaluatedCandidate) -> dict[str, Cell]:
    """The metrics of a candidate by the titles of their columns."""
    goal = problem.problem.goal
    cells: dict[str, Cell] = {
        f"{METRIC}{metric.title}": row.metrics.get(metric.name) for metric in problem.problem.others
    }
    if _timed(problem):
        return cells
    low, high = (row.interval and goal.interval(row.interval)) or (None, None)
    value = None if row.measured is None else goal.value(row.measured)
    entries = (goal.better, low, high, values(row.measurement, goal), value)
    return cells | dict(zip(_titles(goal), entries, strict=True))


def _titles(goal: Metric) -> tuple[str, ...]:
    """The titles of the columns of an objective that is not the time, its value last."""
    better = f"{METRIC}{goal.name}:better"
    parts = (
        dataclasses.replace(goal, name=f"{goal.name}:{part}") for part in ("low", "high", SAMPLES)
    )
    return (better, *(f"{METRIC}{metric.title}" for metric in (*parts, goal)))


def _timed(problem: ProblemEvaluation) -> bool:
    return problem.problem.goal.timed


def _distinct(metrics: Iterable[Metric]) -> list[Metric]:
    return list(dict.fromkeys(metrics))


def samples(measurement: Measurement | None) -> tuple[float, ...]:
    """The times of the samples of a measurement, in the order in which they were taken."""
    return tuple(s.seconds for s in measurement.timed) if measurement else ()


def values(measurement: Measurement | None, metric: Metric) -> tuple[float, ...]:
    """The values of a metric in the samples of a measurement, in the order of their taking."""
    samples = measurement.timed if measurement else ()
    return tuple(s.metrics[metric.name] for s in samples if metric.name in s.metrics)
