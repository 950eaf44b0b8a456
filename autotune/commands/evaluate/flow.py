"""Analytical engines, learned models and hybrids on the measured candidates of a study.

A tuner chooses candidates that it expects to be fast. A score on them would favour models that
agree with the tuner. Scores therefore use only candidates that were drawn at random, and all
candidates of problems that were measured completely. Models may learn from every candidate.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotune.commands.learn.study_tables import RANDOM, StudyTable, study_table
from autotune.domain.metric import TIME
from autotune.domain.tables.table import MeasurementTable, Parameter
from autotune.errors import Fault, InputError
from autotune.files.store import Store
from autotune.files.store.records import StudyRecord
from autotune.learning.comparison.curve_fits import ComparedModel, learning_curve
from autotune.learning.comparison.model_comparison import (
    ANALYTICAL,
    ComparisonRequest,
    contenders,
    default_models,
    has_analytical,
)
from autotune.learning.comparison.model_evaluation import EvaluatedStudy, ModelEvaluation
from autotune.learning.comparison.noise_floor import Halves
from autotune.learning.comparison.splits import PROBLEM
from autotune.learning.models import catalogue
from autotune.learning.models.base import Bools
from autotune.progress import Progress

LEAST = 30
"""Candidates measured at random, to tell models apart."""
SIZE = "size"
"""What ``--leave-out`` calls the size of a problem, whichever its parameters are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredStudy:
    """The candidates of a study that have a time, as a table for each engine that predicted them.

    All tables hold the same rows. If no engine predicted anything, ``engines`` is empty and there
    is one table. ``random``: (n,) whether a row was drawn at random, or belongs to a problem of
    which all candidates were tried (``whole``). ``problems``: (n,) the problem of each row.
    """

    study: str
    config: str
    tables: tuple[MeasurementTable, ...]
    engines: tuple[str, ...]
    random: Bools
    problems: tuple[str, ...]
    halves: Halves
    whole: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tables[0])

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The names of the parameters in which the candidates of the study differ."""
        return self.tables[0].parameters


def measured(name: str, store: str, progress: Progress | None = None) -> MeasuredStudy:
    """The measured candidates of a study of a store; an empty name means the latest study."""
    if progress is not None:
        progress("read the study", 0, 1)
    with Store.open(store, create=False) as results:
        latest = name or results.latest_study()
        if latest is None:
            raise InputError(Fault(where=results.shown, found="no study", hint="tune first"))
        study = measured_of(results.load_study(latest))
    if progress is not None:
        progress("read the study", 1, 1)
    return study


def measured_of(study: StudyRecord) -> MeasuredStudy:
    """The measured candidates of a study, as one table per engine."""
    engines = tuple(sorted({stored.prediction.engine for stored in study.predictions}))
    first = study_table(study, engine=engines[0] if engines else None)
    rest = [_reordered(first, study_table(study, engine=engine)) for engine in engines[1:]]
    labels = dict(zip((c.problem.key for c in first.candidates), first.problems, strict=True))
    whole = {key for key in labels if key in _whole(study)}
    all_of = np.array([c.problem.key in whole for c in first.candidates], dtype=np.bool_)
    return MeasuredStudy(
        study=study.name,
        config=study.config,
        tables=(first.table, *rest),
        engines=engines,
        random=_random_rows(first, study) | all_of,
        problems=first.problems,
        halves=first.halves,
        whole=tuple(labels[key] for key in labels if key in whole),
    )


def _whole(study: StudyRecord) -> set[str]:
    """The problems of which every candidate was tried on the machine of the last run."""
    machine = study.runs[-1].machine_identity if study.runs else ""
    runs = [run for run in study.runs if run.machine_identity == machine]
    tried = {m.candidate for run in runs for m in run.measurements}
    counts = Counter(c.problem.key for c in study.candidates if c.identity in tried)
    spaces = {key: study.space(key) for key in counts}
    return {
        key
        for key, count in counts.items()
        if spaces[key].exact and count >= spaces[key].candidates
    }


def _reordered(first: StudyTable, other: StudyTable) -> MeasurementTable:
    """The table of another engine, with its rows in the order of the first engine's table."""
    places = {row: place for place, row in enumerate(other.table.inputs.rows)}
    return other.table.take([places[row] for row in first.table.inputs.rows])


