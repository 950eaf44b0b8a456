"""Measuring the chosen candidates of a problem: interleaved, verified, every sample kept.

The candidates of one problem are built and verified, then launched in rounds: every candidate once
per round, in shuffled order, so that drift of the machine hits all alike.
"""

import os
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Protocol

from autotune.measure.base import Launch, Measurer, Prepared
from autotune.progress import Clock, Progress
from autotune.results import Measurement, Prediction, Sample, Status
from autotune.setup import Measuring
from autotune.trials import Trials
from autotune.variant import Candidate

CHECKSUM_TOLERANCE = 1e-11
"""Largest difference of the checksums of two candidates at the timed size, over the sum of
magnitudes: the agreement of the states, 1e-12, and room for the sum itself."""

_SOON = 0.02
"""Seconds between two looks at whether interrupted work has ended."""
_TAIL_LAUNCHES = 2
"""Further launches, after the last round, of a candidate whose samples were rejected."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate to be measured, its prediction, and why it was chosen."""

    candidate: Candidate
    prediction: Prediction
    why: str


class Journal(Protocol):
    """Where results go as soon as they exist."""

    def prepared(self, prepared: Prepared) -> None:
        """A candidate was built and verified, or failed to be."""

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """A sample was taken."""

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """A candidate is finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a group is measured, and until when."""

    measuring: Measuring
    candidates: tuple[Candidate, ...] = ()
    """All legal candidates of the problem, the domain of the Optuna study; else the chosen ones."""
    deadline: float = float("inf")
    """time.monotonic() after which no launch is started."""
    seed: int = 1


def tune_problem(
    chosen: Sequence[Chosen],
    measurer: Measurer,
    journal: Journal,
    plan: Plan,
    progress: Progress,
    clock: Clock,
) -> list[Measurement]:
    """Build, verify and time the chosen candidates of one problem.

    One measurement per candidate, in order; a candidate that fails is a result with its status.
    Starts no build and no launch after the deadline: what never ran has no measurement, what ran
    for too few rounds has one but no outcome, so that a resumed study takes it up again.
    """
    trials = Trials(plan.candidates or [c.candidate for c in chosen], plan.seed)
    trials.ask([c.candidate for c in chosen], [_attributes(c) for c in chosen])
    started = time.monotonic()
    prepared = _prepare(chosen, measurer, journal, plan.deadline, progress)
    clock.timed("build", started)
    group = _Group(
        prepared=[p for p in prepared if p.status == "ok"],
        expected={c.candidate.identity: c.prediction.seconds for c in chosen},
        measurer=measurer,
        journal=journal,
        plan=plan,
    )
    started = time.monotonic()
    group.run(progress)
    clock.timed("run", started)
    measurements = {p.candidate.identity: group.finish(p) for p in prepared}
    for identity, measurement in measurements.items():
        if measurement and group.complete(measurement):
            journal.outcome(measurement, group.checksums.get(identity))
    trials.tell([measurements.get(choice.candidate.identity) for choice in chosen])
    return [measurement for measurement in measurements.values() if measurement]


def _attributes(choice: Chosen) -> dict[str, str | float | None]:
    return {"predicted_s": choice.prediction.seconds, "why": choice.why}


def _prepare(
    chosen: Sequence[Chosen],
    measurer: Measurer,
    journal: Journal,
    deadline: float,
    progress: Progress,
) -> list[Prepared]:
    """Build and verify in parallel; nothing is timed meanwhile. Those after the deadline lack.

    An interrupt does not wait for a compiler: what runs is ended.
    """

    def prepare(candidate: Candidate) -> Prepared | None:
        return measurer.prepare(candidate) if time.monotonic() < deadline else None

    done: dict[str, Prepared] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures = [pool.submit(prepare, choice.candidate) for choice in chosen]
        progress("build and verify", 0, len(chosen))
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                prepared = future.result()
                if prepared is not None:
                    journal.prepared(prepared)
                    done[prepared.candidate.identity] = prepared
                    progress("build and verify", number, len(chosen), prepared.candidate.label)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                measurer.interrupt()
                time.sleep(_SOON)
            raise
    identities = [choice.candidate.identity for choice in chosen]
    return [done[identity] for identity in identities if identity in done]


