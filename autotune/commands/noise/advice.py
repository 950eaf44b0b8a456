"""What would tell closer candidates apart on this host, from the figures of an A/A run."""

import math
from collections.abc import Iterator

from autotune.commands.noise.resolution import ResolvedDifference, TwinFigures
from autotune.measuring.conditions.host_load import HostLoad
from autotune.results.report.number_words import duration, percent
from autotune.tuning.race import most_rounds

_FINE = 0.02
"""A config whose close candidates are told apart at this relative difference needs no advice."""
_PATIENCE = 60.0
"""Seconds: the finest difference that two candidates take so long for is recommended."""
_SHORT = 0.1
"""Seconds of a run of a program: disturbances of some milliseconds are much of a shorter one."""
_MORE = 4
"""So many times the samples of a launch are considered."""
_GAIN = 0.8
"""More samples are recommended if the spread falls below this share of what it is."""
_DISTURBED = 0.1
"""Share of samples: with fewer that are disturbed a quieter time hardly helps."""


def advice(figures: TwinFigures, load: HostLoad, config: str = "the config") -> list[str]:
    """What helps to tell closer candidates apart, a sentence each; empty where 2 % are resolved.

    ``config``: its file.
    """
    if figures.holds and figures.close.difference <= _FINE:
        return []
    return [
        *_more_rounds(figures, config),
        *_longer_launches(figures, config),
        *_quieter_time(figures, load),
    ]


def _more_rounds(figures: TwinFigures, config: str) -> Iterator[str]:
    """The rounds that tell the finest difference apart which two candidates need little time for,
    or how long the coarsest takes.
    """
    finer = [row for row in figures.differences if row.difference < figures.close.difference]
    row = next((row for row in finer if (row.seconds or math.inf) <= _PATIENCE), None)
    if row is not None:
        yield (
            f"more launches: measuring: {{rounds: {_stated(row)}}} in {config}, in place of"
            f" {figures.usual.rounds}, gives close candidates up to {row.rounds} rounds in place of"
            f" {figures.close.rounds}, which tell {100 * row.difference:g} % apart, in"
            f" {duration(row.seconds)} for two candidates"
        )
    elif finer:
        coarsest = finer[-1]
        takes = f"takes {duration(coarsest.seconds)}" if coarsest.seconds else "takes too many"
        yield (
            f"more launches alone are not enough: to tell {100 * coarsest.difference:g} % apart"
            f" {takes} for two candidates"
        )


def _stated(row: ResolvedDifference) -> int:
    """The rounds that a config states so that close candidates get those of a difference."""
    rounds = row.rounds or 1
    return next(n for n in range(1, rounds + 1) if most_rounds(n) >= rounds)


def _longer_launches(figures: TwinFigures, config: str) -> Iterator[str]:
    if figures.run_s is not None and figures.run_s < _SHORT:
        yield (
            f"longer runs: one takes {duration(figures.run_s)}, so that disturbances of some"
            f" milliseconds count in full; a larger problem, or repeats inside the program, can"
            f" make it {_SHORT:g} s or longer"
        )
        return
    samples = figures.samples / (2 * figures.rounds)
    if figures.within is None or not figures.noise:
        return
    gained = figures.within**2 / samples * (1 - 1 / _MORE)
    spread = math.sqrt(max(0.0, figures.noise**2 - gained))
    if spread < _GAIN * figures.noise:
        yield (
            f"more samples in a launch: measuring: {{samples: {math.ceil(samples) * _MORE}}} in"
            f" {config} lowers the spread between launches of a round from"
            f" {percent(figures.noise)} to about {percent(spread)}"
        )


def _quieter_time(figures: TwinFigures, load: HostLoad) -> Iterator[str]:
    if figures.disturbed / figures.samples >= _DISTURBED:
        yield (
            f"a quieter time: other processes disturbed"
            f" {percent(figures.disturbed / figures.samples)} of the samples; before the run they"
            f" used {load.others.cpus:.1f} of {load.cores} CPUs"
        )
