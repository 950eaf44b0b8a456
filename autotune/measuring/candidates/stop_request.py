"""A request to stop measuring, from any thread: it ends like Ctrl-C, with everything kept."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from autotune.domain.results import Prepared, Sample
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Launch, Measurer

_SOON = 0.05
"""Seconds between two ends of whatever runs, after a stop was requested."""


@dataclass(slots=True)
class StopRequest:
    """Asked for by any thread; a measurer that heeds it then raises KeyboardInterrupt."""

    _event: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _measurer: Measurer | None = None

    @property
    def requested(self) -> bool:
        """Whether a stop was requested."""
        return self._event.is_set()

    def ask(self) -> None:
        """Request the stop: what runs is ended, nothing more is begun."""
        if not self._event.is_set():
            self._event.set()
            threading.Thread(target=self._end_all, name="autotune-stop", daemon=True).start()

    def _end_all(self) -> None:
        """End what runs until the work is over, since a process may just be starting."""
        while not self._over.is_set():
            if self._measurer is not None:
                self._measurer.interrupt()
            time.sleep(_SOON)

    def over(self) -> None:
        """Note that the work has ended."""
        self._over.set()

    def heeded_by(self, measurer: Measurer) -> "StoppableMeasurer":
        """The measurer, which heeds this request."""
        self._measurer = measurer
        return StoppableMeasurer(measurer, self)


@dataclass(frozen=True, slots=True)
class StoppableMeasurer:
    """A measurer that raises KeyboardInterrupt once a stop is requested.

    A result that comes after the request is dropped: what ran was ended, which is no fault of the
    candidate.
    """

    measurer: Measurer
    request: StopRequest

    def _heed(self) -> None:
        if self.request.requested:
            raise KeyboardInterrupt

    def prepare(self, candidate: Candidate) -> Prepared:
        """Build and verify a candidate."""
        self._heed()
        prepared = self.measurer.prepare(candidate)
        self._heed()
        return prepared

    def interrupt(self) -> None:
        """End what other threads are running."""
        self.measurer.interrupt()

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """Run one process."""
        self._heed()
        launched = self.measurer.launch(
            prepared,
            round_number=round_number,
            launch=launch,
            expected=expected,
            on_sample=on_sample,
        )
        self._heed()
        return launched
