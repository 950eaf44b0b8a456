"""Measured over asserted counts, learned from several runs; and the run that would teach most.

For every path whose counts were measured, ln(measured / asserted) is a line over the logarithms of
the inputs. The assertion is the prior: without evidence the ratio does not follow an input at all
(a further row of the regression for every slope). So few runs give a factor with its interval, and
more runs also show whether it drifts. Where both counts were equal in every run, the assertion
holds, and there is nothing to fit.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from autotune.assertions.modelling.binding import ModelBinding, bind, misfits_of
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.records_to_model import model_from_records
from autotune.assertions.modelling.studies.elasticities import domain_of
from autotune.assertions.modelling.studies.scaling_study import number
from autotune.domain.assertion_record import AssertionRecord, Count, PathRecord
from autotune.errors import Fault, InputError
from autotune.language.counts import Value
from autotune.learning.scaling import weighted_regression
from autotune.learning.scaling.weighted_regression import Regression
from autotune.statistics.distributions import student
from autotune.units import Unbounded

Floats = NDArray[np.float64]
_FACTORS = (0.25, 0.5, 1, 2, 4)
"""Values of an input that are considered for the next run, over those of the runs."""
_MOST_POINTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualSlope:
    """How measured over asserted follows an input: d ln ratio / d ln input."""

    variable: str
    slope: float
    low: Unbounded
    high: Unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRun:
    """The run whose ratio is least sure."""

    values: Mapping[str, Count]
    low: Unbounded
    high: Unbounded
    """Of measured over asserted there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualFit:
    """Measured over asserted counts of one path."""

    path: str
    kind: str
    counter: str
    """Who measured."""
    runs: int
    exact: bool
    """Both counts were equal in every run."""
    ratio: float
    low: Unbounded
    high: Unbounded
    """Of a new run in the middle of the runs; infinite after a single run."""
    slopes: tuple[ResidualSlope, ...]
    next_run: NextRun | None
    notes: tuple[str, ...]


_CLOCK = PathRecord(
    id=0, parent=-1, kind="region", name="seconds of the run", visits=1, asserted=0, measured=None,
    passes=0, failures=0, counter="clock",
)  # fmt: skip
"""Stands for the time of a run among the paths that were counted."""


@dataclass(frozen=True, slots=True)
class _RunCounts:
    """The counts of one path in one run, all ranks together."""

    values: Mapping[str, Value]
    asserted: Value
    measured: Value
    path: PathRecord


def residual_fits(
    model: ParsedModel,
    records: Sequence[AssertionRecord],
    level: float = 0.9,
    seconds: Callable[[ModelBinding], float] | None = None,
) -> tuple[ResidualFit, ...]:
    """The fits of all measured paths, the largest deviation first.

    ``seconds``: the time that a model predicts; the seconds of the slowest rank are then fitted
    like a count. InputError where a run does not give the inputs of the model their values.
    """
    runs: dict[str, list[AssertionRecord]] = {}
    for record in records:
        runs.setdefault(record.run, []).append(record)
    if not runs:
        raise InputError(Fault(where="records", found="none", expected="those of several runs"))
    gathered: dict[tuple[str, str], list[_RunCounts]] = {}
    for ranks in runs.values():
        values = _values(model, ranks)
        if seconds is not None:
            predicted = seconds(ModelBinding(model=model, given=values))
            slowest = max(record.seconds for record in ranks)
            clock = _RunCounts(values, predicted, slowest, _CLOCK)
            gathered.setdefault((_CLOCK.name, _CLOCK.kind), []).append(clock)
        for key, counts in _paths(values, ranks).items():
            gathered.setdefault(key, []).append(counts)
    fits = [_fit(model, path, counts, level) for (path, _), counts in gathered.items()]
    return tuple(sorted(fits, key=lambda f: (f.exact, -abs(math.log(f.ratio or 1e-9)), f.path)))


def _values(model: ParsedModel, ranks: Sequence[AssertionRecord]) -> Mapping[str, Value]:
    """The inputs of the model in a run."""
    recorded = model_from_records(ranks).model.values
    values = {name: value for name, value in recorded.items() if name in model.inputs}
    return bind(model, values, f"run {ranks[0].run}", defaults=False).given


def _paths(
    values: Mapping[str, Value], ranks: Sequence[AssertionRecord]
) -> dict[tuple[str, str], _RunCounts]:
    """The counts of every path that was measured."""
    sums: dict[tuple[str, str], tuple[Value, Value, PathRecord]] = {}
    for record in ranks:
        places: dict[int, str] = {-1: ""}
        for path in record.paths:
            place = places[path.id] = f"{places[path.parent]}/{path.name}".lstrip("/")
            if path.measured is None or not path.expression or path.kind in ("region", "sub"):
                continue
            key = (place, path.kind)
            asserted, measured, _ = sums.get(key, (0, 0, path))
            sums[key] = (asserted + path.asserted, measured + path.measured, path)
    return {
        key: _RunCounts(values, asserted, measured, path)
        for key, (asserted, measured, path) in sums.items()
    }


