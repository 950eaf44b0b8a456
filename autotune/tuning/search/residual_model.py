"""The interface of a model of prediction errors for a surface: Gaussian process or pool.

``fit``, ``rebuild`` and ``append`` add observations; ``mean`` and ``sd`` give the posterior at the
columns.
"""

from typing import Protocol

from autotune.tuning.search.gaussian_process import Observations
from autotune.tuning.search.points import Floats, Indices


class ResidualExplainer(Protocol):
    """Explains log(measured / predicted), centred, at the columns: candidates that may be
    proposed.
    """

    def fit(self, observed: Observations, iterations: int) -> None:
        """Use all observations and learn again; ``iterations`` of a search for hyperparameters."""
        ...

    def rebuild(self, observed: Observations) -> None:
        """Use all observations at once, with what was learned before."""
        ...

    def append(self, observed: Observations) -> bool:
        """Add the last of the observations; False if a rebuild is needed."""
        ...

    def mean(self, values: Floats) -> Floats:
        """(m,) posterior mean at the columns if the observations have these values, (n,)."""
        ...

    def sd(self, running: Indices) -> Floats:
        """(m,) posterior standard deviation; ``running`` rows count as measured at their mean."""
        ...
