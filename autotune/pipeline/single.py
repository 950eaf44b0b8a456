"""One candidate: its time, its phases."""

from dataclasses import dataclass

from autotune.measure import stats
from autotune.measure.run import Phases
from autotune.pipeline.prospect import find, prospect
from autotune.pipeline.study import host_measurer
from autotune.progress import Clock, Progress
from autotune.ranking import Ranked
from autotune.results import Measurement, Sample
from autotune.setup import Setup
from autotune.tuning import Chosen, Plan, tune_problem
from autotune.variant import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One candidate, predicted and measured, and its phases if they were asked for."""

    ranked: Ranked
    measurement: Measurement
    phases: Phases | None

    @property
    def location(self) -> tuple[float, tuple[float, float] | None] | None:
        """Seconds per step and their interval; None when nothing was measured."""
        launches = stats.by_launch(self.measurement.samples)
        if self.measurement.status != "ok" or not launches:
            return None
        times = [time for launch in launches for time in launch]
        return stats.location(times), stats.interval(launches)


class _Unkept:
    """A journal that keeps nothing: the result is shown at once."""

    def prepared(self, prepared: object) -> None:
        """Not kept."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Not kept."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Not kept."""


def measure(setup: Setup, name: str, *, phases: bool, progress: Progress) -> Measured:
    """Build, verify and time one candidate; with ``phases`` also each of its kernels."""
    found = prospect(setup, progress)
    ranked = find(found, name)
    measurer = host_measurer(setup)
    chosen = [Chosen(ranked.candidate, ranked.prediction, "asked for")]
    plan = Plan(measuring=setup.measuring)
    measurement = tune_problem(chosen, measurer, _Unkept(), plan, progress, Clock())[0]
    parts = None
    if phases and measurement.status == "ok":
        progress("time the phases", 0, 1)
        parts = measurer.phases(ranked.candidate, ranked.prediction.seconds)
        progress("time the phases", 1, 1)
    return Measured(ranked=ranked, measurement=measurement, phases=parts)
