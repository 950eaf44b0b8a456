"""The document of ``tune --replay``: a search of a recorded space."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.domain.metric import Metric
from autotune.domain.results import Status
from autotune.domain.variant import Value
from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.files.recorded.replayed import SHARES, Replay, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedEvaluation:
    """One evaluation, in the order in which they were made."""

    parameters: Mapping[str, Value]
    measured: float | None
    """As recorded, in the unit of the file; null where the candidate failed."""
    status: Status
    best: float | None
    """The best so far."""
    why: str
    """Why it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedShare:
    """How soon the search was near the recorded best."""

    share: float
    """0.05: within 5 %."""
    evaluations: int | None
    """Null: not at all."""
    candidates: int
    """How many of the recorded candidates are as near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDocument:
    """``autotune tune --replay --json``: a search of a recorded space."""

    schema: Literal["autotune.replay/1"] = "autotune.replay/1"
    source: str
    """The file and its format."""
    unit: str
    """``s``, or that of the metric; empty where the file states none."""
    metric: Metric
    """What was recorded, and which of two values is the better."""
    candidates: int
    failures: int
    """How many of the recorded candidates failed."""
    parameters: Mapping[str, tuple[Value, ...]]
    """Name to its recorded values; those with one value are left out."""
    recorded_best: float
    sampler: str
    seed: int
    predicted: bool
    """The file holds predictions, and the search used them."""
    reached: tuple[ReachedShare, ...]
    stopped: str
    """Why the search ended."""
    evaluated: tuple[ReplayedEvaluation, ...]


def replay(replayed: Replay) -> ReplayDocument:
    """The document of a search of a recorded space."""
    space = replayed.space
    return ReplayDocument(
        source=space.source,
        unit=space.unit,
        metric=space.metric,
        candidates=len(space),
        failures=space.failures,
        parameters=space.parameters,
        recorded_best=space.metric.value(space.best),
        sampler=replayed.sampler,
        seed=replayed.seed,
        predicted=replayed.predicted,
        reached=tuple(
            ReachedShare(
                share=share,
                evaluations=replayed.reached(share),
                candidates=int(space.within(share).sum()),
            )
            for share in SHARES
        ),
        stopped=replayed.stopped,
        evaluated=tuple(_evaluation(step, space) for step in replayed.steps),
    )


def _evaluation(step: Step, space: RecordedSpace) -> ReplayedEvaluation:
    return ReplayedEvaluation(
        parameters=space.settings(step.row),
        measured=None if step.seconds is None else space.metric.value(step.seconds),
        status=step.status,
        best=None if step.best is None else space.metric.value(step.best),
        why=step.why,
    )
