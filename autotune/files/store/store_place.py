"""The location of a results store: a local SQLite file or a database server, and checks that it may
be used.

SQLite relies on file locks and shared memory, which network file systems do not provide: a store
there would be damaged by the second node that opens it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from autotune import paths
from autotune.errors import Fault, LostStore, StoreError
from autotune.files.store.store_tables import APPLICATION_ID, SCHEMA

NETWORK = frozenset({
    "9p", "afs", "beegfs", "beegfs_nodev", "ceph", "cifs", "coda", "davfs", "fhgfs", "fuse.ceph",
    "fuse.davfs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs",
})  # fmt: skip
_MAGIC = b"SQLite format 3\x00"
_URL = re.compile(r"([a-z][a-z0-9+.-]*):/+", re.IGNORECASE)
_URL_IN_TEXT = re.compile(r"\b[a-z][a-z0-9+.-]*:/+[^\s\"']+", re.IGNORECASE)
_QUERY = re.compile(r"\?(?=[\w.%-]+=)")
_SECRET_NAME = re.compile(r"pass(word|wd|phrase)|pwd|secret|token", re.IGNORECASE)
_SETTING = re.compile(r"(\w*(?:password|passwd)\s*=\s*)('[^']*'|[^\s&]+)", re.IGNORECASE)
MASK = "***"


@dataclass(frozen=True, slots=True)
class Place:
    """A location after parsing: the URL to open, and the path where it is a file."""

    url: str
    path: Path | None
    shown: str
    """For messages: without a password."""


@dataclass(frozen=True, slots=True)
class _ServerUrl:
    """The parts of a database URL; user and password in plain text, not percent-encoded."""

    scheme: str
    user: str | None
    password: str | None
    host: str
    """What follows the credentials: host, port and database."""
    port: str
    query: str

    @property
    def login(self) -> str:
        """User and password, percent-encoded, as they stand before the host."""
        if self.user is None:
            return ""
        password = "" if self.password is None else f":{quote(self.password, safe='')}"
        return f"{quote(self.user, safe='')}{password}@"

    def masked(self) -> str:
        """The URL with every secret replaced."""
        login = ""
        if self.user is not None:
            login = f"{self.user}@" if self.password is None else f"{self.user}:{MASK}@"
        host = self.host
        if self.port and not self.port.isdecimal():  # perhaps a password whose @HOST is missing
            host = host.replace(f":{self.port}", f":{MASK}", 1)
        query = "&".join(_masked_setting(setting) for setting in self.query.split("&"))
        return f"{self.scheme}://{login}{host}" + (f"?{query}" if query else "")


def _masked_setting(setting: str) -> str:
    name, sign, _ = setting.partition("=")
    return f"{name}{sign}{MASK}" if sign and _SECRET_NAME.search(unquote(name)) else setting


def _server_url(text: str) -> _ServerUrl | None:
    """The parts of a URL; None for a path, also one that is written as ``sqlite:///path``.

    A password may contain every character, ``@``, ``:``, ``/`` and ``?`` too: it ends at the last
    ``@`` before the query, or at the last of all where there is none before.
    """
    match = _URL.match(text)
    if match is None or text.startswith("sqlite:///"):
        return None
    rest = text[match.end() :]
    start = _QUERY.search(rest)
    address, query = (rest[: start.start()], rest[start.end() :]) if start else (rest, "")
    if start and "@" in query and ":" in address and "@" not in address:
        user, _, others = address.partition(":")
        if not re.match(r"\d+(/|$)", others):  # no port: the question mark is of the password
            address, query = rest, ""
    login, sign, host = address.rpartition("@")
    user, colon, password = login.partition(":")
    port = re.match(r"(?:\[[^\]]*\]|[^:/]*):([^/]*)", host)
    return _ServerUrl(
        scheme=match[1],
        user=unquote(user) if sign else None,
        password=unquote(password) if colon else None,
        host=host,
        port=port[1] if port else "",
        query=query,
    )


def masked(location: str | Path) -> str:
    """The text of ``--store`` for every output: without a password.

    >>> masked("postgresql://me:p@ss:word@host/db?sslmode=require&password=x")
    'postgresql://me:***@host/db?sslmode=require&password=***'
    >>> masked("results.sqlite")
    'results.sqlite'
    """
    text = str(location)
    server = _server_url(text)
    return _SETTING.sub(rf"\g<1>{MASK}", text) if server is None else server.masked()


def masked_urls(text: str) -> str:
    """A text in which every URL is without a password."""
    return _URL_IN_TEXT.sub(lambda match: masked(match[0]), text)


def parsed_place(location: str | Path) -> Place:
    """The place that the text of ``--store`` means: a path, ``sqlite:///path`` or
    ``postgresql://...``.

    Raises StoreError for a URL of any other database, for a port that is no number, and for a home
    folder of an unknown user.
    """
    text = str(location)
    server = _server_url(text)
    if server is not None:
        return _server(server)
    text = text.removeprefix("sqlite:///")
    if not text or "\0" in text:
        found = "a NUL character in the name" if text else "no file name"
        raise StoreError(Fault(where="--store", found=found, expected="a path or a URL"))
    try:
        path = Path(text).expanduser().absolute()
    except RuntimeError as error:
        found = f"{masked(text)}: the home folder of this user is not known"
        raise StoreError(Fault(where="--store", found=found, expected="a path")) from error
    return Place(f"sqlite:///{path}", path, masked(path))


def _server(server: _ServerUrl) -> Place:
    shown = server.masked()
    if server.scheme.lower() not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise StoreError(
            Fault(
                where="--store",
                found=f"{shown}: databases of kind {server.scheme!r} are not supported",
                expected="a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE",
            )
        )
    if server.port and not (server.port.isdecimal() and int(server.port) < 1 << 16):
        raise StoreError(
            Fault(
                where="--store",
                found=f"{shown}: the port is not a number from 0 to 65535",
                expected="postgresql://USER@HOST:PORT/DATABASE",
            )
        )
    query = f"?{server.query}" if server.query else ""
    return Place(f"postgresql+psycopg://{server.login}{server.host}{query}", None, shown)


def check_folder(path: Path, mounts: str | None = None) -> None:
    """Raise StoreError where a store at ``path`` would lie on a network file system.

    ``mounts`` is text in the form of /proc/self/mountinfo; by default the content of that file.
    """
    if mounts is None:
        source = Path("/proc/self/mountinfo")
        mounts = source.read_text(encoding="utf-8", errors="replace") if source.exists() else ""
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    point, kind = _mount(paths.absolute(folder), mounts)
    if kind in NETWORK:
        local = f"/tmp/{os.environ.get('USER', 'autotune')}-{path.name}"
        raise StoreError(
            Fault(
                where=str(path),
                found=f"lies on a network file system ({kind}, mounted at {point}),"
                " where SQLite files get damaged",
                expected="a local file or a database server",
                hint=f"add --store {local}, or --store postgresql://USER@HOST/DATABASE",
            )
        )


def _mount(folder: Path, mounts: str) -> tuple[str, str]:
    """The mount point and the file system of a folder; of equal mount points the last one hides the
    others.
    """
    best = ("", "")
    for line in mounts.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split()
        if not separator or len(fields) < 5 or not after.split():
            continue
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), fields[4])
        if folder.is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, after.split()[0])
    return best


def check_file(path: Path) -> None:
    """Raise StoreError where an existing file is no SQLite file of autotune, judged by
    its header.
    """
    try:
        if not path.is_file() and not path.is_dir() and path.exists():  # to open a pipe would wait
            raise unusable(path, "is no file but a pipe or device")
        with path.open("rb") as file:
            header = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise unusable(path, f"cannot be read: {error.strerror}", "a readable file") from error
    if size == 0:
        raise unusable(path, "is empty")
    if not header.startswith(_MAGIC):
        raise unusable(path, f"is not a SQLite file: it begins with {header[:16]!r}")
    if len(header) < 100:
        raise unusable(path, f"is cut off after {size} bytes")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise unusable(path, "is a SQLite file of another program")


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The file of a store when it was opened."""

    path: Path
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> "OpenFile":
        """The file that lies at a path now."""
        status = path.stat()
        return cls(path, status.st_dev, status.st_ino)

    def check(self) -> None:
        """Raise LostStore where the path leads to no file any more, or to another one.

        The database would write on into the old file, where nobody finds the results.
        """
        try:
            now = OpenFile.at(self.path)
        except FileNotFoundError:
            raise self._lost("was deleted or moved away") from None
        if now != self:
            raise self._lost("was replaced by another file")

    def _lost(self, found: str) -> LostStore:
        return LostStore(
            Fault(
                where=str(self.path),
                found=f"{found} while it was in use",
                expected="the file that this run began with",
                hint="nothing more is written; put the file back and continue with --resume,"
                " or begin again",
            )
        )


def unusable(
    path: Path | str, found: str, expected: str = f"an autotune results store, schema {SCHEMA}"
) -> StoreError:
    """The error for a store that cannot be used, with the two ways to continue."""
    return StoreError(
        Fault(
            where=str(path),
            found=found,
            expected=expected,
            hint="move it away to begin a new one, or name another with --store FILE",
        )
    )
