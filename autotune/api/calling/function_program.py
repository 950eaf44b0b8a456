"""What a program file would say of a Python function."""

import inspect
import json
import os
import pickle
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autotune import paths
from autotune.api.calling import worker
from autotune.api.calling.function_pickle import digest_of, dumped
from autotune.domain.program import written
from autotune.errors import Fault, InputError
from autotune.language.constraint import Value

_SOURCE = "function.txt"
"""The file whose content makes the program: digests of the function and of the worker."""
_BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledFunction:
    """A function, and how its time, its metrics and whether it is right are read from its result.

    ``time``: a name in the result, or a function of it; None: the call is timed. ``check``: a
    function of the result, a value that is right, or ``"baseline"``: the result of the baseline.
    """

    function: Callable[..., Any]
    texts: Mapping[str, Mapping[str, Value]]
    """By the name of a parameter or argument its values, each by its text on a command line."""
    time: str | Callable[..., Any] | None = None
    metrics: Mapping[str, str | Callable[..., Any]] = field(default_factory=dict)
    check: Any = None
    tolerance: float = 1e-9
    samples: int = 3
    least: float = 0.02
    """Seconds that a sample takes at least, where the call is timed."""

    @property
    def compared(self) -> str:
        """With what a result is compared; empty: with nothing."""
        if self.check is None:
            return ""
        return _BASELINE if isinstance(self.check, str) and self.check == _BASELINE else "check"

    def program(self) -> dict[str, object]:
        """The keys of a program file; its files are written into the cache.

        InputError for a function that cannot be given to another process.
        """
        compared = self.compared
        payload = {
            "function": self.function,
            "texts": {name: dict(texts) for name, texts in self.texts.items()},
            "time": self.time,
            "metrics": dict(self.metrics),
            "check": None if compared == _BASELINE else self.check,
            "compared": compared,
            "tolerance": self.tolerance,
            "samples": self.samples,
            "least": self.least,
        }
        folder = _folder_of(payload)
        made: dict[str, object] = {
            "source_folder": str(folder),
            "sources": [_SOURCE],
            "run": [
                "{python}",
                "{source folder}/worker.py",
                *(f"{name}={{{name}}}" for name in self.texts),
            ],
            "time": {"json": "autotune.time"},
        }
        if compared == _BASELINE:
            made["check"] = {"file": worker.RESULT, "tolerance": self.tolerance}
        elif compared:
            made["check"] = {"json": "autotune.check", "value": worker.RIGHT}
        return made


def is_lazy(function: Callable[..., Any]) -> bool:
    """Whether a call returns before the work is done: a coroutine or a generator."""
    kinds = (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
    )
    return any(is_kind(function) for is_kind in kinds)


def texts_of(values: Mapping[str, Sequence[Value]]) -> dict[str, dict[str, Value]]:
    """The values of parameters by their texts on a command line, without null.

    InputError for two values of a parameter that have the same text.
    """
    made: dict[str, dict[str, Value]] = {}
    for name, listed in values.items():
        texts: dict[str, Value] = {}
        for value in listed:
            text = written(value)
            if value is not None and text in texts and type(texts[text]) is not type(value):
                found = f"{texts[text]!r} and {value!r} look the same on a command line"
                hint = "use values of one type"
                raise InputError(Fault(where=f"parameters.{name}", found=found, hint=hint))
            if value is not None:
                texts[text] = value
        made[name] = texts
    return made


def _folder_of(payload: Mapping[str, object]) -> Path:
    """The folder with the files of a called function, by its digest."""
    try:
        content, digest = dumped(payload), digest_of(payload)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise InputError(
            Fault(
                where="target",
                found=f"the function cannot be given to another process: {error}",
                expected="a function that uses values which pickle can write",
                hint="open files, locks and connections inside it, or put it into a module",
            )
        ) from error
    worker_file = Path(worker.__file__)
    folder = paths.cache_dir() / "functions" / digest
    folder.mkdir(parents=True, exist_ok=True)
    start = {"path": [str(Path(p or ".").absolute()) for p in sys.path], "folder": str(Path.cwd())}
    _write(folder / worker.PAYLOAD, content)
    _write(folder / "start.json", json.dumps(start).encode())
    _write(folder / worker_file.name, worker_file.read_bytes())
    of_worker = digest_of(worker_file.read_text(encoding="utf-8"))
    _write(folder / _SOURCE, f"function {digest}\nworker {of_worker}\n".encode())
    return folder


def _write(path: Path, content: bytes) -> None:
    """Replace a file at once, so that no process that starts sees half of it."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    beside.write_bytes(content)
    beside.replace(path)
