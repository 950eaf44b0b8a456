"""The fits of the benchmark ``analytical_learned``: what each is, and how it is made.

Curve    one model on one split: the trial of a learning curve
Sampled  one model fitted to the rows of a design, compared with the analytical one
"""

import functools
import gzip
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import learned_data as data
import numpy as np
from record_halves import FOLDER

from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError
from autotune.learning.comparison.curve_fits import Scoring, trial
from autotune.learning.comparison.learning_curves import ModelScore, Trial
from autotune.learning.comparison.measures import Semantics, semantics
from autotune.learning.comparison.model_comparison import ANALYTICAL, contenders
from autotune.learning.comparison.noise_floor import Halves
from autotune.learning.comparison.splits import SplitPlan, TrainTestSplit
from autotune.learning.comparison.syntactic_score import score
from autotune.learning.designs import DesignPlan, chosen, members
from autotune.learning.influence import Influence
from autotune.learning.influence.influence_model import InfluencePredictor
from autotune.learning.models.base import Floats, Indices, Predictor
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.terms import Sum, parameters

MODELS = (
    ANALYTICAL, "pool-learned", "influence", "ridge", "trees", "gp",
    "pool", "am-scaled", "am-feature-ridge", "am-feature-log", "am-residual-gp",
)  # fmt: skip
TOPS = (1, 3, 10)
APART = ("threads", "tile", "bj")
"""What is left out: the first of these that a study has."""
APART_REPEATS = 3
FULL = "full factorial"
SAMPLED = ("influence-raw", "influence", "ridge")
"""Models fitted to designs: as published, with a log target, and one without a choice of terms."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One model on one split of a plan."""

    path: str
    model: str
    split_plan: SplitPlan
    size: int
    repeat: int
    group: str = ""

    @property
    def told(self) -> str:
        """What it is, within its file."""
        where = (
            f"{self.split_plan.leave_out}={self.group}"
            if self.group
            else str(self.split_plan.sizes)
        )
        return f"{self.model}|{where}|{self.size}|{self.repeat}"


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """One model fitted to a design of a study."""

    path: str
    model: str
    design: str
    rows: int
    levels: int
    repeat: int

    @property
    def told(self) -> str:
        """What it is, within its file."""
        return f"{self.model}|{self.design}|{self.rows}|{self.levels}|{self.repeat}"


Task = Curve | Sampled


@dataclass(frozen=True, kw_only=True)
class Sample:
    """How a model that a design taught compares: with the times, and with the analytical model."""

    rows: int
    seconds: float
    """CPU time to draw the design and fit."""
    measured: Semantics
    """Its predictions relative to the times."""
    analytical: Semantics
    """The analytical predictions relative to its own, as in Kaltenecker's Table 4.1."""
    published: float | None
    """Syntactic scores; None for a model that is no sum of terms."""
    normalised: float | None
    matched: int
    classes: int
    """Classes of the analytical model's terms that it has a term of, and below how many it has."""
    terms: int
    analytical_terms: int
    analytical_classes: int
    share: float | None
    """How much of the influence in the analytical model is of a class that it found."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A design or model that cannot be had of a study."""

    reason: str


Outcome = Trial | Sample | Failure


# --- what is to be done -----------------------------------------------------------------------


def curves(path: Path, sizes: tuple[int, ...], repeat: int, repeats: int) -> Iterator[Curve]:
    """The trials of a repeat of the learning curves of a study."""
    split_plan = SplitPlan(sizes=sizes, repeats=repeats)
    for size in sizes:
        for model in MODELS:
            yield Curve(
                path=str(path), model=model, split_plan=split_plan, size=size, repeat=repeat
            )


def apart(path: Path, sizes: tuple[int, ...], repeat: int) -> Iterator[Curve]:
    """The trials of a repeat with each value of a parameter left out in turn."""
    table = read(str(path))
    name = next((n for n in APART if n in table.inputs.names), "")
    if not name:
        return
    split_plan = SplitPlan(sizes=sizes, repeats=APART_REPEATS, leave_out=name)
    for group in table.groups(name) if repeat < APART_REPEATS else ():
        for size in sizes:
            for model in MODELS:
                yield Curve(
                    path=str(path), model=model, split_plan=split_plan, size=size, repeat=repeat,
                    group=str(group),
                )  # fmt: skip


def designs(path: Path, repeat: int) -> Iterator[Sampled]:
    """The designs of a repeat: drawn anew in each where chance has a part in them."""
    plans = [("random", n, 0) for n in (9, 27, 49, 125)]
    if repeat < 3:
        plans += [("sobol", n, 0) for n in (9, 27, 49, 125)]
        plans += [("d-optimal", n, 0) for n in (27, 49, 125)]
        plans += [("plackett-burman", *size) for size in ((9, 3), (27, 3), (49, 7), (125, 5))]
    if repeat == 0:
        plans += [("central-composite", 0, 0), ("box-behnken", 0, 0), (FULL, 0, 0)]
    for design, rows, levels in plans:
        for model in SAMPLED:
            yield Sampled(
                path=str(path), model=model, design=design, rows=rows, levels=levels, repeat=repeat
            )


# --- how it is done ---------------------------------------------------------------------------


@functools.cache
def read(path: str) -> MeasurementTable:
    """The table of a recorded space with its predictions."""
    table = data.read(Path(path)).table
    guess = table.inputs.analytical
    if guess is None or not np.isfinite(guess).all():
        raise InputError(Fault(where=path, found="candidates without a prediction"))
    return table


