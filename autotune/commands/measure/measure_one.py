"""The measurement of one candidate: its time, its phases."""

from dataclasses import dataclass, replace

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.measure.dissect_flow import DissectionSession
from autotune.commands.options import DEFAULT_STORE
from autotune.commands.rank.ranked_space import RankedSpace, find, rank_space
from autotune.commands.rank.recalled_candidates import with_named
from autotune.domain.dissection import Dissection
from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.domain.variant import Candidate, SeveralSweeps
from autotune.errors import Fault, InputError
from autotune.files.store import kept_dissections
from autotune.measuring.candidates.host_measurer import HostMeasurer, KernelSeconds
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.statistics import launch_times
from autotune.tuning import Bench, Chosen, TuningPlan, tune_problem
from autotune.tuning.base import NoJournal
from autotune.workloads.base import Workload, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateMeasurement:
    """One candidate, predicted and measured, with its phases if they were requested."""

    ranked: Ranked
    measurement: Measurement
    phases: KernelSeconds | None
    dissection: Dissection | None = None
    """The terms of the model, if they were asked for."""

    @property
    def location(self) -> tuple[float, tuple[float, float] | None] | None:
        """Cost and its interval: seconds per step, of a program with another objective what
        stands for its value; None when nothing was measured.
        """
        launches = list(launch_times.by_launch(self.measurement.samples).values())
        if self.measurement.status != "ok" or not launches:
            return None
        return launch_times.candidate_time(launches), launch_times.interval(launches)


def measure(
    workload: Workload,
    name: str,
    *,
    phases: bool,
    progress: Progress,
    dissect: bool = False,
    store: str = DEFAULT_STORE,
) -> CandidateMeasurement:
    """Build, verify and time one candidate; with ``phases`` also each of its kernels.

    With ``dissect`` the terms of the model are measured by probes of its sweeps, and the result is
    stored. ``store``: names candidates of a space too large to be listed. After Ctrl-C what was
    measured is stored, also of an unfinished round, and the KeyboardInterrupt that is raised again
    carries the name of the file.
    """
    if phases or dissect:
        refuse(workload, "--dissect" if dissect else "--phases")
    workload.check()
    space = with_named(rank_space(workload, progress), [name], store)
    ranked = find(space, name)
    if dissect:
        _require_separate_sweeps(ranked.candidate)
    measurer = workload.measurer(space.machine)
    chosen = [Chosen.of(ranked, "asked for")]
    plan = TuningPlan(measuring=workload.setup.measuring)
    bench = Bench(
        measurer=measurer, journal=NoJournal(), progress=progress, lock=HostLock(progress)
    )
    measurement = tune_problem(chosen, bench, plan)[0]
    if not isinstance(measurer, HostMeasurer):
        return CandidateMeasurement(ranked=ranked, measurement=measurement, phases=None)
    parts = None
    if (phases or dissect) and measurement.status == "ok":
        progress("time the phases", 0, 1)
        parts = measurer.phases(ranked.candidate, ranked.prediction.seconds)
        progress("time the phases", 1, 1)
    if not dissect or measurement.status not in ("ok", "contended"):
        return CandidateMeasurement(ranked=ranked, measurement=measurement, phases=parts)
    timed = CandidateMeasurement(ranked=ranked, measurement=measurement, phases=parts)
    return replace(timed, dissection=_dissected(space, timed, measurer, progress))


def _require_separate_sweeps(candidate: Candidate) -> None:
    """Raise InputError for a candidate that makes several sweeps in one pass: a probe runs
    one sweep alone.
    """
    if any(isinstance(change, SeveralSweeps) for change in candidate.variant.transformations):
        raise InputError(
            Fault(
                where="--dissect",
                found=f"{candidate.id} makes several sweeps in one pass over the grid",
                expected="a candidate whose sweeps can run alone",
                hint="--phases times its kernel and its barriers",
            )
        )


def _dissected(
    space: RankedSpace, timed: CandidateMeasurement, measurer: HostMeasurer, progress: Progress
) -> Dissection:
    """Measure the terms of a timed candidate with probes, and store the dissection."""
    ranked = timed.ranked
    program = SkeletonPrograms(space.setup.skeleton)(ranked.candidate)
    session = DissectionSession(space.setup, space.machine, ranked, measurer, program, progress)
    step = timed.location[0] if timed.location else None
    try:
        session.run()
    except KeyboardInterrupt:
        if session.measured:
            path = kept_dissections.keep(session.result(timed.phases, step))
            raise KeyboardInterrupt(str(path)) from None
        raise
    result = session.result(timed.phases, step)
    kept_dissections.keep(result)
    return result
