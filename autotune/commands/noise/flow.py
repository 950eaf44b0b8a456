"""The A/A run: one candidate, built and verified once, is launched under two names."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.commands.noise.resolution import NAMES, TwinFigures, noise_figures
from autotune.commands.options import DEFAULT_STORE
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import RankedSpace, find
from autotune.commands.rank.recalled_candidates import with_stored
from autotune.commands.tune.preflight import check_launchers
from autotune.domain.machine import Machine
from autotune.domain.ranking import rank
from autotune.domain.results import Prediction, Prepared, Sample, Status
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Launch, Measurer
from autotune.measuring.conditions import host_load
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.statistics.launch_times import launch_time
from autotune.tuning import Bench, TunerLock, agree
from autotune.tuning.base import NoJournal
from autotune.tuning.building import prepare
from autotune.workloads.base import Workload
from autotune.workloads.capacity import candidates_on


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRun:
    """The launches of one candidate as A and as B, a launch of each in every round."""

    prepared: Prepared
    status: Status
    detail: str = ""
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """By name, ``A`` or ``B``: all samples of the finished rounds, warm-ups too."""
    round_seconds: tuple[float, ...] = ()
    """Wall time of each finished round."""
    interrupted: bool = False

    @property
    def rounds(self) -> int:
        """The number of finished rounds."""
        return len(self.round_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseResult:
    """An A/A run, the load of the host before it, and what it says."""

    run: TwinRun
    load: HostLoad
    figures: TwinFigures | None
    """None where no round was finished."""


def measure_noise(
    workload: Workload,
    name: str | None,
    rounds: int,
    progress: Progress,
    store: str = DEFAULT_STORE,
) -> NoiseResult:
    """Build and verify a candidate and launch it as A and as B in ``rounds`` interleaved rounds.

    ``name``: an id, identity or label; None: the baseline of the first problem. ``store``: names
    candidates of a space too large to be listed. After Ctrl-C the
    result has the rounds that were finished.
    """
    setup = workload.setup
    workload.check()
    check_launchers(setup)
    machine = uncalibrated_machine(setup)
    candidate = (
        workload.baseline(setup.problems[0], machine.cores, setup.builds[0])
        if name is None
        else _candidate_of(workload, machine, name, store)
    )
    load = host_load.observe()
    lock = HostLock(progress)
    bench = Bench(
        measurer=workload.measurer(machine), journal=NoJournal(), progress=progress, lock=lock
    )
    prepared = prepare([candidate], bench, float("inf"))[0]
    run = TwinRun(prepared=prepared, status=prepared.status, detail=prepared.detail)
    if prepared.status == "ok":
        twins = TwinLaunches(prepared, bench.measurer, lock, progress)
        run = twins.run(rounds, setup.selection.seed)
    figures = None
    if run.rounds:
        figures = noise_figures(
            run.samples,
            run.round_seconds,
            setup.measuring.rounds,
            candidate.problem.facts().goal,
        )
    return NoiseResult(run=run, load=load, figures=figures)


def _candidate_of(workload: Workload, machine: Machine, name: str, store: str) -> Candidate:
    """The legal candidate of a name; nothing is predicted for it."""
    enumerated = with_stored(candidates_on(workload, machine), [name], store)
    unpredicted = Prediction(
        seconds=None, interval=None, parts=(), engine=workload.setup.engine, reason="not predicted"
    )
    rankings = rank(enumerated.legal, [unpredicted] * len(enumerated.legal))
    space = RankedSpace(
        workload=workload, machine=machine, enumerated=enumerated, rankings=tuple(rankings)
    )
    return find(space, name).candidate


@dataclass(slots=True)
class TwinLaunches:
    """Launches a candidate that was built as A and as B."""

    prepared: Prepared
    measurer: Measurer
    lock: TunerLock
    progress: Progress
    moment: Callable[[], float] = time.monotonic
    _fastest: float | None = None
    _checksum: tuple[float, float] | None = None

    def run(self, rounds: int, seed: int) -> TwinRun:
        """Launch both once in each round, in an order drawn at random.

        A launch that fails or changes its result, and Ctrl-C, end the run; a round that is not
        finished does not count.
        """
        chance = random.Random(seed)
        finished: list[tuple[float, Mapping[str, Launch]]] = []
        failed: Launch | None = None
        interrupted = False
        try:
            for number in range(rounds):
                order = chance.sample(NAMES, len(NAMES))
                with self.lock.timing():
                    started = self.moment()
                    launches = self._round(number, rounds, order)
                    seconds = self.moment() - started
                failed = next((x for x in launches.values() if x.status != "ok"), None)
                if failed:
                    break
                finished.append((seconds, launches))
            self.progress("launch A and B", 2 * len(finished), 2 * rounds)
        except KeyboardInterrupt:
            interrupted = True
        return TwinRun(
            prepared=self.prepared,
            status=failed.status if failed else "ok",
            detail=failed.detail if failed else "",
            samples={
                name: tuple(s for _, launches in finished for s in launches[name].samples)
                for name in NAMES
            },
            round_seconds=tuple(seconds for seconds, _ in finished),
            interrupted=interrupted,
        )

    def _round(self, number: int, rounds: int, order: Sequence[str]) -> Mapping[str, Launch]:
        """The launches of a round by name; nothing is launched after one that failed."""
        launches: dict[str, Launch] = {}
        for name in order:
            done = 2 * number + len(launches)
            self.progress(f"launch A and B, round {number + 1} of {rounds}", done, 2 * rounds, name)
            launches[name] = self._launch(number)
            if launches[name].status != "ok":
                break
        return launches

    def _launch(self, number: int) -> Launch:
        """One launch, whose status is ``ok`` where it has a time and its result is right."""
        launch = self.measurer.launch(
            self.prepared,
            round_number=number,
            launch=number,
            expected=self._fastest,
            on_sample=lambda _: None,
        )
        timed = [sample for sample in launch.samples if not sample.warm_up]
        if launch.status not in ("ok", "contended") or not timed:
            return launch
        seconds = launch_time(timed).seconds
        self._fastest = min(seconds, self._fastest or seconds)
        if launch.checksum is not None:
            self._checksum = self._checksum or launch.checksum
            if not agree(launch.checksum, self._checksum):
                first, later = self._checksum[0], launch.checksum[0]
                detail = f"the checksum changed between launches: {first!r}, {later!r}"
                return Launch(status="wrong-result", detail=detail)
        return Launch(status="ok", samples=launch.samples)
