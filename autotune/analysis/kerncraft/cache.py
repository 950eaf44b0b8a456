"""What kerncraft said of a kernel, kept on disk by the hash of all that it depends on."""

import contextlib
import hashlib
import importlib.metadata
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from autotune import paths
from autotune.errors import InputError
from autotune.toolchain import process

VERSION = 1
"""Raised whenever equal kernels may get other answers."""

Reply = Mapping[str, object]

_TOOLS = ("kerncraft", "osaca", "pycachesim", "sympy", "pycparser")
_LIMIT = 20.0


def key(source: str, machine_file: str, worker: str) -> str:
    """Hash of the kernel, the machine file, the worker, its tools and the compilers in reach."""
    parts = [VERSION, worker, source, machine_file, *map(_version, _TOOLS), *sys.version_info[:2]]
    parts += [
        [name, _compiler(path, Path(path).stat().st_mtime_ns)]
        for name, path in _compilers(machine_file)
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def _version(tool: str) -> str:
    try:
        return importlib.metadata.version(tool)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _compilers(machine_file: str) -> list[tuple[str, str]]:
    """Names under ``compiler:`` that are programs here, with their paths."""
    block = re.search(r"^compiler\s*:(.*(?:\n(?:[ \t-].*)?)*)", machine_file, re.MULTILINE)
    names = re.findall(r"['\"]?([\w.+/-]+)['\"]?\s*:", block.group(1)) if block else []
    found = {name: shutil.which(name) for name in names}
    return sorted((name, path) for name, path in found.items() if path is not None)


@cache
def _compiler(path: str, changed: int) -> str:
    """What the compiler that was last ``changed`` then says that it is."""
    try:
        return process.run([path, "--version"], timeout=_LIMIT).out
    except InputError:
        return f"{path} {changed}"


def _place(key: str) -> Path:
    return paths.cache_dir() / "kerncraft" / key[:2] / f"{key}.json"


def stored(key: str) -> Reply | None:
    """An answer that was kept; None for one that is not there or cannot be read."""
    try:
        reply = json.loads(_place(key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return reply if isinstance(reply, dict) and reply.keys() >= {"ok"} else None


def keep(key: str, reply: Reply) -> None:
    """Put an answer in place, whole or not at all."""
    place = _place(key)
    with contextlib.suppress(OSError):  # a cache that cannot be written is no failure
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=place.parent, suffix=".new", delete=False
        ) as file:
            json.dump(dict(reply), file)
        Path(file.name).replace(place)
