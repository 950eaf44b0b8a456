"""What was seen when a program was built and run, as parts of its first description."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from autotune.commands.init.trying.printed_numbers import PrintedAnswer, PrintedNumber
from autotune.commands.init.yaml_text import quoted
from autotune.units import counted, number_of_many, show

_SHORT = 1.0
"""Seconds of a run that is repeated freely."""
_STUDY = 100.0
"""Seconds that the candidates of a first study may take together, as far as can be foreseen."""
_MINUTE = 60.0
"""Seconds that people often grant a first study."""
_ENOUGH = 6
"""Candidates in that time that are worth a study."""
_SPARE = 1.2
"""Times the foreseen seconds that a study is granted."""
_FEWEST, _MOST = 4, 30
"""Candidates of a first study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRun:
    """A build and two runs of a program as it is."""

    build_seconds: float
    """0: nothing is built."""
    walls: tuple[float, ...]
    """Seconds of each run, from the start of its process to its end."""
    numbers: tuple[PrintedNumber, ...] = ()
    """Times and rates that it printed, the most likely first."""
    chosen: PrintedNumber | None = None
    """The one that is optimised; None: the time of the process."""
    ratio: str = ""
    """What finds a ratio in the line of that number; empty: there is none."""
    answer: PrintedAnswer | None = None
    """What both runs printed alike and is checked."""
    differing: tuple[str, ...] = ()
    """Lines that look like an answer, but differed from run to run."""
    unread: tuple[str, ...] = ()
    """Lines with a time or a rate that commas or colons part."""

    @property
    def objectives(self) -> str:
        """What a search has beside the budget: a front of speed and ratio if both are printed."""
        return ", objectives: [time, ratio]" if self.ratio else ""

    @property
    def rounds(self) -> tuple[int, int]:
        """Rounds of a first study, and samples in each."""
        return (4, 2) if max(self.walls) < _SHORT else (3, 1)

    @property
    def per_candidate(self) -> float:
        """Seconds that a candidate takes in a first study, as far as can be foreseen."""
        rounds, samples = self.rounds
        return max(self.build_seconds + max(self.walls) * (2 + 0.7 * rounds * samples), 1e-3)

    @property
    def budget(self) -> int:
        """So many candidates as a first study has time for."""
        return min(_MOST, max(_FEWEST, int(_STUDY / self.per_candidate)))

    def slowness(self, candidates: int, combinations: int) -> str:
        """What a minute covers of a study of so many candidates, and what they need; empty where a
        minute covers enough of them.

        ``combinations``: how many there are, beyond the budget of the study.
        """
        covered = int(_MINUTE / self.per_candidate)
        if covered >= min(candidates, _ENOUGH):
            return ""
        run, whole = (show(s, "time") for s in (max(self.walls), self.per_candidate))
        needed = 10 * math.ceil(_SPARE * candidates * self.per_candidate / 10)
        budget = (
            f" (search: budget; there are {number_of_many(combinations)})"
            if candidates < combinations
            else ""
        )
        return (
            f"a run takes {run}, a candidate about {whole} in all its runs: {_MINUTE:g} s cover"
            f" {covered} of {counted(candidates, 'candidate')}{budget}, --budget-seconds {needed}"
            f" all {candidates}"
        )

    def limits(self) -> tuple[int, int]:
        """Seconds of a build and of a run, well above what they took."""
        return max(60, int(5 * self.build_seconds)), max(60, int(10 * max(self.walls)))

    def lines(self, tolerance: str, free: Callable[[str], str]) -> list[str]:
        """The keys of a description that say how time and answer are read.

        ``free``: a valid name for a metric that is not taken.
        """
        return [*self._reading(free), *self._check(tolerance)]

    def _reading(self, free: Callable[[str], str]) -> list[str]:
        number = self.chosen
        if number is None:
            return ["time: wall  # of the whole process: it printed no time and no rate"]
        seen = f"# it printed: {_comment(number.line)}"
        beside = [f"  ratio: {{pattern: {quoted(self.ratio)}, better: more}}"] if self.ratio else []
        if number.kind == "time":
            unit = f", unit: {number.unit}" if number.unit != "s" else ""
            time = f"time: {{pattern: {quoted(number.pattern)}{unit}}}"
            return [seen, time, *(["metrics:", *beside] if beside else [])]
        name = free(number.name)
        return [
            seen,
            "metrics:",
            f"  {name}: {{pattern: {quoted(number.pattern)}, unit: {quoted(number.unit)},"
            f" better: {number.better}}}",
            *beside,
            f"objective: {name}",
        ]

    def _check(self, tolerance: str) -> list[str]:
        if self.answer is None:
            return [
                "# LOOK AT: without a check value wrong answers go unseen:",
                f'# check: {{pattern: "sum (\\\\S+)", tolerance: {tolerance}}}',
            ]
        return [
            f"# it printed, twice: {_comment(self.answer.line)}",
            f"check: {{pattern: {quoted(self.answer.pattern)}, tolerance: {tolerance}}}",
        ]


def _comment(line: str) -> str:
    """A printed line as the end of a comment: one line, no control characters."""
    plain = "".join(letter if letter.isprintable() else " " for letter in line)
    return plain[:90].rstrip()
