"""How a search proceeds: what it tries first, what it tries now and then, when it ends."""

import math
from dataclasses import dataclass

from autotune.domain.setup import LEARNERS, Learner

_LOG_USUAL = math.log(500)
"""The logarithm of the number of candidates that ``Policy.doubt`` is stated for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a search."""

    first: int = 3
    """The number of predicted best candidates measured before anything is learned."""
    start: int = 3
    """So many candidates at least are measured before anything is learned; those beyond ``first``,
    or all of them without predictions, are drawn at random."""
    with_prior: int = 4
    """With a prior, every other one of so many first candidates is the prior's choice."""
    neighbour_every: int = 3
    """Every this many steps the best neighbour of the incumbent is tried."""
    explore_every: int = 3
    """Every this many steps, beginning with the first, a candidate is taken by the improvement that
    is expected ..."""
    explore_doubt: float = 3.0
    """... with standard deviations multiplied by this factor: the posterior does not know of optima
    far from all measurements, and believes its hyperparameters too soon."""
    stop_below: float = 0.01
    """The search of a problem ends when no more improvement than this is expected ..."""
    patience: int = 5
    """... in this many steps in a row ..."""
    doubt: float = 2.0
    """... even with the standard deviation of the posterior multiplied by this factor where there
    are 500 candidates, because its hyperparameters were fitted to few observations (``doubt_of``).
    """
    most: int = 50_000
    """The number of candidates considered; of more, the best by prediction ..."""
    beyond: float = 0.05
    """... and this share of that number drawn from the rest."""
    objectives: tuple[str, ...] = ("time",)
    """The first is the one reported as seconds; the others are reported by name."""
    residual: Learner = "process"
    """The model of the errors of time; further objectives always use a process."""

    def __post_init__(self) -> None:
        if self.residual not in LEARNERS:
            raise ValueError(f"residual must be one of {', '.join(LEARNERS)}")
        for name in (
            "first",
            "with_prior",
            "start",
            "neighbour_every",
            "explore_every",
            "patience",
            "most",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not (0 <= self.stop_below < 1 and 0 <= self.beyond <= 1):
            raise ValueError("stop_below must be in [0, 1), beyond in [0, 1]")
        for name in ("doubt", "explore_doubt"):
            if not getattr(self, name) >= 1:
                raise ValueError(
                    f"{name} widens standard deviations: at least 1, not {getattr(self, name)}"
                )
        if not self.objectives or len(set(self.objectives)) != len(self.objectives):
            raise ValueError("objectives are named once each, and there is at least one")

    def doubt_of(self, candidates: int) -> float:
        """The factor of standard deviations that decides the end among so many candidates.

        It grows with the root of their logarithm, at least 1, as the largest of so many independent
        normal errors does: among more candidates one is more likely far faster than expected.

        >>> [round(Policy().doubt_of(count), 2) for count in (100, 500, 10_000)]
        [1.72, 2.0, 2.43]
        """
        return max(1.0, self.doubt * math.sqrt(math.log(max(candidates, 1)) / _LOG_USUAL))
