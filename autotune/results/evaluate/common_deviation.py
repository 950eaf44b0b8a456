"""Where most predictions of a problem miss its measured times to one side.

A host that was slower or faster when a run began than when it was calibrated explains a part of
that. The check that sees it is short, so that other processes may disturb it and not the times.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.files.store.records import Conditions

_MOST = 0.75
"""Share of the candidates whose predictions miss to one side."""
_FEWEST = 3
"""Fewer candidates say nothing of the others."""
_BEYOND = 1.2
"""Factor beyond what a changed host explains: nearer predictions are as good as a calibration."""
_CHANGED = 1.05
"""Factor of clock or bandwidth from which on the check of the host says what times to expect."""
_CHECKED = {"clock_ratio": "the clock", "bandwidth_ratio": "memory bandwidth"}
"""Conditions of a run that compare its host with the calibrated one, now over then, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonDeviation:
    """By how much most predictions of a problem are too slow, or most are too fast."""

    ratio: float
    """Predicted over measured time, the median of all candidates that compare."""
    missed: int
    """Candidates that deviate to that side by more than a changed host explains."""
    candidates: int
    """Predicted ones that compare."""


def common_deviation(
    times: Sequence[tuple[float, float]], conditions: Conditions
) -> CommonDeviation | None:
    """What most pairs of predicted and measured times have in common; None where they deviate to
    both sides or little.

    ``conditions``: of the run that measured.
    """
    ratios = [predicted / measured for predicted, measured in times]
    least, greatest = _explained(conditions)
    slow = sum(ratio > greatest * _BEYOND for ratio in ratios)
    fast = sum(ratio < least / _BEYOND for ratio in ratios)
    missed = max(slow, fast)
    if missed < _FEWEST or missed < _MOST * len(ratios):
        return None
    return CommonDeviation(ratio=statistics.median(ratios), missed=missed, candidates=len(ratios))


def warning(conditions: Conditions, deviations: Iterable[CommonDeviation | None]) -> str:
    """Why predictions or times of a run may be off; empty where nothing is known.

    ``deviations``: of its problems. Where all of them are to the other side than the check of the
    host let expect, the warning says that in place of what would follow from the check.
    """
    text = str(conditions.get("warning", ""))
    ratios = [d.ratio for d in deviations if d]
    if not text or not ratios or not all(_contradicted(conditions, ratio) for ratio in ratios):
        return text
    checked = (
        f"{words} at {float(conditions[name]):.2f}"
        for name, words in _CHECKED.items()
        if name in conditions
    )
    return (
        f"when the study began, a short check found {' and '.join(checked)} of the calibrated"
        " value; the measured times deviate from the predictions to the other side, so that other"
        " processes may have disturbed this check"
    )


def _explained(conditions: Conditions) -> tuple[float, float]:
    """The least and the greatest predicted over measured time that a changed host explains."""
    ratios = [1.0, *(float(conditions[name]) for name in _CHECKED if name in conditions)]
    return min(ratios), max(ratios)


def _contradicted(conditions: Conditions, ratio: float) -> bool:
    """Whether all figures in which the check saw a slower host stand beside predictions that are
    too slow, or the reverse.

    ``ratio``: predicted over measured time.
    """
    figures = [float(conditions[name]) for name in _CHECKED if name in conditions]
    changed = [figure for figure in figures if not 1 / _CHANGED < figure < _CHANGED]
    return bool(changed) and all((figure < 1) == (ratio > 1) for figure in changed)
