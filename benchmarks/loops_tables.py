"""The tables of benchmarks/loops.py."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from loops_subjects import MeasuredLoop

_GOALS = (("median deviation", 0.5, 0.03), ("90th percentile", 0.9, 0.10))
_WORST = 10


@dataclass(frozen=True, slots=True)
class ScoredLoop:
    """A loop with its predicted and measured cycles per source iteration."""

    loop: MeasuredLoop
    predicted: float
    measured: float
    noise: float
    """(median - lower quartile) / lower quartile of the launches."""

    @classmethod
    def of(cls, loop: MeasuredLoop, predicted: float, launches: Sequence[float]) -> "ScoredLoop":
        """Of the cycles of each launch: their lower quartile is the measured figure."""
        low, middle = np.nanquantile(launches, [0.25, 0.5])
        return cls(loop, predicted, float(low), float(middle / low - 1))

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1

    @property
    def half(self) -> float:
        """Half-width of the 80 % interval of the in-core time, relative to it."""
        return self.loop.placed.result.width

    @property
    def score(self) -> float:
        """Interval score of the logarithm: the width, and ten times what lies outside of it."""
        return 2 * self.half + 10 * max(0.0, abs(self.deviation) - self.half)

    @property
    def deviation(self) -> float:
        """Logarithm of measured over predicted."""
        return math.log(self.measured / self.predicted)


def show(title: str, scored: Sequence[ScoredLoop]) -> None:
    """Print the tables of some loops."""
    if not scored:
        return
    noise = statistics.median(s.noise for s in scored)
    print(f"\nhalf {title}: {len(scored)} loops, noise of launches {noise:.1%}")
    deviations = [abs(s.error) for s in scored]
    for name, share, goal in _GOALS:
        value = float(np.quantile(deviations, share))
        verdict = "MET" if value <= goal else "MISSED"
        print(f"  {name:18} {value:6.1%}   goal {goal:.0%}   {verdict}")
    inside = statistics.mean(abs(s.deviation) <= s.half for s in scored)
    half = statistics.median(s.half for s in scored)
    score = statistics.mean(s.score for s in scored)
    print(f"  80 % intervals hold {inside:.1%}, half-width {half:.1%} (median), score {score:.1%}")
    print(f"  {'':34} loops     mdev      p90     bias      rms")
    _row("all", scored)
    groupings: tuple[tuple[str, Callable[[ScoredLoop], Sequence[str]]], ...] = (
        ("build", lambda s: (s.loop.build,)),
        ("kind", lambda s: (s.loop.kind,)),
        ("trait", lambda s: s.loop.traits),
        ("bound by", lambda s: (s.loop.placed.result.bottleneck,)),
        ("half-width", lambda s: (f"{round(s.half, 1):.0%}",)),
    )
    for grouping, names in groupings:
        groups: dict[str, list[ScoredLoop]] = defaultdict(list)
        for one in scored:
            for name in names(one):
                groups[name].append(one)
        for name, members in sorted(groups.items()):
            _row(f"{grouping}: {name}", members)
    print("  worst: predicted and measured cycles per component or point, noise")
    for s in sorted(scored, key=lambda s: -abs(s.error))[:_WORST]:
        figures = f"{s.error:+7.1%} {s.predicted:8.3f} {s.measured:8.3f} {s.noise:5.1%}"
        print(f"    {figures}  {s.loop.name}")


def _row(name: str, members: Sequence[ScoredLoop]) -> None:
    errors = [s.error for s in members]
    deviations = np.abs(errors)
    rms = math.sqrt(statistics.mean(s.deviation**2 for s in members))
    print(
        f"  {name:34} {len(members):5} {np.median(deviations):8.1%}"
        f" {np.quantile(deviations, 0.9):8.1%} {np.median(errors):+8.1%} {rms:8.1%}"
    )
