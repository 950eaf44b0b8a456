"""A cache on disk for OSACA's answers about instruction forms and for the in-core results of
sweeps.

The forms of an architecture are lines of one file. A batch is appended in one piece, so that a loop
of twenty forms does not make twenty files. An unreadable line counts as missing. Each result is a
separate file, named by the hash of everything that it depends on.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path

from autotune import paths
from autotune.models import answer_cache
from autotune.models.answer_cache import Answer
from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture
from autotune.units import Cycles

FORMS = 5
"""Version of the answers: raised whenever equal forms may get different ones."""
RESULTS = 34
"""Version of the results: raised whenever equal assembly may give different ones."""
_KIND, _RESULT = "incore", "incore-result"


def forms(architecture: OsacaArchitecture) -> dict[str, Answer]:
    """All stored answers about forms of an architecture, keyed by the text of the form."""
    try:
        lines = _file(architecture).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    answers: dict[str, Answer] = {}
    for line in lines:
        try:
            text, answer = json.loads(line)
        except (ValueError, TypeError):
            continue
        if isinstance(text, str) and isinstance(answer, dict):
            answers[text] = answer
    return answers


def keep_forms(architecture: OsacaArchitecture, answers: Mapping[str, Answer]) -> None:
    """Store answers about forms of an architecture."""
    place = _file(architecture)
    lines = "".join(json.dumps([text, answer]) + "\n" for text, answer in answers.items())
    with contextlib.suppress(OSError):  # a cache that cannot be written is no failure
        place.parent.mkdir(parents=True, exist_ok=True)
        with paths.file_of_cache(place).open("ab", buffering=0) as file:
            file.write(b"\n" + lines.encode())  # an interrupted line before is closed


def _file(architecture: OsacaArchitecture) -> Path:
    key = _hash([FORMS, _osaca(), architecture.name])[:16]
    return paths.cache_dir() / _KIND / f"{architecture.name}-{key}.jsonl"


def result_key(assembly: str, function: str, tables: Mapping[str, object]) -> str:
    """Hash of everything that a result depends on; ``tables``: those of the machine."""
    return _hash([*versions(), function, dict(tables), assembly])


def versions() -> tuple[int, int, str]:
    """The versions on which all results depend, the last one that of OSACA."""
    return RESULTS, FORMS, _osaca()


def stored_result(key: str) -> InCoreResult | None:
    """The stored result of a sweep; None where it is missing or unreadable."""
    answer = answer_cache.stored_answer(
        _RESULT, key, {f.name for f in dataclasses.fields(InCoreResult)}
    )
    try:
        return None if answer is None else _decoded(answer)
    except (TypeError, ValueError, KeyError):
        return None


def keep_result(key: str, result: InCoreResult) -> None:
    """Store the result of a sweep."""
    answer_cache.keep_answer(_RESULT, key, dataclasses.asdict(result))


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@functools.cache
def _osaca() -> str:
    try:
        return importlib.metadata.version("osaca")
    except importlib.metadata.PackageNotFoundError:
        return "none"


# --- reading -----------------------------------------------------------------------------------


def _decoded(answer: Answer) -> InCoreResult:
    def real(name: str) -> float:
        return _real(answer[name])

    def reals(name: str) -> tuple[float, ...]:
        return tuple(_real(value) for value in _list(answer[name]))

    def words(name: str) -> tuple[str, ...]:
        return tuple(_text(value) for value in _list(answer[name]))

    crowded, forward = answer["crowded"], answer["forward_latency"]
    return InCoreResult(
        T_OL=Cycles(real("T_OL")),
        T_nOL=Cycles(real("T_nOL")),
        chain=Cycles(real("chain")),
        bottleneck=_text(answer["bottleneck"]),
        iterations=real("iterations"),
        route=_text(answer["route"]),
        approximate=answer["approximate"] is True,
        crowded=None if crowded is None else Cycles(_real(crowded)),
        notes=words("notes"),
        assembly=_text(answer["assembly"]),
        vector=int(real("vector")),
        loads=real("loads"),
        stores=real("stores"),
        window=(reals("window")[0], reals("window")[1]),
        crossing=real("crossing"),
        crossings=reals("crossings"),
        crossing_stores=real("crossing_stores"),
        crossings_stores=reals("crossings_stores"),
        stored=reals("stored"),
        forwards=real("forwards"),
        chain_forwards=real("chain_forwards"),
        forward_latency=None if forward is None else Cycles(_real(forward)),
        blocked=real("blocked"),
        gathers=real("gathers"),
        calls=real("calls"),
        unknown=words("unknown"),
        width=real("width"),
        remainder=Cycles(real("remainder")),
        ladder=tuple(_rung(rung) for rung in _list(answer["ladder"])),
        leaves=answer["leaves"] is True,
        head=None if answer["head"] is None else _rung(answer["head"]),
        entry=Cycles(real("entry")),
        hot_loops=int(real("hot_loops")),
        annotated=_text(answer["annotated"]),
    )


def _rung(value: object) -> RemainderLoop:
    if not isinstance(value, dict):
        raise TypeError("no rung")
    return RemainderLoop(
        iterations=_real(value["iterations"]),
        T_OL=Cycles(_real(value["T_OL"])),
        T_nOL=Cycles(_real(value["T_nOL"])),
    )


def _real(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError("no number")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value
