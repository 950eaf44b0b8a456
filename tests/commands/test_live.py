"""What a person sees while the tuner works: a table on a terminal, a few lines elsewhere."""

import contextlib
import io
import os
import pty
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import fabricated as fake
import pytest
from rich.console import Console
from terminal import Terminal

from autotune.commands import live, output
from autotune.domain.metric import Metric
from autotune.tuning import Event, Standing
from autotune.tuning.events import Best, ProblemNotice


def standing(problem: str = "heat2d-N256", **fields: object) -> Standing:
    best = Best(candidate=fake.candidate("jli"), seconds=1.1e-3, predicted=1e-3, evaluation=2)
    values: dict[str, object] = {
        "problem": problem, "candidates": 60, "step": 3, "measured": 12, "failed": 1,
        "elsewhere": 0, "open": 1, "samples": 90, "disturbed": 4, "best": best, "baseline": 2.2e-3,
        "expected_improvement": 0.031, "evaluations_left": 8, "seconds_left": 95.4, "finished": "",
    }  # fmt: skip
    return Standing(**(values | fields))


def event(kind: str = "timed", of: Standing | None = None, **fields: object) -> Event:
    at = of or standing()
    notice = ProblemNotice(
        kind=kind,
        candidate=fake.candidate("ijl"),
        why=str(fields.pop("why", "")),
        predicted=fields.pop("predicted", 1.4e-3),
        expected=fields.pop("expected", None),
    )
    values = {"rounds": 2, "measured": 1.5e-3} | fields
    return Event(notice=notice, standing=at, standings=[at], **values)


def test_a_row_says_best_predicted_measured_budget_and_disturbed() -> None:
    cells = live.cells(standing())
    assert cells == [
        "heat2d-N256", "jli-pad5", "1.000 ms", "1.100 ms", "2.00x", "13 of 60", "1", "4 of 90",
        "8 to try, 95 s", "step 3, 3.1 % expected",
    ]  # fmt: skip
    nothing = standing(best=None, evaluations_left=None, seconds_left=None)
    assert live.cells(nothing, 100) == ["heat2d-N256", "-", "-", "-", "13 of 60", "4 of 90", ""]
    assert live.cells(standing(finished="all tried"), 60)[-1] == "done"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_says_best_speed_up_and_what_is_left_at_every_width(width: int) -> None:
    view, written = on_terminal(width)
    view("calibrate the host", 3, 100, "clock")
    assert "calibrate the host 3/100  clock" in written.getvalue()
    view.watch(event("proposed", why="expected improvement 3 %"))
    view("build", 1, 4, "ijl-pad5")
    lines = Terminal(written.getvalue()).lines
    shown = "\n".join(lines)
    for words in ("heat2d-N256", "jli-pad5", "2.00x", "8 to try, 95 s", "build 1/4  ijl-pad5"):
        assert words in shown
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (event(verdict="best"), "ijl-pad5: 1.500 ms so far, predicted 1.400 ms, the best so far"),
        (
            event(verdict="slower", ratio=(1.5, 1.4, 1.6)),
            "ijl-pad5: 1.500 ms so far, predicted 1.400 ms, 1.36 times the best, clearly slower",
        ),
        (event("built", status="ok"), ""),
        (
            event("built", status="build-failed", detail="In file x:\nx.c:3: error: no y"),
            "ijl-pad5: build failed: x.c:3: error: no y",
        ),
        (
            event("proposed", why="expected improvement 3 %"),
            "next ijl-pad5: expected improvement 3 %, predicted 1.400 ms",
        ),
        (event("finished", why="nothing is left"), "finished: nothing is left"),
        (
            event(
                "proposed",
                of=standing(goal=Metric("rate", "GFLOP/s", "more")),
                why="expected improvement 3 %",
                predicted=None,
                expected=0.25,
            ),
            "next ijl-pad5: expected improvement 3 %, expected 4.000 GFLOP/s",
        ),
    ],
)
def test_events_in_words(what: Event, words: str) -> None:
    assert live.event_text(what) == words


def on_terminal(width: int = 120, height: int = 20) -> tuple[live.TableScreen, io.StringIO]:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=width, height=height)
    return live.TableScreen(console), written


def test_the_table_is_redrawn_in_place_and_leaves_nothing_behind() -> None:
    screen, written = on_terminal()
    with contextlib.closing(screen):
        screen("used without measuring again: 3 results of study x", 1, 1)
        for number in range(30):
            screen.watch(event(of=standing(measured=number), measured=1e-3 * (number + 1)))
        screen("measure, round 2", 3, 9, "ijl-pad5")
        seen = Terminal(written.getvalue())
        assert seen.text.splitlines()[0].startswith("used without measuring again")
        (row,) = [line for line in seen.text.splitlines() if line.startswith("heat2d-N256")]
        assert re.search(r"jli-pad5 +1.000 ms +1.100 ms +2.00x +30 of 60", row)
        assert seen.text.count("ijl-pad5: ") == 1  # the latest of each candidate
        assert seen.text.splitlines()[-1] == "measure, round 2 3/9  ijl-pad5"
        assert seen.cursor
    left = Terminal(written.getvalue())
    assert left.text == "used without measuring again: 3 results of study x"
    assert left.cursor


