"""The time of one launch on cores of its own, from samples that other processes may have disturbed.

Other processes take the cores for stretches of milliseconds. A sample is longer by what its threads
lost, and its *share*, CPU time over (threads x wall time), says how much that was. Samples that
lost nothing decide where there are any. Where there are none, the time is computed from the shares,
with an error that says how unsure that is. Nothing is rejected: every launch has a time.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from autotune.domain.results import Sample
from autotune.statistics.distributions import student
from autotune.statistics.waiting import (
    LOW,
    PART,
    SPREAD,
    Holds,
    holds_waiting,
    least_disturbed,
    losses,
    threads_of,
    without_losses,
)

Floats = NDArray[np.float64]

MUST_AGREE = ("threads", "wait", "priority", "leading")
"""Conditions that must be the same in samples that enter one number."""
POLLUTION = 0.1
"""Relative to the logarithm of what a sample lost, what it loses besides: a thread that returns to
its core finds its caches cold. The standard deviation before launches tell more."""
_ELSEWHERE = 0.3
"""Relative to the time of runs outside of their samples over that within: what the share of the
samples may be off that of their runs."""
_LEAST_WITHIN = 0.05
"""Part of the run; less is taken for so much."""
_ALONE = 0.01
"""Error of the smallest sample where nothing says that it was disturbed."""
_WHOLE = 0.8
"""A sample that is so much of its run has the share of the run."""


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """Seconds of a time step of one launch, as if its threads had never lost a core."""

    seconds: float
    lost: float = 0.0
    """Logarithm of how much longer the samples were that decided, 0 for undisturbed ones."""
    error: float = 0.0
    """Standard deviation of the logarithm of ``seconds``, because it is unknown which losses the
    samples had."""
    bias: float = 0.0
    """The logarithm of ``seconds`` may be off by so much, because it is unknown how the losses of
    several threads overlap: a part of ``error`` that is alike in all launches of a candidate, so
    that more launches do not make it smaller."""
    above: float = 0.0
    """The logarithm of ``seconds`` is larger by so much if the samples hold nothing of what their
    program waited, where that is unknown: alike in all launches of all candidates."""


def launch_time(samples: Sequence[Sample], holds: Holds = "yes") -> LaunchTime:
    """The time of one launch from its samples, at least one, without warm-ups.

    The lower quartile of the times of undisturbed samples and of what the disturbed ones would have
    taken, each weighted by how sure it is: one of them. Where the share is that of a whole run and
    a sample only a part of it, nothing is known of the losses of the single sample: see
    ``_parts_of_runs``. ``holds``: whether the samples hold what their program waited; if not, they
    count as they are. A disturbed launch is not below what its least disturbed samples took at
    least by more than their spread.
    """
    if all(sample.undisturbed for sample in samples):
        return _discounted(samples)
    if holds == "no":
        return _as_they_are(samples)
    launch = _discounted(samples)
    if holds == "unsure":
        above = math.log(_as_they_are(samples).seconds / launch.seconds)
        launch = replace(launch, above=max(0.0, above))
    return _raised(launch, least_disturbed(samples))


def _raised(launch: LaunchTime, bounds: tuple[float, float] | None) -> LaunchTime:
    """A disturbed launch, not below what the least disturbed samples took at least by more than the
    spread of samples; one that was is as unsure as they are.
    """
    if bounds is None or not (launch.lost or launch.error):
        return launch
    low, high = bounds
    short = math.log(low / launch.seconds) - SPREAD
    if short <= 0:
        return launch
    return replace(
        launch,
        seconds=launch.seconds * math.exp(short),
        lost=max(0.0, launch.lost - short),
        error=max(launch.error, math.log(high / low) / 2),
        above=max(0.0, launch.above - short),
    )


def _as_they_are(samples: Sequence[Sample]) -> LaunchTime:
    """The time of a launch from samples that hold nothing of what their program waited."""
    weights = 1 / (SPREAD**2 + (POLLUTION * losses(samples)) ** 2)
    return LaunchTime(_low(np.array([sample.seconds for sample in samples]), weights))


def _discounted(samples: Sequence[Sample]) -> LaunchTime:
    """The time of a launch from samples that hold what their program waited."""
    seconds = np.array([sample.seconds for sample in samples])
    busy = np.array([sample.busy for sample in samples])
    if any(float(sample.conditions.get(PART, 1.0)) < _WHOLE for sample in samples):
        return _parts_of_runs(samples)
    times, errors = without_losses(seconds, busy, threads_of(samples))
    times = np.where([sample.undisturbed for sample in samples], seconds, times)
    lost = np.log(seconds / times)
    weights = 1 / (SPREAD**2 + errors**2 + (POLLUTION * lost) ** 2)
    return LaunchTime(
        seconds=_low(times, weights),
        lost=float((lost * weights).sum() / weights.sum()),
        error=(error := float((errors * weights).sum() / weights.sum())),
        bias=error,
    )


def _low(times: Floats, weights: Floats) -> float:
    """The weighted lower quartile, one of the times: ``np.quantile`` with the method inverted_cdf,
    which takes ten times as long for few values.
    """
    order = np.argsort(times, kind="stable")
    shares = weights[order].cumsum()
    return float(times[order[np.searchsorted(shares / shares[-1], LOW)]])


def _parts_of_runs(samples: Sequence[Sample]) -> LaunchTime:
    """The time of a launch from samples that are parts of runs; the share is that of the runs.

    Undisturbed runs decide where there are any. Else the mean of the samples without their losses
    is known the better the more of the runs the samples are, for then the share is theirs, too. No
    sample takes less than it would have taken undisturbed, so that the smallest one decides where
    it is not far above that mean: it fell between the disturbances.
    """
    calm = [sample.seconds for sample in samples if sample.undisturbed]
    if calm:
        return LaunchTime(float(np.quantile(calm, LOW, method="inverted_cdf")))
    seconds = np.array([sample.seconds for sample in samples])
    busy = np.array([sample.busy for sample in samples])
    parts = [float(sample.conditions.get(PART, 1.0)) for sample in samples]
    least = float(seconds.min())
    if not any(parts):
        return LaunchTime(least, error=_of_smallest(np.sort(seconds), float(np.median(busy))))
    times, errors = without_losses(seconds, busy, threads_of(samples))
    outside = max(0.0, 1 - sum(parts) / len({sample.taken for sample in samples}))
    beside = outside / max(_LEAST_WITHIN, 1 - outside)
    error = max(SPREAD, math.hypot(_ELSEWHERE * beside, float(errors.mean())))
    mean = float(times.mean())
    above = math.log(least / mean)
    if above <= error:
        return LaunchTime(least, error=min(error / 2, max(_ALONE, above / 2)))
    return LaunchTime(
        mean,
        lost=math.log(float(seconds.mean()) / mean),
        error=error,
        bias=float(errors.mean()),
    )


def _of_smallest(ordered: Floats, share: float) -> float:
    """The error of the smallest of values, of which the smallest two should agree."""
    return math.log(ordered[1] / ordered[0]) / 2 if len(ordered) > 1 else -math.log(share)


def by_launch(samples: Sequence[Sample], holds: Holds | None = None) -> dict[int, LaunchTime]:
    """The time of each launch, in their order; launches with warm-ups only are left out.

    ``holds``: what ``holds_waiting`` says of all candidates of the run; None: only these samples
    are asked. ValueError, which names the condition, for samples that were not taken under the same
    ones.
    """
    return _grouped(samples, lambda sample: sample.launch, holds)


def by_round(samples: Sequence[Sample], holds: Holds | None = None) -> dict[int, LaunchTime]:
    """The time of each round; ``holds`` and ValueError as ``by_launch``."""
    return _grouped(samples, lambda sample: sample.round, holds)


def _grouped(
    samples: Sequence[Sample], key: Callable[[Sample], int], holds: Holds | None
) -> dict[int, LaunchTime]:
    timed = [sample for sample in samples if not sample.warm_up]
    for name in MUST_AGREE:
        values = sorted({str(sample.conditions.get(name)) for sample in timed})
        if len(values) > 1:
            raise ValueError(
                f"samples taken with different {name} do not compare: {' and '.join(values)}"
            )
    groups: dict[int, list[Sample]] = {}
    for sample in timed:
        groups.setdefault(key(sample), []).append(sample)
    if all(sample.undisturbed for sample in timed):
        return {number: launch_time(group) for number, group in sorted(groups.items())}
    waiting = holds or holds_waiting([timed])
    bounds = None if waiting == "no" else least_disturbed(timed)
    return {
        number: _raised(launch_time(group, waiting), bounds)
        for number, group in sorted(groups.items())
    }


def time_of(samples: Sequence[Sample], holds: Holds | None = None) -> float:
    """Seconds of a time step of a candidate; ``holds`` as ``by_launch``.

    ValueError without samples, and as ``by_launch``.
    """
    return candidate_time(list(by_launch(samples, holds).values()))


def candidate_time(launches: Sequence[LaunchTime]) -> float:
    """Seconds of a time step from several launches: their mean logarithm, sure ones count more.

    ValueError without launches.
    """
    if not launches:
        raise ValueError("no launches")
    logs = np.log([launch.seconds for launch in launches])
    return math.exp(float(np.average(logs, weights=_weights(launches))))


def interval(launches: Sequence[LaunchTime], share: float = 0.9) -> tuple[float, float] | None:
    """Where the time lies with probability ``share``; None for fewer than three launches.

    Student's interval of the mean logarithm. Launches are counted and not samples, because launches
    differ by more than the samples within one (Kalibera and Jones 2013).
    """
    if len(launches) < 3:
        return None
    logs = np.log([launch.seconds for launch in launches])
    weights = _weights(launches)
    mean = float(np.average(logs, weights=weights))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    scatter = float(np.average((logs - mean) ** 2, weights=weights))
    besides = POLLUTION * float(np.average([x.lost for x in launches], weights=weights))
    error = math.hypot(math.sqrt(scatter * len(logs) / (len(logs) - 1) / effective), besides)
    half = math.hypot(student(len(launches) - 1, share) * error, mean_bias(launches, weights))
    above = float(np.average([launch.above for launch in launches], weights=weights))
    return math.exp(mean - half), math.exp(mean + half + above)


def mean_bias(launches: Sequence[LaunchTime], weights: Floats) -> float:
    """How far the mean logarithm of times (n,) with these weights (n,) may be off."""
    return float(np.average([launch.bias for launch in launches], weights=weights))


def _weights(launches: Sequence[LaunchTime]) -> Floats:
    variances = [SPREAD**2 + x.error**2 + (POLLUTION * x.lost) ** 2 for x in launches]
    return 1 / np.array(variances)


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """The quantile of values (n,) with positive weights (n,), linear between neighbours.

    With equal weights it is the usual quantile.

    >>> weighted_quantile(np.array([4.0, 1.0, 2.0]), np.ones(3), 0.25)
    1.5
    """
    order = np.argsort(values, kind="stable")
    ordered, weight = values[order], weights[order]
    before = np.cumsum(weight) - weight
    span = before[-1] + weight[-1] - (weight[0] + weight[-1]) / 2
    places = (before + weight / 2 - weight[0] / 2) / span if span > 0 else before
    return float(np.interp(share, places, ordered))
