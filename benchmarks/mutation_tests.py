"""Which tests may notice a change of a module, and runs of them, each in a process of its own.

The processes are forks of one that has imported NumPy and its like and nothing of the package, so
that a run costs little more than its tests.
"""

import ast
import contextlib
import importlib
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import pytest

HEAVY = ("hypothesis", "numpy", "pandas", "scipy.optimize", "scipy.stats", "sklearn", "optuna")
FILES = 6
"""So many files of tests are run for a module, at most."""
Outcome = Literal["passed", "failed", "timed out"]


@dataclass
class TestChoice:
    """Tests for a module: those that name it by import, or its nearest users."""

    root: Path
    seconds: float
    """CPU time of the tests of a module on the source as it is, shared among their files."""
    slowest: float
    """Tests that take longer are left out."""
    chosen: dict[str, dict[str, float]] = field(default_factory=dict)
    """By file of the module: its tests in the order to run, with their seconds."""

    def of(self, path: str) -> dict[str, float]:
        """Tests for the module in a file; those that pass on the source as it is."""
        if path not in self.chosen:
            module = path.removesuffix(".py").replace("/", ".")
            files = self._files(module)[:FILES]
            share = self.seconds / max(1, len(files))
            self.chosen[path] = timed(self.root, files, share, self.slowest)
        return self.chosen[path]

    def _files(self, module: str) -> list[str]:
        """Files that name the module; where there are none, that name a user of it, and so on.

        Files of the room of the module come first, then those of its wing.
        """
        room = "tests/" + "/".join(module.split(".")[1:-1])
        wing = "/".join(room.split("/")[:2])
        modules, seen = {module}, {module}
        while modules:
            files = [file for file, names in self._tests.items() if names & modules]
            if files:
                return sorted(
                    files,
                    key=lambda file: (not file.startswith(room), not file.startswith(wing), file),
                )
            modules = {user for user, names in self._package.items() if names & modules} - seen
            seen |= modules
        return []

    @cached_property
    def _tests(self) -> dict[str, set[str]]:
        """What every file of tests imports of the package."""
        return {
            file.relative_to(self.root).as_posix(): set(_imported(self.root, file))
            for file in sorted((self.root / "tests").rglob("test_*.py"))
        }

    @cached_property
    def _package(self) -> dict[str, set[str]]:
        """What every module of the package imports of it."""
        return {
            ".".join(file.relative_to(self.root).with_suffix("").parts): set(
                _imported(self.root, file)
            )
            for file in sorted((self.root / "autotune").rglob("*.py"))
            if file.name != "__init__.py"
        }


def _imported(root: Path, file: Path) -> Iterator[str]:
    """Modules that a file imports; of names that a package offers, where it has them from."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("autotune"):
            yield node.module
            opening = root / node.module.replace(".", "/") / "__init__.py"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                if opening.exists():
                    yield from _origin(opening, alias.name)


def _origin(opening: Path, name: str) -> Iterator[str]:
    """The module from which a package takes a name that it offers."""
    for node in ast.walk(ast.parse(opening.read_text())):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            yield str(node.module)


# --- runs -------------------------------------------------------------------------------------


def warm() -> None:
    """Import what most tests import and no mutant can change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in HEAVY:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    if any(name.split(".")[0] == "autotune" for name in sys.modules):
        raise RuntimeError("the package is imported before it is changed")


class _Watch:
    """Notes CPU seconds of the tests that pass; of each file as many run as its time allows."""

    def __init__(self, notes: Path, seconds: float, slowest: float) -> None:
        self.notes, self.seconds, self.slowest = notes, seconds, slowest
        self._spent: Counter[Path] = Counter()
        self._lost: Counter[Path] = Counter()
        self._before = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        self._before = sum(os.times()[:4])
        over = self._spent[item.path] >= self.seconds or self._lost[item.path] >= 4 * self.seconds
        return True if over else None

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        seconds = sum(os.times()[:4]) - self._before
        (self._spent if seconds <= self.slowest else self._lost)[item.path] += seconds

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = sum(os.times()[:4]) - self._before
        if report.when == "call" and report.passed and seconds <= self.slowest:
            with self.notes.open("a") as file:
                file.write(f"{seconds:.3f} {report.nodeid}\n")


def timed(root: Path, files: Sequence[str], seconds: float, slowest: float) -> dict[str, float]:
    """Tests of some files that pass, with their CPU seconds; so many seconds of each file."""
    with tempfile.NamedTemporaryFile("r") as notes:
        fork(root, files, 60, _Watch(Path(notes.name), seconds, slowest))
        lines = [line.split(" ", 1) for line in notes.read().splitlines()]
    return {test: float(spent) for spent, test in lines}


def fork(root: Path, tests: Sequence[str], limit: float, watch: _Watch | None = None) -> Outcome:
    """Run tests up to the first that fails, with a limit of CPU time and ten times that of time."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _child(root, tests, limit, watch)
        finally:
            os._exit(code)
    deadline = time.monotonic() + 10 * limit
    done, status = os.waitpid(child, os.WNOHANG)
    while not done and time.monotonic() < deadline:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
        return "timed out"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "timed out"
    return "passed" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else "failed"


def _child(root: Path, tests: Sequence[str], limit: float, watch: _Watch | None) -> int:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
    os.chdir(root)
    sink = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(sink, stream)
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    if watch is None:
        return int(pytest.main([*options, "-x", *tests]))
    return int(pytest.main([*options, *tests], plugins=[watch]))
