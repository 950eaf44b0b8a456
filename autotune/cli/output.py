"""What goes to the terminal: progress and notes to stderr, results to stdout."""

import json
import sys
import time
from collections.abc import Mapping

_REDRAW = 0.2
_PLAIN = 5.0


class TerminalProgress:
    """Progress on stderr: one line redrawn on a terminal, a line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._stage = ""
        self._drawn = 0.0
        self._open = False

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show that ``done`` of ``total`` steps of ``stage`` are finished."""
        now = time.monotonic()
        new, last = stage != self._stage, done >= total
        if not (new or last) and now - self._drawn < (_REDRAW if self._live else _PLAIN):
            return
        if new:
            self.close()
        self._stage, self._drawn = stage, now
        text = f"{stage} {done}/{total}" + (f"  {detail}" if detail and not last else "")
        if self._live:
            print(f"\r\x1b[2K{text[:110]}", end="", file=sys.stderr, flush=True)
            self._open = True
            if last:
                self.close()
        else:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line that is being redrawn."""
        if self._open:
            print(file=sys.stderr, flush=True)
            self._open = False


def note(text: str) -> None:
    """A remark for the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


def document(value: Mapping[str, object]) -> None:
    """Exactly one JSON document on stdout; non-finite numbers become null."""
    print(json.dumps(_finite(value), indent=1, allow_nan=False))


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