def _fit(model: ParsedModel, path: str, counts: Sequence[_RunCounts], level: float) -> ResidualFit:
    exact = all(run.asserted == run.measured for run in counts)
    usable = [run for run in counts if run.asserted > 0 and run.measured > 0]
    lost = len(counts) - len(usable)
    notes = [f"{lost} of {len(counts)} runs have a count of zero and are left out"] if lost else []
    if exact or not usable:
        ratio = 1.0 if exact else 0.0
        ends = (ratio, ratio) if exact else (0.0, math.inf)
        return _result(path, counts, exact, ratio, ends, notes=tuple(notes))
    varying = [
        name
        for name in model.inputs
        if len({run.values[name] for run in usable}) > 1 and all(r.values[name] > 0 for r in usable)
    ]
    learned = _Learned.of(usable, varying, level)
    ratio, low, high = learned.at(learned.middle)
    return _result(
        path, counts, False, ratio, (low, high), learned.slopes(),
        _next_run(model, usable, varying, learned), tuple(notes),
    )  # fmt: skip


def _result(
    path: str,
    counts: Sequence[_RunCounts],
    exact: bool,
    ratio: float,
    ends: tuple[float, float],
    slopes: tuple[ResidualSlope, ...] = (),
    next_run: NextRun | None = None,
    notes: tuple[str, ...] = (),
) -> ResidualFit:
    return ResidualFit(
        path=path,
        kind=counts[0].path.kind,
        counter=counts[0].path.counter,
        runs=len(counts),
        exact=exact,
        ratio=ratio,
        low=ends[0],
        high=ends[1],
        slopes=slopes,
        next_run=next_run,
        notes=notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Learned:
    """A line for the logarithm of a ratio, with the prior that it is level."""

    regression: Regression
    names: tuple[str, ...]
    middle: Floats
    """Means of the logarithms of the inputs."""
    level: float

    @classmethod
    def of(cls, runs: Sequence[_RunCounts], names: Sequence[str], level: float) -> "_Learned":
        logarithms = np.array([[math.log(run.values[n]) for n in names] for run in runs])
        logarithms = logarithms.reshape(len(runs), len(names))
        middle: Floats = logarithms.mean(axis=0)
        ratios = np.array([math.log(float(run.measured) / float(run.asserted)) for run in runs])
        level_rows = np.hstack([np.zeros((len(names), 1)), np.eye(len(names))])
        design = np.vstack([np.hstack([np.ones((len(runs), 1)), logarithms - middle]), level_rows])
        response = np.concatenate([ratios, np.zeros(len(names))])
        regression = weighted_regression.fit(design, response, ("factor", *names))
        return cls(regression=regression, names=tuple(names), middle=middle, level=level)

    def at(self, logarithms: Floats) -> tuple[float, float, float]:
        """The ratio of a new run with its interval."""
        row = np.concatenate([[1.0], logarithms - self.middle])[None, :]
        value = float(self.regression.at(row)[0])
        if self.regression.freedom <= 0:
            return math.exp(value), 0.0, math.inf
        spread = self.regression.rmse * math.sqrt(1 + float(self.regression.remoteness(row)[0]))
        reach = student(self.regression.freedom, self.level) * spread
        return math.exp(value), _exp(value - reach), _exp(value + reach)

    def slopes(self) -> tuple[ResidualSlope, ...]:
        """The slope of every input with its interval."""
        results = []
        for name in self.names:
            value = self.regression.coefficient(name)
            reach = math.inf
            if self.regression.freedom > 0:
                quantile = student(self.regression.freedom, self.level)
                reach = quantile * self.regression.standard_error(name)
            results.append(
                ResidualSlope(variable=name, slope=value, low=value - reach, high=value + reach)
            )
        return tuple(results)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _next_run(
    model: ParsedModel, runs: Sequence[_RunCounts], varying: Sequence[str], learned: _Learned
) -> NextRun | None:
    """The valid run near those done whose ratio has the widest interval.

    Inputs that did not vary are as in the last run: where none varied, they are what varies next.
    """
    base = dict(runs[-1].values)
    names = list(varying) or [name for name in model.inputs if base[name] > 0]
    done = [{name: run.values[name] for name in names} for run in runs]
    points = []
    choices = [_choices(model, base, name, runs) for name in names]
    for combination in itertools.islice(itertools.product(*choices), _MOST_POINTS):
        values = {**base, **dict(zip(names, combination, strict=True))}
        if {n: values[n] for n in names} not in done and not any(misfits_of(model, values)):
            points.append(values)
    if not points:
        return None
    middle = {n: fmean(math.log(run.values[n]) for run in runs) for n in names}

    def remote(values: Mapping[str, Value]) -> float:
        return sum((math.log(values[n]) - middle[n]) ** 2 for n in names)

    if varying:
        rows = np.array([[math.log(values[n]) for n in varying] for values in points])
        design = np.hstack([np.ones((len(points), 1)), rows - learned.middle])
        chosen = points[int(np.argmax(learned.regression.remoteness(design)))]
    else:
        chosen = max(points, key=remote)
    _, low, high = learned.at(np.array([math.log(chosen[n]) for n in varying]))
    shown = {name: number(value) for name, value in chosen.items()}
    return NextRun(values=shown, low=low, high=high)


def _choices(
    model: ParsedModel, base: Mapping[str, Value], name: str, runs: Iterable[_RunCounts]
) -> list[Value]:
    """Values of an input from a quarter of the least to four times the most of the runs."""
    domain = domain_of(model, name, base[name])
    choices: dict[Value, None] = {}
    for value, factor in itertools.product({run.values[name] for run in runs}, _FACTORS):
        target = value * factor
        target = int(target) if isinstance(value, int) else target
        valid = target if domain.holds(target) else next(domain.up(target), None)
        if valid is not None and valid > 0:
            choices[valid] = None
    return sorted(choices)
