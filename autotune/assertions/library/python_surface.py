"""Modeling assertions of Python programs: ``import autotune.assertions as ma``.

    ma.var("na", 1400)                                   an input of the model
    ma.var("nprocs", p, unit="processes", domain="power of two")
    ma.derive("npcols", "2**ceil(log2(nprocs)/2)")       with a third argument: compared with it
    with ma.region("setup"): ...
    @ma.sub                                              or @ma.sub("name"), with ma.sub("name")
    for i in ma.loop("norm", "l", range(l)): ...         the turns are counted
    with ma.loop("norm", "l") as loop: loop.trips += 1   the program counts them
    with ma.flop("rho", "2*n") as block: block.count(k)  likewise ma.load, ma.store (bytes)
    ma.send("x", "16", repeat="l"); ma.recv("x", "16"); ma.coll("norm", "allreduce", "8")

Without AUTOTUNE_ASSERT in the environment, nothing is loaded and a call returns at once. With it,
the library is that of LD_PRELOAD; where there is none, it is built and loaded here, and messages of
MPI are not counted.
"""

import ctypes
import functools
import math
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Final, ParamSpec, SupportsFloat, SupportsIndex, TypeVar, overload

Item = TypeVar("Item")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Number = SupportsIndex | SupportsFloat
"""A whole or a real number, also of NumPy."""
_Key = tuple[str | int, ...]

_KINDS: Final = (
    "region", "loop", "sub", "flop", "load", "store", "send", "recv", "coll", "variable",
)  # fmt: skip
"""``enum ma_point_kind_`` of the header."""
_MOST_SITES = 100_000
"""Points that are remembered; beyond, all are forgotten and made again."""
_LARGEST = 2**63 - 1
_TEXTS = ("file", "name", "expression", "repeat", "operation", "unit", "domain")


class Site(ctypes.Structure):
    """``struct ma_site``: a point of the program."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("line", ctypes.c_int),
        *((text, ctypes.c_char_p) for text in _TEXTS),
        ("parent", ctypes.c_void_p),
        ("path", ctypes.c_void_p),
    )


_AT = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_WHOLE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
_REAL = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)


class FunctionTable(ctypes.Structure):
    """``struct ma_functions``: what the library offers."""

    _fields_ = (
        ("begin", _AT), ("end", _AT), ("end_whole", _WHOLE), ("end_real", _REAL),
        ("count_whole", _WHOLE), ("count_real", _REAL), ("message", _AT),
        ("set_whole", _WHOLE), ("set_real", _REAL),
        ("derive", _AT), ("derive_whole", _WHOLE), ("derive_real", _REAL),
        ("set_program", ctypes.PYFUNCTYPE(None, ctypes.c_char_p)), ("on", ctypes.c_int),
    )  # fmt: skip


def _loaded() -> FunctionTable | None:
    """The table of the library; None where assertions are off."""
    if not os.environ.get("AUTOTUNE_ASSERT"):
        return None
    try:
        table = FunctionTable.in_dll(ctypes.PyDLL(None), "ma_functions_1")
    except ValueError:  # not by LD_PRELOAD
        # compilers are heavy
        from autotune.assertions.library import library_build  # noqa: PLC0415

        library = ctypes.PyDLL(str(library_build.shared_library()), mode=ctypes.RTLD_GLOBAL)
        table = FunctionTable.in_dll(library, "ma_functions_1")
    if not table.on:
        return None
    if sys.argv and sys.argv[0]:
        table.set_program(os.path.basename(sys.argv[0]).encode())  # noqa: PTH119
    return table


_table = _loaded()
_on: Final = _table is not None


def _nothing(*_: object) -> None:
    """Stands for every function of the library where it is off."""


_begin: Callable[[int], None] = _table.begin if _table else _nothing
_end: Callable[[int], None] = _table.end if _table else _nothing
_end_whole: Callable[[int, int], None] = _table.end_whole if _table else _nothing
_end_real: Callable[[int, float], None] = _table.end_real if _table else _nothing
_message: Callable[[int], None] = _table.message if _table else _nothing
_set_whole: Callable[[int, int], None] = _table.set_whole if _table else _nothing
_set_real: Callable[[int, float], None] = _table.set_real if _table else _nothing
_derive: Callable[[int], None] = _table.derive if _table else _nothing
_derive_whole: Callable[[int, int], None] = _table.derive_whole if _table else _nothing
_derive_real: Callable[[int, float], None] = _table.derive_real if _table else _nothing


# --- points ---------------------------------------------------------------------------------


class _Point:
    """A point of the program as the library keeps it: apart for its begin and its end, which the
    library remembers by different paths.
    """

    __slots__ = ("begin", "code", "end", "memory")

    def __init__(self, kind: str, line: int = 0, **texts: str) -> None:
        encoded = {"repeat": b"1"} | {
            name: text.encode("utf-8", "replace") for name, text in texts.items()
        }
        values = {name: encoded.get(name, b"") for name in _TEXTS}
        self.memory = (Site * 2)(*(Site(kind=_KINDS.index(kind), line=line, **values),) * 2)
        self.code: CodeType | None = None  # kept, as points are known by its address
        self.begin = ctypes.addressof(self.memory)
        self.end = self.begin + ctypes.sizeof(Site)


_points: dict[_Key, _Point] = {}


def _remembered(key: _Key, point: _Point) -> _Point:
    if len(_points) >= _MOST_SITES:
        _points.clear()
    _points[key] = point
    return point


def _asserted_at(
    kind: str, name: str, expression: str | int, repeat: str, operation: str
) -> _Point:
    """The point of the line that called the caller of this function."""
    frame = sys._getframe(2)
    code = frame.f_code
    key = (kind, name, expression, repeat, operation, id(code), frame.f_lasti)
    point = _points.get(key)
    if point is None:
        texts = {"name": name, "expression": str(expression), "repeat": str(repeat)}
        file = code.co_filename
        point = _Point(kind, frame.f_lineno, file=file, operation=operation, **texts)
        point.code = code
        _remembered(key, point)
    return point


# --- blocks ---------------------------------------------------------------------------------


class AssertedBlock:
    """A region or a subroutine, to be used with ``with``, any number of times."""

    __slots__ = ("_first", "_last", "_point")

    def __init__(self, point: _Point) -> None:
        self._point = point
        self._first = point.begin
        self._last = point.end

    def __enter__(self) -> None:
        _begin(self._first)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        _end(self._last)


class Subroutine(AssertedBlock):
    """A subroutine: a block, or a decorator of the function that it is."""

    __slots__ = ()

    def __call__(self, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        """The function with its calls recorded; the function itself where assertions are off."""
        if not _on:
            return function
        point = self._point

        @functools.wraps(function)
        def recorded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            _begin(point.begin)
            try:
                return function(*args, **kwargs)
            finally:
                _end(point.end)

        return recorded


class _IdleBlock(Subroutine):
    """A block where assertions are off."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        pass


