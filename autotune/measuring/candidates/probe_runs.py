"""Runs probes on this host: each probe is built once and launched in every round."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autotune.codegen.probes.probe_text import Part
from autotune.domain.results import Prepared, Sample
from autotune.domain.variant import Candidate
from autotune.errors import AutotuneError
from autotune.measuring.candidates.base import Launch
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.progress import Progress
from autotune.statistics import launch_times
from autotune.toolchain import build_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class PartProbe:
    """A program that runs one part of one sweep with its data in one memory level.

    ``units``: its source files; None where the probe cannot be made, with the ``reason``.
    """

    sweep: str
    part: Part
    level: str
    candidate: Candidate
    """Compiler, flags and threads of the probe, and the problem at its size."""
    units: Mapping[str, str] | None
    iterations: float
    """Source iterations of the slowest thread in a time step of the probe."""
    expected: float | None = None
    """Predicted seconds of a time step of the probe."""
    reason: str = ""


@dataclass(slots=True)
class ProbeOutcome:
    """The result of building a probe, and its samples; updated in every round."""

    probe: PartProbe
    prepared: Prepared
    """Its build, with the status of its last launch."""
    samples: list[Sample] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """Whether the probe is to be launched in the next round."""
        return bool(self.prepared.build) and self.prepared.status in ("ok", "contended")

    def cycles(self, clock: float) -> tuple[float, tuple[float, float] | None] | None:
        """Cycles per iteration and their interval; None without a sample."""
        launches = list(launch_times.by_launch(self.samples).values())
        if not launches:
            return None
        factor = clock / self.probe.iterations
        span = launch_times.interval(launches)
        return (
            launch_times.candidate_time(launches) * factor,
            (span[0] * factor, span[1] * factor) if span else None,
        )

    @property
    def reason(self) -> str:
        """The reason why the probe has no time."""
        if self.probe.reason:
            return self.probe.reason
        status, detail = self.prepared.status, self.prepared.detail
        return f"{status}: {detail}" if detail else status


class Dissector:
    """Builds probes and runs them in interleaved rounds; Ctrl-C ends the rounds and keeps the
    samples so far.
    """

    def __init__(
        self, measurer: HostMeasurer, probes: Sequence[PartProbe], progress: Progress
    ) -> None:
        self._measurer = replace(measurer, measuring=replace(measurer.measuring, verify_steps=1))
        self._progress = progress
        self.outcomes = [
            ProbeOutcome(probe, Prepared(candidate=probe.candidate, status="ok"))
            for probe in probes
        ]
        self.rounds = 0
        """Finished ones."""

    @property
    def measured(self) -> bool:
        """Whether any probe has a sample that counts, also of an unfinished round."""
        return any(not s.warm_up for outcome in self.outcomes for s in outcome.samples)

    def build(self) -> None:
        """Build all probes; a failed build is recorded in its outcome."""
        for done, outcome in enumerate(self.outcomes):
            probe = outcome.probe
            self._progress("build the probes", done, len(self.outcomes), probe.sweep)
            if probe.units is None:
                continue
            compiler = self._measurer.compiler(probe.candidate.build)
            built = build_cache.build(probe.units, compiler, limit=self._measurer.limits.compile)
            outcome.prepared = (
                replace(outcome.prepared, build=built.key)
                if built.executable
                else replace(outcome.prepared, status="build-failed", detail=built.detail)
            )
        self._progress("build the probes", len(self.outcomes), len(self.outcomes))

    def run(
        self,
        rounds: int,
        seed: int = 1,
        before: Callable[[ProbeOutcome, int], None] | None = None,
    ) -> None:
        """Launch every probe once per round, in a shuffled order.

        ``before`` is called before each launch with the outcome and the number of the round.
        """
        for number in range(rounds):
            order = [outcome for outcome in self.outcomes if outcome.runs]
            random.Random(seed + number).shuffle(order)
            for done, outcome in enumerate(order):
                probe = outcome.probe
                what = f"{probe.sweep}: {probe.part} in {probe.level}"
                done_all = number * len(order) + done
                self._progress("run the probes", done_all, rounds * len(order), what)
                if before:
                    before(outcome, number)
                self._launch(outcome, number)
            self.rounds += 1
        self._progress("run the probes", 1, 1)

    def _launch(self, outcome: ProbeOutcome, number: int) -> None:
        probe = outcome.probe
        keep: Callable[[Sample], None] = outcome.samples.append
        try:
            launch = self._measurer.launch(
                outcome.prepared,
                round_number=number,
                launch=number,
                expected=probe.expected,
                on_sample=keep,
            )
        except AutotuneError as error:
            launch = Launch(status="crashed", detail=str(error))
        counted = any(not s.warm_up for s in outcome.samples)
        if launch.status == "contended" and counted:
            return
        outcome.prepared = replace(outcome.prepared, status=launch.status, detail=launch.detail)
