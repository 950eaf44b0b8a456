"""Caches and data of the session, the command line, a database server, the order of tests, a rule
on skipped tests, printed figures.

A skipped test is a failure unless its reason begins with ``optional:``.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

# or every run would compile the tests and hypothesis again, with their assertions rewritten
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.pop("COLUMNS", None)  # of the terminal that the tests are started from

import pytest  # noqa: E402
from command_line import CommandLine  # noqa: E402
from database_server import DatabaseServer, NoServer, running_server  # noqa: E402
from hypothesis import settings  # noqa: E402

# one example may wait for others' work; every run tries the same examples, on every host
settings.register_profile("any host", deadline=None, derandomize=True, database=None)
settings.load_profile("any host")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell that runs the tests in the background ignores Ctrl-C for them and all that they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup leaves it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_skipped: list[str] = []
_house: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests begin first, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collectstart() -> None:
    """Modules and tests stay to the end: the collector need not look at them again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is there now stays frozen."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _house.extend(str(text) for name, text in report.user_properties if name == "house")
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not reason.removeprefix("Skipped: ").startswith("optional:"):
            _skipped.append(f"{report.nodeid}: {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for text in _house:
        terminalreporter.section("house", sep="-")
        terminalreporter.write_line(text)
    for text in _skipped:
        terminalreporter.write_line(f"skipped, but needed: {text}")


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder by its name that the workers of one run share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def folder(name: str) -> Path:
        path = shared / "shared" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    return folder


@pytest.fixture(autouse=True, scope="session")
def home(
    tmp_path_factory: pytest.TempPathFactory, session_folder: Callable[[str], Path]
) -> Iterator[Path]:
    """Builds, analyses (``cache``) and calibrations (``data``) of the session, none the user's.

    The workers of one run share what was built and analysed; an entry is made under a lock, or put
    in place whole.
    """
    folder = tmp_path_factory.mktemp("home")
    (folder / "cache").mkdir()
    for kind in ("build", "incore", "incore-result", "kerncraft"):
        (folder / "cache" / kind).symlink_to(session_folder(kind))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(folder / "cache"))
        patch.setenv("AUTOTUNE_DATA", str(folder / "data"))
        # or every process that a test starts would compile the whole package again
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield folder


@pytest.fixture(scope="session")
def command_line() -> Iterator[CommandLine]:
    """Runs commands of the package as processes that start at once."""
    line = CommandLine()
    yield line
    line.close()


@pytest.fixture(scope="session")
def database_server() -> Iterator[DatabaseServer]:
    """A PostgreSQL server that starts with the first test that needs it.

    Its tests are skipped where the package with its programs is not installed; where it is, a
    server that does not start is an error.
    """
    try:
        with running_server() as server:
            yield server
    except NoServer as reason:
        pytest.skip(f"optional: {reason}")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def new_location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place, as ``--store`` takes it, where there is no store yet: a file, then a database."""
    if request.param == "SQLite":
        return str(tmp_path / "results.sqlite")
    server: DatabaseServer = request.getfixturevalue("database_server")
    return server.url(tmp_path.name.replace("-", "_").lower())
