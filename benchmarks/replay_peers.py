"""Talking to Kernel Tuner, which runs under a Python of its own."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import cast

from autotune.files.recorded.recorded_space import RecordedSpace, Setting

INSTALL = (
    "python -m venv kt && kt/bin/pip install 'kernel_tuner>=1.5,<2';"
    " then: --kernel-tuner kt/bin/python"
)
_WORKER = Path(__file__).with_name("replay_kernel_tuner.py")
_MILLI = 1e3


class KernelTuner:
    """A child process that answers what Kernel Tuner's optimisers would evaluate."""

    def __init__(self, python: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._caches: dict[str, tuple[str, dict[str, int]]] = {}
        self._child = subprocess.Popen(
            [python, str(_WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def order(self, space: RecordedSpace, strategy: str, budget: int, seed: int) -> list[int]:
        """The rows that a strategy evaluates, in order, each once."""
        if space.name not in self._caches:
            path = Path(self._folder.name) / f"{len(self._caches)}.json"
            self._caches[space.name] = (str(path), _write(space, path))
        cache, rows = self._caches[space.name]
        request = {"cache": cache, "strategy": strategy, "budget": budget, "seed": seed}
        if self._child.stdin is None or self._child.stdout is None:
            raise RuntimeError("the child process has no pipes")
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"Kernel Tuner ended; to install it: {INSTALL}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"Kernel Tuner, {strategy} on {space.name}: {answer['error']}")
        return [rows[key] for key in cast(list[str], answer["order"])]


def present(python: str) -> bool:
    """Whether this Python has kernel_tuner."""
    command = [python, "-c", "import kernel_tuner"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    except OSError:
        return False
    return done.returncode == 0


def _write(space: RecordedSpace, path: Path) -> dict[str, int]:
    """A cache file of a space, its numbers as numbers and all else as words; key to row."""
    columns = [_words(values) for values in space.parameters.values()]
    entries: dict[str, dict[str, object]] = {}
    rows: dict[str, int] = {}
    for number, row in enumerate(space.rows):
        values = [words[value] for words, value in zip(columns, row, strict=True)]
        entry: dict[str, object] = dict(zip(space.names, values, strict=True))
        if space.statuses[number] == "ok":
            entry["time"] = float(space.seconds[number]) * (_MILLI if space.unit else 1.0)
        else:
            entry["time"] = entry["__error__"] = "RuntimeFailedConfig"
        key = ",".join(str(value) for value in values)
        entries[key] = entry
        rows[key] = number
    content = {
        "device_name": "recorded",
        "kernel_name": "recorded",
        "problem_size": [1, 1, 1],
        "tune_params_keys": list(space.names),
        "tune_params": {
            name: [words[value] for value in values]
            for name, words, values in zip(
                space.names, columns, space.parameters.values(), strict=True
            )
        },
        "objective": "time",
        "cache": entries,
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return rows


def _words(values: tuple[Setting, ...]) -> dict[Setting, int | float | str]:
    """Each value as Kernel Tuner takes it: numbers where all are, else one word each."""
    if all(isinstance(value, int | float) for value in values):
        return {v: int(v) if isinstance(v, bool | int) else float(v or 0) for v in values}
    return {value: f"v{place}" for place, value in enumerate(values)}