def _random_rows(tables: StudyTable, study: StudyRecord) -> Bools:
    """(n,) whether a candidate was drawn at random in any run.

    A candidate that the tuner had chosen before counts too, if it was drawn later.
    """
    drawn = {c.candidate for run in study.runs for c in run.choices if RANDOM in c.reason}
    also = np.array([c.identity in drawn for c in tables.candidates], dtype=np.bool_)
    return np.asarray(tables.random | also)


def check_random(study: MeasuredStudy, *, fewer: bool) -> tuple[str, ...]:
    """Notes on the rows that are scored on; InputError if too few were drawn at random.

    ``fewer``: accept any number of such rows from two on.
    """
    count = int(study.random.sum())
    if count < (2 if fewer else LEAST):
        hint = f"autotune evaluate {study.study} --measure CONFIG draws and measures the others"
        if count >= 2:
            hint += "; --fewer scores on those that there are"
        raise InputError(
            Fault(
                where=f"study {study.study}",
                found=f"{count} candidates measured at random",
                expected=f"at least {2 if fewer else LEAST}, for the tuner's own choices are those"
                " that it expected to be fast",
                hint=hint,
            )
        )
    notes = [f"all candidates of {name} were measured: any of them may be scored on"
             for name in study.whole]  # fmt: skip
    if count < LEAST:
        notes.append(f"only {count} random candidates: differences between models may be chance")
    if not any(has_analytical(table) for table in study.tables):
        notes.append("no engine predicted these candidates: there are learned models only")
    quantity = study.tables[0].quantity
    if quantity != TIME.name:
        notes.append(
            f"models learn the {quantity}, of which less is better; errors are those of it"
        )
    return tuple(notes)


def left_out(study: MeasuredStudy, name: str) -> str:
    """The parameter that ``--leave-out`` names; ``size`` means parameter N, else the problem."""
    if name == SIZE and name not in study.tables[0].inputs.names:
        return "N" if "N" in study.tables[0].inputs.names else PROBLEM
    return name


def compared_models(study: MeasuredStudy, names: Sequence[str] = ()) -> tuple[ComparedModel, ...]:
    """The models that are compared: engines, learned models, and each hybrid once per engine.

    Without names, the usual models. InputError for unknown names, and for a hybrid if no engine
    predicted anything.
    """
    predicted = [
        (engine, table)
        for engine, table in zip(study.engines, study.tables, strict=False)
        if has_analytical(table)
    ]
    models = list(names) or default_models(predicted[0][1] if predicted else study.tables[0])
    contenders_made: list[ComparedModel] = []
    if predicted and (not names or ANALYTICAL in names):
        for engine, table in predicted:
            contenders_made += _named(table, ANALYTICAL, engine)
    for name in dict.fromkeys(n for n in models if n != ANALYTICAL):
        if predicted and (catalogue.analytical(name) or name == catalogue.DEFAULT):
            for engine, table in predicted:
                contenders_made += _named(table, name, engine if len(predicted) > 1 else "")
        else:
            contenders_made += contenders(study.tables[0], [name])
    if not predicted and ANALYTICAL in names:
        contenders_made += contenders(study.tables[0], [ANALYTICAL])
    return tuple(contenders_made)


def _named(table: MeasurementTable, name: str, engine: str) -> list[ComparedModel]:
    """The analytical model of a table as a compared model that bears the name of its engine."""
    (contender,) = contenders(table, [name])
    if not engine:
        return [contender]
    shown = f"{ANALYTICAL} ({engine})" if name == ANALYTICAL else f"{name} ({engine})"
    return [replace(contender, name=shown)]


def evaluate_models(
    study: MeasuredStudy,
    competing: Sequence[ComparedModel],
    request: ComparisonRequest,
    progress: Progress | None = None,
    notes: Sequence[str] = (),
) -> ModelEvaluation:
    """Learning curves over a study; scored on random candidates only."""
    scoring = replace(
        request.scoring, eligible=study.random, problems=study.problems, halves=study.halves
    )
    curve = learning_curve(competing, request.split_plan, scoring, progress)
    return ModelEvaluation(
        study=EvaluatedStudy(
            name=study.study,
            rows=len(study),
            random=int(study.random.sum()),
            engines=study.engines,
            parameters=tuple(parameter.name for parameter in study.parameters),
            problems=tuple(dict.fromkeys(study.problems)),
        ),
        curve=curve,
        notes=tuple(notes),
    )
