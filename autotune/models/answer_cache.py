"""A cache on disk for the answers of worker processes and for predictions, keyed by the hash of
everything that an answer depends on. The first line of a file is the hash of the rest, its time is
that of its last use.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from autotune import paths

Answer = Mapping[str, object]
_LEAST = 32_000
"""As so many bytes a smaller file counts, so that there are not too many to be looked through."""


def _place(kind: str, key: str) -> Path:
    return paths.cache_dir() / kind / key[:2] / f"{key}.json"


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def stored_answer(kind: str, key: str, fields: Collection[str]) -> Answer | None:
    """A stored answer; None if it is missing, unreadable or lacks a field."""
    try:
        answer = json.loads(stored_text(kind, key) or "null")
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and answer.keys() >= set(fields) else None


def keep_answer(kind: str, key: str, answer: Answer) -> None:
    """Store an answer; a cache that cannot be written is not an error."""
    keep_text(kind, key, json.dumps(dict(answer)))


def stored_text(kind: str, key: str) -> str | None:
    """A stored text; None if it is missing, unreadable or no longer what was stored."""
    place = _place(kind, key)
    try:
        checksum, _, text = place.read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):  # a cache that cannot be written is no failure
        os.utime(place)
    return text if checksum == _sum(text) else None


def keep_text(kind: str, key: str, text: str, most: int | None = None) -> None:
    """Store a text in one atomic step; a cache that cannot be written is not an error.

    ``most``: the bytes that all texts of the kind may have; those used longest ago are removed.
    """
    place = _place(kind, key)
    with contextlib.suppress(OSError):  # a cache that cannot be written is no failure
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=place.parent, suffix=".new", delete=False
        ) as file:
            file.write(f"{_sum(text)}\n{text}")
        Path(file.name).replace(paths.file_of_cache(place))
    if most is not None:
        _remove_oldest(paths.cache_dir() / kind, most)


def _remove_oldest(folder: Path, most: int) -> None:
    """Remove the files of a kind that were used longest ago, beyond so many bytes.

    Other processes may read and remove the same files: what is gone is made again.
    """
    files = []
    for path in folder.glob("*/*"):
        with contextlib.suppress(OSError):
            state = path.stat()
            files.append((state.st_mtime_ns, state.st_size, path))
    left = 0
    for _, size, path in sorted(files, reverse=True):
        left += max(size, _LEAST)
        if left > most:
            with contextlib.suppress(OSError):
                path.unlink()
