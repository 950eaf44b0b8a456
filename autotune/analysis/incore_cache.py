"""What OSACA said of a loop, kept on disk by the hash of all that it depends on."""

import contextlib
import hashlib
import importlib.metadata
import json
import tempfile
from pathlib import Path

from autotune import paths
from autotune.analysis.incore_arch import Architecture
from autotune.analysis.incore_client import Reply
from autotune.analysis.loops import HotLoop

VERSION = 1
"""Raised whenever equal loops may get other answers from the worker."""


def key(loop: HotLoop, architecture: Architecture) -> str:
    """Hash of the loop, the architecture and the versions of what answers."""
    try:
        osaca = importlib.metadata.version("osaca")
    except importlib.metadata.PackageNotFoundError:
        osaca = "none"
    text = json.dumps([VERSION, osaca, architecture.name, loop.text])
    return hashlib.sha256(text.encode()).hexdigest()


def _place(key: str) -> Path:
    return paths.cache_dir() / "incore" / key[:2] / f"{key}.json"


def stored(key: str) -> Reply | None:
    """An answer that was kept; None for one that is not there or cannot be read."""
    try:
        reply = json.loads(_place(key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(reply, dict) and "uops" in reply and "chain" in reply
    return reply if whole else None


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
