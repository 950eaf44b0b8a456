"""Calls a function in a process of its own and prints times, metrics and whether it was right.

It is copied beside what it loads and run as ``python worker.py NAME=VALUE ...``; so it uses nothing
but the standard library. What the function prints goes to standard error: standard output has a
line of JSON for every sample, under the key ``autotune``.
"""

import gc
import importlib
import inspect
import json
import marshal
import math
import os
import pickle
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAYLOAD = "function.pickle"
RESULT = "result.txt"
"""The file with the numbers of a result, for a comparison with the baseline's."""
RIGHT = "right"
_GLOBALS: dict[int, dict[str, Any]] = {}
"""The global names of functions that came by value, by the number of their module."""
_LONGEST = 10.0
"""Seconds after which a process takes no further sample."""


# --- functions and classes by value ----------------------------------------------------------


def make_function(
    code: bytes, module: int, name: str, qualified: str, cells: int
) -> types.FunctionType:
    """A function without its state, from its code as ``marshal`` writes it."""
    names = _GLOBALS.setdefault(module, {"__builtins__": __builtins__, "__name__": "__main__"})
    closure = tuple(types.CellType() for _ in range(cells))
    made = types.FunctionType(marshal.loads(code), names, name, None, closure)
    made.__qualname__ = qualified
    return made