class CountedLoop:
    """A loop whose turns the program counts in ``trips``."""

    __slots__ = ("_point", "trips")

    def __init__(self, point: _Point) -> None:
        self._point = point
        self.trips = 0

    def __enter__(self) -> "CountedLoop":
        _begin(self._point.begin)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        _end_whole(self._point.end, self.trips)


class CountedBlock:
    """A block of operations, or of bytes read or written."""

    __slots__ = ("_counted", "_point")

    def __init__(self, point: _Point) -> None:
        self._point = point
        self._counted: int | float | None = None

    def __enter__(self) -> "CountedBlock":
        _begin(self._point.begin)
        return self

    def count(self, number: Number) -> None:
        """Say how many operations or bytes the program counted, in all or since the last time."""
        counted = _as_number(number)
        self._counted = counted if self._counted is None else self._counted + counted

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self._counted is None:
            _end(self._point.end)
        elif isinstance(self._counted, int):
            _end_whole(self._point.end, self._counted)
        else:
            _end_real(self._point.end, self._counted)


class _IdleCountedBlock(CountedBlock):
    """A counted block where assertions are off."""

    __slots__ = ()

    def __enter__(self) -> CountedBlock:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        pass

    def count(self, number: Number) -> None:
        pass


_NO_POINT: Final = _Point("region")
_IDLE: Final = _IdleBlock(_NO_POINT)
_IDLE_COUNTED: Final = _IdleCountedBlock(_NO_POINT)
_blocks: dict[str, AssertedBlock] = {}


def region(name: str) -> AssertedBlock:
    """A named part of the program."""
    if not _on:
        return _IDLE
    block = _blocks.get(name)
    if block is None:
        if len(_blocks) >= _MOST_SITES:
            _blocks.clear()
        frame = sys._getframe(1)
        point = _Point("region", frame.f_lineno, name=name, file=frame.f_code.co_filename)
        block = _blocks[name] = AssertedBlock(point)
    return block


@overload
def sub(name: str) -> Subroutine: ...
@overload
def sub(name: Callable[Parameters, Result]) -> Callable[Parameters, Result]: ...


