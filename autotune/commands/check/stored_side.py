"""The old times of a check, where only the store has them: how sure a comparison with them is."""

import math
from collections.abc import Collection
from itertools import pairwise

import numpy as np

from autotune.commands.tune.provenance import identity_of
from autotune.domain.machine import Machine
from autotune.files.store.records import RunRecord, StudyRecord
from autotune.results.evaluate.comparable import comparable_run
from autotune.results.evaluate.study_evaluation import ProblemEvaluation
from autotune.statistics import run_drift
from autotune.statistics.distributions import student
from autotune.statistics.drift import levels
from autotune.statistics.slowdown_test import SlowdownReading, SlowdownTest
from autotune.tuning.side_by_side import SideLaunches

_SHOWN = 0.9
"""Probability of the intervals of an evaluation."""
_NORMAL_FREEDOM = 30.0


def other_machine(run: RunRecord, machine: Machine, node: str) -> str:
    """Why times of a run must not be compared with times taken here now; empty where they may."""
    if run.machine_identity != identity_of(machine):
        return f"the study is of another machine: {run.machine.title}, this is {machine.title}"
    before = str(run.conditions.get("node", ""))
    if run.machine_identity == run.machine.name and before != node:
        # a machine file says the same on every host
        return f"the study is of another host: {before or 'not stored'}, this is {node}"
    return ""


def deciding(study: StudyRecord, problem: ProblemEvaluation) -> RunRecord | None:
    """The run that the times of a problem are of."""
    return next((run for run in study.runs if run.id == problem.run), None)


def reading(
    study: StudyRecord,
    problem: ProblemEvaluation,
    launches: SideLaunches,
    side: str,
    test: SlowdownTest,
) -> SlowdownReading | None:
    """What the launches of a candidate now say beside its times in a study; None without either.

    The error has three parts: of then, of now, and of what this host differs from run to run, as
    far as runs of the study show that.
    """
    best = problem.best
    if best is None or best.measured is None or not launches.rounds:
        return None
    level = levels({name: launches.times(name) for name in launches.programs})
    now, error_now = level.times[side], level.errors[side]
    error_then = _error(best.interval)
    shifts = run_shifts(study, {row.candidate.identity for row in problem.rows})
    shift = run_drift.run_shift(shifts)
    error = math.hypot(error_now, error_then, shift)
    return test.between_runs(now / best.measured, error, run_drift.freedom(shifts))


def run_shifts(study: StudyRecord, members: Collection[str]) -> list[float]:
    """Logarithm of how much slower a run was than the run before on its machine, by the median of
    the candidates of one problem that both measured.
    """
    shifts = []
    by_machine: dict[str, list[RunRecord]] = {}
    for run in study.runs:
        by_machine.setdefault(run.machine_identity, []).append(run)
    for runs in by_machine.values():
        times = [made.times for run in runs if (made := comparable_run(run, members)) is not None]
        for before, after in pairwise(times):
            shared = before.keys() & after.keys()
            if shared:
                logs = [math.log(after[name] / before[name]) for name in sorted(shared)]
                shifts.append(float(np.median(logs)))
    return shifts


def _error(interval: tuple[float, float] | None) -> float:
    """Standard error of the logarithm of a time, from its 90 % interval."""
    if interval is None:
        return run_drift.RUN_SHIFT
    return math.log(interval[1] / interval[0]) / 2 / student(_NORMAL_FREEDOM, _SHOWN)