@dataclass(slots=True, kw_only=True)
class _Group:
    """The rounds over the candidates of one problem; mutable while they run."""

    prepared: Sequence[Prepared]
    expected: Mapping[str, float | None]
    measurer: Measurer
    journal: Journal
    plan: Plan
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    failed: dict[str, tuple[Status, str]] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, tuple[float, float]] = field(default_factory=dict)

    def run(self, progress: Progress) -> None:
        rounds = self.plan.measuring.rounds
        total = rounds * len(self.prepared)
        generator = random.Random(self.plan.seed)
        done = 0
        for number in range(rounds):
            order = list(self.prepared)
            generator.shuffle(order)
            for prepared in order:
                label = prepared.candidate.label
                progress(f"measure, round {number + 1} of {rounds}", done, total, label)
                done += 1
                if prepared.candidate.identity not in self.failed and self._in_time():
                    self._launch(prepared, number)
        for number in range(rounds, rounds + _TAIL_LAUNCHES):
            disturbed = [p for p in self.prepared if self._short(p.candidate.identity)]
            attempt = f"attempt {number - rounds + 1} of {_TAIL_LAUNCHES}"
            for done, prepared in enumerate(disturbed):
                if self._in_time():
                    stage = f"measure again what was disturbed, {attempt}"
                    progress(stage, done, len(disturbed), prepared.candidate.label)
                    self._launch(prepared, number)
        progress("measure", total, total)

    def _in_time(self) -> bool:
        return time.monotonic() < self.plan.deadline

    def _wanted(self) -> int:
        return self.plan.measuring.rounds * self.plan.measuring.samples

    def _short(self, identity: str) -> bool:
        taken = [s for s in self.samples.get(identity, []) if s.accepted and not s.warm_up]
        return identity not in self.failed and len(taken) < self._wanted()

    def _launch(self, prepared: Prepared, number: int) -> None:
        candidate = prepared.candidate
        taken = self.samples.setdefault(candidate.identity, [])

        def keep(sample: Sample) -> None:
            self.journal.sample(candidate, sample)
            taken.append(sample)

        accepted = [s.seconds for s in taken if s.accepted and not s.warm_up]
        launch = self.measurer.launch(
            prepared,
            round_number=number,
            launch=self.launches.get(candidate.identity, 0),
            expected=min(accepted) if accepted else self.expected.get(candidate.identity),
            on_sample=keep,
        )
        self.launches[candidate.identity] = self.launches.get(candidate.identity, 0) + 1
        if launch.status not in ("ok", "contended"):
            self.failed[candidate.identity] = (launch.status, launch.detail)
        self._check(candidate.identity, launch)

    def _check(self, identity: str, launch: Launch) -> None:
        """Keep the first checksum of a candidate; a later one of it must be the same."""
        if launch.checksum is None or identity in self.failed:
            return
        first = self.checksums.setdefault(identity, launch.checksum)
        if not agree(launch.checksum, first):
            detail = f"the checksum changed between launches: {first[0]!r}, {launch.checksum[0]!r}"
            self.failed[identity] = ("wrong-result", detail)

    def complete(self, measurement: Measurement) -> bool:
        """Nothing more is to be done about a candidate: all samples, or a lasting failure."""
        if measurement.status not in ("ok", "contended"):
            return True
        return len(measurement.accepted) >= self._wanted() or self._in_time()

    def finish(self, prepared: Prepared) -> Measurement | None:
        """The measurement of a candidate; None if the deadline came before its first launch."""
        identity = prepared.candidate.identity
        if prepared.status == "ok" and identity not in self.launches:
            return None
        status, detail = self._verdict(prepared)
        return Measurement(
            candidate=identity,
            run="",
            status=status,
            samples=tuple(self.samples.get(identity, ())),
            detail=detail,
            verified=prepared.status == "ok" and status != "wrong-result",
            error=prepared.error,
            build=prepared.build,
        )

    def _verdict(self, prepared: Prepared) -> tuple[Status, str]:
        identity = prepared.candidate.identity
        if prepared.status != "ok":
            return prepared.status, prepared.detail
        if identity in self.failed:
            return self.failed[identity]
        if identity in odd_ones_out(self.checksums):
            checksum = self.checksums[identity][0]
            return "wrong-result", f"no majority shares its checksum {checksum!r} at the timed size"
        if not any(s.accepted and not s.warm_up for s in self.samples.get(identity, [])):
            return "contended", "every sample was rejected: other processes took the cores"
        return "ok", ""


def agree(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Two checksums (weighted sum, sum of magnitudes) are those of the same state."""
    return abs(first[0] - second[0]) <= CHECKSUM_TOLERANCE * max(first[1], second[1])


def odd_ones_out(checksums: Mapping[str, tuple[float, float]]) -> set[str]:
    """Those whose checksum is not that of the largest group that agrees; all, if groups tie."""
    groups: list[list[str]] = []
    for name in sorted(checksums):
        home = next((g for g in groups if agree(checksums[g[0]], checksums[name])), None)
        if home is None:
            groups.append([name])
        else:
            home.append(name)
    groups.sort(key=len, reverse=True)
    tied = len(groups) > 1 and len(groups[0]) == len(groups[1])
    return {name for group in (groups if tied else groups[1:]) for name in group}
