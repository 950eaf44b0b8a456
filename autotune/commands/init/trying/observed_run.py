"""What was seen when a program was built and run, as parts of its first description."""

from collections.abc import Callable
from dataclasses import dataclass

from autotune.commands.init.trying.printed_numbers import PrintedAnswer, PrintedNumber
from autotune.commands.init.yaml_text import quoted

_SHORT = 1.0
"""Seconds of a run that is repeated freely."""
_STUDY = 100.0
"""Seconds that the candidates of a first study may take together, as far as can be foreseen."""
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

    @property
    def objectives(self) -> str:
        """What a search has beside the budget: a front of speed and ratio if both are printed."""
        return ", objectives: [time, ratio]" if self.ratio else ""

    @property
    def rounds(self) -> tuple[int, int]:
        """Rounds of a first study, and samples in each."""
        return (4, 2) if max(self.walls) < _SHORT else (3, 1)

    @property
    def budget(self) -> int:
        """So many candidates as a first study has time for."""
        rounds, samples = self.rounds
        per_candidate = self.build_seconds + max(self.walls) * (2 + 0.7 * rounds * samples)
        return min(_MOST, max(_FEWEST, int(_STUDY / max(per_candidate, 1e-3))))

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
