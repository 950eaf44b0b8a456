"""The display of a tuning run: a table on a terminal, lines of text elsewhere.

Everything goes to stderr. The table is drawn after an event, by the thread in which it occurred,
and not by a ticking clock, which would take time from the measurement. Only of a build or a run of
more than five seconds it is said for how long it has been running, after 5, 10, 20, ... s.
"""

import sys
import time
from collections.abc import Sequence
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from autotune.commands.long_steps import LongSteps, running
from autotune.commands.output import RemainingTime, TerminalProgress
from autotune.commands.terminal import escaped, raw_stderr
from autotune.domain.metric import Metric
from autotune.results.report import number_words, words
from autotune.tuning import Event, Standing
from autotune.units import number_of_many

_REDRAW = 0.1
_PLAIN = 5.0
_HISTORY = 6
"""Events that stay below the table."""
_FRAME = 7
"""Lines of the screen that are not rows of problems or events."""
_BEST = "best so far"
_COLUMNS = {
    "problem": 0, _BEST: 0, "predicted": 120, "measured": 60, "speed-up": 0, "tried": 80,
    "failed": 120, "noisy": 100, "left": 0, "": 120,
}  # fmt: skip
"""The columns, and how wide a terminal must be to have room for each."""
_WORDS = ("problem", _BEST, "")
"""Columns of words; the others are aligned at their right."""

_VERDICTS = {
    "open": "",
    "best": "the best so far",
    "close": "too close to the best to tell",
    "slower": "clearly slower",
    "failed": "failed",
}


class Screen(Protocol):
    """A display of progress and of the events of a tuner; ``close`` restores the terminal."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """``done`` of ``total`` steps of a stage are finished."""

    def watch(self, event: Event) -> None:
        """Show an event of a problem."""

    def close(self) -> None:
        """End the display; nothing more is shown."""


def screen() -> Screen:
    """A table where stderr is a terminal that can redraw; lines of text elsewhere."""
    console = Console(file=raw_stderr())
    return (
        TableScreen(console)
        if console.is_terminal and not console.is_dumb_terminal
        else LineScreen()
    )


class LineScreen(TerminalProgress):
    """Progress lines, and a line per event.

    Important events are always printed, others at most once in five seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last_printed = 0.0

    def watch(self, event: Event) -> None:
        """Print a line about an event, unless one was printed a few seconds ago."""
        now = time.monotonic()
        often = event.notice.kind not in ("begun", "finals", "finished")
        if often and (now - self._last_printed < _PLAIN or not event_text(event)):
            return
        self._last_printed = now
        self.close()
        print(f"{event.standing.problem}: {summary(event)}", file=sys.stderr, flush=True)


