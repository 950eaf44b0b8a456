"""The location of a results store: a local SQLite file or a database server, and checks that it may
be used.

SQLite relies on file locks and shared memory, which network file systems do not provide: a store
there would be damaged by the second node that opens it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Fault, StoreError
from autotune.files.store.store_tables import APPLICATION_ID, SCHEMA

NETWORK = frozenset({
    "9p", "afs", "beegfs", "beegfs_nodev", "ceph", "cifs", "coda", "davfs", "fhgfs", "fuse.ceph",
    "fuse.davfs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs",
})  # fmt: skip
_MAGIC = b"SQLite format 3\x00"
_URL = re.compile(r"[a-z][a-z0-9+]*://")


@dataclass(frozen=True, slots=True)
class Place:
    """A location after parsing: the URL to open, and the path where it is a file."""

    url: str
    path: Path | None
    shown: str
    """For messages: without a password."""


def parsed_place(location: str | Path) -> Place:
    """The place that the text of ``--store`` means: a path, ``sqlite:///path`` or
    ``postgresql://...``.

    Raises StoreError for a URL of any other database.
    """
    text = str(location)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif _URL.match(text):
        return _server(text)
    if not text:
        raise StoreError(Fault(where="--store", found="no file name", expected="a path or a URL"))
    path = Path(text).expanduser().absolute()
    return Place(f"sqlite:///{path}", path, str(path))


def _server(url: str) -> Place:
    shown = re.sub(r"//([^:/@]*):[^@]*@", r"//\1:***@", url)
    scheme, rest = url.split("://", 1)
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return Place(f"postgresql+psycopg://{rest}", None, shown)
    raise StoreError(
        Fault(
            where="--store",
            found=f"{shown}: databases of kind {scheme!r} are not supported",
            expected="a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE",
        )
    )


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
    point, kind = _mount(folder.resolve(), mounts)
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
