"""Drawn times in place of the recorded mean, for spaces whose file holds the samples of each row.

Each launch of our search takes as long as a sample drawn with replacement. A peer is told the mean
of so many drawn samples when it evaluates a candidate, and nothing new when it asks again.
"""

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autotune.commands.replay.recorded_candidates import RecordedCandidates
from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer

_LAUNCHES = 256
"""A candidate that is launched more often takes as long again as in its first launches."""


def noisy(space: RecordedSpace) -> bool:
    """Whether the file holds more than one sample of a row."""
    return any(len(samples) > 1 for samples in space.samples)


def drawn(space: RecordedSpace, seed: int, launches: int) -> RecordedSpace:
    """The space with the mean of so many drawn samples as the time of each row."""
    seconds = [
        np.nan if status != "ok" else float(np.mean(_draw(space, row, seed, launches)))
        for row, status in enumerate(space.statuses)
    ]
    return replace(
        space,
        name=f"{space.name}, drawn {launches} by seed {seed}",
        seconds=np.array(seconds),
    )


def measurer(recorded: RecordedCandidates, seed: int) -> ReplayMeasurer:
    """A measurer whose launches take as long as drawn samples."""
    rows = {identity: row for row, identity in enumerate(recorded.identities)}
    recording = functools.cache(_recordings(recorded.space, seed))
    return ReplayMeasurer(fallback=lambda candidate: recording(rows[candidate.identity]))


def _recordings(space: RecordedSpace, seed: int) -> Callable[[int], Recording]:
    def recording(row: int) -> Recording:
        if space.statuses[row] != "ok":
            return Recording(launches=((),), status=space.statuses[row], detail="as recorded")
        times = _draw(space, row, seed, _LAUNCHES)
        return Recording(launches=tuple((float(seconds),) for seconds in times))

    return recording


def _draw(space: RecordedSpace, row: int, seed: int, count: int) -> np.ndarray:
    samples = space.samples[row] or (float(space.seconds[row]),)
    return np.random.default_rng([seed, row, 31_337]).choice(samples, count)
