"""A study as a table to learn from: its measured candidates, and what was predicted for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.domain.metric import Metric
from autotune.domain.results import Measurement
from autotune.domain.tables.table import MeasurementTable, Value
from autotune.errors import Fault, InputError, unknown_name
from autotune.files.store import Store
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.files.tables.cleaning import Cell, Heading, Record, assemble
from autotune.files.tables.recorded_series import cell_of
from autotune.learning.comparison.noise_floor import Halves
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, evaluate, varied
from autotune.statistics.launch_times import by_launch, by_round, candidate_time

RANDOM = "drawn at random"
"""What the reason says for which a candidate was measured by chance alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyTable:
    """The table of a study, and the candidate of each row.

    ``random``: (n,) whether a row was measured because it was drawn at random, not because it was
    expected to be fast. Only random rows are representative of the candidates that were not
    measured. ``problems``: (n,) the label of the problem that each row solves. ``halves``: the
    times of the earlier and of the later rounds of each row.
    """

    table: MeasurementTable
    candidates: tuple[CandidateRecord, ...]
    random: NDArray[np.bool_]
    problems: tuple[str, ...]
    halves: Halves


def read_study(name: str, store: str, *, engine: str | None = None) -> StudyTable:
    """The table of a study in a store, of values; an empty name means the latest study."""
    with Store.open(store, create=False) as results:
        latest = name or results.latest_study()
        if latest is None:
            fault = Fault(where=results.shown, found="no study", hint="tune first")
            raise InputError(fault)
        return study_table(results.load_study(latest), engine=engine, values=True)


def study_table(
    study: StudyRecord,
    *,
    engine: str | None = None,
    problem: str | None = None,
    values: bool = False,
) -> StudyTable:
    """The candidates that ran on the machine of the last run; seconds per time step.

    Where the objective is another, the response is its cost, or with ``values`` its value.
    Parameters are those of the variant, the build, threads, ranks, placement, and the properties in
    which the problems differ. The analytical model is ``engine``; without it, the first engine by
    name. InputError for an unknown engine or problem, and if fewer than two candidates were timed.
    """
    engines = sorted({stored.prediction.engine for stored in study.predictions})
    if engine is not None and engine not in engines:
        raise InputError(unknown_name(study.name, "engine", engine, engines))
    timed = _timed(study, engine, problem)
    rows, failed = timed.rows, timed.failed
    if len(rows) < 2:
        keys = {candidate.problem.key for candidate in study.candidates}
        legal = sum(study.space(key).candidates for key in keys)
        lacking = f"{len(rows)} of {legal} candidates with a time"
        hint = f"autotune tune {study.config}"
        raise InputError(
            Fault(where=study.name, found=lacking, expected="two, to learn from", hint=hint)
        )
    settings = candidate_settings([row.candidate for row in rows])
    goal = _goal(study, rows)
    metric = goal if values or goal.timed else Metric(f"cost of {goal.name}")
    records = [_record(row, chosen, metric) for row, chosen in zip(rows, settings, strict=True)]
    who = engine or (engines[0] if engines else "")
    table = assemble(
        records,
        Heading(
            name=study.name,
            where=f"study {study.name}",
            source=f"study {study.name}" + (f", predicted by {who}" if who else ""),
            quantity=metric.name,
            unit=metric.unit,
            better=metric.better,
            statistic="as given",
        ),
        [f"{failed} measured candidates without a usable time left out"] if failed else [],
    )
    return _aligned(table, timed, settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Timed:
    """The timed candidates, the label of the problem of each, and how many failed."""

    rows: list[EvaluatedCandidate]
    labels: list[str]
    failed: int


def _timed(study: StudyRecord, engine: str | None, problem: str | None) -> _Timed:
    """The candidates that were timed on the machine of the last run."""
    result = evaluate(study, engine)
    labels = [problem_result.label for problem_result in result.problems]
    if problem is not None and problem not in labels:
        raise InputError(unknown_name(study.name, "problem", problem, labels))
    machine = study.runs[-1].machine_identity if study.runs else ""
    runs = {run.id for run in study.runs if run.machine_identity == machine}
    tried = [
        (row, problem_result.label)
        for problem_result in result.problems
        if problem in (None, problem_result.label)
        for row in problem_result.rows
        if row.measurement is not None and row.measurement.run in runs
    ]
    timed = [(row, label) for row, label in tried if row.measured is not None]
    return _Timed(
        rows=[row for row, _ in timed],
        labels=[label for _, label in timed],
        failed=len(tried) - len(timed),
    )


def _goal(study: StudyRecord, rows: Sequence[EvaluatedCandidate]) -> Metric:
    """The objective of candidates; InputError where they have several."""
    goals = list(dict.fromkeys(row.candidate.problem.goal for row in rows))
    if len(goals) > 1:
        found = f"several objectives: {', '.join(goal.title for goal in goals)}"
        raise InputError(Fault(where=study.name, found=found, expected="one, to learn from"))
    return goals[0]


def _record(row: EvaluatedCandidate, settings: Mapping[str, Cell], metric: Metric) -> Record:
    measurement = row.measurement
    samples = (
        tuple(launch.seconds for launch in by_launch(measurement.samples).values())
        if measurement is not None
        else ()
    )
    measured = float(row.measured or 0.0)
    return Record(
        place=row.candidate.id,
        settings=settings,
        times=tuple(map(metric.value, samples or (measured,))),
        location=metric.value(measured),
        predicted=float("nan") if row.predicted is None else float(row.predicted),
    )


def _aligned(
    table: MeasurementTable, timed: _Timed, settings: Sequence[dict[str, Cell]]
) -> StudyTable:
    """The rows of a table with their candidates; equal candidates share one row."""
    alike: dict[tuple[Cell, ...], list[int]] = {}
    for place, chosen in enumerate(settings):
        alike.setdefault(tuple(chosen.values()), []).append(place)
    groups = list(alike.values())
    first = [timed.rows[group[0]] for group in groups]
    drawn = [any(RANDOM in timed.rows[place].chosen for place in group) for group in groups]
    halved = [halves_of_rounds(row.measurement) for row in first]
    return StudyTable(
        table=table,
        candidates=tuple(row.candidate for row in first),
        random=np.array(drawn, dtype=np.bool_),
        problems=tuple(timed.labels[group[0]] for group in groups),
        halves=Halves(
            early=np.array([a for a, _ in halved]), late=np.array([b for _, b in halved])
        ),
    )


def halves_of_rounds(measurement: Measurement | None) -> tuple[float, float]:
    """The times of the earlier and of the later half of the rounds; nan for under two rounds."""
    rounds = by_round(measurement.samples) if measurement is not None else {}
    numbers = sorted(rounds)
    half = len(numbers) // 2
    if not half:
        return float("nan"), float("nan")
    early, late = (
        candidate_time([rounds[n] for n in part]) for part in (numbers[:half], numbers[-half:])
    )
    return early, late


# --- what candidates differ in --------------------------------------------------------------


def candidate_settings(candidates: Sequence[CandidateRecord]) -> list[dict[str, Cell]]:
    """The settings in which candidates may differ; ``none`` if a variant lacks a parameter."""
    settings = [{**c.problem.settings, **varied(c)} for c in candidates]
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    return [{name: _cell(setting.get(name)) for name in names} for setting in settings]


def _cell(value: Value | None) -> Cell:
    """A setting as a cell; no text, such as the flags of what is not compiled, is no value."""
    return cell_of(None if value == "" else value)
