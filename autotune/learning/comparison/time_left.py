"""How long the rest of a learning curve will take, from what its fits have taken so far."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pace:
    """Seconds of the trials made, by model and size.

    The small sizes come first and are no measure of the large ones: what was not tried yet is
    taken to grow like the rows, from the largest size of the same model that was.
    """

    taken: dict[tuple[str, int], list[float]] = field(default_factory=dict)

    def add(self, model: str, size: int, seconds: float) -> None:
        """Record the seconds that one trial took."""
        self.taken.setdefault((model, size), []).append(seconds)

    def left(self, trials: Iterable[tuple[str, int]]) -> float | None:
        """Seconds that trials to come will take; None while a model was never tried."""
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


def told(seconds: float | None) -> str:
    """``about 40 s left``; empty where nothing can be said.

    >>> told(41.7), told(200.0), told(None)
    ('about 42 s left', 'about 4 min left', '')
    """
    if seconds is None:
        return ""
    if seconds < 100:
        return f"about {max(1, round(seconds))} s left"
    return f"about {-(-int(seconds) // 60)} min left"
