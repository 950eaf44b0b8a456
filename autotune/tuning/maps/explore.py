"""The exploration of a map: it proposes the next visit and learns from the measured times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.tuning.maps import losses, visits
from autotune.tuning.maps.losses import Verdict
from autotune.tuning.maps.map_posterior import MapObservations, MapPosterior
from autotune.tuning.maps.map_prior import Flags, Floats, MapPrior
from autotune.tuning.maps.visits import Visit

_DRAWS = 512
_BURN_IN = 120
"""Steps of the settings when much was measured before."""
_STEPS = 15
_PATIENCE = 5
_LITTLE = 0.01
"""Of the tolerance: visits that promise less than this (mean over the cells) promise nothing."""


LEVEL = 0.95
"""Probability that a bound of the loss holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """When a map is good enough: the tolerated loss, and with which probability."""

    tolerance: float = 0.05
    """Share of the least time that may be lost."""
    level: float = LEVEL
    """Probability of the bounds."""
    together: int = 4
    """Contenders that are measured in a visit, at most."""
    noise: float = 0.02
    """Standard deviation of a measured log time, expected before the first."""
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise ValueError(f"the tolerance must lie between 0 and 100 %, not {self.tolerance:%}")
        if not 0.5 <= self.level < 1:
            raise ValueError(f"the level must lie between 50 and 100 %, not {self.level:%}")
        if self.together < 2:
            raise ValueError("a visit compares at least two contenders")


class Explorer:
    """The posterior of a map and the choice of the next measurement; mutable.

    ``cost``: of a visit, for each cell, in any unit; equal costs by default.
    """

    def __init__(self, prior: MapPrior, aim: Aim, cost: Sequence[float] = ()) -> None:
        self.prior = prior
        self.aim = aim
        self.seen: list[MapObservations] = []
        self.legal: Flags = prior.legal.copy()
        self.blocked: Flags = np.zeros_like(prior.legal)
        """(K, C): not to be measured there: it failed, or other processes took the cores."""
        self._cost = tuple(cost) or (1.0,) * len(prior.cells)
        self._posterior = MapPosterior(prior, aim.seed)
        self._idle = 0
        self._refresh(0)

    def tell(
        self, seen: Sequence[MapObservations], failed: Sequence[tuple[int, int | None]] = ()
    ) -> None:
        """Add the times of a visit, and failures as (contender, cell), cell None for everywhere.

        A contender that fails in a cell cannot win there. Only if it is the last one of the cell,
        it stays the winner: a map names a winner in every cell, and the winner's probability shows
        how little that means.
        """
        for contender, cell in failed:
            cells = range(len(self.prior.cells)) if cell is None else (cell,)
            for c in cells:
                self.blocked[contender, c] = True
                if self.legal[:, c].sum() > 1:
                    self.legal[contender, c] = False
        before = len(self.seen)
        self.seen.extend(seen)
        many = len(self.seen) - before > 3 * self.aim.together
        self._refresh(_BURN_IN if many else _STEPS)

    def _refresh(self, sweeps: int) -> None:
        self._posterior.tell(self.seen, sweeps)
        self.mean: Floats
        self.draws: Floats
        self.mean, self.draws = self._posterior.draws(_DRAWS)
        self.verdict: Verdict = losses.judge(self.mean, self.draws, self.legal)
        self.bounds: Floats = losses.bounds(self.verdict.losses, self.aim.level)

    @property
    def noise(self) -> float:
        """Standard deviation of the measured log times so far."""
        return float(np.median([s.sigma for s in self.seen])) if self.seen else self.aim.noise

    def ask(self) -> Visit | str:
        """The next visit, or the reason why there is none."""
        tolerance = self.aim.tolerance
        if self.bounds.max() <= tolerance:
            return self._proof() or (
                f"in every cell the loss is below {100 * tolerance:g} %"
                f" with {100 * self.aim.level:g} %"
            )
        visit = visits.next_visit(
            self._posterior,
            np.where(self.legal, self.mean, np.inf),
            self.verdict,
            self.legal & ~self.blocked,
            noise=self.noise,
            cost=self._cost,
            size=self.aim.together,
        )
        if visit is None:
            return "no cell has two contenders"
        self._idle = self._idle + 1 if visit.gain < _LITTLE * tolerance else 0
        if self._idle > _PATIENCE:
            return self._proof() or "no further measurement promises to lower the loss"
        return visit

    def _proof(self) -> Visit | None:
        """A visit for a winner that was never measured, against its most likely rival in a cell.

        A map names only contenders that were measured and so verified. A winner by prediction alone
        is measured in the cell with the largest bound of its loss among those that it wins.
        """
        contenders = {observation.contender for observation in self.seen}
        free = self.legal & ~self.blocked
        winner = self.verdict.winner
        wanted = [c for c, k in enumerate(winner.tolist()) if k not in contenders and free[k, c]]
        if not wanted:
            return None
        cell = max(wanted, key=lambda c: float(self.bounds[c]))
        gains = np.where(free[:, cell], self.verdict.gains[:, cell], -1.0)
        gains[winner[cell]] = -1.0
        rival = int(gains.argmax())
        names = (int(winner[cell]), *((rival,) if gains[rival] >= 0 else ()))
        return Visit(cell, names, 0.0)
