"""Whether the candidates that were chosen are slower than they were: values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from autotune.domain.metric import Metric
from autotune.statistics.slowdown_test import SlowdownReading

GateWay = Literal["revision", "kept build", "stored times", "none"]
"""What the new program was compared with: the old one built from its revision, or its executable
in the build cache, both launched in the same rounds with the new one; the times in the store, with
an allowance for how much the host differs from run to run; nothing."""
WAYS: Mapping[GateWay, str] = {
    "revision": "old and new built and launched in turn",
    "kept build": "the program of the study, kept in the build cache, and the new one in turn",
    "stored times": "the times of the study, taken in another run",
    "none": "nothing was compared",
}
GateOutcome = Literal["slower", "within", "open", "same program", "not compared", "failed"]
"""``slower``: a regression is proven; ``within``: it is proven that there is none; ``open``:
neither; ``failed``: the new program did not build, run or verify."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRatio:
    """How many times faster a candidate is than the baseline that was launched in its rounds."""

    then: float
    """In the study."""
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemGate:
    """The chosen candidate of one problem, as it is now beside as it was."""

    problem: str
    """Label."""
    objective: Metric
    candidate: str
    """Id of the candidate as it is now; as the study has it, where it is none any more."""
    way: GateWay
    outcome: GateOutcome
    reading: SlowdownReading | None = None
    """Cost now over cost then; None where they were not compared."""
    then: float | None = None
    """Value of the objective, in its unit."""
    now: float | None = None
    baseline: BaselineRatio | None = None
    """Of stored times: what the drift of the host is no part of."""
    detail: str = ""
    """Why nothing was compared, or what failed."""
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """``new``, ``old`` or ``baseline``: the value of every launch, in the order of the rounds."""

    @property
    def ratio_words(self) -> str:
        """The slowdown with its interval: ``+1.2 % (-0.5 % to +2.9 %)``; empty without one."""
        if self.reading is None:
            return ""
        low, high = (_signed(end - 1) for end in (self.reading.low, self.reading.high))
        return f"{_signed(self.reading.ratio - 1)} ({low} to {high})"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """The check of a config against a study or a revision."""

    config: str
    old: str
    """What is compared with, in words: ``study quick of 2026-05-01``, ``HEAD~1 (1f2e3d4c5b, ...)``.
    """
    new: str
    limit: float
    """Largest slowdown that is no regression."""
    error: float
    """Probability of a false alarm, of all problems together."""
    problems: tuple[ProblemGate, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know: uncommitted files, a busy host."""
    interrupted: bool = False

    @property
    def regressions(self) -> tuple[ProblemGate, ...]:
        """The problems that are slower by more than the limit, as is proven."""
        return tuple(problem for problem in self.problems if problem.outcome == "slower")

    @property
    def failures(self) -> tuple[ProblemGate, ...]:
        """The problems whose program does not build, run or verify any more."""
        return tuple(problem for problem in self.problems if problem.outcome == "failed")

    @property
    def passes(self) -> bool:
        """Whether no regression is proven and nothing failed."""
        return not self.regressions and not self.failures


def _signed(share: float) -> str:
    return f"{100 * share:+z.1f} %"
