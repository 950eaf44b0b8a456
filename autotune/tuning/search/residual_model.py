"""What a surface asks of whatever explains where predictions are wrong: Gaussian process or pool.

fit, rebuild, append   take in what was observed
mean, sd               the posterior at the columns
"""

from typing import Protocol

from autotune.tuning.search.gaussian_process import Observations
from autotune.tuning.search.points import Floats, Indices


class ResidualExplainer(Protocol):
    """Explains log(measured / predicted), centred, at the columns: candidates that may be asked."""

    def fit(self, observed: Observations, iterations: int) -> None:
        """Take in all observations and learn afresh; ``iterations`` of a search for settings."""
        ...

    def rebuild(self, observed: Observations) -> None:
        """Take in all observations at once with what was learned before."""
        ...

    def append(self, observed: Observations) -> bool:
        """Take in the last of the observations; False where only ``rebuild`` can."""
        ...

    def mean(self, values: Floats) -> Floats:
        """(m,) posterior mean at the columns of what was observed with these values, (n,)."""
        ...

    def sd(self, running: Indices) -> Floats:
        """(m,) posterior standard deviation; ``running`` rows count as measured at their mean."""
        ...
