"""The interface of a search, whichever algorithm it uses: its questions and its results."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from autotune.tuning.search.points import Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A candidate to measure next, and why."""

    index: int
    """Its row in the points."""
    why: str
    expected_improvement: float = math.nan
    """Relative to the best of its problem; nan for those that do not come from a posterior."""
    predicted: float | None = None
    """Posterior median, seconds; None where the search has none."""
    promise: float = math.nan
    """Greatest expected improvement of all that are left, this one among them; nan as above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a candidate: its time with its noise, or its failure."""

    index: int
    seconds: float | None
    """None: it failed."""
    sigma: float = 0.0
    """Standard deviation of the logarithm of the time: noise of the measurement."""
    prior: bool = False
    """Measured on another machine or with another compiler: it counts as a hint, with more noise,
    and the candidate stays unmeasured."""
    objectives: Mapping[str, float] = field(default_factory=dict)
    """Further objectives by name, each positive and to be minimised: joules, bytes."""

    def __post_init__(self) -> None:
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ValueError(f"a measured time must be positive, not {self.seconds}")
        if not (math.isfinite(self.sigma) and self.sigma >= 0):
            raise ValueError(f"a standard deviation must not be negative, but is {self.sigma}")
        for name, value in self.objectives.items():
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"objective {name} must be positive, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchForecast:
    """The expected times of all candidates of a problem, measured or not.

    ``index``: rows of the points, (m,). ``mean``, ``sd``: of log seconds, (m,); a search without a
    posterior has nan for candidates that were not measured.
    """

    index: Indices
    mean: Floats
    sd: Floats


class Searcher(Protocol):
    """A search: it proposes candidates to measure and receives their results."""

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        """At most ``count`` candidates of a problem, none twice during the search.

        Proposed candidates without a result count as measured at their expected time. Empty if no
        candidate remains.
        """

    def tell(self, result: SearchResult) -> None:
        """Add a result; a later result of the same candidate replaces it."""

    def claim(self, index: int) -> None:
        """Note that another tuner is measuring a candidate, so that it is not proposed."""

    def release(self, index: int) -> None:
        """Note that a running candidate got no result: it neither ran nor failed.

        It is not proposed again; a result may still follow.
        """

    def finished(self, group: int) -> str | None:
        """Why the search of a problem has ended; None while it is worth continuing."""

    def forecast(self, group: int) -> SearchForecast:
        """The expected times of all candidates of a problem."""