def sub(name: str | Callable[Parameters, Result]) -> Subroutine | Callable[Parameters, Result]:
    """A subroutine: ``@ma.sub``, ``@ma.sub("name")`` or ``with ma.sub("name")``."""
    if not _on:
        return _IDLE if isinstance(name, str) else name
    if not isinstance(name, str):
        code = name.__code__ if hasattr(name, "__code__") else None
        texts = {"name": getattr(name, "__name__", "sub"), "file": code.co_filename if code else ""}
        return Subroutine(_Point("sub", code.co_firstlineno if code else 0, **texts))(name)
    key = ("sub", name)
    frame = sys._getframe(1)
    point = _points.get(key) or _remembered(
        key, _Point("sub", frame.f_lineno, name=name, file=frame.f_code.co_filename)
    )
    return Subroutine(point)


@overload
def loop(name: str, trips: str | int) -> CountedLoop: ...
@overload
def loop(name: str, trips: str | int, items: Iterable[Item]) -> Iterable[Item]: ...


def loop(
    name: str, trips: str | int, items: Iterable[Item] | None = None
) -> CountedLoop | Iterable[Item]:
    """A loop that turns ``trips`` times: over ``items``, or counted by the program."""
    if not _on:
        return CountedLoop(_NO_POINT) if items is None else items
    point = _asserted_at("loop", name, trips, "1", "")
    return CountedLoop(point) if items is None else _counted_turns(point, items)


def _counted_turns(point: _Point, items: Iterable[Item]) -> Iterator[Item]:
    turns = 0
    _begin(point.begin)
    try:
        for item in items:
            turns += 1
            yield item
    finally:  # also where the loop is left early
        _end_whole(point.end, turns)


def flop(name: str, count: str | int) -> CountedBlock:
    """A block of ``count`` floating-point operations."""
    return CountedBlock(_asserted_at("flop", name, count, "1", "")) if _on else _IDLE_COUNTED


def load(name: str, count: str | int) -> CountedBlock:
    """A block that reads ``count`` bytes."""
    return CountedBlock(_asserted_at("load", name, count, "1", "")) if _on else _IDLE_COUNTED


def store(name: str, count: str | int) -> CountedBlock:
    """A block that writes ``count`` bytes."""
    return CountedBlock(_asserted_at("store", name, count, "1", "")) if _on else _IDLE_COUNTED


# --- messages -------------------------------------------------------------------------------


def send(name: str, size: str | int, repeat: str = "1") -> None:
    """The next ``repeat`` messages that are sent within this block have ``size`` bytes each."""
    if _on:
        _message(_asserted_at("send", name, size, repeat, "").begin)


def recv(name: str, size: str | int, repeat: str = "1") -> None:
    """The next ``repeat`` messages that are received here have ``size`` bytes each."""
    if _on:
        _message(_asserted_at("recv", name, size, repeat, "").begin)


def coll(name: str, operation: str, size: str | int, repeat: str = "1") -> None:
    """The next ``repeat`` collective calls (``allreduce``) here take ``size`` bytes of a rank."""
    if _on:
        _message(_asserted_at("coll", name, size, repeat, operation).begin)


# --- variables ------------------------------------------------------------------------------


def var(name: str, value: Number, *, unit: str = "", domain: str = "") -> None:
    """An input of the model. Domains: ``power of two``, ``square``, ``whole``, ``even``, a range
    ``[1, 64]``; several are joined by ``;``.
    """
    if _on:
        point = _variable(name, "", unit, domain)
        number = _as_number(value)
        if isinstance(number, int):
            _set_whole(point.begin, number)
        else:
            _set_real(point.begin, number)


def derive(
    name: str, expression: str, value: Number | None = None, *, unit: str = "", domain: str = ""
) -> None:
    """A variable that is computed from others; ``value``: what the program has, to be compared."""
    if _on:
        point = _variable(name, expression, unit, domain)
        number = None if value is None else _as_number(value)
        if number is None:
            _derive(point.begin)
        elif isinstance(number, int):
            _derive_whole(point.begin, number)
        else:
            _derive_real(point.begin, number)


def _variable(name: str, expression: str, unit: str, domain: str) -> _Point:
    key = ("variable", name, expression, unit, domain)
    return _points.get(key) or _remembered(
        key, _Point("variable", name=name, expression=expression, unit=unit, domain=domain)
    )


def _as_number(value: Number) -> int | float:
    """A whole number where it is one, also of NumPy; infinity, which is no value, where it is too
    large.
    """
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return float(value)
    return whole if abs(whole) <= _LARGEST else math.copysign(math.inf, whole)
