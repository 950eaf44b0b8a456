"""What a shell completes: config files, studies, candidates, machines, words; read without numpy.

Nothing is written, and a store or file that cannot be read completes nothing.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from autotune import paths
from autotune.domain.candidate_names import named

_MOST = 2000
"""Candidates that are offered at most."""
_HEAD = 4096
"""Characters of a YAML file in which its kind must stand."""


def configs(incomplete: str) -> list[str]:
    """Config files, and folders that lead to them."""
    head, _, start = incomplete.rpartition("/")
    place = Path(f"{head}/" if head or incomplete.startswith("/") else ".").expanduser()
    prefix = f"{head}/" if head or incomplete.startswith("/") else ""
    with contextlib.suppress(OSError):
        return sorted(
            f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}"
            for entry in place.iterdir()
            if entry.name.startswith(start)
            and (start.startswith(".") or not entry.name.startswith("."))
            and (entry.is_dir() or _is_config(entry))
        )
    return []


def _is_config(path: Path) -> bool:
    if path.suffix not in (".yaml", ".yml"):
        return False
    with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        return "autotune.config/" in file.read(_HEAD)
    return False


def studies(ctx: typer.Context, incomplete: str) -> list[str]:
    """Studies of the store that the command line names."""
    return _beginning(incomplete, (row[0] for row in _rows(ctx, "select name from studies")))


def studies_and_configs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Studies of the store, and config files."""
    return [*studies(ctx, incomplete), *configs(incomplete)]


def candidates(ctx: typer.Context, incomplete: str) -> list[str]:
    """Candidates that are stored, by the labels of their variants; behind an @ by whole names.

    Where the command line names a config, those of studies of its name.
    """
    config = ctx.params.get("config")
    name = Path(config).stem if config else "%"
    query = (
        "select distinct c.record from members m join candidates c on c.identity = m.candidate"
        f" where m.study like ? order by m.place limit {_MOST}"
    )
    records = (json.loads(row[0]) for row in _rows(ctx, query, (name,)))
    whole = "@" in incomplete
    labels = (
        record["label"] if whole else named(record.get("parameters", {})) for record in records
    )
    return _beginning(incomplete, dict.fromkeys(labels))


def machines(incomplete: str) -> list[str]:
    """Machine files that come along, and this host."""
    return _beginning(incomplete, ["host", *paths.names("machines")])


def explained_words(incomplete: str) -> list[str]:
    """Words of the glossary."""
    from autotune.commands.explain.explanations import glossary

    return _beginning(incomplete, (word.name for word in glossary()))


def _beginning(
    incomplete: str, names: Sequence[str] | Iterator[str] | dict[str, None]
) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _rows(ctx: typer.Context, query: str, values: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    from autotune.commands.options import DEFAULT_STORE

    store = ctx.params.get("store") or os.environ.get("AUTOTUNE_STORE") or DEFAULT_STORE
    if "://" in store and not store.startswith("sqlite:///"):
        return
    path = Path(store.removeprefix("sqlite:///")).absolute()
    if not path.is_file():
        return
    with contextlib.suppress(sqlite3.Error, ValueError):
        base = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0.2)
        with contextlib.closing(base):
            yield from base.execute(query, values)
