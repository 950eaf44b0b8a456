"""What a tuner works with: the chosen candidates, where results go, who says what comes next."""

import contextlib
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from autotune.domain.results import Measurement, Prediction, Prepared, Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Measurer
from autotune.progress import Clock, Progress
from autotune.tuning.events import Watcher, unwatched


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate to be measured, its prediction, and why it was chosen."""

    candidate: Candidate
    prediction: Prediction
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierResult:
    """The result of a candidate in another run, on this machine with the same compilers."""

    candidate: Candidate
    measurement: Measurement
    """Its ``run`` is the other run."""
    checksum: tuple[float, float] | None = None


class Journal(Protocol):
    """Where results go as soon as they exist."""

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Candidates that are going to be measured."""

    def prepared(self, prepared: Prepared) -> None:
        """A candidate was built and verified, or failed to be."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """A sample was taken."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """A candidate is finished. It is reported again when its status changes later."""


class Turns(Protocol):
    """Keeps tuners on one host from building or timing while another one times."""

    def building(self) -> AbstractContextManager[None]:
        """While it lasts other tuners may build, and none may time."""

    def timing(self) -> AbstractContextManager[None]:
        """While it lasts no other tuner builds or times."""


class NoOtherTuner:
    """Turns of a tuner that has the host to itself: it never waits."""

    def building(self) -> AbstractContextManager[None]:
        """Building may begin immediately."""
        return contextlib.nullcontext()

    def timing(self) -> AbstractContextManager[None]:
        """Timing may begin immediately."""
        return contextlib.nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How candidates are measured, and until when."""

    measuring: Measuring
    deadline: float = float("inf")
    """time.monotonic() after which no launch is started."""
    seed: int = 1
    evaluations: int | None = None
    """Candidates per problem, at most."""
    batch: int = 2
    """Candidates that are built together in a step of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What candidates are measured with, and where results and progress are reported."""

    measurer: Measurer
    journal: Journal
    progress: Progress
    clock: Clock = field(default_factory=Clock)
    watcher: Watcher = unwatched
    turns: Turns = field(default_factory=NoOtherTuner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate that a search wants to have measured next, and why."""

    candidate: Candidate
    why: str
    expected_improvement: float = math.nan
    """Relative to the best of its problem; nan where the search has no posterior."""
    posterior: float | None = None
    """Expected seconds of a time step; None where the search has no expectation."""


class Search(Protocol):
    """Says what is measured next, over all problems of a study."""

    def ask(self, problem: int, count: int) -> Sequence[Proposal]:
        """Up to ``count`` candidates of a problem that are neither proposed nor reported."""

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """Report the result of a candidate; None: it was not measured.

        ``sigma``: standard deviation of the logarithm of its time.
        """

    def finished(self, problem: int) -> str | None:
        """Why the search of a problem is over; None while it is not."""
