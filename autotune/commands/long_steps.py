"""Says for how long a step has been running, where nothing else is reported."""

import contextlib
import math
import threading
import time
import weakref
from collections.abc import Callable

_FIRST = 5.0
"""Seconds without a report after which it is said; then after twice as many, and so on. Each costs
the machine a few milliseconds, also while a candidate is timed."""


class LongSteps:
    """Calls a method with the seconds of a step that takes long, in a thread of its own.

    ``begin`` and ``end`` come before whatever else is shown: they wait while the method runs. The
    thread ends with the object of the method.
    """

    def __init__(self, show: Callable[[float], None], first: float = _FIRST) -> None:
        self._show = weakref.WeakMethod(show)
        self._first = first
        self._changed = threading.Condition()
        self._step: tuple[str, str] | None = None
        self._began = 0.0
        self._due = math.inf
        self._wakes = math.inf
        """Until when the thread sleeps."""
        self._thread: threading.Thread | None = None

    def begin(self, stage: str, detail: str) -> None:
        """A step was reported; one that was reported before goes on."""
        with self._changed:
            now = time.monotonic()
            if self._step != (stage, detail):
                self._step, self._began = (stage, detail), now
            self._due = now + self._first
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif self._due < self._wakes:
                self._changed.notify()

    def end(self) -> None:
        """No step is running."""
        with self._changed:
            self._step, self._due = None, math.inf

    def _watch(self) -> None:
        with self._changed, contextlib.suppress(OSError, ValueError):  # stderr was closed
            while True:
                now = time.monotonic()
                show = self._show()
                if show is None:
                    return
                if self._step is not None and now >= self._due:
                    show(now - self._began)
                    self._due = now + max(self._first, now - self._began)
                del show
                # at times also while there is no step, to see whether anybody is there
                self._wakes = min(self._due, now + 2 * _FIRST)
                self._changed.wait(max(0.0, self._wakes - now))


def running(seconds: float) -> str:
    """The time of a step as the end of a line; empty where there is none.

    >>> running(12.4), running(0.0), running(200.0)
    (', running for 12 s', '', ', running for 3 min')
    """
    if not seconds:
        return ""
    return ", running for " + (f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min")
