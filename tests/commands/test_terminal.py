"""Text of other programs and files cannot control the terminal; output that cannot be written."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Finished

from autotune.commands.terminal import EscapingStream, escaped, style_of
from autotune.results.report.text_style import TextStyle, styled, toned

Cli = Callable[..., Finished]
HOSTILE = "\x1b[2J\x1b]0;title\x07\r\x9b31m\u202e"
SCRIPT = r"""printf 'boom \033[2J\033]0;title\007\n' >&2; exit $1
"""
PROGRAM = """\
schema: autotune.program/1
title: prints control sequences
sources: [hostile.sh]
run: [sh, hostile.sh, "{code}"]
folder: .
parameters: {code: [3, 4]}
baseline: {code: 3}
time: {pattern: 'time ([0-9.]+)', unit: s}
"""
CONFIG = """\
schema: autotune.config/1
title: hostile
machine: generic-x86-64
program: hostile-program.yaml
problems: [{arguments: {}}]
threads: [1]
measuring: {rounds: 1, samples: 1, busy: 0}
"""


def test_control_characters_are_escaped() -> None:
    assert escaped(HOSTILE) == r"\x1b[2J\x1b]0;title\x07\r\x9b31m\u202e"
    assert escaped("a\tb\nä µ √ 漢字") == "a\tb\nä µ √ 漢字"
    assert escaped("\udcff") == r"\udcff"


def test_the_stream_below_takes_what_is_meant_to_control() -> None:
    below = io.StringIO()
    stream = EscapingStream(below)
    print(HOSTILE, end="", file=stream, flush=True)
    print("\r\x1b[2K", end="", file=stream.terminal)
    assert below.getvalue() == escaped(HOSTILE) + "\r\x1b[2K"


def test_the_output_of_a_candidate(autotune: Cli, tmp_path: Path) -> None:
    (tmp_path / "hostile.sh").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "hostile-program.yaml").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "hostile.yaml").write_text(CONFIG, encoding="utf-8")
    done = autotune("tune", "hostile.yaml", check=None)
    text = done.out + done.err
    assert r"boom" in text, text
    assert r"\x1b]0;title\x07" in text  # sequences of CSI are left out where no terminal is
    assert not {*text} & {"\x1b", "\x07", "\r"}
    again = autotune("compare", check=None)
    assert not {*(again.out + again.err)} & {"\x1b", "\x07", "\r"}


def test_names_and_contents_of_files(autotune: Cli, tmp_path: Path) -> None:
    assert r"no\x1b[2J.yaml" in autotune("rank", "no\x1b[2J.yaml", check=2).err
    (tmp_path / "bad.yaml").write_text('schema: "a\\e[2Jb"\n', encoding="utf-8")
    assert "\x1b" not in autotune("rank", "bad.yaml", check=2).err
    (tmp_path / "bad.csv").write_text("a,b\n1,\x1b[2J\n2,\x1b[2J\n", encoding="utf-8")
    assert "\x1b" not in autotune("learn", "show", "bad.csv", check=None).err


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        (">&-", 2, "standard output is closed"),
        (">/dev/full", 2, "No space left"),
        (">/dev/null", 0, ""),
        ("2>&- >/dev/null", 0, ""),
    ],
)
def test_output_that_cannot_be_written(tmp_path: Path, output: str, code: int, said: str) -> None:
    command = f"{sys.executable} -m autotune --version {output}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "colour", "width"),
    [
        (io.StringIO, {}, False, None),
        (io.StringIO, {"FORCE_COLOR": "1"}, True, None),
        (io.StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, None),
        (io.StringIO, {"COLUMNS": "100"}, False, 100),
        (io.StringIO, {"COLUMNS": "0"}, False, None),
        (io.StringIO, {"COLUMNS": "wide"}, False, None),
        (Screen, {}, True, None),
        (Screen, {"NO_COLOR": "1"}, False, None),
        (Screen, {"TERM": "dumb"}, False, None),
        (Screen, {"COLUMNS": "60"}, True, 60),
    ],
)
def test_colours_and_width_of_terminals_and_pipes(monkeypatch, stream, variables, colour, width):
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert style_of(stream()) == TextStyle(width=width, colour=colour)


def test_tones_become_colours_and_other_text_stays_escaped():
    written = io.StringIO()
    with styled(TextStyle(colour=True)):
        text = toned("best\x1b[2J", "winner")
    EscapingStream(written, colour=True).write(text)
    assert written.getvalue() == "\x1b[1;32mbest\\x1b[2J\x1b[0m"
