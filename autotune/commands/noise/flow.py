"""The A/A run: one candidate, built and verified once, is launched under two names."""

import time
from collections.abc import Callable, Mapping
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
from autotune.measuring.candidates.base import Measurer
from autotune.measuring.conditions import host_load
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.tuning import Bench, TunerLock
from autotune.tuning.base import NoJournal
from autotune.tuning.building import prepare
from autotune.tuning.side_by_side import LaunchedProgram, SideLaunches
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

    def run(self, rounds: int, seed: int) -> TwinRun:
        """Launch both once in each round, in an order drawn at random.

        A launch that fails or changes its result, and Ctrl-C, end the run; a round that is not
        finished does not count.
        """
        program = LaunchedProgram(prepared=self.prepared, measurer=self.measurer)
        launches = SideLaunches(
            programs=dict.fromkeys(NAMES, program),
            lock=self.lock,
            progress=self.progress,
            words="launch A and B",
            seed=seed,
            moment=self.moment,
        )
        interrupted = False
        try:
            while launches.rounds < rounds and launches.round(rounds):
                pass
            launches.finish()
        except KeyboardInterrupt:
            interrupted = True
        return TwinRun(
            prepared=self.prepared,
            status=launches.status,
            detail=launches.detail,
            samples={name: tuple(samples) for name, samples in launches.samples.items()},
            round_seconds=tuple(launches.round_seconds),
            interrupted=interrupted,
        )
