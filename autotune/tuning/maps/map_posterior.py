"""Times of a map given measured ones: a Gaussian process on log(measured / predicted).

    log t(k, c) = prediction + trend(c) + common(c) + sum of figures + own(k, c) + rough(k, c)

``common`` is an error common to all contenders; ``figures`` are errors in the figures that the
engine is uncertain of; ``own`` belongs to a contender or to its parameter values. All but ``rough``
are smooth over the logarithms of size and threads (Matern 3/2, exponential). Times measured in one
visit of a cell share the drift of the machine. The size and smoothness of each term are drawn from
their posterior by differential evolution Monte Carlo (ter Braak 2006), so that the bounds include
their uncertainty.

Gaussian processes: Rasmussen and Williams 2006, Eq. 2.23-2.26; draws by Matheron's rule (Wilson et
al. 2020, Eq. 8).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from autotune.statistics.gaussian_process.evidence import log_posterior
from autotune.statistics.gaussian_process.grown_posterior import factor_of
from autotune.statistics.gaussian_process.kernels import matern32_exponential
from autotune.tuning.maps.map_prior import Floats, MapPrior, Whole

_LEAST = 0.005
"""Standard deviation of the log of a measured time that is never believed to be smaller."""

_NAMES = ("figures", "own", "parameters", "octaves", "doublings", "common", "rough", "drift")
"""Scale of the engine's shared and own uncertainties, the share of own that goes with parameter
values (logit), correlation lengths over sizes and threads in octaves, and standard deviations."""
_MIDDLE = np.array(
    [0.0, 0.0, 0.0, np.log(2.0), np.log(2.0), np.log(0.1), np.log(0.02), np.log(0.03)]
)
_WIDTH = np.array([0.4, 0.6, 1.0, 0.7, 0.7, 0.7, 0.8, 0.7])
_FURTHEST = 6.0
"""Standard deviations from the middle that a setting may be away."""
_POPULATION = 16
_SETTINGS = 8
"""So many of the population take part in draws."""


@dataclass(frozen=True, slots=True)
class MapObservations:
    """One measured time: contender, cell, log seconds and their standard deviation."""

    contender: int
    cell: int
    time: float
    sigma: float
    visit: int
    """Equal for times that were taken interleaved."""


@dataclass(frozen=True, slots=True)
class ObservationArrays:
    """Measured times as arrays."""

    contender: Whole
    cell: Whole
    time: Floats
    noise: Floats
    """Variances."""
    visit: Whole

    @classmethod
    def of(cls, seen: Sequence[MapObservations]) -> "ObservationArrays":
        sigmas = np.array([s.sigma for s in seen], dtype=np.float64)
        return cls(
            np.array([s.contender for s in seen], dtype=np.intp),
            np.array([s.cell for s in seen], dtype=np.intp),
            np.array([s.time for s in seen], dtype=np.float64),
            np.maximum(sigmas, _LEAST) ** 2,
            np.array([s.visit for s in seen], dtype=np.intp),
        )


class MapPosterior:
    """Draws of all times of a map given the measured ones; data are added visit by visit.

    ``seed`` makes it deterministic: the same data in the same order give the same draws.
    """

    def __init__(self, prior: MapPrior, seed: int = 1) -> None:
        self.prior = prior
        self.data = ObservationArrays.of(())
        self._chance = np.random.default_rng(seed)
        shape = (_POPULATION, len(_NAMES))
        self._population = _MIDDLE + _WIDTH * self._chance.standard_normal(shape)
        sizes, threads = prior.cells.octaves
        self._apart = np.abs(sizes[:, None] - sizes), np.abs(threads[:, None] - threads)
        self._trend = prior.trend @ prior.trend.T

    def tell(self, seen: Sequence[MapObservations], sweeps: int = 12) -> None:
        """Set the measured times: all of them up to now."""
        self.data = ObservationArrays.of(seen)
        if seen:
            self._within = _Parts.between(self.prior, self.data, self.data)
            self._across = _Parts.between(self.prior, _all(self.prior), self.data)
            self._together = self.data.visit[:, None] == self.data.visit
            self._evolve(sweeps)

    # --- how large and how smooth ---------------------------------------------------------

    def _evolve(self, sweeps: int) -> None:
        """Metropolis steps of one half of the population along differences of the other."""
        population, chance = self._population, self._chance
        state = self._density(population)
        half, size = _POPULATION // 2, len(_NAMES)
        for sweep in range(2 * sweeps):
            mine = np.arange(half) + half * (sweep % 2)
            other = np.arange(half) + half * (1 - sweep % 2)
            first = chance.integers(half, size=half)
            second = (first + chance.integers(1, half, size=half)) % half
            # now and then the whole difference, from one mode to another
            step = 1.0 if sweep // 2 % 10 == 9 else 2.38 / np.sqrt(2 * size)
            moved = population[mine] + step * (population[other[first]] - population[other[second]])
            moved += 1e-3 * chance.standard_normal(moved.shape)
            density = self._density(moved)
            taken = np.log(chance.random(half)) < density - state[mine]
            population[mine[taken]], state[mine[taken]] = moved[taken], density[taken]
        self._best = int(state.argmax())

    def _density(self, settings: Floats) -> Floats:
        """(B,): log posterior densities of settings (B, 8), up to a constant."""
        off = self._off()
        scores = (settings - _MIDDLE) / _WIDTH
        believed = -0.5 * (scores**2).sum(axis=1)
        density = np.full(len(settings), -np.inf)
        for k, setting in enumerate(settings):
            if np.abs(scores[k]).max() >= _FURTHEST:
                continue
            density[k] = log_posterior(self._measured(setting), off, float(believed[k]))
        return density

    def _off(self) -> Floats:
        """(n,): the errors log(measured / predicted) of the measured times."""
        data = self.data
        return np.asarray(data.time - self.prior.mean[data.contender, data.cell])

    def _measured(self, setting: Floats) -> Floats:
        """(n, n): covariance of the measured times."""
        covariance = (
            self._covariance(setting, self._within) + np.exp(2 * setting[7]) * self._together
        )
        covariance[np.diag_indices(len(covariance))] += self.data.noise
        return np.asarray(covariance)

    def _smooth(self, setting: Floats) -> Floats:
        """(C, C): the correlation between cells."""
        sizes, threads = self._apart
        return matern32_exponential(
            np.sqrt(3) * sizes / np.exp(setting[3]), threads / np.exp(setting[4])
        )

    def _covariance(self, setting: Floats, parts: "_Parts") -> Floats:
        smooth = self._smooth(setting)
        share = 1 / (1 + np.exp(-setting[2]))
        alone = np.exp(2 * setting[1])
        within = parts.own_alike * (share * alone) + parts.own_same * ((1 - share) * alone)
        within *= smooth[parts.cells]
        within += (np.exp(2 * setting[5]) * smooth + self._trend)[parts.cells]
        if self.prior.shifts.shape[2]:
            within += np.exp(2 * setting[0]) * parts.figures
        within += np.exp(2 * setting[6]) * parts.equal
        return np.asarray(within)

    # --- what follows for all times -------------------------------------------------------

    def draws(self, count: int) -> tuple[Floats, Floats]:
        """Expected log times (K, C), and ``count`` joint draws of all times (S, K, C).

        Each setting in use contributes equally many draws.
        """
        settings = self._population[:: len(self._population) // _SETTINGS]
        batches = [self._draw(setting, -(-count // len(settings))) for setting in settings]
        mean = np.mean([mean for mean, _ in batches], axis=0)
        return np.asarray(mean), np.concatenate([drawn for _, drawn in batches])

    def _draw(self, setting: Floats, count: int) -> tuple[Floats, Floats]:
        prior, data, chance = self.prior, self.data, self._chance
        drawn = self._drawn(setting, count)
        if not len(data.time):
            return prior.mean, np.asarray(drawn + prior.mean)
        visits, number = np.unique(data.visit, return_inverse=True)
        drift = np.exp(setting[7]) * chance.standard_normal((count, len(visits)))
        noise = np.sqrt(data.noise) * chance.standard_normal((count, len(data.time)))
        there = drawn[:, data.contender, data.cell] + drift[:, number] + noise
        off = self._off()
        wanted = np.vstack([off, off - there]).T
        weights = scipy.linalg.cho_solve(self._factor(setting), wanted, check_finite=False)
        moved = (self._covariance(setting, self._across) @ weights).T.reshape(-1, *prior.mean.shape)
        return np.asarray(prior.mean + moved[0]), np.asarray(drawn + moved[1:] + prior.mean)

    def _factor(self, setting: Floats) -> tuple[Floats, bool]:
        return factor_of(self._measured(setting)), True

    def _drawn(self, setting: Floats, count: int) -> Floats:
        """(S, K, C): draws of log(measured / predicted) from the prior."""
        prior, chance = self.prior, self._chance
        contenders, cells = prior.mean.shape
        share = 1 / (1 + np.exp(-setting[2]))
        smooth = self._smooth(setting)
        root = factor_of(smooth + 1e-9 * np.eye(cells))
        figures = chance.standard_normal((count, prior.shifts.shape[2]))
        by_value = chance.standard_normal((count, prior.traits.shape[1], cells))
        alone = chance.standard_normal((count, contenders, cells))
        variation = np.sqrt(share) * (prior.traits @ by_value) + np.sqrt(1 - share) * alone
        across = np.exp(setting[5]) * chance.standard_normal((count, cells)) @ root.T
        across += chance.standard_normal((count, 3)) @ prior.trend.T
        return np.asarray(
            np.exp(setting[0]) * np.einsum("kcf,sf->skc", prior.shifts, figures, optimize=True)
            + np.exp(setting[1]) * prior.independent * (variation @ root.T)
            + across[:, None, :]
            + np.exp(setting[6]) * chance.standard_normal((count, contenders, cells))
        )

    def moves(self, first: Whole, second: Whole, cell: Whole, sigma: float) -> Floats:
        """(p, K, C): the change of each mean when the difference of two times is measured.

        It is the change for one standard deviation of the measured difference, between the times of
        ``first`` and ``second`` in ``cell``, each (p,), taken interleaved with noise ``sigma``
        each. It uses the most likely setting.
        """
        prior, data = self.prior, self.data
        setting = self._population[self._best if len(data.time) else 0]
        if not len(data.time):
            setting = _MIDDLE
        pair = ObservationArrays(
            np.concatenate([first, second]),
            np.concatenate([cell, cell]),
            np.zeros(2 * len(first)),
            np.zeros(2 * len(first)),
            np.arange(2 * len(first)),
        )
        whole = _all(prior)
        count = len(first)
        across = self._covariance(setting, _Parts.between(prior, whole, pair))
        if len(data.time):
            covariance = self._covariance(setting, _Parts.between(prior, data, pair))
            solved = scipy.linalg.cho_solve(self._factor(setting), covariance, check_finite=False)
            across = across - self._covariance(setting, self._across) @ solved
        moved = across[:, :count] - across[:, count:]
        places = np.arange(count)
        variance = (
            moved[first * len(prior.cells) + cell, places]
            - moved[second * len(prior.cells) + cell, places]
        )
        spread = np.sqrt(np.maximum(variance, 0.0) + 2 * sigma**2)
        return np.asarray((moved / spread).T.reshape(count, *prior.mean.shape))


def _all(prior: MapPrior) -> ObservationArrays:
    """Data rows for every contender in every cell."""
    contenders, cells = prior.mean.shape
    nothing = np.zeros(prior.mean.size)
    return ObservationArrays(
        np.repeat(np.arange(contenders), cells),
        np.tile(np.arange(cells), contenders),
        nothing,
        nothing,
        np.zeros(prior.mean.size, dtype=np.intp),
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of the covariance between two lists of times that no setting changes."""

    figures: Floats
    own_alike: Floats
    """Products of the own uncertainties, where parameter values are alike ..."""
    own_same: Floats
    """... and where it is the same contender."""
    equal: Floats
    """1 for the same contender in the same cell."""
    cells: tuple[Whole, ...]

    @classmethod
    def between(
        cls, prior: MapPrior, rows: ObservationArrays, columns: ObservationArrays
    ) -> "_Parts":
        mine, other = (rows.contender, rows.cell), (columns.contender, columns.cell)
        same = rows.contender[:, None] == columns.contender
        alone = np.multiply.outer(prior.independent[mine], prior.independent[other])
        return cls(
            figures=prior.shifts[mine] @ prior.shifts[other].T,
            own_alike=alone * (prior.traits[rows.contender] @ prior.traits[columns.contender].T),
            own_same=alone * same,
            equal=(same & (rows.cell[:, None] == columns.cell)).astype(np.float64),
            cells=np.ix_(rows.cell, columns.cell),
        )
