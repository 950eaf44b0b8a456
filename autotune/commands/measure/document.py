"""The document of ``autotune measure``: one candidate, predicted and measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.commands.measure.measure_one import CandidateMeasurement
from autotune.domain.dissection import Dissection
from autotune.domain.metric import Metric
from autotune.domain.results import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDocument:
    """``autotune measure --json``."""

    schema: Literal["autotune.measure/1"] = "autotune.measure/1"
    candidate: str
    """Id."""
    predicted_s: float | None
    objective: Metric
    """What is measured: the time, or what a program names."""
    measured: float | None
    """In the unit of the objective, as are the interval and the samples: seconds of a step (of a
    run of a program), where it is the time. Null without a time."""
    interval: tuple[float, float] | None
    """90 %; null for fewer than three launches."""
    status: Status
    detail: str
    verified_error: float | None
    samples: tuple[float, ...]
    """Every sample, as it was taken."""
    disturbed: int
    """How many of them other processes disturbed."""
    phases_s: Mapping[str, float] | None
    """Kernel (and ``barrier``) to seconds per step, in an instrumented run of its own."""
    dissection: Dissection | None
    """The terms of the model, predicted and measured; null unless they were asked for."""

    @classmethod
    def of(cls, result: CandidateMeasurement) -> "MeasureDocument":
        """The document of a candidate that was measured, or whose measurement failed."""
        measurement, location = result.measurement, result.location
        goal = result.ranked.candidate.problem.facts().goal
        costs = location[1] if location else None
        return cls(
            candidate=result.ranked.candidate.id,
            predicted_s=result.ranked.prediction.seconds,
            objective=goal,
            measured=goal.value(location[0]) if location else None,
            interval=costs and goal.interval(costs),
            status=measurement.status,
            detail=measurement.detail,
            verified_error=measurement.error,
            samples=tuple(goal.value(sample.seconds) for sample in measurement.timed),
            disturbed=measurement.disturbed,
            phases_s=result.phases.seconds if result.phases else None,
            dissection=result.dissection,
        )