class TableScreen:
    """A table redrawn in place: a row per problem, the latest events and the current stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._drawn = 0.0
        self._stage = ("", 0, 0, "")
        self._remaining = RemainingTime()
        self._standings: Sequence[Standing] = ()
        self._current = ""
        self._history: dict[str, str] = {}
        self._seconds = 0.0
        """Of the current step, where it takes long."""
        self._long = LongSteps(self._still)

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None:
        """Show the current stage, redrawing at a limited rate.

        A stage of a single step is a remark and stays on the screen.
        """
        new = stage != self._stage[0]
        if new and done == total == 1:
            self._console.print(escaped(stage), style="dim", markup=False, highlight=False)
            return
        if detail and done < total:
            self._long.begin(stage, detail)
        else:
            self._long.end()
        self._stage, self._seconds = (stage, done, total, detail), 0.0
        self._draw(now=new or done >= total)

    def watch(self, event: Event) -> None:
        """Show an event and the state of the problems after it."""
        self._long.end()
        self._seconds = 0.0
        self._standings, self._current = event.standings, event.standing.problem
        text = event_text(event)
        if text:
            several = f"{self._current}: " if len(self._standings) > 1 else ""
            about = event.notice.candidate.identity if event.notice.candidate else event.notice.kind
            self._history.pop(f"{self._current} {about}", None)  # the latest of each, last
            self._history[f"{self._current} {about}"] = several + text
            for old in list(self._history)[:-_HISTORY]:
                del self._history[old]
        self._draw(now=event.notice.kind != "built")

    def close(self) -> None:
        """Remove the table and make the cursor visible again."""
        self._long.end()
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _still(self, seconds: float) -> None:
        """Show for how long the current step has been running."""
        self._seconds = seconds
        self._draw(now=True)

    def _draw(self, *, now: bool) -> None:
        moment = time.monotonic()
        if not now and moment - self._drawn < _REDRAW:
            return
        self._drawn = moment
        if self._live is None:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, redirect_stdout=False
            )
            self._live.start()
            # whatever ends this process, the terminal still has its cursor
            self._console.show_cursor(True)
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._standings:
            room = max(1, self._console.height - _FRAME - len(self._history))
            shown = visible(self._standings, self._current, room)
            parts.append(table(shown, self._console.width))
            if len(shown) < len(self._standings):
                parts.append(_line(f"and {len(self._standings) - len(shown)} more problems"))
        parts += [_line(text) for text in self._history.values()]
        stage, done, total, detail = self._stage
        left = self._remaining.words(stage, done, total, detail)
        spent = running(self._seconds)
        parts.append(_line(f"{stage} {done}/{total}{left}{spent}  {detail}", "bold"))
        return Group(*parts)


def _line(text: str, style: str = "dim") -> Text:
    return Text(escaped(text), style=style, no_wrap=True, overflow="ellipsis")


def visible(standings: Sequence[Standing], current: str, room: int) -> Sequence[Standing]:
    """The problems that fit on the screen, around the one in progress."""
    names = [standing.problem for standing in standings]
    place = names.index(current) if current in names else 0
    first = max(0, min(place - room // 2, len(standings) - room))
    return standings[first : first + room]


def table(standings: Sequence[Standing], width: int = 120) -> Table:
    """A table with a row per problem, of the columns that a terminal of ``width`` has room for."""
    grid = Table(expand=True, pad_edge=False, box=None, header_style="bold")
    for name in headings(width):
        if name in _WORDS:
            grid.add_column(name, ratio=1 if name == _BEST else None, no_wrap=True)
        else:
            grid.add_column(name, justify="right", no_wrap=True)
    for standing in standings:
        grid.add_row(*(Text(escaped(cell)) for cell in cells(standing, width)))
    return grid


def headings(width: int) -> list[str]:
    """The columns of a terminal of ``width``: what is known best first, then the rest."""
    return [name for name, least in _COLUMNS.items() if width >= least]


def cells(standing: Standing, width: int = 120) -> list[str]:
    """The cells of the row of one problem."""
    best, shown = standing.best, headings(width)
    gained = standing.baseline / best.seconds if best and standing.baseline else None
    texts = {
        "problem": standing.problem,
        _BEST: (best.name or best.candidate.variant.label) if best else "-",
        "predicted": number_words.seconds(best.predicted if best else None),
        "measured": number_words.seconds(best.seconds if best else None, standing.goal),
        "speed-up": f"{gained:.2f}x" if gained else "-",
        "tried": f"{standing.measured + standing.failed} of {number_of_many(standing.candidates)}",
        "failed": str(standing.failed),
        "noisy": f"{standing.disturbed} of {standing.samples}",
        "left": "done" if standing.finished and "" not in shown else remaining_budget(standing),
        "": state(standing),
    }
    return [texts[name] for name in shown]


def remaining_budget(standing: Standing) -> str:
    """The remaining budgets as text: ``8 to try, 95 s``; empty without a budget, and at the end."""
    parts: list[str] = []
    if standing.finished:
        return ""
    if standing.evaluations_left is not None:
        untried = standing.candidates - standing.measured - standing.failed
        parts.append(f"{min(standing.evaluations_left, untried)} to try")
    if standing.seconds_left is not None:
        parts.append(f"{max(0.0, standing.seconds_left):.0f} s")
    return ", ".join(parts)


def state(standing: Standing) -> str:
    """The stage of the search for a problem, or why it has ended."""
    if standing.finished:
        return standing.finished
    if standing.expected_improvement is not None:
        return (
            f"step {standing.step}, {number_words.percent(standing.expected_improvement)} expected"
        )
    return "the first ones" if not standing.step else f"step {standing.step}"


def summary(event: Event) -> str:
    """One line about an event and the state of its problem."""
    standing = event.standing
    best = standing.best
    parts = [event_text(event)]
    if best:
        predicted = f", predicted {number_words.seconds(best.predicted)}" if best.predicted else ""
        parts.append(
            f"best so far {best.name or best.candidate.variant.label}"
            f" {number_words.seconds(best.seconds, standing.goal)}{predicted}"
        )
    tried = standing.measured + standing.failed
    failed = f", {standing.failed} failed" if standing.failed else ""
    elsewhere = f", {standing.elsewhere} more in other runs" if standing.elsewhere else ""
    parts.append(f"{tried} of {number_of_many(standing.candidates)} tried{failed}{elsewhere}")
    if standing.disturbed:
        parts.append(f"{standing.disturbed} of {standing.samples} samples disturbed")
    if remaining_budget(standing):
        parts.append(f"left: {remaining_budget(standing)}")
    return "; ".join(part for part in parts if part)


def event_text(event: Event) -> str:
    """An event in words; empty for an event that needs no words."""
    notice = event.notice
    name = event.name or (notice.candidate.variant.label if notice.candidate else "")
    match notice.kind:
        case "begun":
            return notice.why or "begun"
        case "proposed":
            foreseen = ""
            if notice.expected:
                goal = event.standing.goal
                foreseen = f", expected {number_words.seconds(notice.expected, goal)}"
            elif notice.predicted:
                foreseen = f", predicted {number_words.seconds(notice.predicted)}"
            return f"next {name}: {notice.why}{foreseen}"
        case "built" if event.status not in (None, "ok"):
            return f"{name}: {_failure(event)}"
        case "timed" if event.status not in (None, "ok"):
            return f"{name}: {_failure(event)}"
        case "timed":
            return f"{name}: {_timed(event)}"
        case "finals":
            return "the best are measured again, interleaved"
        case "finished":
            return f"finished: {notice.why}"
    return ""


def _timed(event: Event) -> str:
    parts = [f"{number_words.seconds(event.measured, event.standing.goal)} so far"]
    if event.notice.predicted:
        parts.append(f"predicted {number_words.seconds(event.notice.predicted)}")
    best = event.standing.best
    if event.ratio and event.verdict != "best" and event.measured and best:
        # of the two times that the line shows; the verdict rests on the rounds they have in common
        parts.append(_beside_the_best(event.measured / best.seconds, event.standing.goal))
    verdict = _VERDICTS[event.verdict]
    if verdict:
        parts.append(verdict if event.standing.goal.timed else verdict.replace("slower", "worse"))
    return ", ".join(parts)


def _beside_the_best(ratio: float, goal: Metric) -> str:
    """A cost over that of the best so far in words: ``1.50 times the best``; of a rate the share.

    >>> _beside_the_best(4.0, Metric("rate", "MB/s", "more"))
    '0.25 of the best'
    """
    return (
        f"{ratio:.2f} times the best" if goal.better == "less" else f"{1 / ratio:.2f} of the best"
    )


def _failure(event: Event) -> str:
    outcome = words.STATUS_WORDS[event.status] if event.status else "failed"
    reason = words.first_words(event.detail)
    return f"{outcome}: {reason}" if reason else outcome
