"""A host that is made up: launches take no time, their times have noise and drift.

Every call is an event; an interrupt can be planned at any of them.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.problem import Problem
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Measurement, Prediction, Prepared, Sample, Status
from autotune.domain.variant import Candidate, Variant
from autotune.files import config
from autotune.measuring.candidates.base import Launch
from autotune.tuning import Bench, Chosen

PROBLEM = Problem(
    ivp=config.ivp("heat2d"), method=config.method("radau-iia-5"), correctors=4, size=32
)


def candidate(number: int, problem: Problem = PROBLEM) -> Candidate:
    variant = Variant(skeleton="pirk", transformations=(), parameters={"pad": number})
    return Candidate(variant=variant, problem=problem)


def prediction(seconds: float | None) -> Prediction:
    return Prediction(seconds=seconds, interval=None, parts=(), engine="reuse", reason="")


def ranking(predicted: Sequence[float], problem: Problem = PROBLEM) -> Ranking:
    candidates = [candidate(number, problem) for number in range(len(predicted))]
    return rank(candidates, [prediction(seconds) for seconds in predicted])[0]


def first_of(ranked: Ranking, *numbers: int) -> tuple[Chosen, ...]:
    wanted = [candidate(number, ranked.problem).identity for number in numbers]
    entries = {entry.candidate.identity: entry for entry in ranked.entries}
    return tuple(Chosen(entries[i].candidate, entries[i].prediction, "first") for i in wanted)


@dataclass
class Host:
    """True seconds of each candidate by its number; noise of a launch, drift by launches so far."""

    times: Mapping[int, float]
    noise: float = 0.02
    drift: Callable[[int], float] = lambda _: 1.0
    fates: Mapping[int, Status] = field(default_factory=dict)
    checksums: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    disturbed: Callable[[int], bool] = lambda _: False
    """Launches, by their number, whose single thread had its core for half of the time."""
    starved: Callable[[int], bool] = lambda _: False
    """Launches, by their number, that got so little CPU time that they printed nothing."""
    seed: int = 1
    interrupt_at: int | None = None
    """The so many-th event is a Ctrl-C."""
    samples: int = 3
    launched: list[tuple[int, int]] = field(default_factory=list)
    """Number of the candidate, round."""
    built: list[int] = field(default_factory=list)
    limits: dict[int, list[float | None]] = field(default_factory=dict)
    events: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def event(self) -> None:
        self.events += 1
        if self.events == self.interrupt_at:
            raise KeyboardInterrupt

    def prepare(self, one: Candidate) -> Prepared:
        number = one.variant.parameters["pad"]
        self.built.append(number)
        status = self.fates.get(number, "ok")
        failed = status in ("build-failed", "wrong-result")
        return Prepared(
            candidate=one,
            status=status if failed else "ok",
            build=f"b{number}",
            error=None if failed else 0.0,
        )

    def interrupt(self) -> None:
        """Nothing runs."""

    def launch(self, prepared, *, round_number, launch, expected, on_sample) -> Launch:
        number = prepared.candidate.variant.parameters["pad"]
        self.limits.setdefault(number, []).append(expected)
        count = len(self.launched)
        self.launched.append((number, round_number))
        self.event()
        status = self.fates.get(number, "ok")
        if status in ("crashed", "timed-out"):
            return Launch(status=status, detail="it did")
        if self.starved(count):
            return Launch(status="contended", detail="it got no CPU time")
        level = self.times[number] * self.drift(count)
        level *= math.exp(self.chance.gauss(0, self.noise))
        bad = self.disturbed(count)
        level *= 2 if bad else 1
        taken = []
        for place in range(self.samples):
            self.event()
            seconds = level * (1 + abs(self.chance.gauss(0, self.noise / 4)))
            sample = Sample(
                seconds=seconds,
                steps=1,
                busy=0.5 if bad else 1.0,
                undisturbed=not bad,
                launch=launch,
                round=round_number,
                taken=f"{count:06d}.{place}",
                conditions={"priority": "none", "threads": 1},
            )
            taken.append(sample)
            on_sample(sample)
        checksum = self.checksums.get(number, (1.0, 1.0))
        return Launch(status="ok", samples=tuple(taken), checksum=checksum)

    def count(self, number: int) -> int:
        """Launches of a candidate."""
        return sum(one == number for one, _ in self.launched)


@dataclass
class Notebook:
    """A journal that remembers, and refuses the same row twice."""

    choices: list[Chosen] = field(default_factory=list)
    prepared_: dict[str, Prepared] = field(default_factory=dict)
    samples: dict[tuple[str, int, int], Sample] = field(default_factory=dict)
    outcomes: dict[str, Measurement] = field(default_factory=dict)
    checksums: dict[str, tuple[float, float] | None] = field(default_factory=dict)

    def chosen(self, choices: Sequence[Chosen]) -> None:
        self.choices += choices

    def prepared(self, prepared: Prepared) -> None:
        assert prepared.candidate.identity not in self.prepared_
        self.prepared_[prepared.candidate.identity] = prepared

    def sample(self, one: Candidate, sample: Sample) -> None:
        place = 0
        identity = one.identity
        while (identity, sample.launch, place) in self.samples:
            place += 1
        self.samples[identity, sample.launch, place] = sample

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        self.outcomes[measurement.candidate] = measurement
        self.checksums[measurement.candidate] = checksum


@dataclass
class Wish:
    candidate: Candidate
    why: str = "it is next"
    expected_improvement: float = 0.1
    posterior: float | None = None
    promise: float = 0.2


@dataclass
class InOrder:
    """A search that asks for what is left in the order of the rankings."""

    rankings: Sequence[Ranking]
    stop_after: int = 10**6
    """It is over when so many of a problem were told."""
    told: dict[str, tuple[Measurement | None, float]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def ask(self, problem: int, count: int) -> list[Wish]:
        entries = self.rankings[problem].entries
        left = [
            e.candidate for e in entries if e.candidate.identity not in {*self.told, *self.asked}
        ]
        self.asked += [one.identity for one in left[:count]]
        return [Wish(one) for one in left[:count]]

    def tell(self, one: Candidate, measurement: Measurement | None, sigma: float) -> None:
        self.told[one.identity] = (measurement, sigma)

    def finished(self, problem: int) -> str | None:
        mine = {e.candidate.identity for e in self.rankings[problem].entries}
        return "enough" if len(mine & self.told.keys()) >= self.stop_after else None


def bench(host: Host, journal: Notebook, **more) -> Bench:
    return Bench(measurer=host, journal=journal, progress=lambda *_: None, **more)
