"""Measuring a fixed list of candidates: each one in every round, none dropped."""

import time
from collections.abc import Sequence

from autotune.domain.results import Measurement
from autotune.tuning.base import Bench, Chosen, TuningPlan
from autotune.tuning.baseline import require_baseline
from autotune.tuning.building import prepare
from autotune.tuning.rounds import TAIL, MeasuredGroup, shown


def tune_problem(
    chosen: Sequence[Chosen], bench: Bench, plan: TuningPlan, baseline: str = ""
) -> list[Measurement]:
    """Build, verify and time the chosen candidates of one problem.

    ``baseline``: the identity of the one that is built and launched before the others; WorkFailed,
    with what the compiler or the program said, if it fails.

    Returns one measurement per candidate, in order; a failure is a result with its status. No build
    and no launch starts after the deadline. A candidate that never ran has no measurement. One with
    too few rounds has a measurement but no outcome, so that a resumed study measures it again.
    """
    group = MeasuredGroup(bench=bench, plan=plan)
    expected = {choice.candidate.identity: choice.prediction.seconds for choice in chosen}

    def build(choices: Sequence[Chosen]) -> None:
        for prepared in prepare([c.candidate for c in choices], bench, plan.deadline):
            group.enter(prepared, expected[prepared.candidate.identity])

    safe = [choice for choice in chosen if choice.candidate.identity == baseline]
    build(safe)
    for choice in safe:
        label = choice.candidate.problem.label
        require_baseline(group, baseline, label, None, plan.deadline)
    build([choice for choice in chosen if choice not in safe])
    _run(group)
    for identity in group.prepared:
        if _complete(group, identity):
            group.settle(identity)
    measurements = (group.measurement(i) for i in expected if i in group.prepared)
    return [measurement for measurement in measurements if measurement]


def _run(group: MeasuredGroup) -> None:
    rounds = group.plan.measuring.rounds
    able = [identity for identity, p in group.prepared.items() if p.status == "ok"]
    total = rounds * len(able)
    progress = group.bench.progress
    for number in range(rounds):
        stage = f"measure, round {number + 1} of {rounds}"
        group.round(able, None, shown(progress, stage, number * len(able), total))
    for number in range(TAIL):
        short = [identity for identity in able if _short(group, identity)]
        stage = f"measure again what was disturbed, attempt {number + 1} of {TAIL}"
        if short:
            group.round(short, None, shown(progress, stage, 0, len(short)))
    progress("measure", total, total)


def _short(group: MeasuredGroup, identity: str) -> bool:
    wanted = group.plan.measuring.rounds
    return identity not in group.failed and len(group.times(identity)) < wanted


def _complete(group: MeasuredGroup, identity: str) -> bool:
    """Whether a candidate is finished: it has all its samples, or failed for good."""
    in_time = time.monotonic() < group.plan.deadline
    return identity in group.failed or not _short(group, identity) or in_time
