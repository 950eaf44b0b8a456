"""Whether the times that a program prints hold the time that it waited for a CPU, and how much.

A program that reads a clock prints what it waited, too. One that reads its CPU time does not:
``clock()`` of C, ``cpu_time`` of Fortran, ``time.process_time`` of Python. Nor does a program whose
samples fall between the disturbances of its run. What it waited must then not be taken off.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autotune.domain.results import Sample

Floats = NDArray[np.float64]
Holds = Literal["yes", "no", "unsure"]
"""Whether the times hold the time that their program waited. ``yes``, too, where nothing speaks
against it because nothing waited, or because the times were not printed by the program."""

SPREAD = 0.03
"""Relative spread of samples within a launch that nothing disturbs."""
LOW = 0.25
"""The quantile of the samples that stands for a launch: disturbances only make samples longer."""
PART = "part_of_run"
"""Condition of a sample: its part of the wall time of the run that its share of CPU time is of; 0
for a value that is not a time."""
_LEAST = 1e-3
_DECIDED = 2.326
"""Standard deviations beyond which a normal variable lies on one side with probability 1 %."""


def without_losses(seconds: Floats, busy: Floats, threads: int) -> tuple[Floats, Floats]:
    """What samples would have taken undisturbed, and the errors of their logarithms; both (n,).

    ``busy``: CPU time over (threads x wall time) of each sample. The wall time that a sample lost
    lies between two bounds: all threads were stopped at the same time, or one after the other while
    the rest waited for it. The result is their geometric mean, its error half their distance.

    >>> times, errors = without_losses(np.array([2.0, 1.0]), np.array([0.5, 1.0]), 1)
    >>> times.tolist(), errors.tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """
    share = np.clip(busy, _LEAST, 1.0)
    together = np.log(share)
    in_turn = np.log(np.maximum(1 - threads * (1 - share), share / threads))
    errors = np.maximum((together - in_turn) / 2, 0.0)
    return seconds * np.exp((together + in_turn) / 2), errors


def threads_of(samples: Sequence[Sample]) -> int:
    """The threads of a program, of which the samples are at least one."""
    return int(samples[0].conditions.get("threads", 1))


def losses(samples: Sequence[Sample]) -> Floats:
    """(n,) logarithm of how much longer disturbed samples are, if they hold what they waited; 0 for
    undisturbed ones.
    """
    busy = np.array([sample.busy for sample in samples])
    times, _ = without_losses(np.ones(len(samples)), busy, threads_of(samples))
    return np.where([sample.undisturbed for sample in samples], 0.0, -np.log(times))


def holds_waiting(candidates: Iterable[Sequence[Sample]]) -> Holds:
    """What the runs of candidates of one program say; samples of one candidate belong together.

    Times that exceed the CPU time of their runs hold something else. Otherwise the times of each
    candidate should agree: as they are, or without the losses. Which of the two agree better in the
    sense of Wilcoxon's signed ranks of their distances from the median (1945) decides, as Vuong's
    test (1989) does between two models of which none contains the other.
    """
    printed = cpu = 0.0
    nearer: list[float] = []
    freedom, disturbed = 0, False
    for samples in candidates:
        runs = _runs(samples)
        if not runs:
            continue
        disturbed = disturbed or any(not s.undisturbed for run in runs for s in run)
        for run in runs:
            if "cpu_s" in run[0].conditions:
                printed += sum(sample.seconds for sample in run)
                cpu += float(run[0].conditions["cpu_s"])
        logs = np.log([np.mean([sample.seconds for sample in run]) for run in runs])
        lost = losses([run[0] for run in runs])
        nearer += (_distances(logs - lost) - _distances(logs)).tolist()
        freedom += len(runs) - 1
    if not disturbed or printed > cpu * (1 + SPREAD) > 0:
        return "yes"
    if not any(nearer):
        return "yes" if freedom == 0 else "unsure"
    signed = _signed_ranks(np.array(nearer)) * math.sqrt(freedom / len(nearer))
    if abs(signed) < _DECIDED:
        return "unsure"
    return "no" if signed > 0 else "yes"


def _runs(samples: Sequence[Sample]) -> list[list[Sample]]:
    """Samples of programs that print their times, by run of the process, without warm-ups."""
    runs: dict[tuple[int, str], list[Sample]] = {}
    for sample in samples:
        if not sample.warm_up and float(sample.conditions.get(PART, 0.0)) > 0:
            runs.setdefault((sample.launch, sample.taken), []).append(sample)
    return list(runs.values())


def _distances(values: Floats) -> Floats:
    return np.abs(values - np.median(values))


def _signed_ranks(values: Floats) -> float:
    """Wilcoxon's sum of signed ranks over its standard deviation where both signs are as likely.

    >>> round(_signed_ranks(np.array([1.0, 2.0, -0.5])), 3)
    1.069
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy, and most runs wait for nothing

    ranks = rankdata(np.abs(values))
    return float((np.sign(values) * ranks).sum() / np.sqrt((ranks**2).sum()))


def least_disturbed(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """Two bounds of the seconds that the least disturbed samples took without their waiting; None
    where it is not known how long a run waited, as of several threads.

    A run printed n times, together p seconds, and waited w. If all of that was within its samples,
    they took (p - w) / n. The more of it was outside, the longer they took, but not longer than the
    smallest sample, and not so that what waited outside exceeds the life of the run outside.
    """
    runs = [run for run in _runs(samples) if "waited_s" in run[0].conditions]
    if not runs or threads_of(runs[0]) > 1:
        return None
    counts = np.array([len(run) for run in runs])
    printed = np.array([sum(sample.seconds for sample in run) for run in runs])
    waited, cpu, wall = (
        np.array([float(run[0].conditions.get(name, 0.0)) for run in runs])
        for name in ("waited_s", "cpu_s", "wall_s")
    )
    within = np.clip(waited - np.maximum(0.0, np.maximum(wall, cpu + waited) - printed), 0, waited)
    usual = [np.quantile([s.seconds for s in run], LOW, method="inverted_cdf") for run in runs]
    least = [min(sample.seconds for sample in run) for run in runs]
    shares = waited / printed
    calmest = shares <= shares.min() + SPREAD
    low = float(np.minimum(usual, (printed - waited) / counts)[calmest].min())
    high = float(np.minimum(least, (printed - within) / counts).min())
    return (min(low, high), high) if low > 0 else None
