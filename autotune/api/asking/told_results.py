"""What was told of candidates: samples, failures, and the result that the search gets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from autotune.domain.metric import TIME, Metric, positive_cost
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.results import Measurement, Sample
from autotune.errors import Fault, InputError, describe, unknown_name
from autotune.files.store.database import now
from autotune.measuring.conditions.resource_use import ENERGY, MEMORY
from autotune.statistics.drift import NOISE
from autotune.statistics.launch_times import by_launch, time_of
from autotune.units import Seconds

Number = float | Sequence[float]
"""One value, or those of several samples."""
_CONDITIONS = {"energy": ENERGY, "memory": MEMORY}
"""Objectives that samples keep among their conditions."""
_LEAST, _MOST = 1e-100, 1e100
"""Costs that can be told: numbers such as 1e308, which stand for a failure, have no interval."""
_ASSUMED = 4.0
"""So many launches the assumed noise counts for."""


class SearchInput(NamedTuple):
    """What the search is told of a candidate."""

    measurement: Measurement
    sigma: float
    """Standard deviation of the logarithm of its time."""


@dataclass(slots=True)
class ToldResults:
    """The results of a study's candidates, by run and candidate."""

    measurements: dict[tuple[str, str], Measurement] = field(default_factory=dict)

    def of(self, candidate: str) -> list[Measurement]:
        """What the runs of the study know of a candidate, oldest first."""
        return [m for (_, name), m in self.measurements.items() if name == candidate]

    def add(self, measurement: Measurement) -> None:
        """Add a result; a later one of the same run replaces it."""
        self.measurements[measurement.run, measurement.candidate] = measurement

    @property
    def candidates(self) -> list[str]:
        """The candidates of which anything was told."""
        return list(dict.fromkeys(name for _, name in self.measurements))

    def search_input(self, candidate: str) -> SearchInput | None:
        """All samples of a candidate as one measurement, or its failure; None if nothing was told.

        The more often it was told, the surer its time.
        """
        parts = self.of(candidate)
        if not parts:
            return None
        failed = next((m for m in parts if m.status != "ok"), None)
        if failed is not None:
            return SearchInput(failed, 0.0)
        launches = sum(len(by_launch(m.samples)) for m in parts)
        together = Measurement(
            candidate=candidate,
            run=parts[-1].run,
            status="ok",
            samples=tuple(chain.from_iterable(m.samples for m in parts)),
        )
        return SearchInput(together, self._noise() / math.sqrt(launches))

    def _noise(self) -> float:
        """Standard deviation of the logarithm of a told time, over candidates told repeatedly."""
        squares, freedom = 0.0, 0
        for measurement in self.measurements.values():
            if measurement.status == "ok":
                logs = [math.log(t.seconds) for t in by_launch(measurement.samples).values()]
                mean = sum(logs) / len(logs)
                squares += sum((value - mean) ** 2 for value in logs)
                freedom += len(logs) - 1
        return math.sqrt((_ASSUMED * NOISE**2 + squares) / (_ASSUMED + freedom))


def seconds_of(measurement: Measurement) -> float:
    """The time of a measurement that is ok; of another objective its cost."""
    return time_of(measurement.samples)


def told_samples(
    facts: ProblemFacts,
    values: Mapping[str, Number],
    *,
    launch: int,
    conditions: Mapping[str, float | int | str],
) -> list[Sample]:
    """The samples of one launch from what was told of it by name.

    InputError for a name that is no objective of the study, for one that lacks, and for values that
    cannot be true.
    """
    columns = _columns(facts, values)
    samples = []
    for row in zip(*columns.values(), strict=True):
        by_name = dict(zip(columns, row, strict=True))
        metrics = (
            {n: v for n, v in by_name.items() if n not in _CONDITIONS} if facts.metrics else {}
        )
        read = {_CONDITIONS[n]: v for n, v in by_name.items() if n in _CONDITIONS}
        samples.append(
            Sample(
                seconds=Seconds(_cost(facts.goal, by_name[facts.goal.name])),
                steps=1,
                busy=1.0,
                undisturbed=True,
                launch=launch,
                round=launch,
                taken=now(),
                conditions={**conditions, **read},
                metrics=metrics,
            )
        )
    return samples


def _columns(facts: ProblemFacts, values: Mapping[str, Number]) -> dict[str, list[float]]:
    """The told values by name, as many of each."""
    names = list(dict.fromkeys([facts.goal.name, TIME.name, *_names(facts), *_CONDITIONS]))
    unknown = [
        unknown_name("tell", "objective", name, names) for name in values if name not in names
    ]
    if unknown:
        raise InputError(*unknown)
    if facts.goal.name not in values:
        raise InputError(
            Fault(
                where="tell",
                found=f"nothing of {facts.goal.name}"
                + (f", only {', '.join(values)}" * bool(values)),
                expected=f"{facts.goal.name}=..., which is what the study optimises",
                hint='failed="why" for a candidate that gave no result',
            )
        )
    columns = {name: _listed(name, value) for name, value in values.items()}
    count = len(columns[facts.goal.name])
    for name, column in columns.items():
        if len(column) not in (1, count):
            raise InputError(
                Fault(
                    where=f"tell: {name}",
                    found=f"{len(column)} values",
                    expected=f"one, or {count} as of {facts.goal.name}",
                )
            )
    return {name: v * count if len(v) < count else v for name, v in columns.items()}


def _names(facts: ProblemFacts) -> list[str]:
    return [metric.name for metric in facts.metrics]


def _listed(name: str, value: Number) -> list[float]:
    """The values as finite floats."""
    many = not isinstance(value, str) and hasattr(value, "__len__")
    given: Sequence[object] = list(value) if many else [value]  # type: ignore[arg-type]
    numbers = []
    for item in given:
        try:
            number = math.nan if isinstance(item, bool | str) else float(item)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            shown = describe(item) if item is None or isinstance(item, str | bool) else repr(item)
            raise InputError(
                Fault(
                    where=f"tell: {name}",
                    found=shown,
                    expected="a finite number, or a list of them",
                    hint='failed="why" for a candidate that gave no result',
                )
            )
        numbers.append(number)
    if not numbers:
        raise InputError(Fault(where=f"tell: {name}", found="an empty list", expected="a number"))
    return numbers


def _cost(goal: Metric, value: float) -> float:
    """The cost of a value of the objective; InputError for one that has none."""
    costs = positive_cost(goal, value)
    if goal.name not in costs or not (value == 0 or _LEAST <= costs[goal.name] <= _MOST):
        raise InputError(
            Fault(
                where=f"tell: {goal.name}",
                found=f"the number {value:g}",
                expected=("seconds, more than 0" if goal.timed else "a number above 0")
                + f", of a size between {_LEAST:g} and {_MOST:g}" * (value > 0),
                hint='failed="why" for a candidate that gave no result',
            )
        )
    return costs[goal.name]
