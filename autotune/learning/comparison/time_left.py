"""Estimates how long the rest of a learning curve will take, from the fits made so far."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pace:
    """The seconds that the trials so far have taken, by model and training size.

    Small sizes are tried first. A size not tried yet is estimated from the nearest size of the same
    model that was tried, in proportion to the number of rows.
    """

    taken: dict[tuple[str, int], list[float]] = field(default_factory=dict)

    def add(self, model: str, size: int, seconds: float) -> None:
        """Record the seconds that one trial took."""
        self.taken.setdefault((model, size), []).append(seconds)

    def left(self, trials: Iterable[tuple[str, int]]) -> float | None:
        """The estimated seconds that the given trials will take; None while one of their models was
        never tried.
        """
        total = 0.0
        for model, size in trials:
            if (model, size) in self.taken:
                total += statistics.median(self.taken[model, size])
                continue
            tried = [(s, t) for (m, s), t in self.taken.items() if m == model]
            if not tried:
                return None
            nearest, seconds = min(tried, key=lambda timed: abs(timed[0] - size))
            total += statistics.median(seconds) * max(1.0, size / nearest)
        return total
