"""Made truths for decision maps: smooth curves that cross, models that are wrong, noise."""

from dataclasses import dataclass

import numpy as np

from autotune.tuning.maps.explore import Aim, Explorer
from autotune.tuning.maps.map_posterior import MapObservations
from autotune.tuning.maps.map_prior import Cells, Floats, MapPrior, traits
from autotune.tuning.maps.visits import Visit

DRIFT, NOISE = 0.04, 0.02


@dataclass
class Truth:
    """Log times of K contenders in C cells, and what a model believes of them."""

    prior: MapPrior
    times: Floats
    chance: np.random.Generator

    def loss(self, explorer: Explorer) -> Floats:
        """(C,): what following the winners really loses."""
        least = np.where(self.prior.legal, self.times, np.inf).min(axis=0)
        own = self.times[explorer.verdict.winner, np.arange(len(least))]
        return np.expm1(own - least)

    def measure(self, visit: Visit, number: int) -> list[MapObservations]:
        """The times of a visit: one drift for all, and the noise of each."""
        drift = self.chance.normal(0, DRIFT)
        return [
            MapObservations(
                k,
                visit.cell,
                self.times[k, visit.cell] + drift + self.chance.normal(0, NOISE),
                NOISE,
                number,
            )
            for k in visit.contenders
        ]


def truth(
    seed: int,
    *,
    contenders: int = 8,
    sizes: int = 7,
    threads: tuple[int, ...] = (1, 2),
    error: float = 0.2,
    model: bool = True,
) -> Truth:
    """Contenders of two parameters over six octaves; a share of the pairs is not legal.

    ``error``: standard deviation of log(measured / predicted): half of it goes with a parameter's
    values, all of it varies smoothly with the size, and jumps at a size of each contender's own.
    """
    chance = np.random.default_rng(seed)
    cells = Cells(
        sizes=tuple(round(64 * 2 ** (6 * k / (sizes - 1))) for k in range(sizes)), threads=threads
    )
    octaves, doublings = cells.octaves
    place = (octaves - octaves[0]) / 6

    def smooth(count: int, size: float) -> Floats:
        rate = chance.uniform(0.3, 1.3, (count, 3))
        phase = chance.uniform(0, 2 * np.pi, (count, 3))
        weight = chance.normal(0, size * np.sqrt(2 / 3), (count, 3))
        waves = np.sin(2 * np.pi * rate[..., None] * place + phase[..., None] + 0.7 * doublings)
        return np.asarray((weight[..., None] * waves).sum(axis=1))

    orders = np.arange(contenders) % 3
    parameters = [{"order": f"o{k % 3}", "tile": 16 * 2 ** (k // 3)} for k in range(contenders)]
    believed = 1.5 * octaves - 0.5 * doublings - 20 + np.abs(smooth(contenders, 0.3))
    wrong = smooth(3, error / np.sqrt(2))[orders] + smooth(contenders, error / np.sqrt(2))
    jump = np.where(place > chance.uniform(0.3, 0.8, (contenders, 1)), 0.2 * error, 0.0)
    rough = chance.normal(0, 0.015, believed.shape)
    times = believed + wrong + smooth(1, 0.2) + jump * chance.normal(size=(contenders, 1)) + rough
    legal = chance.random(believed.shape) > 0.05
    legal[0] = True
    known = believed if model else np.zeros_like(believed)
    prior = MapPrior(
        cells=cells,
        mean=known,
        shifts=np.zeros((*believed.shape, 0)),
        independent=np.full(believed.shape, 0.3),
        traits=traits(parameters),
        legal=legal,
        twin=np.where(legal, np.arange(contenders)[:, None], -1),
        predicted=model,
    )
    return Truth(prior, times, chance)


def explored(made: Truth, evaluations: int, aim: Aim | None = None) -> tuple[Explorer, list[Visit]]:
    """The map after so many measurements, or when it asks for no more."""
    explorer = Explorer(made.prior, aim or Aim())
    visits: list[Visit] = []
    while len(explorer.seen) < evaluations:
        visit = explorer.ask()
        if isinstance(visit, str):
            break
        explorer.tell(made.measure(visit, len(visits)))
        visits.append(visit)
    return explorer, visits
