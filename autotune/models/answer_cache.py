"""What workers said, kept on disk by the hash of all that it depends on."""

import contextlib
import json
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from autotune import paths

Answer = Mapping[str, object]


def _place(kind: str, key: str) -> Path:
    return paths.cache_dir() / kind / key[:2] / f"{key}.json"


def stored(kind: str, key: str, fields: Collection[str]) -> Answer | None:
    """An answer that was kept; None for one that is not there, cannot be read or lacks a field."""
    try:
        answer = json.loads(_place(kind, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) and answer.keys() >= set(fields) else None


def keep(kind: str, key: str, answer: Answer) -> None:
    """Put an answer in place, whole or not at all."""
    place = _place(kind, key)
    with contextlib.suppress(OSError):  # a cache that cannot be written is no failure
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=place.parent, suffix=".new", delete=False
        ) as file:
            json.dump(dict(answer), file)
        Path(file.name).replace(place)
