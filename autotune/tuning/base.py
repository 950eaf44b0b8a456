"""The interfaces of a tuner: chosen candidates, a journal for results, a search for proposals."""

import contextlib
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, Self

from autotune.domain.ranking import Ranked
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
    rank: int | None = None
    """Place by prediction in its problem; None where there is none."""

    @classmethod
    def of(cls, entry: Ranked, why: str) -> Self:
        """A candidate of a ranking as a chosen one."""
        return cls(entry.candidate, entry.prediction, why, entry.rank)

    @property
    def ranked(self) -> Ranked:
        """The candidate with its prediction and its place."""
        return Ranked(self.rank, self.candidate, self.prediction)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierResult:
    """The result of a candidate from another run, on this machine with the same compilers."""

    candidate: Candidate
    measurement: Measurement
    """Its ``run`` is the other run."""
    checksum: tuple[float, float] | None = None


class Journal(Protocol):
    """Receives results as soon as they exist."""

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Record candidates that are going to be measured."""

    def prepared(self, prepared: Prepared) -> None:
        """Record that a candidate was built and verified, or that this failed."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Record a sample of a candidate."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Record that a candidate is finished; called again if its status changes later."""


class NoJournal:
    """A journal that stores nothing, for results that are shown at once."""

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Store nothing."""

    def prepared(self, prepared: Prepared) -> None:
        """Store nothing."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Store nothing."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Store nothing."""


class TunerLock(Protocol):
    """Prevents tuners on one host from building or timing while another one times."""

    def building(self) -> AbstractContextManager[None]:
        """A context in which other tuners may build, but not time."""

    def timing(self) -> AbstractContextManager[None]:
        """A context in which no other tuner builds or times."""


class NoOtherTuner:
    """For a tuner that is alone on its host: it never waits for others."""

    def building(self) -> AbstractContextManager[None]:
        """A context without waiting, since there is no other tuner."""
        return contextlib.nullcontext()

    def timing(self) -> AbstractContextManager[None]:
        """A context without waiting, since there is no other tuner."""
        return contextlib.nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """How candidates are measured, and the limits of time and number."""

    measuring: Measuring
    deadline: float = float("inf")
    """time.monotonic() after which no launch is started."""
    seed: int = 1
    evaluations: int | None = None
    """Candidates per problem, at most."""
    batch: int = 2
    """Candidates that are built together in a step of the search."""
    common: bool = False
    """The best of every problem are measured in all problems, so that one may win over all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The measurer of candidates, and the receivers of results and progress."""

    measurer: Measurer
    journal: Journal
    progress: Progress
    clock: Clock = field(default_factory=Clock)
    watcher: Watcher = unwatched
    lock: TunerLock = field(default_factory=NoOtherTuner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate that a search proposes to measure next, and why."""

    candidate: Candidate
    why: str
    expected_improvement: float = math.nan
    """Relative to the best of its problem; nan where the search has no posterior."""
    posterior: float | None = None
    """Expected seconds of a time step; None where the search has no expectation."""
    promise: float = math.nan
    """Greatest expected improvement of all candidates that are left; nan as above."""
    prediction: Prediction | None = None
    """Of a candidate that was not among those with which the search began."""


class Search(Protocol):
    """Proposes the candidates to measure next, over all problems of a study."""

    def ask(self, problem: int, count: int) -> Sequence[Proposal]:
        """At most ``count`` candidates of a problem that are neither proposed nor reported yet."""

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """Report the result of a candidate; None means that it was not measured.

        ``sigma``: standard deviation of the logarithm of its time.
        """

    def finished(self, problem: int) -> str | None:
        """Why the search of a problem has ended; None while it goes on."""
