"""Measuring the chosen candidates of a problem: interleaved, verified, every sample kept.

The candidates of one problem are built and verified, then launched in rounds: every candidate once
per round, in shuffled order, so that drift of the machine hits all alike. An Optuna study mirrors
what is tried; the store is the truth, the study can be rebuilt from it.
"""

import os
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Protocol

import optuna

from autotune.measure.base import Launch, Measurer, Prepared
from autotune.measure.stats import location
from autotune.progress import Clock, Progress
from autotune.results import Measurement, Prediction, Sample, Status
from autotune.setup import Measuring
from autotune.variant import Candidate

CHECKSUM_TOLERANCE = 1e-11
"""Largest difference of the checksums of two candidates at the timed size, over the sum of
magnitudes: the agreement of the states, 1e-12, and room for the sum itself."""

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
    baseline: str | None
    """Identity of the baseline, whose checksum the others must share."""
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
    Stops starting launches at the deadline: candidates that never ran have no measurement.
    """
    mirror = Mirror(plan.seed)
    mirror.enqueue(chosen)
    started = time.monotonic()
    prepared = _prepare(chosen, measurer, journal, progress)
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
    measurements = [group.finish(p) for p in prepared]
    for measurement in measurements:
        if measurement:
            journal.outcome(measurement, group.checksums.get(measurement.candidate))
    mirror.tell(measurements)
    return [measurement for measurement in measurements if measurement]


def _prepare(
    chosen: Sequence[Chosen], measurer: Measurer, journal: Journal, progress: Progress
) -> list[Prepared]:
    """Build and verify in parallel; nothing is timed meanwhile."""
    done: dict[str, Prepared] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures = [pool.submit(measurer.prepare, choice.candidate) for choice in chosen]
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                prepared = future.result()
                journal.prepared(prepared)
                done[prepared.candidate.identity] = prepared
                progress("build and verify", number, len(chosen), prepared.candidate.label)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[choice.candidate.identity] for choice in chosen]


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
            for prepared in self.prepared:
                if self._short(prepared.candidate.identity) and self._in_time():
                    progress("measure again what was disturbed", done, total, prepared.build)
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
        reference = self.checksums.get(self.plan.baseline or "")
        own = self.checksums.get(identity)
        if own and reference and not agree(own, reference):
            return "wrong-result", (
                f"checksum {own[0]!r} at the timed size, the baseline's is {reference[0]!r}"
            )
        if not any(s.accepted and not s.warm_up for s in self.samples.get(identity, [])):
            return "contended", "every sample was rejected: other processes took the cores"
        return "ok", ""


def agree(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Two checksums (weighted sum, sum of magnitudes) are those of the same state."""
    return abs(first[0] - second[0]) <= CHECKSUM_TOLERANCE * max(first[1], second[1])


class Mirror:
    """An Optuna study of what is tried: one trial per candidate, its parameters as categories.

    The candidates are enumerated and legal, so nothing is sampled: each is enqueued with its
    prediction as an attribute, asked for, and told.
    """

    def __init__(self, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(
            direction="minimize", sampler=optuna.samplers.RandomSampler(seed=seed)
        )
        self._trials: list[optuna.trial.Trial] = []

    def enqueue(self, chosen: Sequence[Chosen]) -> None:
        """Queue the candidates in order, predictions attached, and ask for their trials."""
        rows = [trial_parameters(choice.candidate) for choice in chosen]
        domains: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(
                sorted({str(row.get(name)) for row in rows})
            )
            for name in {name for row in rows for name in row}
        }
        for choice, row in zip(chosen, rows, strict=True):
            self.study.enqueue_trial(
                {name: str(row.get(name)) for name in domains},
                user_attrs={
                    "candidate": choice.candidate.id,
                    "predicted_s": choice.prediction.seconds,
                    "why": choice.why,
                },
            )
        self._trials = [self.study.ask(domains) for _ in chosen]

    def tell(self, measurements: Sequence[Measurement | None]) -> None:
        """Finish the trials in order: the measured time, or failed with the status attached."""
        for trial, measurement in zip(self._trials, measurements, strict=True):
            trial.set_user_attr("status", measurement.status if measurement else "not run")
            values = [sample.seconds for sample in measurement.accepted] if measurement else []
            if measurement and measurement.status == "ok":
                self.study.tell(trial, location(values))
            else:
                self.study.tell(trial, state=optuna.trial.TrialState.FAIL)


def trial_parameters(candidate: Candidate) -> dict[str, str | int | bool | None]:
    """The parameters of a candidate as Optuna sees them."""
    return {
        **candidate.variant.parameters,
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        "threads": candidate.threads,
        "ranks": candidate.ranks,
        "communication": candidate.communication,
    }
