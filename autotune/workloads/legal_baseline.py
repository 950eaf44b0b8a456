"""The candidate that others are compared with: the baseline, or another where it is illegal."""

from collections.abc import Sequence
from itertools import islice

from autotune.domain.machine import Machine
from autotune.domain.variant import Build, Candidate
from autotune.workloads.base import MOST_ILLEGAL, EnumeratedSpace, Workload


def legal_baseline(
    workload: Workload, machine: Machine, legal: Sequence[Candidate], build: Build
) -> Candidate:
    """The baseline of the problem of some legal candidates; the first of these where the baseline
    is not among them.
    """
    safe = workload.baseline(legal[0].problem, machine.cores, build)
    return next((c for c in legal if c.identity == safe.identity), legal[0])


def illegal_baseline_note(
    enumerated: EnumeratedSpace,
    workload: Workload,
    machine: Machine,
    legal: Sequence[Candidate],
    build: Build,
) -> str | None:
    """Why the baseline of the problem of some legal candidates is illegal, and which of them stands
    in its place; None where the baseline is legal.

    ``legal``: in the order of the ranking, predicted best first.
    """
    safe = workload.baseline(legal[0].problem, machine.cores, build)
    used = legal_baseline(workload, machine, legal, build)
    if used.identity == safe.identity:
        return None
    reasons = (
        why
        for label, problem, why in islice(enumerated.illegal, MOST_ILLEGAL)
        if label == safe.label and problem.key == safe.problem.key
    )
    return (
        f"the baseline {safe.label} is illegal: {next(reasons, 'it is not in the space')};"
        f" {used.label}, the first of the ranking, stands in its place"
    )