@pytest.mark.parametrize("width", [60, 80, 200])
def test_many_problems_on_a_small_screen(width: int) -> None:
    screen, written = on_terminal(width, 16)
    all_of_them = [standing(f"p-{k}") for k in range(40)]
    with contextlib.closing(screen):
        for one in (all_of_them[39], all_of_them[20], all_of_them[0]):
            screen.watch(replace(event(of=one), standings=all_of_them))
        lines = Terminal(written.getvalue()).text.splitlines()
        assert len(lines) <= 16
        assert max(map(len, lines)) <= width
        assert any(line.startswith("p-0 ") for line in lines)
        assert any("more problems" in line for line in lines)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_lines_do_not_flood(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """A hundred steps of three rounds within ten seconds: a line a second at most."""
    lines = live.LineScreen()
    lines("begin study x", 0, 1)
    for step in range(100):
        clock[0] += 0.1
        for number in range(3):
            lines(f"measure a, step {step}, round {number + 1}", 0, 2, "x")
        lines("build and verify", 0, 2)
        lines("build and verify", 2, 2)
        lines.watch(event())
    lines.watch(event("finished", why="enough"))
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()
    assert 5 <= len(said) <= 25
    assert said[0] == "begin study x 0/1"
    assert said[-1].startswith(
        "heat2d-N256: finished: enough; best so far jli-pad5 1.100 ms, predicted"
    )
    assert any(line.startswith("measure a, step ") for line in said)


def test_few_of_many_steps_are_no_estimate(clock: list[float]) -> None:
    remaining = output.RemainingTime()
    assert remaining.words("run the probes", 0, 320, "") == ""
    for done in range(1, 16):  # the first steps of a stage may be much slower than the others
        clock[0] += 20.0 / done
        assert remaining.words("run the probes", done, 320, "") == ""
    assert remaining.words("run the probes", 16, 320, "").endswith(" left")
    assert remaining.words("build", 0, 2, "") == ""
    clock[0] += 30.0
    assert remaining.words("build", 1, 2, "") == ", about 30 s left"


def test_a_stage_of_more_than_two_seconds_says_how_long_it_still_takes(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    progress = output.TerminalProgress()
    for done in range(21):
        progress("analyse the loops", done, 20, "loop")
        clock[0] += 1.0
    for done in range(21):
        progress("fit the models", done, 20, "about 9 s left")
        clock[0] += 1.0
    progress("build", 0, 2)
    clock[0] += 1.5
    progress("build", 2, 2)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "analyse the loops 0/20  loop"
    assert said[1] == "analyse the loops 3/20, about 17 s left  loop"
    assert "analyse the loops 20/20" in said
    assert "fit the models 10/20  about 9 s left" in said
    assert said[-2:] == ["build 0/2", "build 2/2"]


def test_a_line_on_a_terminal_is_not_wider_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    written = Tty()
    monkeypatch.setattr(sys, "stderr", written)
    progress = output.TerminalProgress()
    progress("measure", 1, 9, "x" * 300)
    progress.close()
    assert len(Terminal(written.getvalue()).text) < 80


def test_ctrl_c_on_a_terminal_leaves_it_as_it_was(config: Path, tmp_path: Path) -> None:
    """A real terminal: the table comes up, Ctrl-C takes it away, the cursor is there."""
    config.write_text(config.read_text().replace("rounds: 3", "rounds: 400"))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ |= {
            "TERM": "xterm", "COLUMNS": "120", "LINES": "24",
        }  # fmt: skip
        os.execv(sys.executable, [sys.executable, "-m", "autotune", "tune", "small.yaml"])
    text, asked = "", False
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        text += piece.decode(errors="replace")
        if not asked and re.search(r"measure [^\n]*round 2", text):
            asked = bool(os.write(terminal, b"\x03"))
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "best so far" in text
    seen = Terminal(text.replace("^C", ""))
    assert seen.cursor
    assert "--resume" in seen.text
    assert "best so far" not in seen.text
    assert "Traceback" not in seen.text


def test_a_finished_problem_counts_the_candidates_of_other_runs_and_has_no_budget_left() -> None:
    at = standing(
        candidates=11, measured=9, failed=0, elsewhere=2, finished="every candidate was measured"
    )
    text = live.summary(event("finished", at, why=at.finished))
    assert "9 of 11 tried, 2 more in other runs" in text
    assert "left" not in text
    assert "left: 8 to try" in live.summary(event(of=standing()))
    assert "other runs" not in live.summary(event(of=standing(elsewhere=0)))


def test_the_candidates_of_a_large_space_are_counted_in_two_digits() -> None:
    at = standing(candidates=3_636_683_754 * 10**51, measured=81, failed=0)
    assert "81 of 3.6e+60 tried" in live.summary(event(of=at))
    assert "81 of 3.6e+60" in live.cells(at)
