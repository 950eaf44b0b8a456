"""A cache on disk for kerncraft's answers about kernels, keyed by the hash of everything they
depend on.
"""

import hashlib
import importlib.metadata
import json
import re
import shutil
import sys
from functools import cache
from pathlib import Path

from autotune.errors import InputError
from autotune.models import answer_cache
from autotune.models.answer_cache import Answer
from autotune.toolchain import child_process
from autotune.toolchain.known_flags import is_known_compiler

VERSION = 1
"""Version of the answers: raised whenever equal kernels may get different ones."""

_KIND = "kerncraft"
_TOOLS = ("kerncraft", "osaca", "pycachesim", "sympy", "pycparser")
_LIMIT = 20.0


def key(
    source: str, machine_file: str, worker: str, stated: tuple[float, float] | None = None
) -> str:
    """A hash of the kernel, the machine file, the worker, its tools and the installed compilers, or
    of the in-core times that are stated.
    """
    parts = [VERSION, worker, source, machine_file, *map(_version, _TOOLS), *sys.version_info[:2]]
    if stated is not None:
        return hashlib.sha256(json.dumps([*parts, stated]).encode()).hexdigest()
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
    """The installed compilers named under ``compiler:`` in a machine file, with their paths."""
    block = re.search(r"^compiler\s*:(.*(?:\n(?:[ \t-].*)?)*)", machine_file, re.MULTILINE)
    names = re.findall(r"['\"]?([\w.+/-]+)['\"]?\s*:", block.group(1)) if block else []
    paths = {name: shutil.which(name) for name in names if is_known_compiler(name)}
    return sorted((name, path) for name, path in paths.items() if path is not None)


@cache
def _compiler(path: str, changed: int) -> str:
    """The version text of a compiler; ``changed`` is the time of its last change."""
    try:
        return child_process.run([path, "--version"], timeout=_LIMIT).out
    except InputError:
        return f"{path} {changed}"


def stored(key: str) -> Answer | None:
    """The stored answer about a kernel; None where there is none."""
    return answer_cache.stored_answer(_KIND, key, ("ok",))


def keep(key: str, answer: Answer) -> None:
    """Store the answer about a kernel."""
    answer_cache.keep_answer(_KIND, key, answer)
