"""The events that a tuner reports to watchers: the state of each problem and what happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autotune.domain.metric import TIME, Metric
from autotune.domain.results import Status
from autotune.domain.variant import Candidate

Kind = Literal["begun", "proposed", "built", "timed", "finals", "finished"]
"""``begun``: the first candidates of a problem are chosen, or given up. ``proposed``: the search
named one. ``built``: one was built and verified, or failed to be. ``timed``: one was launched;
``verdict`` says how it compares. ``finals``: the best are measured again, interleaved.
``finished``: nothing more is done about a problem, ``why`` says for what reason."""

Verdict = Literal["open", "best", "close", "slower", "failed"]
"""``open``: too early to say. ``best``: the fastest so far. ``close``: not told apart from it, and
measured as often as it ever is. ``slower``: clearly, and dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The fastest candidate of a problem so far."""

    candidate: Candidate
    seconds: float
    """Measured seconds of a time step, at the level of the latest rounds."""
    predicted: float | None
    evaluation: int
    """It was the so many-th candidate of its problem that was measured, from 1; 0: it was known
    before the run."""
    name: str = ""
    """What it is called; it tells it apart from all others of its problem that were tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of the search of one problem, as a row of a table."""

    problem: str
    """Label."""
    candidates: int
    """Legal ones."""
    step: int
    """Steps of the search so far; 0 while the first candidates are measured."""
    measured: int
    """Candidates with a time of this run."""
    failed: int
    elsewhere: int
    """Candidates that only other runs measured, before this one or meanwhile."""
    open: int
    """Candidates that are being built or timed now."""
    samples: int
    disturbed: int
    """Samples during which other processes took the cores."""
    best: Best | None
    baseline: float | None
    """Measured seconds of a time step of the baseline."""
    expected_improvement: float | None
    """Relative, of what the search named last; None before it named any, and of samplers that do
    not say."""
    evaluations_left: int | None
    """None: no such budget."""
    seconds_left: float | None
    finished: str
    """Why nothing more is done; empty while something is."""
    goal: Metric = TIME
    """What is optimised; ``seconds`` and ``measured`` are its costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemNotice:
    """What happened to a problem or to one of its candidates."""

    kind: Kind
    candidate: Candidate | None = None
    why: str = ""
    """Why a candidate was chosen, or a problem is finished; notes of ``begun``."""
    predicted: float | None = None
    """Seconds of a time step, by the model."""
    expected: float | None = None
    """Of ``proposed``: the cost that the search expects now, where it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event in the search of a problem; ``standing`` is the problem's state after it."""

    notice: ProblemNotice
    standing: Standing
    standings: Sequence[Standing]
    """Of all problems of the run, in order."""
    name: str = ""
    """What the candidate of the notice is called, as in ``Best``."""
    measured: float | None = None
    """The same as measured, at the level of the latest rounds."""
    ratio: tuple[float, float, float] | None = None
    """Time over that of the best so far, and the interval that it lies in."""
    rounds: int = 0
    """So many rounds a candidate was launched in."""
    verdict: Verdict = "open"
    status: Status | None = None
    detail: str = ""
    """Of a failure."""


class Watcher(Protocol):
    """Receives every event when it happens; it must return at once and never raise."""

    def __call__(self, event: Event) -> None:
        """Receive an event."""


def unwatched(event: Event) -> None:
    """A watcher that ignores all events."""
