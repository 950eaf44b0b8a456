"""The results of a scaling study: sizes that keep the time, times of sizes, and their
uncertainty.
"""

from dataclasses import dataclass

from autotune.learning.models.base import Forecast
from autotune.learning.scaling.base import Inverse, ScalingModel
from autotune.learning.scaling.discrepancy import Discrepancy
from autotune.learning.scaling.forecast_accuracy import BackTest
from autotune.learning.scaling.generation_plan import Stage
from autotune.learning.scaling.scaling_methods import Method, Settings
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints

BackTests = tuple[tuple[Method, BackTest | str], ...]
"""Of each method, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastAt:
    """Forecast times at some processors and sizes.

    ``regression``: the forecast with the interval of the regression. ``widened``: the same with the
    interval widened by the back-test.
    """

    points: ScalingPoints
    widened: Forecast
    regression: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionAnswer:
    """The results for one region of runs: model, sizes, times, and back-tests on the
    measured runs.
    """

    label: str
    runs: Runs
    keep: float
    level: float
    settings: Settings
    model: ScalingModel | None
    """None where a self-generated region has too few runs for one."""
    inverses: tuple[Inverse, ...]
    forecasts: tuple[ForecastAt, ...]
    back_tests: BackTests
    """Empty for a self-generated region."""
    discrepancy: Discrepancy | None = None
    """What widens the intervals; None where no back-test could."""
    stage: Stage | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def recommended(self) -> tuple[Method, BackTest] | None:
        """The method with the least median error in the back-test; of equal ones the
        method in use.
        """
        best: tuple[Method, BackTest] | None = None
        for method, test in self.back_tests:
            if isinstance(test, str):
                continue
            error, used = test.errors.mdape, method == self.settings.method
            if best is None or error < (least := best[1].errors.mdape) or (used and error == least):
                best = method, test
        return best
