"""Runs drawn commands in a limited child and judges how each ends."""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from command_line import CommandLine, Finished
from fuzz_cases import Case
from fuzz_scene import copy_scene, make_scene, tuned

LIMITS = {"RLIMIT_AS": 3 << 30, "RLIMIT_CPU": 60, "RLIMIT_FSIZE": 256 << 20, "RLIMIT_CORE": 0}
TIME_LIMIT = 60.0
MOST_WORDS = 100_000
"""Characters on standard error; a flood is no help."""


@dataclass(frozen=True)
class Judgement:
    """How a command ended, and what was wrong with that."""

    case: Case
    finished: Finished
    faults: tuple[str, ...]
    seconds: float


class Fuzzer:
    """A scene, made once, and a copy of it for every case."""

    def __init__(self, folder: Path, command_line: CommandLine) -> None:
        self._folder = folder
        self._command_line = command_line
        self._scene = folder / "scene"
        make_scene(self._scene)
        done = command_line.run(tuned(), folder=self._scene, environment=self._environment("made"))
        assert done.code == 0, done.err

    @classmethod
    @contextmanager
    def open(cls) -> Iterator[Self]:
        """In a temporary folder, with processes of its own."""
        command_line = CommandLine()
        with tempfile.TemporaryDirectory(prefix="autotune-fuzz-") as name:
            try:
                yield cls(Path(name), command_line)
            finally:
                command_line.close()

    def run(self, case: Case) -> Judgement:
        """Run a case in a folder of its own, which is then removed."""
        parent = self._folder / f"case-{case.number}"
        parent.mkdir()
        folder = parent / "scene"
        copy_scene(self._scene, folder)
        for name, data in case.files.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_bytes(data)
        begun = time.monotonic()
        environment = self._environment(f"case-{case.number}")
        try:
            done = self._command_line.run(
                case.words,
                folder=folder,
                environment=environment,
                timeout=TIME_LIMIT,
                limits=LIMITS,
            )
        except AssertionError:
            done = Finished(-9, "", "")
        seconds = time.monotonic() - begun
        faults = judge(case, done)
        if left := _left_over(str(parent)):
            faults += (f"left over: {', '.join(left)}",)
        shutil.rmtree(parent)
        return Judgement(case, done, faults, seconds)

    def _environment(self, name: str) -> dict[str, str]:
        home = self._folder / name
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "AUTOTUNE_DATA": str(home / "data"),
            "AUTOTUNE_CACHE": str(self._folder / "cache"),
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        }


def judge(case: Case, done: Finished) -> tuple[str, ...]:
    """What is wrong with the way a command ended."""
    faults = []
    if done.code in (-9, -24):
        faults.append("hang")
    elif done.code not in (0, 1, 2):
        faults.append(f"exit code {done.code}")
    if "Traceback (most" in done.err + done.out or "Exception ignored" in done.err:
        faults.append("traceback")
    if done.code in (1, 2) and not done.err.strip():
        faults.append("no words")
    if len(done.err) > MOST_WORDS:
        faults.append(f"flood of {len(done.err)} characters")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", (done.out + done.err).replace("\r", "")):
        faults.append("control characters")
    if "Warning:" in done.err:
        faults.append("warning of a library")
    if done.code == 0 and "--json" in case.words and "--help" not in case.words:
        try:
            json.loads(done.out, parse_constant=_no_number)
        except ValueError as error:
            faults.append(f"JSON: {error}")
    return tuple(faults)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _left_over(mark: str) -> list[str]:
    """The command lines of processes that run in a folder of a case that is done."""
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in str((entry / "cwd").readlink()):
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    lines.append(words.decode(errors="replace")[:200])
            except OSError:
                continue
    return lines
