"""Launches of the candidates of one problem in rounds, every sample kept.

In a round every candidate that takes part is launched once, in shuffled order, so that drift of the
machine affects all alike.
"""

import dataclasses
import math
import random
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.results import Measurement, Prepared, Sample, Stage, Status
from autotune.measuring.candidates.base import Launch
from autotune.progress import Progress
from autotune.statistics.drift import DriftFreeTimes, levels
from autotune.statistics.launch_times import LaunchTime, by_round, candidate_time
from autotune.statistics.waiting import Holds, holds_waiting
from autotune.tuning.base import Bench, EarlierResult, TuningPlan
from autotune.tuning.plausible_times import constant_time, odd_shares
from autotune.tuning.result_checks import Checksum, agree, odd_ones_out

Shown = Callable[[int, str], None]
TAIL = 2
"""Further launches, after the last round, of a candidate that has too few."""


def shown(progress: Progress, stage: str, before: int, total: int) -> Shown:
    """A progress report for a round that begins after ``before`` of ``total`` launches."""

    def show(done: int, label: str) -> None:
        progress(stage, before + done, total, label)

    return show


@dataclass(slots=True, kw_only=True)
class MeasuredGroup:
    """The candidates of one problem in one run; its state changes while they run."""

    bench: Bench
    plan: TuningPlan
    prepared: dict[str, Prepared] = field(default_factory=dict)
    expected: dict[str, float | None] = field(default_factory=dict)
    """Seconds of a time step before it was measured."""
    earlier: dict[tuple[str, str], EarlierResult] = field(default_factory=dict)
    """By run and candidate."""
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    failed: dict[str, tuple[Status, str]] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, Checksum] = field(default_factory=dict)
    reported: dict[str, Status] = field(default_factory=dict)
    """The outcomes that the journal knows."""
    rounds: int = 0
    """So many were begun."""
    launching: float = 0.0
    """Seconds that all launches took."""
    _order: random.Random = field(init=False)
    _times: dict[str, tuple[int, Holds, Mapping[Hashable, LaunchTime]]] = field(
        default_factory=dict
    )
    """Number of samples of a candidate, whether they hold waiting, and its times."""
    _by_round: dict[tuple[str, str], tuple[Measurement, Holds, Mapping[int, LaunchTime]]] = field(
        default_factory=dict
    )
    """Earlier measurements by run and candidate, with their times."""
    _holds: Holds = "yes"
    """Whether the times of the candidates hold the time that they waited for a CPU."""
    _levels: tuple[tuple[int, ...], DriftFreeTimes] | None = None
    _wrong: tuple[tuple[int, int], dict[str, Checksum]] | None = None
    _implausible: tuple[int, dict[str, str]] | None = None

    def __post_init__(self) -> None:
        self._order = random.Random(self.plan.seed)

    def enter(self, prepared: Prepared, expected: float | None) -> None:
        """Add a candidate that was built, or whose build failed."""
        identity = prepared.candidate.identity
        self.prepared[identity] = prepared
        self.expected[identity] = expected
        if prepared.status != "ok":
            self.failed[identity] = (prepared.status, prepared.detail)

    # --- launching ----------------------------------------------------------------------

    def round(
        self,
        identities: Sequence[str],
        stage: Stage | None,
        show: Shown,
        deadline: float | None = None,
    ) -> None:
        """Launch each of the given candidates once; no launch begins after the deadline.

        ``show`` receives the number of launches so far, and the label of the next candidate.
        """
        number, self.rounds = self.rounds, self.rounds + 1
        order = list(identities)
        self._order.shuffle(order)
        limit = self.plan.deadline if deadline is None else deadline
        began = time.monotonic()
        with self.bench.lock.timing():
            self.bench.clock.timed("wait", began)
            started = time.monotonic()
            for done, identity in enumerate(order):
                show(done, self.prepared[identity].candidate.label)
                if identity not in self.failed and time.monotonic() < limit:
                    self._launch(self.prepared[identity], number, stage)
            self.bench.clock.timed("run", started)

    def _launch(self, prepared: Prepared, number: int, stage: Stage | None) -> None:
        candidate = prepared.candidate
        identity = candidate.identity
        taken = self.samples.setdefault(identity, [])
        mark = {} if stage is None else {"stage": stage}

        def keep(sample: Sample) -> None:
            marked = dataclasses.replace(sample, conditions={**sample.conditions, **mark})
            self.bench.journal.sample(candidate, marked)
            taken.append(marked)

        times = self.times(identity)
        started = time.monotonic()
        launch = self.bench.measurer.launch(
            prepared,
            round_number=number,
            launch=self.launches.get(identity, 0),
            expected=(
                min(time.seconds for time in times.values())
                if times
                else self.expected.get(identity)
            ),
            on_sample=keep,
        )
        self.launching += time.monotonic() - started
        self.launches[identity] = self.launches.get(identity, 0) + 1
        if launch.status not in ("ok", "contended"):
            self.failed[identity] = (launch.status, launch.detail)
        self._check(identity, launch)

    def _check(self, identity: str, launch: Launch) -> None:
        """Keep the first checksum of a candidate, and fail it if a later one differs."""
        if launch.checksum is None or identity in self.failed:
            return
        first = self.checksums.setdefault(identity, launch.checksum)
        if not agree(launch.checksum, first):
            detail = f"the checksum changed between launches: {first[0]!r}, {launch.checksum[0]!r}"
            self.failed[identity] = ("wrong-result", detail)

    # --- what is known ------------------------------------------------------------------

    def times(self, identity: str) -> Mapping[Hashable, LaunchTime]:
        """The times of a candidate by round of this run."""
        taken = self.samples.get(identity, [])
        count, holds, times = self._times.get(identity, (0, self._holds, {}))
        if (count, holds) != (len(taken), self._holds):
            times = dict(by_round(taken, self._holds).items())
            self._times[identity] = len(taken), self._holds, times
        return times

    def _earlier_times(self, run: str, identity: str) -> Mapping[int, LaunchTime]:
        """The times of a candidate by round of another run."""
        measurement = self.earlier[run, identity].measurement
        before, holds, times = self._by_round.get((run, identity), (None, self._holds, {}))
        if before is not measurement or holds != self._holds:
            times = by_round(measurement.samples, self._holds)
            self._by_round[run, identity] = measurement, self._holds, times
        return times

    def earlier_seconds(self, identity: str) -> float:
        """The time of a candidate in the other run where it was fastest; infinite without any."""
        timed = [
            list(self._earlier_times(run, name).values())
            for (run, name), result in self.earlier.items()
            if name == identity and result.measurement.status == "ok"
        ]
        return min((candidate_time(launches) for launches in timed if launches), default=math.inf)

    def levels(self) -> DriftFreeTimes:
        """Times of all candidates at the level of the first rounds, also from earlier runs.

        Failed candidates are left out.
        """
        taken = sum(map(len, self.samples.values()))
        state = (self.rounds, taken, len(self.failed), len(self.earlier), len(self.checksums))
        if self._levels is None or self._levels[0] != state:
            self._levels = state, self._fitted()
        return self._levels[1]

    @property
    def usual_level(self) -> float:
        """How many times slower the machine was in the mean of all rounds of this run than in the
        first ones. Times at that level are shown: they are nearer to the samples.
        """
        drift = [d for key, d in self.levels().drift.items() if not isinstance(key, tuple)]
        return math.exp(sum(drift) / len(drift)) if drift else 1.0

    def shown(self, identity: str) -> float | None:
        """The time of a candidate at the usual level of this run; None where it has none."""
        seconds = self.levels().times.get(identity)
        return None if seconds is None else seconds * self.usual_level

    def _fitted(self) -> DriftFreeTimes:
        wrong = self.wrong()
        earlier = [r.measurement.samples for r in self.earlier.values()]
        self._holds = holds_waiting([*self.samples.values(), *earlier])
        table: dict[str, dict[Hashable, LaunchTime]] = {}
        for (run, identity), result in self.earlier.items():
            if result.measurement.status == "ok":
                times = self._earlier_times(run, identity)
                table.setdefault(identity, {}).update({(run, r): t for r, t in times.items()})
        for identity in self.samples:
            table.setdefault(identity, {}).update(self.times(identity))
        able = {
            identity: rounds
            for identity, rounds in table.items()
            if rounds and identity not in self.failed | wrong.keys() | self.implausible().keys()
        }
        return levels(able, at=range(self.plan.measuring.rounds), run_of=_run_of)

    def wrong(self) -> dict[str, Checksum]:
        """The candidates with another checksum than the majority, earlier runs included."""
        state = (len(self.checksums), len(self.earlier))
        if self._wrong is None or self._wrong[0] != state:
            votes = {i: e.checksum for (_, i), e in self.earlier.items() if e.checksum}
            votes |= self.checksums
            self._wrong = state, {identity: votes[identity] for identity in odd_ones_out(votes)}
        return self._wrong[1]

    def implausible(self) -> dict[str, str]:
        """The candidates whose times cannot be true, with the reason in words."""
        count = sum(map(len, self.samples.values()))
        if self._implausible is None or self._implausible[0] != count:
            timed = {
                identity: [sample for sample in samples if not sample.warm_up]
                for identity, samples in self.samples.items()
                if identity not in self.failed
            }
            odd = odd_shares(timed)
            odd |= {i: why for i, taken in timed.items() if (why := constant_time(taken))}
            self._implausible = count, odd
        return self._implausible[1]

    def bad(self, identity: str) -> bool:
        """Whether a candidate failed, its result is wrong, or its times cannot be true."""
        return identity in self.failed or identity in self.wrong() or identity in self.implausible()

    def measurement(self, identity: str) -> Measurement | None:
        """The measurement of a candidate in this run; None if it was not launched in time."""
        prepared = self.prepared[identity]
        if prepared.status == "ok" and identity not in self.launches:
            return None
        status, detail = self._verdict(identity)
        return Measurement(
            candidate=identity,
            run="",
            status=status,
            samples=tuple(self.samples.get(identity, ())),
            detail=detail,
            error=prepared.error,
            build=prepared.build,
        )

    def _verdict(self, identity: str) -> tuple[Status, str]:
        if identity in self.failed:
            return self.failed[identity]
        checksum = self.wrong().get(identity)
        if checksum is not None:
            text = f"no majority shares its checksum {checksum[0]!r} at the timed size"
            return "wrong-result", text
        if identity in self.implausible():
            return "implausible", self.implausible()[identity]
        if not self.times(identity):
            return "contended", "no launch of it printed a time: other processes took the cores"
        return "ok", ""

    # --- finishing ----------------------------------------------------------------------

    def settle(self, identity: str) -> None:
        """Report the outcome of a finished candidate to the journal."""
        measurement = self.measurement(identity)
        if measurement is not None:
            self.bench.journal.outcome(measurement, self.checksums.get(identity))
            self.reported[identity] = measurement.status

    def recount(self) -> None:
        """Report outcomes again that have changed, since majorities may change."""
        for identity, status in list(self.reported.items()):
            if self._verdict(identity)[0] != status:
                self.settle(identity)


def _run_of(key: Hashable) -> Hashable:
    """The run of a round: those of other runs are named together with it."""
    return key[0] if isinstance(key, tuple) else ""
