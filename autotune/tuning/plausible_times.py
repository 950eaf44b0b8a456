"""Whether the times of the candidates of a problem can be true, judged by the runs they are from.

A program that prints its own time may print a wrong one: a constant, or a time that has nothing to
do with how long its process lived. Such a candidate must not win.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from decimal import Decimal

from autotune.domain.results import Sample
from autotune.statistics.waiting import PART
from autotune.units import rough_percent, show

_LAUNCHES = 3
"""A constant is told by so many launches, ..."""
_SAMPLES = 5
"""... and so many samples."""
_QUANTA = 2
"""The processes differed by more than so many units of the last digit, ..."""
_EXACT = 1e-3
"""... of a time whose last digit is smaller than this part of it; a coarser one may repeat, ..."""
_MOST_OF_LIFE = 0.8
"""... unless it is this part of the lives of its processes, ..."""
_DIFFER = 0.25
"""... and these differ by this part of it."""
_PEERS = 3
"""A share is judged beside so many other candidates at least."""
_WILD = 20.0
"""A share is so many times smaller than the median of its peers', ..."""
_REPEATED = 3.0
"""... or so many times if it is of a time that every launch repeats, ..."""
_REST = 0.5
"""... although the process took longer besides, by this part of the times that they print."""


def constant_time(samples: Sequence[Sample]) -> str:
    """Why the times of a candidate are a constant, in words; empty if they are none.

    What is no time, such as a ratio, may be one. Times are where the same was printed in every
    launch, though the lives of the processes
    differed by more than the last printed digit. A time of two or three digits may repeat while the
    set-up of its program varies. The samples are those without warm-ups.
    """
    if any(sample.conditions.get(PART) == 0 for sample in samples):
        return ""
    walls = [wall for sample in samples if (wall := _wall(sample)) is not None]
    if not _repeats(samples) or len(walls) < len(samples):
        return ""
    time = samples[0].seconds
    digit, differ = _last_digit(time), max(walls) - min(walls)
    if differ <= _QUANTA * digit:
        return ""
    shares = [share for share, _ in _runs(samples)]
    lasting = shares and statistics.median(shares) > _MOST_OF_LIFE and differ > _DIFFER * time
    if digit > _EXACT * time and not lasting:
        return ""
    took = f"{show(min(walls), 'time')} to {show(max(walls), 'time')}"
    return f"{_repeated(samples)}, while its process took {took}"


def odd_shares(candidates: Mapping[str, Sequence[Sample]]) -> dict[str, str]:
    """The candidates whose printed times do not fit their processes, with the reason in words.

    The share of a run is the sum of its times over the life of its process. A candidate whose share
    is far below the median of all is odd, if its process took longer besides its times than theirs:
    a fast candidate has the same set-up as they. How long a process took besides is its least of
    all runs, for other work on the machine only adds to it.
    """
    shares: dict[str, float] = {}
    besides: dict[str, float] = {}
    within: dict[str, float] = {}
    for name, samples in candidates.items():
        if runs := _runs(samples):
            shares[name] = statistics.median(share for share, _ in runs)
            besides[name] = min(wall * (1 - share) for share, wall in runs)
            within[name] = statistics.median(wall * share for share, wall in runs)
    if len(shares) <= _PEERS:
        return {}
    usual, rest = statistics.median(shares.values()), statistics.median(besides.values())
    least = rest + _REST * statistics.median(within.values())
    odd = {}
    for name, share in shares.items():
        repeats = _repeats(candidates[name])
        if share * (_REPEATED if repeats else _WILD) < usual and besides[name] > least:
            odd[name] = (
                (f"{_repeated(candidates[name])}: " if repeats else "its times are ")
                + f"{rough_percent(share)} of the life of its process, those of the other"
                f" candidates {rough_percent(usual)}, and it took"
                f" {show(besides[name], 'time')} besides, they {show(rest, 'time')}"
            )
    return odd


def _repeats(samples: Sequence[Sample]) -> bool:
    """Whether enough launches printed the same time."""
    launches = {sample.launch for sample in samples}
    enough = len(launches) >= _LAUNCHES and len(samples) >= _SAMPLES
    return enough and len({sample.seconds for sample in samples}) == 1


def _repeated(samples: Sequence[Sample]) -> str:
    launches = len({sample.launch for sample in samples})
    return f"it printed {show(samples[0].seconds, 'time')} in each of {launches} launches"


def _runs(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """The share of its times in the life of each run, and this life in seconds."""
    runs: dict[tuple[int, float], float] = {}
    for sample in samples:
        wall, part = _wall(sample), sample.conditions.get(PART)
        if wall is not None and isinstance(part, int | float) and part > 0:
            run = (sample.launch, wall)
            runs[run] = runs.get(run, 0.0) + part
    return [(share, wall) for (_, wall), share in runs.items()]


def _wall(sample: Sample) -> float | None:
    wall = sample.conditions.get("wall_s")
    return float(wall) if isinstance(wall, int | float) else None


def _last_digit(value: float) -> float:
    """The unit of the last digit of the shortest text of a number of at most 12 digits.

    >>> _last_digit(0.52), _last_digit(123 * 1e-6)
    (0.01, 1e-06)
    """
    exponent = Decimal(f"{value:.12g}").normalize().as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else math.inf
