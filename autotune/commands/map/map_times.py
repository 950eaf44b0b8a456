"""Times for a map: from its visits of cells, and from earlier runs of the study."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.results import Measurement, Prepared, Sample
from autotune.domain.variant import Candidate
from autotune.files.store import RunRecord, Store, StoredChoice
from autotune.statistics.launch_times import by_launch, candidate_time
from autotune.tuning import Chosen
from autotune.tuning.maps.map_posterior import MapObservations

_USUAL = 0.03
"""Standard deviation of the log of a launch's time that is expected before launches tell."""
_WEIGHT = 2
"""So many launches is that worth."""


@dataclass(slots=True)
class VisitJournal:
    """Writes the results of visits to the store.

    Rounds and launches are numbered consecutively over all visits of a run.
    """

    store: Store
    run: str
    rounds: int
    """Rounds that a visit may have; those of the next one begin behind them."""
    visit: int = 0
    _launches: dict[str, int] = field(default_factory=dict)
    _before: dict[str, int] = field(default_factory=dict)
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)

    def begin(self, visit: int) -> None:
        """Begin a visit: all later entries belong to it."""
        self.visit = visit
        self._before = dict(self._launches)

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Enter candidates with the reasons why they are measured."""
        place = len(self._launches)
        self.store.add_choices(
            self.run,
            [
                StoredChoice(candidate=c.candidate.identity, place=place + k, reason=c.why)
                for k, c in enumerate(choices)
                if c.candidate.identity not in self._launches
            ],
        )

    def prepared(self, prepared: Prepared) -> None:
        """Enter the result of preparing a candidate."""
        self.store.add_prepared(self.run, prepared)

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Enter a sample at once, under numbers that no other visit uses."""
        identity = candidate.identity
        launch = sample.launch + self._before.get(identity, 0)
        self._launches[identity] = launch + 1
        number = self._numbers.get((identity, launch), 0)
        shifted = dataclasses.replace(
            sample, launch=launch, round=self.visit * self.rounds + sample.round
        )
        self.store.add_sample(self.run, identity, number, shifted)
        self._numbers[identity, launch] = number + 1

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Enter the outcome of a candidate; it replaces the outcome of an earlier visit."""
        self.store.add_outcome(
            self.run, measurement.candidate, measurement.status, measurement.detail, checksum
        )


def log_time(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """Logarithm of the time of some samples, and its standard deviation.

    The deviation combines the spread of these launches with the usual spread of launches. None
    without samples.
    """
    launches = list(by_launch(samples).values())
    if not launches:
        return None
    middle = math.log(candidate_time(launches))
    square = sum((math.log(x.seconds) - middle) ** 2 for x in launches) + _WEIGHT * _USUAL**2
    count = len(launches)
    overlap = min(launch.error for launch in launches)
    return middle, math.hypot(math.sqrt(square / (count - 1 + _WEIGHT) / count), overlap)


def failed_everywhere(measurement: Measurement) -> bool:
    """Whether a candidate would fail at any size: its build failed, or its result was wrong."""
    return measurement.status in ("build-failed", "wrong-result") and not measurement.samples


@dataclass(slots=True)
class MapTimes:
    """Times and failures of the candidates of a map in earlier runs."""

    seen: list[MapObservations] = field(default_factory=list)
    failed: dict[tuple[int, int], str] = field(default_factory=dict)
    """(contender, cell) to status."""
    everywhere: set[int] = field(default_factory=set)
    """Contenders that fail at any size."""
    visits: int = 0


def recorded_times(
    runs: Sequence[RunRecord], places: Mapping[str, tuple[int, int]], rounds: int
) -> MapTimes:
    """The times of a map's candidates in earlier runs whose results still hold.

    The samples of ``rounds`` consecutive rounds form one visit. ``places``: the (contender, cell)
    of a candidate, by its identity.
    """
    times = MapTimes()
    visits: dict[tuple[str, int, int], int] = {}
    for run in runs:
        for measurement in run.measurements:
            where = places.get(measurement.candidate)
            if where is None:
                continue
            if measurement.status == "ok":
                for group, samples in _by_visit(measurement, rounds).items():
                    visit = visits.setdefault((run.id, where[1], group), len(visits))
                    time = log_time(samples)
                    if time is not None:
                        times.seen.append(MapObservations(*where, *time, visit))
            elif measurement.status != "contended":
                times.failed[where] = measurement.status
                if failed_everywhere(measurement):
                    times.everywhere.add(where[0])
    times.visits = len(visits)
    return times


def _by_visit(measurement: Measurement, rounds: int) -> Mapping[int, list[Sample]]:
    groups: dict[int, list[Sample]] = {}
    for sample in measurement.samples:
        groups.setdefault(sample.round // rounds, []).append(sample)
    return groups
