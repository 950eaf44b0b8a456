"""The surface of one objective: predictions, observations, and the posterior from both.

A Gaussian process, or the pool of learned models, explains r = log(measured / predicted). Without
predictions r = log(measured), and slow times are compressed, so that the process fits the fast ones
more closely: log times t above the median m of their problem become m + c log(1 + (t - m) / c).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import log_ndtr

from autotune.tuning.search.candidate_covariance import Inputs, TermSizes
from autotune.tuning.search.gaussian_process import Observations, Process, SearchPrior
from autotune.tuning.search.improvement import expected
from autotune.tuning.search.parameter_levels import ParameterLevels
from autotune.tuning.search.points import Floats, Indices, Points
from autotune.tuning.search.pool_residual import Candidates, PoolResidual
from autotune.tuning.search.residual_basis import SPREAD, basis
from autotune.tuning.search.residual_model import ResidualExplainer

_COMPRESSION = 0.3
"""c above: a time of twice the median enters as if it were 1.43 times as long."""
_FEW = 4
"""So many observations of a problem have a median worth compressing at."""
_TIMES = SearchPrior(amplitude=0.6)
"""Without a model the process explains all that candidates differ in."""
_RESIDUAL = SearchPrior(amplitude=0.3, terms=TermSizes(joint=0.4, main=0.7, pairs=0.7))
"""With one it explains where the model is wrong: mostly about one or two parameters."""
_ROUGH = 0.7
"""Share of such an error that a value of a parameter, or a pair of values, has by itself."""
_ITERATIONS = 8
_MOST = 300
"""Observations that the process holds; of more, the faster half and a random part of the rest."""
_FOREIGN_NOISE = 0.3
"""Standard deviation of what differs on another machine, beside the common factor."""
_FOREIGN_FACTOR = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One observed time: log value, variance, and whether it is from another machine."""

    row: int
    value: float
    noise: float
    foreign: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """The compression of log times of a problem: those above ``knee``; +inf for none."""

    knee: float = float("inf")

    def down(self, values: Floats) -> Floats:
        """Compress log times."""
        over = np.maximum(values - self.knee, 0.0)
        result: Floats = values - over + _COMPRESSION * np.log1p(over / _COMPRESSION)
        return result

    def up(self, values: Floats) -> Floats:
        """Convert compressed log times back to log times."""
        over = np.clip((values - self.knee) / _COMPRESSION, 0.0, 5.0)
        result: Floats = np.minimum(values, self.knee) + _COMPRESSION * np.expm1(over)
        return result

    def steepness(self, values: Floats) -> Floats:
        """The factor from a small difference of compressed log times to one of log times."""
        result: Floats = np.exp(np.clip((values - self.knee) / _COMPRESSION, 0.0, 5.0))
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The level subtracted from the log times of a problem.

    First the compressed prediction, moved by ``shift``, is subtracted, then ``centre``, the mean of
    the remainder.
    """

    shift: float
    centre: float = 0.0
    bend: Bend = Bend()

    def expected(self, base: Floats) -> Floats:
        """The compressed log times that are subtracted where ``base`` is predicted."""
        result: Floats = self.bend.down(base + self.shift) + self.centre
        return result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Mean and standard deviation of compressed log values at the columns, and the bends."""

    mean: Floats
    sd: Floats
    bends: Mapping[int, Bend]
    parts: tuple[tuple[float, "Posterior"], ...] = ()
    """The normal posteriors that this one is a mixture of, with their weights; none: it is one."""

    def improvement(self, places: Indices, incumbent: int, doubt: float = 1.0) -> Floats:
        """Expected improvement of the columns ``places`` over the column ``incumbent``.

        In log time. ``doubt``: factor of standard deviations.
        """
        if self.parts:
            total = np.zeros(len(places))
            for weight, part in self.parts:
                total += weight * part.improvement(places, incumbent, doubt)
            return total
        return expected(self.mean[places], doubt * self.sd[places], float(self.mean[incumbent]))


