"""Numbers as words: times with their unit, shares in percent, intervals, the summary sentences."""

from autotune.evaluate import Interval, ProblemResult, Row
from autotune.store.records import CandidateRecord

NONE = "-"
"""Stands where there is no number."""

STATUS_WORDS = {
    "ok": "ok",
    "build-failed": "build failed",
    "crashed": "crashed",
    "timed-out": "timed out",
    "wrong-result": "wrong result",
    "contended": "contended",
}


def seconds(value: float | None) -> str:
    """A time with a readable prefix, four digits.

    >>> seconds(0.00188)
    '1.880 ms'
    """
    if value is None:
        return NONE
    if value == 0:
        return "0 s"
    unit, factor = _unit(value)
    return f"{value / factor:#.4g} {unit}".replace(". ", " ")


def span(interval: Interval | None) -> str:
    """An interval of times in one unit.

    >>> span((0.00098, 0.00112))
    '0.980 to 1.12 ms'
    """
    if interval is None:
        return NONE
    unit, factor = _unit(interval[1])
    low, high = (f"{value / factor:#.3g}".rstrip(".") for value in interval)
    return f"{low} to {high} {unit}"


def name(candidate: CandidateRecord, result: ProblemResult) -> str:
    """The variant of a candidate, and its layout where those of its problem differ."""
    layouts = {row.candidate.layout for row in result.rows}
    return candidate.variant + (f", {candidate.layout}" if len(layouts) > 1 else "")


def _unit(value: float) -> tuple[str, float]:
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
    return next(((unit, f) for unit, f in units if abs(value) >= f), ("ns", 1e-9))


def signed(share: float | None) -> str:
    """A deviation in percent, with its sign.

    >>> signed(-0.0312)
    '-3.1 %'
    """
    return NONE if share is None else f"{100 * share:+.1f} %"


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.0312)
    '3.1 %'
    """
    return NONE if share is None else f"{100 * share:.1f} %"


def status(row: Row) -> str:
    """What became of a candidate, in words; empty when it was not measured."""
    return STATUS_WORDS[row.status] if row.status else ""


def speedup(result: ProblemResult) -> str:
    """The speed-up over the baseline with its interval, or why there is none."""
    if result.best is None:
        return "no candidate has a time"
    if result.baseline is None:
        return "the study has no baseline"
    if result.speedup is None:
        return "no run compared the winner with the baseline"
    text = f"{result.speedup.value:.2f}x"
    if result.speedup.interval:
        low, high = result.speedup.interval
        text += f" ({low:.2f} to {high:.2f})"
    return text + (f", {result.speedup.note}" if result.speedup.note else "")


def caution(result: ProblemResult) -> str:
    """A warning where the winner cannot be told from the baseline; empty else."""
    if result.speedup is None or result.best is result.baseline:
        return ""
    low = result.speedup.interval[0] if result.speedup.interval else result.speedup.value
    spread = result.noise_floor.maximum if result.noise_floor else 0.0
    if result.speedup.value - 1 > spread and low > 1:
        return ""
    return "the speed-up is within the noise of this run: the winner is not decided"


def losses(result: ProblemResult) -> str:
    """The losses of the predicted top k among the measured, with the noise floor beside them."""
    if not result.losses:
        return "no loss: nothing was both predicted and measured"
    parts = ", ".join(f"top {top.k} {percent(top.loss)}" for top in result.losses)
    unknown = any(top.loss is None for top in result.losses)
    why = "; -: not all of them were measured" if unknown else ""
    return f"{parts} (measured: {result.compared} of {len(result.rows)}{why}; {floor(result)})"


def floor(result: ProblemResult) -> str:
    """The noise floor of the run, in words."""
    if result.noise_floor is None:
        return "noise floor unknown: it needs two rounds of two candidates"
    mean, maximum = result.noise_floor.mean, result.noise_floor.maximum
    return f"noise floor {percent(mean)} mean, {percent(maximum)} max"


def sentences_of(problem: ProblemResult) -> list[str]:
    """The result of one problem: the winner, its speed-up, the losses, the failures."""
    best = problem.best
    if best is None:
        tried = len(problem.evaluated)
        what = f"none of {tried} tried candidates succeeded" if tried else "nothing was measured"
        return [f"{problem.label}: no winner, {what}."]
    lines = [
        f"{problem.label}: {best.candidate.id} takes {seconds(best.measured)} per time step"
        f" (predicted {seconds(best.predicted)}, deviation {signed(best.deviation)}).",
        f"  Speed-up over the baseline, within rounds: {speedup(problem)}.",
        f"  Losses of the predicted: {losses(problem)}.",
    ]
    if caution(problem):
        lines.append(f"  Caution: {caution(problem)}.")
    failed = len(problem.failures)
    if failed:
        lines.append(f"  {failed} candidate{'s' if failed > 1 else ''} failed; see the status.")
    return lines
