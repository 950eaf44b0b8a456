"""Programs that were built, launched side by side in rounds.

In a round every program is launched once, in an order drawn at random, so that drift of the machine
affects all alike. A round that is not finished does not count.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.results import Prepared, Sample, Status
from autotune.measuring.candidates.base import Launch, Measurer
from autotune.progress import Progress
from autotune.statistics.launch_times import LaunchTime, by_round, launch_time
from autotune.statistics.slowdown_test import SlowdownReading, SlowdownTest
from autotune.statistics.waiting import holds_waiting
from autotune.tuning.base import TunerLock
from autotune.tuning.result_checks import Checksum, agree

ProgramKey = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedProgram:
    """A program that was built and verified, and who launches it."""

    prepared: Prepared
    measurer: Measurer
    settings: tuple[str, ...] = ()
    """The launcher and the variables of its config."""

    @property
    def build(self) -> ProgramKey:
        """What is equal for sides that are the same program and are run alike."""
        return self.prepared.candidate.identity, self.prepared.build, *self.settings


@dataclass(slots=True, kw_only=True)
class SideLaunches:
    """The launches of several programs; its state grows while they run."""

    programs: Mapping[str, LaunchedProgram]
    """By the name of the side."""
    lock: TunerLock
    progress: Progress
    words: str
    """What is launched, for the progress: ``launch A and B``."""
    seed: int = 1
    moment: Callable[[], float] = time.monotonic
    samples: dict[str, list[Sample]] = field(init=False)
    """Of the finished rounds, by side, warm-ups too."""
    round_seconds: list[float] = field(default_factory=list)
    """Wall time of every finished round."""
    failed: str = ""
    """The side whose launch failed; empty: none did."""
    status: Status = "ok"
    detail: str = ""
    _order: random.Random = field(init=False)
    _fastest: dict[ProgramKey, float] = field(default_factory=dict)
    _checksums: dict[ProgramKey, Checksum] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.samples = {name: [] for name in self.programs}
        self._order = random.Random(self.seed)

    @property
    def rounds(self) -> int:
        """The number of finished rounds."""
        return len(self.round_seconds)

    def times(self, side: str) -> dict[int, LaunchTime]:
        """The times of a side by round."""
        return by_round(self.samples[side], holds_waiting(self.samples.values()))

    def checksum(self, side: str) -> Checksum | None:
        """The checksum of the results of a side; None where its launches have none."""
        return self._checksums.get(self.programs[side].build)

    def round(self, total: int) -> bool:
        """Launch every program once; whether all of them ran.

        ``total``: the expected number of rounds, for the progress. A launch that fails or changes
        its result ends the round, and the launches of it are dropped.
        """
        order = self._order.sample(sorted(self.programs), len(self.programs))
        with self.lock.timing():
            started = self.moment()
            launches = self._launches(order, total)
            seconds = self.moment() - started
        self.failed = next((name for name, x in launches.items() if x.status != "ok"), "")
        if self.failed:
            self.status, self.detail = launches[self.failed].status, launches[self.failed].detail
            return False
        self.round_seconds.append(seconds)
        for name, launch in launches.items():
            self.samples[name].extend(launch.samples)
        return True

    def until_decided(
        self, test: SlowdownTest, first: str, second: str, deadline: float
    ) -> SlowdownReading | None:
        """Launch rounds until it is decided whether the first side is slower than the second, or
        the rounds or the time are used up.

        None where no round was finished. Ctrl-C ends the rounds; ``reading`` says what they say.
        """
        while self.rounds < test.most and (not self.rounds or self.moment() < deadline):
            if not self.round(test.most):
                break
            if test.due(self.rounds) and self.rounds < test.most:
                reading = test.read(self.times(first), self.times(second), last=False)
                if reading is not None and reading.outcome != "open":
                    return reading
        self.finish()
        return self.reading(test, first, second)

    def reading(self, test: SlowdownTest, first: str, second: str) -> SlowdownReading | None:
        """What the finished rounds say where no further ones come; None without one."""
        if not self.rounds:
            return None
        return test.read(self.times(first), self.times(second), last=True)

    def finish(self) -> None:
        """Say to the progress that no further rounds come."""
        launches = len(self.programs) * self.rounds
        self.progress(self.words, launches, launches)

    def _launches(self, order: Sequence[str], total: int) -> dict[str, Launch]:
        """The launches of a round by side; nothing is launched after one that failed."""
        launches: dict[str, Launch] = {}
        number, width = self.rounds, len(self.programs)
        for name in order:
            done = width * number + len(launches)
            stage = f"{self.words}, round {number + 1} of {total}"
            self.progress(stage, done, width * total, name)
            launches[name] = self._launch(self.programs[name], number)
            if launches[name].status != "ok":
                break
        return launches

    def _launch(self, program: LaunchedProgram, number: int) -> Launch:
        """One launch, whose status is ``ok`` where it has a time and its result is right."""
        launch = program.measurer.launch(
            program.prepared,
            round_number=number,
            launch=number,
            expected=self._fastest.get(program.build),
            on_sample=lambda _: None,
        )
        timed = [sample for sample in launch.samples if not sample.warm_up]
        if launch.status not in ("ok", "contended") or not timed:
            return launch
        seconds = launch_time(timed).seconds
        self._fastest[program.build] = min(seconds, self._fastest.get(program.build, seconds))
        if launch.checksum is not None:
            first = self._checksums.setdefault(program.build, launch.checksum)
            if not agree(launch.checksum, first):
                detail = (
                    f"the checksum changed between launches: {first[0]!r}, {launch.checksum[0]!r}"
                )
                return Launch(status="wrong-result", detail=detail)
        return Launch(status="ok", samples=launch.samples)
