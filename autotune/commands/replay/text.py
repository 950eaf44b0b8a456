"""A replayed search as text: the steps that improved, and how soon it came near the best."""

from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.files.recorded.replayed import SHARES, Replay, Step
from autotune.results.report import number_words
from autotune.results.report.text_table import columns
from autotune.units import counted

_RIGHT = (0, 1, 2)


def text(replayed: Replay) -> str:
    """A search of a recorded space as text: its convergence, and how many evaluations it needed."""
    space = replayed.space
    metric = space.metric
    behind = "above best" if metric.better == "less" else "best over it"
    head = ("evaluation", metric.name, behind, "why", "parameters")
    rows = [head, *(_cells(number, step, space) for number, step in _improving(replayed))]
    lines = [f"{space.name}: {_described(space)}", "", columns(rows, right=_RIGHT), ""]
    for share in SHARES:
        reached = replayed.reached(share)
        needed = "not reached" if reached is None else counted(reached, "evaluation")
        near = int(space.within(share).sum())
        lines.append(f"within {share:.0%} of the recorded best ({near} of {len(space)}): {needed}")
    predictions = (
        "with the predictions of the file" if replayed.predicted else "without predictions"
    )
    lines.append(f"sampler {replayed.sampler}, seed {replayed.seed}, {predictions}")
    lines.append(f"stopped after {counted(len(replayed.steps), 'evaluation')}: {replayed.stopped}")
    return "\n".join(lines)


def _described(space: RecordedSpace) -> str:
    varied = ", ".join(f"{name} ({len(v)})" for name, v in space.parameters.items())
    failed = f", {space.failures} failed" if space.failures else ""
    return f"{counted(len(space), 'recorded candidate')}{failed}" + (
        f"; {varied}" if varied else ""
    )


def _improving(replayed: Replay) -> list[tuple[int, Step]]:
    """The evaluations that improved the best time so far, with their numbers from 1."""
    best, improving = float("inf"), []
    for number, step in enumerate(replayed.steps, 1):
        if step.seconds is not None and step.seconds < best:
            best = step.seconds
            improving.append((number, step))
    return improving


def _cells(number: int, step: Step, space: RecordedSpace) -> tuple[str, ...]:
    seconds = step.seconds or 0.0
    return (
        str(number),
        _shown(seconds, space),
        f"{seconds / space.best - 1:+z.1%}",
        step.why,
        ", ".join(f"{name}={value}" for name, value in space.settings(step.row).items()),
    )


def _shown(cost: float, space: RecordedSpace) -> str:
    """The value with this cost, with its unit where the file states one."""
    if not space.metric.timed:
        return space.metric.show(cost)
    return number_words.seconds(cost) if space.unit else f"{cost:.6g}"
