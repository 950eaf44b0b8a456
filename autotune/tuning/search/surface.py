"""The surface of one objective: predictions, observations, and the posterior from both.

A Gaussian process, or the pool of learned models, explains how log times differ. Predictions and a
prior enter as hints whose weights are learned (``residual_basis``), so that wrong ones are worth no
less than none. Slow times are compressed above the median of their problem (``time_compression``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.tuning.search.candidate_covariance import Inputs
from autotune.tuning.search.gaussian_process import Observations, Process, SearchPrior
from autotune.tuning.search.improvement import expected
from autotune.tuning.search.parameter_levels import ParameterLevels
from autotune.tuning.search.points import Floats, Indices, Points
from autotune.tuning.search.pool_residual import Candidates, PoolResidual
from autotune.tuning.search.residual_basis import SPREAD, basis, centred
from autotune.tuning.search.residual_model import ResidualExplainer
from autotune.tuning.search.time_compression import Bend

_FEW = 4
"""So many observations of a problem have a median worth compressing at."""
_TIMES = SearchPrior(amplitude=0.6)
"""Log seconds that candidates differ by, beside what hints say."""
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
class Level:
    """The level subtracted from the log times of a problem.

    First the compressed ``base``, moved by ``shift``, is subtracted, then ``centre``, the mean of
    the remainder.
    """

    shift: float
    centre: float = 0.0
    bend: Bend = Bend()

    def expected(self, base: Floats) -> Floats:
        """The compressed log times that are subtracted where ``base`` is the reference."""
        result: Floats = self.bend.down(base + self.shift) + self.centre
        return result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Mean and standard deviation of compressed log values at the columns, and the bends."""

    mean: Floats
    sd: Floats
    bends: Mapping[int, Bend]

    def improvement(self, places: Indices, incumbent: int, doubt: float = 1.0) -> Floats:
        """Expected improvement of the columns ``places`` over the column ``incumbent``.

        In log time. ``doubt``: factor of standard deviations.
        """
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
    """Log seconds that residuals are over, (n,): the level of each problem (see ``basis``), with
    the pool the predictions."""
    _residual: ResidualExplainer = field(init=False)
    _grown: bool = field(default=False, init=False)
    _due: int = field(default=0, init=False)
    _held: list[Observation] = field(default_factory=list, init=False)
    _groups: list[int] = field(init=False)
    _compresses: bool = field(init=False)
    """Whether slow times are compressed: the pool learns those of predicted candidates as they are.
    """

    def __post_init__(self) -> None:
        self._groups = np.unique(self.group).tolist()
        reference = basis(self.predicted, self.sigma, self.group, self.prior)
        self.base = reference.level
        self._compresses = self.learner is None or bool(np.isnan(self.predicted).all())
        if self.learner is not None:
            offset = None if self.prior is None else centred(self.prior, self.group)
            self.base = np.where(np.isnan(self.predicted), self.base, self.predicted)
            candidates = Candidates.of(self.learner, self.base, offset)
            self._residual = PoolResidual(candidates, self.columns, self.seed)
            return
        inputs = Inputs(
            levels=self.levels,
            scale=reference.scale,
            hints=reference.hints,
            group=self.group,
            constant=1.0,
            weight=SPREAD,
        )
        self._residual = Process(inputs, self.columns, _TIMES, _FOREIGN_FACTOR)

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

    def update(self) -> None:
        """Bring the process up to date: fitted again if due, rebuilt if it cannot grow."""
        if self.count >= max(self._due, 2):
            self._held = self.kept()
            observed = self._observations(self._held)
            self._residual.fit(observed, _ITERATIONS)
            self._due = max(self.count + 3, int(1.1 * self.count))
        elif not self._grown:
            self._held = self.kept()
            self._residual.rebuild(self._observations(self._held))
        self._grown = True

    def kept(self) -> list[Observation]:
        """The observations that the process holds, those of elsewhere first."""
        observations, foreign = self.seen, self.foreign
        chance = np.random.default_rng([self.seed, self.count])
        if len(foreign) > _MOST // 2:
            chosen = sorted(chance.choice(len(foreign), _MOST // 2, replace=False).tolist())
            foreign = [foreign[place] for place in chosen]
        room = _MOST - len(foreign)
        if len(observations) > room:
            order = np.argsort(self._excess(observations), kind="stable")
            rest = chance.choice(order[room // 2 :], room - room // 2, replace=False)
            observations = [
                observations[place]
                for place in sorted([*order[: room // 2].tolist(), *rest.tolist()])
            ]
        return [*foreign, *observations]

    def _excess(self, observations: Sequence[Observation]) -> Floats:
        """How far log times lie above the least one of their problem, (n,)."""
        values = np.array([seen.value for seen in observations])
        groups = self.group[[seen.row for seen in observations]]
        least = np.full(int(groups.max()) + 1, np.inf)
        np.minimum.at(least, groups, values)
        result: Floats = values - least[groups]
        return result

    def _observations(self, held: list[Observation]) -> Observations:
        rows = np.array([seen.row for seen in held], dtype=np.intp)
        return Observations(
            rows=rows,
            noise=np.array([seen.noise + _FOREIGN_NOISE**2 * seen.foreign for seen in held]),
            foreign=np.array([float(seen.foreign) for seen in held]),
            values=self._residuals(held)[0],
        )

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
                if mine.sum() >= _FEW and self._compresses:
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
