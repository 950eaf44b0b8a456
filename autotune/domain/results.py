"""Results as values: predictions with their parts, measurements with every sample."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from autotune.domain.variant import Candidate
from autotune.units import Seconds

Status = Literal[
    "ok",
    "build-failed",
    "crashed",
    "timed-out",
    "unreadable",
    "wrong-result",
    "out-of-bounds",
    "implausible",
    "contended",
]
"""How building, verifying and measuring a candidate ended. ``unreadable``: a program ended well,
and what it printed or wrote lacks a value that is read; ``out-of-bounds``: a metric violates a
bound; ``implausible``: a time cannot be true."""
STATUSES: tuple[Status, ...] = get_args(Status)

Stage = Literal["first", "search", "final"]
"""Of a tuning: the first candidates, steps of the search, the finalists measured again."""
STAGES: tuple[Stage, ...] = ("first", "search", "final")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One contribution to a predicted time step: its kind, its sweep, its seconds.

    ``kind`` is ``T_OL``, ``T_nOL``, the name of a level (``L2``, ``L3``, ``MEM``: transfers from
    there), ``stores`` (through a write-through cache), ``entry`` (entries into loops and starts of
    their streams), ``across`` (stores across lines of outer caches), ``messages`` (between ranks,
    of one name), ``sweep`` (the combined time of the sweep), ``barrier`` or ``communication``.
    """

    sweep: str
    kind: str
    seconds: Seconds
    extrapolated: bool = False
    kernel: str = ""
    """What the sweep computes, fused kernels joined by ``+``; empty: not known."""
    count: float = 0.0
    """Of a level: the most rows that one pass of the sweep streams from there; of messages: their
    number; 0: not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """The uncertainty of a predicted time, as relative standard deviations (of its logarithm).

    Errors in a figure that two candidates depend on in the same way affect both alike. So the order
    of the candidates is more certain than their times.
    """

    shared: Mapping[str, float]
    """Figure or known weakness to the relative change of the time when it is one standard
    deviation off, the same way for all candidates."""
    independent: float
    """What belongs to this candidate alone."""

    @property
    def sigma(self) -> float:
        """The combined relative standard deviation of all contributions."""
        return math.hypot(self.independent, *self.shared.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Predicted seconds of one time step, its parts, its interval and its uncertainty.

    ``seconds`` is None if the engine cannot predict; ``reason`` then says why.
    """

    seconds: Seconds | None
    interval: tuple[Seconds, Seconds] | None
    parts: tuple[Part, ...]
    engine: str
    reason: str
    notes: tuple[str, ...] = ()
    """Approximations that were made: the route of the in-core analysis, figures not measured."""
    uncertainty: Uncertainty | None = None
    """What the interval, which holds 80 %, is made of; None where the engine does not say."""

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ValueError(f"a predicted time must be positive, not {self.seconds}")
        if self.seconds is not None and self.interval is not None:
            low, high = self.interval
            if not low <= self.seconds <= high:
                raise ValueError(f"{self.seconds} lies outside its interval {self.interval}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One timed stretch of ``steps`` time steps in one process."""

    seconds: Seconds
    """Wall time per time step; of a program with another objective, its cost."""
    steps: int
    busy: float
    """CPU time of the process over (threads x wall time); 1 when nothing disturbed it."""
    undisturbed: bool
    """Whether its threads had their cores to themselves, or nearly so."""
    launch: int
    """Which process of this candidate in this run, from 0."""
    round: int
    """Which interleaved round of the run, from 0."""
    taken: str
    """Time of day, ISO 8601, UTC."""
    warm_up: bool = False
    conditions: Mapping[str, float | int | str] = field(default_factory=dict)
    """Load average, context switches, steal time, priority method: as they were; ``stage`` where
    the candidates were not measured all alike."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The time in seconds and the metrics of a program in their units, by name; empty for what has
    no metrics but the time."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ValueError(f"a sample must be a positive time, not {self.seconds}")

    @property
    def stage(self) -> Stage | None:
        """The stage of a tuning run in which it was taken; None if the run has no stages."""
        return next((s for s in STAGES if s == self.conditions.get("stage")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Every sample of one candidate in one run, and the outcome."""

    candidate: str
    """Identity of the candidate."""
    run: str
    status: Status
    samples: tuple[Sample, ...] = ()
    detail: str = ""
    """Compiler text, the last lines of output, the deviation of a wrong result."""
    error: float | None = None
    """max abs(a - b) / max abs(b) against the reference; None: nothing was compared."""
    build: str = ""
    """Key of the build."""

    @property
    def verified(self) -> bool:
        """Whether its result was compared with a reference and is right, as far as it was run."""
        return self.error is not None and self.status != "wrong-result"

    @property
    def timed(self) -> tuple[Sample, ...]:
        """The samples that count: all but warm-ups."""
        return tuple(s for s in self.samples if not s.warm_up)

    @property
    def disturbed(self) -> int:
        """The number of samples that were disturbed because other processes took the cores."""
        return sum(not s.undisturbed for s in self.timed)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome:
    """How the build and the verification of a candidate ended."""

    status: Status
    detail: str = ""
    error: float | None = None
    """max abs(a - b) / max abs(b) against the reference, worst of the verification runs."""
    build: str = ""
    """Key of the build."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Compiler path and version, resolved flags, hash of the sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(BuildOutcome):
    """A candidate that was built and verified, or the status that says why not."""

    candidate: Candidate
    verifying: Seconds = Seconds(0.0)
    """Wall time of its verification."""
    executes: str = ""
    """Digest of what a run executes: equal for candidates that are the same program, run alike;
    empty where that is not known."""
