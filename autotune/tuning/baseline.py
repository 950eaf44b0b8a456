"""The baseline comes before all other candidates: without one that works, a study stops."""

import time

from autotune.domain.results import Stage
from autotune.errors import WorkFailed
from autotune.tuning.rounds import MeasuredGroup, shown


def require_baseline(
    group: MeasuredGroup, identity: str, label: str, stage: Stage | None, deadline: float
) -> None:
    """Launch a prepared baseline once; WorkFailed, with what was said, if it fails in any way.

    A baseline that was not prepared in time, or is disturbed, has not failed. ``label``: of its
    problem.
    """
    if identity not in group.prepared:
        return
    words = f"the baseline of {label}"
    if identity not in group.failed and time.monotonic() < deadline:
        show = shown(group.bench.progress, f"launch {words}", 0, 1)
        group.round([identity], stage, show, deadline)
    if not group.bad(identity):
        return
    group.settle(identity)
    result = group.measurement(identity)
    assert result is not None, "it failed"
    name = group.prepared[identity].candidate.label
    raise WorkFailed(f"{words}, {name}, has the status {result.status}: {result.detail}")
