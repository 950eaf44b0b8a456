"""A password in ``--store`` appears in no output, file or stored row of any command."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import fabricated as made
import pytest
import sqlalchemy as sa
import typer
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.files.store import Store, store_engine, store_place

CANARY = "c4n4ry"
URL = f"postgresql://me:{CANARY}@{CANARY}:{CANARY}/x@127.0.0.1:1/at?password={CANARY}"
SHOWN = "postgresql://me:***@127.0.0.1:1/at?password=***"
SMALL = """\
schema: autotune.config/1
title: small
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
selection: {top: 2, random: 0, seed: 3}
measuring: {rounds: 3, samples: 1, min_sample: 1 ms, busy: 0, verify_steps: 2}
"""


def with_lock(connection: sqlite3.Connection, _record: object) -> None:
    """The lock of PostgreSQL, which one process need not wait for."""
    connection.create_function("pg_advisory_xact_lock", 1, lambda key: key)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A SQLite file that answers in place of every database server."""
    path = tmp_path / "server.sqlite"
    engines = []

    def engine(_where: store_place.Place, _wait: float) -> sa.Engine:
        opened = sa.create_engine(f"sqlite:///{path}")
        sa.event.listen(opened, "connect", with_lock)
        engines.append(opened)
        return opened

    monkeypatch.setattr(store_engine, "_engine", engine)
    monkeypatch.chdir(tmp_path)
    yield path
    for opened in engines:
        opened.dispose()


def everything(*words: str) -> str:
    """All that a command said, its error included."""
    done = CliRunner().invoke(app, [*words, "--store", URL])
    return f"{done.stdout}{done.stderr}{done.exception or ''}"


def commands() -> Iterator[tuple[str, ...]]:
    """Every command that takes ``--store``, as words."""
    queue: list[tuple[tuple[str, ...], typer.core.TyperCommand]] = [
        ((), typer.main.get_command(app))
    ]
    while queue:
        words, command = queue.pop()
        queue += [((*words, name), sub) for name, sub in getattr(command, "commands", {}).items()]
        if any("--store" in parameter.opts for parameter in command.params):
            yield words


STORED = sorted(commands())


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("postgresql://u:PW@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:P@W:x@h:1/d", "postgresql://u:***@h:1/d"),
        ("postgresql://u:P/W@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:P?W=x@h/d", "postgresql://u:***@h/d"),
        ("POSTGRES://u:PW@h/d", "POSTGRES://u:***@h/d"),
        ("postgresql:/u:PW@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d?password=PW&sslmode=x", "postgresql://u@h/d?password=***&sslmode=x"),
        ("postgresql://h/d?p%61ssword=PW@x", "postgresql://h/d?p%61ssword=***"),
        ("postgresql://u:PW/d", "postgresql://u:***/d"),
        ("host=h password=PW user=u", "host=h password=*** user=u"),
        ("mysql://u:PW@h/d", "mysql://u:***@h/d"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"),
        ("a:b@c.sqlite", "a:b@c.sqlite"),
        ("sqlite:////x/a:b@c", "sqlite:////x/a:b@c"),
    ],
)
def test_the_masked_location(location: str, shown: str) -> None:
    assert store_place.masked(location) == shown


@pytest.mark.parametrize("password", ["PW", "P@W", "p:w", "p/w", "p?w=1", "ä b", "%"])
def test_the_driver_gets_the_password_as_written(password: str) -> None:
    place = store_place.parsed_place(f"postgresql://me:{password}@host:1/db?sslmode=require")
    url = sa.make_url(place.url)
    assert (url.username, url.password, url.host, url.port) == ("me", password, "host", 1)
    assert url.query == {"sslmode": "require"}
    assert password not in place.shown


def test_an_encoded_password_is_decoded_once() -> None:
    place = store_place.parsed_place("postgresql://me:p%40w%25@host/db")
    assert sa.make_url(place.url).password == "p@w%"


def test_every_command_with_a_store_was_found() -> None:
    assert {("tune",), ("compare",), ("map",), ("learn", "show"), ("machine", "refine")} <= {
        *STORED
    }


@pytest.mark.parametrize("words", STORED, ids=" ".join)
@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_a_server_that_is_not_there(
    words: tuple[str, ...], scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = {("learn", "show"): ("--study", "quick"), ("import",): ("x.json", "small.yaml")}
    done = CliRunner().invoke(
        app, [*words, *more.get(words, ()), "--store", URL.replace("postgresql", scheme)]
    )
    assert done.exit_code != 0
    assert CANARY not in f"{done.stdout}{done.stderr}{done.exception}"


def test_commands_on_a_stored_study(server: Path, tmp_path: Path) -> None:
    with Store.open(URL) as results:
        assert results.shown == SHOWN
        made.fill(results, sizes=(256,), rounds=3)
    texts = [
        everything("compare", "quick"),
        everything("compare", "quick", "--json"),
        everything("compare", "slow"),
        everything("report", "quick", "-o", "page.html"),
        everything("report", "quick", "-o", "page.html", "--json"),
        everything("export", "quick", "--to", "csv", "-o", "rows.csv"),
        everything("export", "quick", "--to", "header", "-o", "best.h"),
        everything("mirror", "quick", "-o", "quick.journal"),
        everything("learn", "show", "--study", "quick"),
        everything("evaluate", "quick"),
        everything("machine", "refine", "quick"),
    ]
    assert all(CANARY not in text for text in texts)
    assert f'"store": "{SHOWN}"' in texts[1]
    assert f"in {SHOWN}," in texts[0]
    _searched(tmp_path)


def test_a_study_that_is_tuned(server: Path, tmp_path: Path) -> None:
    prior = f"search: {{prior: 'other@{URL}'}}\n"
    Path("small.yaml").write_text(SMALL, encoding="utf-8")
    text = everything("tune", "small.yaml", "--report", "page.html", "--mirror", "m.journal")
    assert f"in {SHOWN}," in text
    Path("small.yaml").write_text(SMALL + prior, encoding="utf-8")
    text += everything("tune", "small.yaml")
    assert CANARY not in text
    Path("small.yaml").unlink()  # the user's own file
    _searched(tmp_path)


def _searched(folder: Path) -> None:
    """Every file that a command wrote is without the password; the database is too."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path
    connection = sqlite3.connect(folder / "server.sqlite")
    rows = "\n".join(connection.iterdump())
    connection.close()
    assert CANARY not in rows
    assert re.search("INSERT INTO", rows)
