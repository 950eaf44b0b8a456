"""The document of ``tune --replay``: a search of a recorded space."""

from typing import TypedDict

from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.files.recorded.replayed import SHARES, Replay, Step
from autotune.results.documents import Plain


class StepRow(TypedDict):
    """One evaluation, in the order in which they were made."""

    parameters: dict[str, Plain]
    seconds: float | None
    """As recorded, in the unit of the file; null where the candidate failed."""
    status: str
    best: float | None
    """The smallest so far."""
    why: str
    """Why it was asked for."""


class ReachedRow(TypedDict):
    """How soon the search was near the recorded best."""

    share: float
    """0.05: within 5 %."""
    evaluations: int | None
    """Null: not at all."""
    candidates: int
    """How many of the recorded candidates are as near."""


class ReplayDocument(TypedDict):
    """A search of a recorded space."""

    schema: str
    """autotune.replay/1"""
    source: str
    """The file and its format."""
    unit: str
    """``s``; empty where the file states none."""
    candidates: int
    failures: int
    """How many of the recorded candidates failed."""
    parameters: dict[str, list[Plain]]
    """Name to its recorded values; those with one value are left out."""
    recorded_best: float
    sampler: str
    seed: int
    predicted: bool
    """The file holds predictions, and the search used them."""
    reached: list[ReachedRow]
    stopped: str
    """Why the search ended."""
    evaluated: list[StepRow]


def replay(replayed: Replay) -> ReplayDocument:
    """The document of a search of a recorded space."""
    space = replayed.space
    return ReplayDocument(
        schema="autotune.replay/1",
        source=space.source,
        unit=space.unit,
        candidates=len(space),
        failures=space.failures,
        parameters={name: list(values) for name, values in space.parameters.items()},
        recorded_best=space.best,
        sampler=replayed.sampler,
        seed=replayed.seed,
        predicted=replayed.predicted,
        reached=[
            ReachedRow(
                share=share,
                evaluations=replayed.reached(share),
                candidates=int(space.within(share).sum()),
            )
            for share in SHARES
        ],
        stopped=replayed.stopped,
        evaluated=[_step(step, space) for step in replayed.steps],
    )


def _step(step: Step, space: RecordedSpace) -> StepRow:
    return StepRow(
        parameters=space.settings(step.row),
        seconds=step.seconds,
        status=step.status,
        best=step.best,
        why=step.why,
    )
