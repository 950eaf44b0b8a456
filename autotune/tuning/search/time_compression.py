"""The compression of slow times, so that a surface fits the fast ones more closely.

Log times t above a knee m become m + c log(1 + (t - m) / c).
"""

from dataclasses import dataclass

import numpy as np

from autotune.tuning.search.points import Floats

_COMPRESSION = 0.3
"""c above: a time of twice the knee enters as if it were 1.43 times as long."""


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
