"""The questions to a search and its results, whichever algorithm is behind it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a candidate: its time with the noise of that, or its failure."""

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
    """What a search expects of every candidate of a problem, measured or not.

    ``index``: rows of the points, (m,). ``mean``, ``sd``: of log seconds, (m,); a search without a
    posterior has nan where nothing was measured.
    """

    index: Indices
    mean: Floats
    sd: Floats


class Searcher(Protocol):
    """Asks for candidates to be measured and is told what became of them."""

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        """Up to ``count`` candidates of a problem, none twice in the life of the search.

        Those asked for and not yet told of count as measured at what is expected of them. Empty
        when nothing is left.
        """

    def tell(self, result: SearchResult) -> None:
        """Take in a result; a later one of the same candidate replaces it."""

    def claim(self, index: int) -> None:
        """Somebody else measures this candidate: it is running, and will not be asked for."""

    def release(self, index: int) -> None:
        """A candidate that was running has no result: it neither ran nor failed.

        It is not asked for again; it may still be told of.
        """

    def finished(self, group: int) -> str | None:
        """Why the search of a problem is over; None while it is worth going on."""

    def forecast(self, group: int) -> SearchForecast:
        """What is expected of every candidate of a problem."""
