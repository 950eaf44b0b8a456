"""A study of the store as an Optuna journal file, for optuna-dashboard and similar tools.

The store is the truth: the journal can be rewritten from it at any time, and it is never read back.
This module imports Optuna, which is heavy.
"""

import datetime
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from optuna.distributions import BaseDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial

from autotune import paths
from autotune.domain.setup import Objective
from autotune.errors import Fault, InputError
from autotune.measuring.conditions.resource_use import ENERGY, MEMORY
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
    varied,
)
from autotune.tuning.search import optuna_trials
from autotune.tuning.search.points import Setting


def write(result: StudyEvaluation, path: Path, objectives: Sequence[Objective] = ("time",)) -> int:
    """Write the journal, one Optuna study ``NAME/LABEL`` for each problem; the number of trials.

    A trial is a candidate that was measured, or whose measurement failed. Its values are
    ``objectives`` in their order, each in its unit; more of a rate is better. The metrics of a
    program are attributes. A candidate without one of the objectives becomes a failed trial. An
    existing journal is replaced as a whole. Raises InputError if the file cannot be written, or is
    not a journal.
    """
    _require_journal(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            draft = Path(folder) / "journal"
            storage = JournalStorage(JournalFileBackend(str(draft)))
            trials = sum(_study(result, p, storage, objectives) for p in result.problems)
            draft.replace(path)
    except (OSError, RuntimeError) as error:  # the latter where its lock cannot be made
        raise InputError(
            Fault(
                where=str(path),
                found=f"the journal cannot be written: {getattr(error, 'strerror', error)}",
                hint="name another file with -o FILE",
            )
        ) from error
    return trials


def _require_journal(path: Path) -> None:
    """Raise InputError if the file is not an Optuna journal, so that it is not replaced."""
    paths.check_output(path)
    try:
        with path.open(encoding="utf-8") as file:
            first = file.readline()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError):
        first = "-"
    try:
        is_journal = not first or "op_code" in json.loads(first)
    except (ValueError, TypeError):
        is_journal = False
    if not is_journal:
        raise InputError(
            Fault(
                where=str(path),
                found="a file that is no journal of Optuna",
                expected="a new file, or a journal to be replaced",
            )
        )


def _study(
    result: StudyEvaluation,
    problem: ProblemEvaluation,
    storage: JournalStorage,
    objectives: Sequence[Objective],
) -> int:
    metrics = [problem.problem.metric(objective) for objective in objectives]
    study = optuna_trials.open_study(
        [metric.name for metric in metrics],
        better=[metric.better for metric in metrics],
        storage=storage,
        name=f"{result.study.name}/{problem.label}",
    )
    for name, text in (("config", result.study.config), ("problem", problem.problem.title)):
        study.set_user_attr(name, text)
    settings = [_settings(row) for row in problem.rows]
    names = list(dict.fromkeys(name for row in settings for name in row))
    table = [tuple(row.get(name) for name in names) for row in settings]
    space = optuna_trials.domains(table, names)
    tried = sorted((row for row in problem.rows if row.measurement), key=_moments)
    for number, row in enumerate(tried):
        values = [
            metric.value(row.objectives[objective])
            for objective, metric in zip(objectives, metrics, strict=True)
            if objective in row.objectives
        ]
        whole = row.status == "ok" and len(values) == len(objectives)
        study.add_trial(_trial(row, number, names, space, values if whole else None))
    return len(tried)


def _settings(row: EvaluatedCandidate) -> dict[str, Setting]:
    return varied(row.candidate)


def _trial(
    row: EvaluatedCandidate,
    number: int,
    names: Sequence[str],
    space: dict[str, BaseDistribution],
    values: list[float] | None,
) -> FrozenTrial:
    settings = _settings(row)
    return optuna_trials.finished_trial(
        {name: settings.get(name) for name in names},
        space,
        values,
        attributes=_attributes(row) | dict(row.metrics),
        number=number,
        period=_moments(row),
    )


def _attributes(row: EvaluatedCandidate) -> dict[str, str | float]:
    attributes: dict[str, str | float | None] = {
        "candidate": row.candidate.id,
        "why": row.chosen,
        "status": row.status,
        "predicted_s": row.predicted,
        MEMORY: row.memory,
        ENERGY: row.energy,
        "detail": row.measurement.detail if row.measurement else None,
    }
    return {name: value for name, value in attributes.items() if value}


def _moments(row: EvaluatedCandidate) -> tuple[datetime.datetime, datetime.datetime]:
    """The times of the first and the last sample in Optuna's form: local time without a zone."""
    samples = row.measurement.samples if row.measurement else ()
    taken = [datetime.datetime.fromisoformat(sample.taken) for sample in samples]
    if not taken:
        now = datetime.datetime.now()
        return now, now
    first, last = (moment.astimezone().replace(tzinfo=None) for moment in (min(taken), max(taken)))
    return first, last