@dataclass(slots=True, kw_only=True)
class Surface:
    """The posterior of one objective over the columns; it changes with every observation."""

    levels: ParameterLevels
    group: Indices
    columns: Indices
    predicted: Floats
    """Logarithms, (n,); nan where unknown, all nan without a model."""
    sigma: Floats
    """Stated standard deviations of log(measured / predicted), nan where unknown."""
    seed: int
    prior: Floats | None = None
    """Logarithms of what a model of another machine expects, (n,), nan where it says nothing."""
    learner: Points | None = None
    """The points that the pool learns from; None: the process explains what is left."""
    seen: list[Observation] = field(default_factory=list, init=False)
    foreign: list[Observation] = field(default_factory=list, init=False)
    base: Floats = field(init=False)
    """Log seconds that residuals are over, (n,); see ``basis``."""
    _residual: ResidualExplainer = field(init=False)
    _grown: bool = field(default=False, init=False)
    _due: int = field(default=0, init=False)
    _held: list[Observation] = field(default_factory=list, init=False)
    _groups: list[int] = field(init=False)
    _modelled: bool = field(init=False)

    def __post_init__(self) -> None:
        self._groups = np.unique(self.group).tolist()
        residual_basis = basis(self.predicted, self.sigma, self.group, self.prior)
        self._modelled = residual_basis.modelled or residual_basis.prior_offset is not None
        self.base = residual_basis.level
        if self.learner is not None:
            candidates = Candidates.of(
                self.learner, residual_basis.level, residual_basis.prior_offset
            )
            self._residual = PoolResidual(candidates, self.columns, self.seed)
            return
        inputs = Inputs(
            levels=self.levels,
            scale=residual_basis.scale,
            trend=residual_basis.trend,
            group=self.group,
            constant=0.5 if self._modelled else 1.0,
            slope=0.3 if residual_basis.modelled else 0.0,
            rough=_ROUGH if self._modelled else 0.0,
            prior_offset=residual_basis.prior_offset,
            trust=SPREAD,
        )
        prior = _RESIDUAL if self._modelled else _TIMES
        prior = (
            prior
            if residual_basis.typical is None
            else replace(prior, amplitude=residual_basis.typical)
        )
        self._residual = Process(inputs, self.columns, prior, _FOREIGN_FACTOR)

    def without_predictions(self) -> "Surface":
        """A surface of the same columns without predictions, and without observations so far."""
        unknown = np.full(len(self.predicted), np.nan)
        return replace(self, predicted=unknown, sigma=unknown)

    # --- learning ---------------------------------------------------------------------------

    def learn(self, seen: Observation) -> None:
        """Add an observation; a later observation of the same candidate replaces it."""
        where = self.foreign if seen.foreign else self.seen
        for place, earlier in enumerate(where):
            if earlier.row == seen.row:
                where[place] = seen
                self._held = [seen if held is earlier else held for held in self._held]
                return
        where.append(seen)
        if self._grown and not seen.foreign:
            self._held.append(seen)
            self._grown = self._residual.append(self._observations(self._held))
        else:
            self._grown = False

    def forget(self, row: int) -> None:
        """Remove the observation of a candidate that turned out to fail."""
        if any(seen.row == row for seen in self.seen):
            self.seen = [seen for seen in self.seen if seen.row != row]
            self._grown = False

    @property
    def count(self) -> int:
        """The number of observations, from this machine and from others."""
        return len(self.seen) + len(self.foreign)

    def update(self) -> bool:
        """Bring the process up to date: fitted again if due, rebuilt if it cannot grow.

        True if it was fitted.
        """
        due = self.count >= max(self._due, 2)
        if due:
            self._held = self.kept()
            observed = self._observations(self._held)
            self._residual.fit(observed, _ITERATIONS)
            self._due = max(self.count + 3, int(1.1 * self.count))
        elif not self._grown:
            self._held = self.kept()
            self._residual.rebuild(self._observations(self._held))
        self._grown = True
        return due

    def kept(self) -> list[Observation]:
        """The observations that the process holds, those of elsewhere first."""
        observations, foreign = self.seen, self.foreign
        chance = np.random.default_rng([self.seed, self.count])
        if len(foreign) > _MOST // 2:
            chosen = sorted(chance.choice(len(foreign), _MOST // 2, replace=False).tolist())
            foreign = [foreign[place] for place in chosen]
        room = _MOST - len(foreign)
        if len(observations) > room:
            order = np.argsort([self._excess(seen) for seen in observations], kind="stable")
            rest = chance.choice(order[room // 2 :], room - room // 2, replace=False)
            observations = [
                observations[place]
                for place in sorted([*order[: room // 2].tolist(), *rest.tolist()])
            ]
        return [*foreign, *observations]

    def _excess(self, seen: Observation) -> float:
        group = self.group[seen.row]
        return seen.value - min(s.value for s in self.seen if self.group[s.row] == group)

    def _observations(self, held: list[Observation]) -> Observations:
        rows = np.array([seen.row for seen in held], dtype=np.intp)
        return Observations(
            rows=rows,
            noise=np.array([seen.noise + _FOREIGN_NOISE**2 * seen.foreign for seen in held]),
            foreign=np.array([float(seen.foreign) for seen in held]),
            values=self._residuals(held)[0],
        )

    def left_out_densities(self) -> Floats:
        """Log density of each held time of this machine, as all others let it be expected.

        Times above the median of their problem count as slower than it, by whatever amount (the
        censored likelihood score, Diks, Panchenko and van Dijk 2011, eq. 7): the search needs the
        fast ones. ValueError without a process.
        """
        if not isinstance(self._residual, Process):
            raise ValueError("only a process says what it expects of an observation left out")
        self.update()
        residuals, levels = self._residuals(self._held)
        mean, sd = self._residual.left_out(residuals)
        rows = np.array([seen.row for seen in self._held], dtype=np.intp)
        values = np.array([seen.value for seen in self._held])
        here = ~np.array([seen.foreign for seen in self._held], dtype=bool)
        densities = np.zeros(len(rows))
        for number, level in levels.items():
            mine = here & (self.group[rows] == number)
            knee = float(np.median(values[mine])) if mine.sum() >= _FEW else math.inf
            expected_values = mean[mine] + level.expected(self.base[rows[mine]])
            away = (np.minimum(values[mine], knee) - expected_values) / sd[mine]
            density = -0.5 * (away**2 + math.log(2 * math.pi)) - np.log(sd[mine])
            densities[mine] = np.where(values[mine] <= knee, density, log_ndtr(-away))
        result: Floats = densities[here]
        return result

    # --- what follows -----------------------------------------------------------------------

    def _residuals(self, held: list[Observation]) -> tuple[Floats, dict[int, Level]]:
        """Centred residuals of the observations, and the level subtracted for each problem."""
        rows = np.array([seen.row for seen in held], dtype=np.intp)
        values = np.array([seen.value for seen in held])
        foreign = np.array([seen.foreign for seen in held], dtype=bool)
        raw = values - self.base[rows]
        residuals = np.empty(len(held))
        common = float(np.median(raw)) if len(raw) else 0.0
        levels: dict[int, Level] = {}
        for number in self._groups:
            levels[number] = Level(shift=common)
            for strangers in (False, True):
                mine = (self.group[rows] == number) & (foreign == strangers)
                if not mine.any():
                    continue
                bend = Bend()
                if mine.sum() >= _FEW and not self._modelled:
                    bend = Bend(knee=float(np.median(values[mine])))
                shift = float(np.median(raw[mine]))
                left = bend.down(values[mine]) - bend.down(self.base[rows[mine]] + shift)
                centre = float(left.mean())
                residuals[mine] = left - centre
                if not strangers:
                    levels[number] = Level(shift=shift, centre=centre, bend=bend)
        return residuals, levels

    def posterior(self, running: Indices) -> Posterior:
        """The posterior at all columns; ``running`` candidates count as measured at their mean."""
        self.update()
        residuals, levels = self._residuals(self._held)
        mean = self._residual.mean(residuals)
        group = self.group[self.columns]
        for number, level in levels.items():
            mine = group == number if len(levels) > 1 else slice(None)
            mean[mine] += level.expected(self.base[self.columns[mine]])
        bends = {number: level.bend for number, level in levels.items()}
        return Posterior(mean=mean, sd=self._residual.sd(running), bends=bends)