@functools.cache
def halves(path: str) -> Halves | None:
    """The times of the earlier and later rounds, where they are recorded beside the space."""
    beside = Path(path).parent / FOLDER / Path(path).name
    if not beside.exists():
        return None
    pairs = json.loads(gzip.decompress(beside.read_bytes()))["halves"]
    early, late = (np.array([p[i] for p in pairs], dtype=np.float64) for i in (0, 1))
    return Halves(early=early, late=late)


@functools.cache
def splits(path: str, split_plan: SplitPlan) -> Mapping[tuple[int, int, str], TrainTestSplit]:
    """The splits of a plan by size, repeat and group."""
    found = split_plan.splits(read(path))
    return {(s.size, s.repeat, "" if s.group is None else str(s.group)): s for s in found}


def perform(task: Task) -> dict[str, object]:
    """One fit as a row of the results."""
    if isinstance(task, Curve):
        (one,) = contenders(read(task.path), [task.model])
        split = splits(task.path, task.split_plan)[task.size, task.repeat, task.group]
        return asdict(trial(one, split, task.split_plan.seed, Scoring(tops=TOPS)))
    try:
        return asdict(_sampled(task))
    except InputError as error:
        return {"reason": str(error)}


def outcome(task: Task, row: Mapping[str, object]) -> Outcome:
    """What a row of the results says; TypeError or KeyError where it is none."""
    if "reason" in row:
        return Failure(reason=str(row["reason"]))
    if isinstance(task, Curve):
        return Trial(**{**row, "score": _score(row["score"])})  # type: ignore[arg-type]
    both = {name: Semantics(**_fields(row[name])) for name in ("measured", "analytical")}  # type: ignore[arg-type]
    return Sample(**{**row, **both})  # type: ignore[arg-type]


def _score(row: object) -> ModelScore | None:
    if row is None:
        return None
    found = _fields(row)
    losses = {int(k): v for k, v in _fields(found["top_loss"]).items()}
    return ModelScore(**{**found, "top_loss": losses})  # type: ignore[arg-type]


def _fields(row: object) -> dict[str, object]:
    return cast("dict[str, object]", row)


# --- models of designs ------------------------------------------------------------------------


def _sampled(task: Sampled) -> Sample:
    table = read(task.path)
    guess = table.inputs.analytical
    assert guess is not None
    began = time.process_time()
    train = table.take(_rows(task, table))
    fitted = _train(task.model, train)
    seconds = time.process_time() - began
    said = np.maximum(fitted.predict(table.inputs), 1e-3 * float(table.response.min()))
    ours, shares = _analytical_terms(task.path)
    theirs = fitted.terms if isinstance(fitted, InfluencePredictor) else {}
    raw = isinstance(fitted, InfluencePredictor) and fitted.target == "raw"
    alike = score(ours, theirs) if raw else None
    classes = {parameters(term) for term in theirs if term}
    mine = {parameters(term) for term in ours if term}
    return Sample(
        rows=len(train),
        seconds=seconds,
        measured=_against(said, table.response, "measured"),
        analytical=_against(guess, said, task.model),
        published=alike.published if alike else None,
        normalised=alike.normalised if alike else None,
        matched=alike.matched if alike else 0,
        classes=len(classes & mine),
        terms=sum(bool(term) for term in theirs),
        analytical_terms=sum(bool(term) for term in ours),
        analytical_classes=len(mine),
        share=sum(shares[c] for c in classes & mine) / sum(shares.values()) if theirs else None,
    )


def _against(predicted: Floats, reference: Floats, name: str) -> Semantics:
    return semantics(predicted, reference, name=name, unit="s", convention="kaltenecker")


def _train(model: str, table: MeasurementTable) -> Predictor:
    if model == "ridge":
        return Ridge().train(table)
    return (Influence.published() if model == "influence-raw" else Influence()).train(table)


@functools.cache
def _analytical_terms(path: str) -> tuple[Sum, dict[frozenset[str], float]]:
    """The analytical model in the language of influences: fitted to its predictions of the whole
    space as published, and the influence of each class of terms."""
    table = read(path)
    guess = table.inputs.analytical
    assert guess is not None
    taught = Influence.published().train(replace(table, response=guess, repetitions=()))
    shares: dict[frozenset[str], float] = {}
    for step in taught.selection.rounds:
        group = frozenset(parameters(step.term))
        shares[group] = shares.get(group, 0.0) + step.share
    return taught.terms, shares


def _rows(task: Sampled, table: MeasurementTable) -> Indices:
    if task.design == FULL:
        return np.arange(len(table))
    seed = int(np.random.default_rng([task.repeat, task.rows]).integers(2**31))
    if task.design == "random":
        plan = DesignPlan(kind="random", rows=task.rows, seed=seed)
    elif task.design == "sobol":
        plan = DesignPlan(kind="sobol", rows=task.rows, seed=seed)
    elif task.design == "d-optimal":
        plan = DesignPlan(kind="d-optimal", rows=task.rows, terms="linear", seed=seed)
    elif task.design == "plackett-burman":
        plan = DesignPlan(kind="plackett-burman", rows=task.rows, levels=task.levels, seed=seed)
    elif task.design == "central-composite":
        plan = DesignPlan(kind="central-composite")
    else:
        plan = DesignPlan(kind="box-behnken")
    inputs = table.inputs
    return chosen(plan.design(inputs.parameters, (members(inputs),)), inputs)
