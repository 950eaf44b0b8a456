"""The evaluator in C of modeling assertions, called through ctypes, beside ``counts.exact``."""

import ctypes
import re
import subprocess
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from autotune.assertions import library
from autotune.language import counts
from autotune.language.counts import Value

FOLDER = Path(library.__file__).parent
WARNINGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pedantic")
_REAL = 1
_UNSET = 1
_REASONS = (
    ("has no value; variables", "has no value"),
    ("division by zero", "division by zero"),
    ("too large", "a number is too large"),
    ("too near", "a rounded number is too near a whole one to be rounded surely"),
    ("the logarithm of", "the logarithm of a number that is not positive"),
    ("the square root", "the square root of a negative number"),
    ("a root of", "a root of a negative number"),
)


class CValue(ctypes.Structure):
    """``struct ma_value``."""

    _fields_ = (
        ("top", ctypes.c_int64),
        ("bottom", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("number", ctypes.c_int),
    )


class CSlot(ctypes.Structure):
    """``struct ma_slot``."""

    _fields_ = (("value", CValue), ("version", ctypes.c_uint64), ("fault", ctypes.c_int))


class Evaluator:
    """``values.c`` and ``expression.c``, compiled for this process."""

    def __init__(self, folder: Path) -> None:
        target = folder / "values.so"
        sources = [FOLDER / "values.c", FOLDER / "expression.c"]
        subprocess.run(
            ["gcc", *WARNINGS, "-O2", "-fPIC", "-shared", *sources, "-o", target, "-lm"],
            check=True,
        )
        self._c = ctypes.CDLL(str(target))
        self._c.ma_parse.restype = ctypes.c_void_p
        self._c.ma_discard.argtypes = [ctypes.c_void_p]
        self._c.ma_names.argtypes = [ctypes.c_void_p]
        self._c.ma_name.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self._c.ma_name.restype = ctypes.c_char_p
        self._c.ma_wrong.argtypes = [ctypes.c_void_p]
        self._c.ma_wrong.restype = ctypes.c_char_p
        self._c.ma_evaluate.argtypes = [ctypes.c_void_p] * 4
        self._c.ma_fault_text.restype = ctypes.c_char_p

    def value(self, text: str, values: Mapping[str, Value]) -> Value | str:
        """The value, or the reason why there is none."""
        expression = self._c.ma_parse(text.encode())
        wrong = self._c.ma_wrong(expression)
        names = [
            self._c.ma_name(expression, i).decode() for i in range(self._c.ma_names(expression))
        ]
        slots = (ctypes.POINTER(CSlot) * max(len(names), 1))()
        for i, name in enumerate(names):
            slots[i] = ctypes.pointer(_slot(values.get(name)))
        result, culprit = CValue(), ctypes.c_int()
        fault = self._c.ma_evaluate(expression, slots, ctypes.byref(result), ctypes.byref(culprit))
        self._c.ma_discard(expression)
        if fault:
            return wrong.decode() if wrong else self._c.ma_fault_text(fault).decode()
        return _number(result)


def _slot(value: Value | None) -> CSlot:
    if value is None:
        return CSlot(CValue(0, 1, 0.0, 0), 0, _UNSET)
    if isinstance(value, float):
        return CSlot(CValue(0, 1, value, _REAL), 0, 0)
    return CSlot(CValue(*Fraction(value).as_integer_ratio(), 0.0, 0), 0, 0)


def _number(value: CValue) -> Value:
    if value.number == _REAL:
        return float(value.real)
    return value.top if value.bottom == 1 else Fraction(value.top, value.bottom)


def expected(text: str, values: Mapping[str, Value]) -> Value | str:
    """What ``counts`` says: the value, the reason in the words of the library, or its mistake."""
    expr = counts.parse(text)
    try:
        return counts.exact(expr, values)
    except ValueError as error:
        message = re.sub(r"'[^']*'", "", str(error))
        return next(words for part, words in _REASONS if part in message)
