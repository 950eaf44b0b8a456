"""Opens a store and guards access to its database: creation, versions, locks, error messages."""

import contextlib
import functools
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from autotune.errors import Fault, MissingTool, StoreError
from autotune.files.store import store_place, store_tables
from autotune.version import VERSION

WRITES = "autotune_write"
"""Option of connections whose transactions write."""
_PAUSE = 0.02
"""Seconds between two tries to switch a file to a write-ahead log."""


def connect(location: str | Path, *, create: bool, wait: float) -> tuple[sa.Engine, str]:
    """The database engine of a store, and the name of the store for messages.

    ``wait``: seconds that a writer waits for another one. Raises StoreError where there is no store
    (and ``create`` is False), or where the file is no store of this schema.
    """
    where = store_place.parsed_place(location)
    if where.path is not None:
        store_place.check_folder(where.path)
        if not where.path.exists():
            if not create:
                raise _absent(where.shown)
            with errors_in_words(where.shown, wait):
                _create_file(where.path)
        store_place.check_file(where.path)
    engine = _engine(where, wait)
    with errors_in_words(where.shown, wait):
        if where.path is None:
            _prepare_server(engine, where.shown, create=create)
        check_schema(engine, where.shown)
        if where.path is not None:
            _check_pages(engine, where.path)
    return engine, where.shown


def _absent(shown: str) -> StoreError:
    return StoreError(
        Fault(
            where=shown,
            found="there are no results here",
            expected="a results store",
            hint="run autotune tune CONFIG first, or name the store with --store",
        )
    )


def _engine(where: store_place.Place, wait: float) -> sa.Engine:
    if where.path is None:
        try:
            return sa.create_engine(where.url, pool_pre_ping=True)
        except (sa.exc.ArgumentError, ValueError) as error:
            found = f"{where.shown} is not the URL of a database"
            expected = "postgresql://USER@HOST:PORT/DATABASE"
            raise StoreError(Fault(where="--store", found=found, expected=expected)) from error
        except ImportError as error:
            raise MissingTool(
                Fault(
                    where="--store",
                    found=f"{where.shown} needs the package psycopg, which is not installed",
                    hint="pip install 'psycopg[binary]'",
                )
            ) from error
    engine = sa.create_engine(where.url, connect_args={"timeout": wait})
    file = store_place.OpenFile.at(where.path)
    # a new connection would create an empty file in place of one that was deleted
    sa.event.listen(engine, "do_connect", lambda *_: file.check())
    sa.event.listen(engine, "commit", lambda _: file.check())
    sa.event.listen(engine, "connect", functools.partial(_on_connect, wait))
    sa.event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(wait: float, connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where _on_begin says, nowhere else
    _switch_to_wal(connection, wait)
    # FULL: a sample that was acknowledged survives a power cut too, for one fsync of a few
    # milliseconds against at least 20 ms of measuring.
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _switch_to_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Give the database a write-ahead log, if it has none.

    SQLite itself does not wait at this switch for others that use the file.
    """
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _on_begin(connection: sa.Connection) -> None:
    """Let a writer take the lock at once: a reader that becomes a writer later could not wait for
    it.
    """
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextlib.contextmanager
def errors_in_words(shown: str, wait: float) -> Iterator[None]:
    """A context that turns database errors into StoreErrors, which say what to do."""
    try:
        yield
    except DBAPIError as error:
        raise _in_words(shown, wait, str(error.orig)) from error
    except sqlite3.Error as error:
        raise _in_words(shown, wait, str(error)) from error


def _in_words(shown: str, wait: float, text: str) -> StoreError:
    if "locked" in text or "busy" in text:
        return StoreError(
            Fault(
                where=shown,
                found=f"another process has been writing to it for {wait:g} s",
                expected="a store that is free",
                hint="wait until it is done, or give this run its own with --store FILE",
            )
        )
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        return store_place.unusable(shown, f"is corrupt: {text}")
    if "readonly" in text or "read-only" in text:
        return store_place.unusable(shown, "must not be written by this user", "a writable file")
    if "full" in text:
        return StoreError(
            Fault(where=shown, found=f"cannot grow: {text}", hint="free some space, then --resume")
        )
    return StoreError(
        Fault(where=shown, found=text.strip() or "the database failed", hint="check --store")
    )


def check_schema(engine: sa.Engine, shown: str) -> None:
    """Raise StoreError where the database is no store of this schema, including older schemas."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table(store_tables.meta.name):
            raise store_place.unusable(shown, f"has no table {store_tables.meta.name}")
        rows = connection.execute(sa.select(store_tables.meta.c.key, store_tables.meta.c.value))
        meta = {str(key): str(value) for key, value in rows}
    if meta.get("application") != store_tables.APPLICATION:
        raise store_place.unusable(
            shown, f"belongs to {meta.get('application', 'an unknown program')}"
        )
    if meta.get("schema") != str(store_tables.SCHEMA):
        raise _other_schema(shown, meta)


def _other_schema(shown: str, meta: Mapping[str, str]) -> StoreError:
    schema, version = meta.get("schema", "unknown"), meta.get("version", "of unknown version")
    if schema.isdecimal() and int(schema) > store_tables.SCHEMA:
        way = f"a later autotune than this one, {VERSION}, began it: read it with that one"
    else:
        way = f"it was begun by autotune {version}: read it with that version"
    return StoreError(
        Fault(
            where=shown,
            found=f"has schema {schema}",
            expected=f"schema {store_tables.SCHEMA}",
            hint=f"{way}, or name another with --store FILE",
        )
    )


def _check_pages(engine: sa.Engine, path: Path) -> None:
    with engine.connect() as connection:
        verdict = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    if verdict != "ok":
        raise store_place.unusable(path, f"is corrupt: {verdict}")


def _fill(connection: sa.Connection) -> None:
    store_tables.metadata.create_all(connection)
    facts = {
        "application": store_tables.APPLICATION,
        "schema": str(store_tables.SCHEMA),
        "version": VERSION,
    }
    rows = [{"key": key, "value": value} for key, value in facts.items()]
    connection.execute(sa.insert(store_tables.meta), rows)


def _prepare_server(engine: sa.Engine, shown: str, *, create: bool) -> None:
    """Create the tables on a database server, unless they exist.

    Processes that do this at once do it one after the other: the lock is held until the tables of
    the first one are committed.
    """
    with engine.begin() as connection:
        if sa.inspect(connection).has_table(store_tables.meta.name):
            return
        if not create:
            raise _absent(shown)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(store_tables.APPLICATION_ID)))
        tables = sa.inspect(connection).get_table_names()
        if store_tables.meta.name not in tables:
            clash = sorted(set(tables) & set(store_tables.metadata.tables))
            if clash:
                raise store_place.unusable(shown, f"has a table {clash[0]} of another program")
            _fill(connection)


def _create_file(path: Path) -> None:
    """Create a complete store at ``path`` in one step, or nothing at all.

    A process that is killed half-way leaves no incomplete store behind. Of two processes that
    create a store at the same time one succeeds, and both then use its file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    except OSError as error:
        found = f"cannot be created: {error.strerror}"
        raise store_place.unusable(path, found, "a folder that this user may write") from error
    os.close(handle)
    try:
        engine = sa.create_engine(f"sqlite:///{name}", poolclass=sa.NullPool)
        with contextlib.closing(sqlite3.connect(name)) as connection:
            _switch_to_wal(connection, 0.0)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"PRAGMA application_id = {store_tables.APPLICATION_ID}")
            _fill(connection)
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        for beside in ("", "-journal", "-wal", "-shm"):
            Path(f"{name}{beside}").unlink(missing_ok=True)
