"""Whether the times of the candidates of a problem can be true, judged by the runs they are from.

A program that prints its own time may print a wrong one: a constant, or a time that has nothing to
do with how long its process lived. Such a candidate must not win.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from decimal import Decimal

from autotune.domain.results import Sample
from autotune.statistics.launch_times import PART
from autotune.units import show

_LAUNCHES = 3
"""A constant is told by so many launches, ..."""
_SAMPLES = 5
"""... and so many samples."""
_QUANTA = 2
"""The processes differed by more than so many units of the last digit."""
_PEERS = 3
"""A share is judged beside so many other candidates at least."""
_WILD = 20.0
"""A share is so many times smaller than the median of its peers', ..."""
_REST = 0.5
"""... although the process took longer than this part of theirs besides."""


def constant_time(samples: Sequence[Sample]) -> str:
    """Why the times of a candidate are a constant, in words; empty if they are none.

    They are where the same time was printed in every launch, though the lives of the processes
    differed by more than the last printed digit. The samples are those without warm-ups.
    """
    walls = [wall for sample in samples if (wall := _wall(sample)) is not None]
    launches = {sample.launch for sample in samples}
    if len({sample.seconds for sample in samples}) != 1 or len(walls) < len(samples):
        return ""
    if len(launches) < _LAUNCHES or len(samples) < _SAMPLES:
        return ""
    time = samples[0].seconds
    if max(walls) - min(walls) <= _QUANTA * _last_digit(time):
        return ""
    return (
        f"it printed {show(time, 'time')} in each of {len(launches)} launches, while its process"
        f" took {show(min(walls), 'time')} to {show(max(walls), 'time')}"
    )


def odd_shares(candidates: Mapping[str, Sequence[Sample]]) -> dict[str, str]:
    """The candidates whose printed times do not fit their processes, with the reason in words.

    The share of a run is the sum of its times over the life of its process. A candidate whose share
    is far below the median of all is odd, unless its process was so much shorter than the others'
    that set-up explains it.
    """
    shares: dict[str, float] = {}
    walls: dict[str, float] = {}
    for name, samples in candidates.items():
        runs: dict[tuple[int, float], float] = {}
        for sample in samples:
            wall, part = _wall(sample), sample.conditions.get(PART)
            if wall is not None and isinstance(part, int | float) and part > 0:
                run = (sample.launch, wall)
                runs[run] = runs.get(run, 0.0) + part
        if runs:
            shares[name] = statistics.median(runs.values())
            walls[name] = statistics.median(wall for _, wall in runs)
    if len(shares) <= _PEERS:
        return {}
    usual, life = statistics.median(shares.values()), statistics.median(walls.values())
    return {
        name: f"its times are {_percent(share)} of the life of its process, those of the other"
        f" candidates {_percent(usual)}, and it lived as long as they"
        for name, share in shares.items()
        if share * _WILD < usual and walls[name] * (1 - share) > _REST * life
    }


def _wall(sample: Sample) -> float | None:
    wall = sample.conditions.get("wall_s")
    return float(wall) if isinstance(wall, int | float) else None


def _last_digit(value: float) -> float:
    """The unit of the last digit of the shortest text of a number.

    >>> _last_digit(0.52)
    0.01
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else math.inf


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
