"""How a search proceeds: what it tries first, what it tries now and then, when it ends."""

from dataclasses import dataclass

from autotune.domain.setup import LEARNERS, Learner


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a search."""

    first: int = 10
    """The best by prediction that are measured before anything is learned, at most."""
    within: float = 1.5
    """Of these only those within so many standard deviations of the best prediction ..."""
    least: int = 3
    """... but at least this many."""
    lent: int = 4
    """With a prior: so many, by its order and by prediction (or at random) in turn."""
    start: int = 5
    """Without a model: drawn at random before anything is learned."""
    neighbour_every: int = 3
    """Every so many steps the best neighbour of the incumbent is tried."""
    stop_below: float = 0.01
    """The search of a problem is over when no more improvement than this is expected ..."""
    patience: int = 5
    """... so many steps in a row ..."""
    doubt: float = 2.0
    """... though the posterior be so many times less sure than it says: what it takes for known,
    its hyperparameters, was fitted to few observations."""
    most: int = 50_000
    """Candidates that are looked at; of more, the best by prediction ..."""
    beyond: float = 0.05
    """... and this share of that number drawn from the rest."""
    objectives: tuple[str, ...] = ("time",)
    """The first is what is told as seconds, the others come by name."""
    residual: Learner = "process"
    """Of time; further objectives are always explained by a process."""

    def __post_init__(self) -> None:
        if self.residual not in LEARNERS:
            raise ValueError(f"residual must be one of {', '.join(LEARNERS)}")
        for name in ("first", "least", "lent", "start", "neighbour_every", "patience", "most"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not (self.within > 0 and 0 <= self.stop_below < 1 and 0 <= self.beyond <= 1):
            raise ValueError("within must be positive, stop_below in [0, 1), beyond in [0, 1]")
        if not self.doubt >= 1:
            raise ValueError(f"doubt widens standard deviations: at least 1, not {self.doubt}")
        if not self.objectives or len(set(self.objectives)) != len(self.objectives):
            raise ValueError("objectives are named once each, and there is at least one")
