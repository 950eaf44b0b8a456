"""What a scaling study says: sizes that keep the time, times of sizes, how well that is known."""

from dataclasses import dataclass

from autotune.learn.base import Forecast
from autotune.scaling.accuracy import BackTest
from autotune.scaling.base import Inverse, ScalingModel
from autotune.scaling.methods import Method, Settings
from autotune.scaling.plan import Stage
from autotune.scaling.runs import Points, Runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastAt:
    """Forecast times at some processors and sizes."""

    points: Points
    told: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """One region: its runs, its model, what it says, how it fares on runs that are known."""

    label: str
    runs: Runs
    keep: float
    level: float
    settings: Settings
    model: ScalingModel | None
    """None where a self-generated region has too few runs for one."""
    inverses: tuple[Inverse, ...]
    forecasts: tuple[ForecastAt, ...]
    back_tests: tuple[tuple[Method, BackTest | str], ...]
    """Of each method, or why there is none; empty for a self-generated region."""
    stage: Stage | None = None
    notes: tuple[str, ...] = ()
