"""A study while it runs, for callbacks: what was measured so far, and a way to stop it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from autotune.api.study_result import MeasuredTrial
from autotune.domain.results import Status
from autotune.domain.variant import Value
from autotune.errors import WorkFailed
from autotune.measuring.candidates.stop_request import StopRequest
from autotune.tuning.events import Event

Callback = Callable[["RunningStudy", MeasuredTrial], object]
"""Called with the study and each trial that has ended, in the thread that tunes."""

_PAUSE = 0.1
"""Seconds between two looks at an event that somebody else may set."""


@dataclass(slots=True)
class RunningStudy:
    """The state of a study, as callbacks see it; ``stop`` may be called from any thread."""

    name: str
    callbacks: Sequence[Callback] = ()
    trials: list[MeasuredTrial] = field(default_factory=list)
    """Those that have ended, in this order."""
    fault: Exception | None = None
    """What a callback raised; the study is stopped then, and raises it."""
    request: StopRequest = field(default_factory=StopRequest)
    _best: dict[str, MeasuredTrial] = field(default_factory=dict)
    """By problem."""
    _ended: set[str] = field(default_factory=set)

    def stop(self) -> None:
        """Stop the study: what runs is ended, and ``tune`` returns what was measured."""
        self.request.ask()

    @property
    def best(self) -> MeasuredTrial:
        """The best so far of the problem in which a trial ended last; WorkFailed before any."""
        last = self.trials[-1].problem if self.trials else ""
        if last not in self._best:
            raise WorkFailed("no candidate has a time yet")
        return self._best[last]

    @property
    def best_params(self) -> dict[str, Value]:
        """The parameters of the best so far."""
        return dict(self.best.params)

    @property
    def best_value(self) -> float:
        """The objective of the best so far."""
        value = self.best.value
        assert value is not None
        return value

    def watch(self, event: Event) -> None:
        """Note an event of the tuner; what callbacks raise stops the study."""
        self._note_best(event)
        candidate = event.notice.candidate
        failed = event.status not in ("ok", None)
        timed = event.notice.kind == "timed" and event.verdict != "open"
        if candidate is None or not (timed or failed) or candidate.identity in self._ended:
            return
        self._ended.add(candidate.identity)
        goal = event.standing.goal
        status: Status = "ok" if event.status is None else event.status
        trial = MeasuredTrial(
            number=len(self.trials),
            problem=event.standing.problem,
            params=dict(candidate.variant.parameters),
            value=None if event.measured is None or failed else goal.value(event.measured),
            status=status,
            detail=event.detail,
            predicted=event.notice.predicted,
            candidate=candidate.id,
        )
        self.trials.append(trial)
        if trial.value is not None and trial.problem not in self._best:
            self._best[trial.problem] = trial
        self._call(trial)

    def _note_best(self, event: Event) -> None:
        best = event.standing.best
        if best is None:
            return
        problem = event.standing.problem
        named = [t for t in self.trials if t.candidate == best.candidate.id]
        number = named[0].number if named else len(self.trials)
        self._best[problem] = MeasuredTrial(
            number=number,
            problem=problem,
            params=dict(best.candidate.variant.parameters),
            value=event.standing.goal.value(best.seconds),
            status="ok",
            predicted=best.predicted,
            candidate=best.candidate.id,
        )
        if named:
            self._best[problem] = replace(named[0], value=self._best[problem].value)

    def _call(self, trial: MeasuredTrial) -> None:
        for callback in self.callbacks:
            if self.fault is not None:
                return
            try:
                callback(self, trial)
            except Exception as error:  # of the user's: the study ends well before it is raised
                self.fault = error
                self.stop()


@contextmanager
def heeding(study: RunningStudy, event: threading.Event | None) -> Iterator[None]:
    """A context in which a study stops when an event is set; when it is left, the study is over."""
    over = threading.Event()

    def follow() -> None:
        assert event is not None
        while not over.wait(_PAUSE):
            if event.is_set():
                study.stop()
                return

    if event is not None:
        threading.Thread(target=follow, name="autotune-stop-event", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        study.request.over()