def set_function(made: types.FunctionType, state: Mapping[str, Any]) -> None:
    """Give a function its global names, default values and the variables of its closure."""
    for module in state["imports"]:
        importlib.import_module(module)
    made.__globals__.update(state["globals"])
    made.__defaults__, made.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    made.__dict__.update(state["attributes"])
    for cell, content in zip(made.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = content[0]


def make_class(name: str, bases: tuple[type, ...], qualified: str) -> type:
    """A class without its members."""
    return type(name, bases, {"__module__": "__main__", "__qualname__": qualified})


def set_class(made: type, members: Mapping[str, Any]) -> None:
    """Give a class its members."""
    for name, member in members.items():
        setattr(made, name, member)


class PayloadLoader(pickle.Unpickler):
    """Loads what ``function_pickle`` wrote, with the functions of this file."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as pickle declares it
        """What a name stands for."""
        if module == "autotune.api.calling.worker":
            return globals()[name]
        return super().find_class(module, name)


# --- calling ---------------------------------------------------------------------------------


class UnusableResultError(Exception):
    """What the function returned is not what is read from it; nothing is printed then."""


def arguments_of(words: Sequence[str], texts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The keyword arguments that a command line states; those that it leaves out are None."""
    given: dict[str, Any] = dict.fromkeys(texts)
    for word in words:
        name, _, text = word.partition("=")
        listed = texts.get(name, {})
        given[name] = listed[text] if text in listed else _read(text)
    return given


def _read(text: str) -> Any:  # noqa: ANN401 - a value of any type
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text


def read(result: Any, way: Any, what: str) -> float:  # noqa: ANN401 - of the user's
    """The number that a function or a name gets from a result."""
    if way is float:
        if isinstance(result, Mapping):
            keyed = (
                'time="KEY" reads a key' if what == "time" else f'metrics=["{what}"] reads a key'
            )
            said = f"{what}: the function returned {_shown(result)}, which is no number ({keyed})"
            raise UnusableResultError(said)
        value = result
    elif callable(way):
        value = way(result)
    elif isinstance(result, Mapping) and way in result:
        value = result[way]
    elif hasattr(result, way):
        value = getattr(result, way)
    else:
        raise UnusableResultError(f"{what}: the function returned {_shown(result)}, without {way}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UnusableResultError(f"{what}: {_shown(value)} is not a number") from None


def _shown(value: object) -> str:
    text = repr(value)
    kind = type(value).__name__
    return f"{text if len(text) <= 80 else text[:77] + '...'} of type {kind}"


def samples(payload: Mapping[str, Any], call: Callable[[], Any]) -> Iterator[tuple[float, Any]]:
    """The seconds and the result of every sample.

    A function that states its time is called once for each. Another one is called once before
    anything is timed, and then as often in each sample as it takes to reach ``least`` seconds.
    """
    began = time.perf_counter()
    repeats, way = 1, payload["time"]
    if way is None:
        call()
        started = time.perf_counter()
        result = call()
        once = time.perf_counter() - started
        repeats = max(1, math.ceil(payload["least"] / max(once, 1e-9)))
        if repeats == 1:
            yield once, result
    for _ in range(payload["samples"] - (way is None and repeats == 1)):
        started = time.perf_counter()
        for _ in range(repeats):
            result = call()
        seconds = (time.perf_counter() - started) / repeats
        yield (seconds if way is None else read(result, way, "time")), result
        if time.perf_counter() - began > _LONGEST:
            return


def verdict(payload: Mapping[str, Any], result: Any, given: Mapping[str, Any]) -> str:  # noqa: ANN401
    """``right``, or in which way a result is wrong."""
    check = payload["check"]
    if callable(check):
        try:
            answer = check(result, **_wanted(check, given))
        except AssertionError as error:
            return f"wrong: {error or 'an assertion of the check failed'}"
        return RIGHT if answer is None or bool(answer) else f"wrong: {_shown(result)}"
    numbers, wanted = list(_numbers(result)), list(_numbers(check))
    if len(numbers) != len(wanted):
        return f"wrong: {len(numbers)} values, the reference has {len(wanted)}"
    scale = max((abs(w) for w in wanted if math.isfinite(w)), default=0.0) or 1.0
    worst = max((_apart(a, b) for a, b in zip(numbers, wanted, strict=True)), default=0.0) / scale
    if worst <= payload["tolerance"]:
        return RIGHT
    return f"wrong: differs by {worst:.3g}, more than {payload['tolerance']:g}"


def _apart(a: float, b: float) -> float:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return abs(a - b) if math.isfinite(a - b) else math.inf


def _wanted(check: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a check names beside the result."""
    try:
        parameters = inspect.signature(check).parameters
    except (TypeError, ValueError):
        return {}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(given)
    return {name: given[name] for name in list(parameters)[1:] if name in given}


def _numbers(result: Any) -> Iterator[float]:  # noqa: ANN401 - of the user's
    """The numbers in a result, in order."""
    if hasattr(result, "tolist"):
        result = result.tolist()
    if isinstance(result, Mapping):
        for name in sorted(result):
            yield from _numbers(result[name])
    elif isinstance(result, list | tuple):
        for item in result:
            yield from _numbers(item)
    elif isinstance(result, complex):
        yield from (result.real, result.imag)
    else:
        try:
            yield float(result)
        except (TypeError, ValueError):
            text = f"check: {_shown(result)} has no numbers to compare"
            raise UnusableResultError(text) from None


def main(words: Sequence[str]) -> int:
    """Call the function and print its samples; 0 also where its result cannot be read."""
    printed = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    here, folder = Path(__file__).resolve().parent, Path.cwd()
    start = json.loads((here / "start.json").read_text(encoding="utf-8"))
    sys.path[:] = start["path"]
    os.chdir(start["folder"])
    with (here / PAYLOAD).open("rb") as file:
        payload = PayloadLoader(file).load()
    given = arguments_of(words, payload["texts"])
    function = payload["function"]
    gc.collect()
    gc.disable()  # as timeit does
    try:
        for seconds, result in samples(payload, lambda: function(**given)):
            line: dict[str, Any] = {"time": seconds}
            line["metrics"] = {n: read(result, way, n) for n, way in payload["metrics"].items()}
            if payload["compared"] == "baseline":
                numbers = " ".join(map(repr, _numbers(result)))
                (folder / RESULT).write_text(f"{numbers}\n", encoding="ascii")
            elif payload["compared"]:
                line["check"] = verdict(payload, result, given)
            printed.write(json.dumps({"autotune": line}) + "\n")
    except UnusableResultError as error:
        sys.stderr.write(f"{error}\n")
    except Exception as error:  # of the user's function
        _show(error)
        return 1
    printed.close()
    return 0


def _show(error: Exception) -> None:
    """Print a traceback, from the first line that is the user's."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
