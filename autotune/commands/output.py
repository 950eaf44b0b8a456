"""Output to the terminal: progress and notes to stderr, results to stdout."""

import contextlib
import json
import os
import re
import sys
import time

from autotune.commands.long_steps import LongSteps, running
from autotune.commands.terminal import escaped, raw_stderr, style_of
from autotune.files import codec
from autotune.progress import time_left_text
from autotune.results.report.text_style import broken, styled

_REDRAW = 0.2
_PLAIN = 5.0
"""Seconds between two lines about the same stage where nothing can be redrawn."""
_END = 1.0
"""Its last line comes after at least so many."""
_BRIEF = 2.0
"""Seconds of a stage of which no estimate is made."""
_SHARE, _STEPS = 0.05, 3
"""The share of the steps, and how many of them (of few steps half), that an estimate rests on."""
_USUAL_COLUMNS = 80


class RemainingTime:
    """How long a stage still takes, at the pace of the steps that were seen to finish."""

    def __init__(self) -> None:
        self._stage = ""
        self._started = 0.0
        self._first = 0

    def words(self, stage: str, done: int, total: int, detail: str) -> str:
        """The time left: ``, about 40 s left``; empty in the first and the last two seconds, after
        too few of the steps to rest an estimate on, and where the detail says it.
        """
        now = time.monotonic()
        if stage != self._stage or done < self._first:
            self._stage, self._started, self._first = stage, now, done
        elapsed, steps = now - self._started, done - self._first
        left = elapsed * (total - done) / steps if steps > 0 else 0.0
        few = steps < max(_SHARE * (total - self._first), min(_STEPS, (total - self._first) / 2))
        if few or min(left, elapsed) < _BRIEF or detail.endswith(" left"):
            return ""
        return f", {time_left_text(left)}"


class TerminalProgress:
    """Progress on stderr: one line redrawn on a terminal, a line every few seconds elsewhere.

    Elsewhere, stages that differ only in numbers, such as the rounds of a step, count as one stage.
    A build or a run of more than five seconds says for how long it has been running.
    """

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._stage = ""
        self._drawn = 0.0
        self._said: dict[str, float] = {}
        self._remaining = RemainingTime()
        self._estimated = ""
        self._open = False
        self._current = ("", "")
        """The stage of the latest report, and its line."""
        self._long = LongSteps(self._still)

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show that ``done`` of ``total`` steps of ``stage`` are finished."""
        last = done >= total
        if detail and not last:
            self._long.begin(stage, detail)
        else:
            self._long.end()
        left = self._remaining.words(stage, done, total, detail)
        text = f"{stage} {done}/{total}{left}" + (f"  {detail}" if detail and not last else "")
        self._current = stage, text
        if self._live:
            self._redraw(stage, text, last=last)
        elif self._due(stage, last=last) or (left and self._estimated != stage):
            self._estimated = stage if left else ""
            print(text, file=sys.stderr, flush=True)

    def _still(self, seconds: float) -> None:
        """Say of the latest step for how long it has been running."""
        stage, line = self._current
        text = line + running(seconds)
        if self._live:
            self._redraw(stage, text, last=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def _redraw(self, stage: str, text: str, *, last: bool) -> None:
        now = time.monotonic()
        new = stage != self._stage
        if not (new or last) and now - self._drawn < _REDRAW:
            return
        if new:
            self._end_line()
        self._stage, self._drawn = stage, now
        line = escaped(text)[: _columns() - 1]
        print(f"\r\x1b[2K{line}", end="", file=raw_stderr(), flush=True)
        self._open = True
        if last:
            self._end_line()

    def _due(self, stage: str, *, last: bool) -> bool:
        """Whether to print a line about a stage: at its start, at its end, and at intervals."""
        now, kind = time.monotonic(), re.sub(r"\d+", "#", stage)
        if now - self._said.get(kind, -_PLAIN) < (_END if last else _PLAIN):
            return False
        self._said[kind] = now
        return True

    def close(self) -> None:
        """End the line that is being redrawn; nothing is running any more."""
        self._long.end()
        self._end_line()

    def _end_line(self) -> None:
        if self._open:
            print(file=sys.stderr, flush=True)
            self._open = False


def _columns() -> int:
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    return _USUAL_COLUMNS


def say(text: str) -> None:
    """Text on stdout, broken between words where it is wider than the terminal."""
    print(broken(text))


def note(text: str) -> None:
    """A remark for the person at the terminal."""
    with styled(style_of(sys.stderr)):
        print(broken(text), file=sys.stderr, flush=True)


def document(value: object) -> None:
    """Exactly one JSON document on stdout: a frozen class; non-finite numbers become null."""
    print(json.dumps(codec.document(value), indent=1, allow_nan=False))
