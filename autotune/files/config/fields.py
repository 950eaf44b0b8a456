"""The kinds of values in YAML files: expressions, quantities, coefficients, names."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from autotune.domain.variant import Value
from autotune.files.config.yaml_document import describe
from autotune.language.expression import Expr, Num, Ref, Sym, number, parse
from autotune.units import (
    Bytes,
    BytesPerCycle,
    BytesPerSecond,
    Cycles,
    Dimension,
    Hertz,
    Seconds,
)
from autotune.units import parse as parse_quantity


class Model(BaseModel):
    """A mapping with exactly these keys; numbers are not text and text is not a number."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class Unreadable(ValueError):
    """A value that cannot be read; ``stand_in`` can, so that the rest is checked all the same."""

    def __init__(self, message: str, stand_in: object) -> None:
        super().__init__(message)
        self.stand_in = stand_in


class Read:
    """Says of a field that one function reads its value; its ValueError becomes the fault."""

    def __init__(self, function: Callable[[Any], object], stand_in: object = None) -> None:
        self.function = function
        self.stand_in = stand_in

    def read(self, value: object) -> object:
        try:
            return self.function(value)
        except ValueError as error:
            raise Unreadable(str(error), self.stand_in) from error

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)


def expression(value: object) -> Expr:
    """An expression from its text, or from a plain number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{describe(value)} is not an expression")
    return Num(value) if not isinstance(value, str) else parse(value)


def reference(value: object) -> Ref:
    """An array or array element: ``y``, ``Y[l]``."""
    match expression(value):
        case Sym(name=name):
            return Ref(name, ())
        case Ref() as ref:
            return ref
    raise ValueError(f"{describe(value)} is not an array or an element of one")


def coefficient(value: object) -> float:
    """A coefficient: a number, or the text of an exact expression such as ``(4 - sqrt(6))/10``."""
    try:
        return float(number(expression(value), {}))
    except OverflowError as error:
        raise ValueError(f"{describe(value)} is too large") from error


def range_(value: object) -> tuple[Expr, Expr]:
    """A half-open range: ``[N, n - N)``."""
    if not isinstance(value, str):
        raise ValueError(f'{describe(value)} is not a range such as "[0, n)"')
    text = value.strip()
    comma = _top_comma(text[1:-1])
    if not (text.startswith("[") and text.endswith(")")) or comma is None:
        raise ValueError(f'{describe(value)} is not a range such as "[0, n)"')
    return parse(text[1 : comma + 1]), parse(text[comma + 2 : -1])


def _top_comma(text: str) -> int | None:
    """The position of the only comma outside brackets."""
    depth, found = 0, []
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            found.append(i)
    return found[0] if len(found) == 1 else None


def plain(value: object) -> Value:
    """Text, a whole number, true, false or null."""
    if isinstance(value, str | bool | int) or value is None:
        return value
    raise ValueError(f"{describe(value)} is not text, a whole number, true or false")


def choices(value: object) -> tuple[Value, ...]:
    """One plain value or a list of them."""
    return tuple(plain(v) for v in value) if isinstance(value, list) else (plain(value),)


def quantity(dimension: Dimension, *, zero: bool = False) -> Callable[[object], float]:
    """A reader of quantities of a dimension that are positive (or zero, where allowed)."""

    def read(value: object) -> float:
        if not isinstance(value, str):
            raise ValueError(f"{describe(value)} has no unit of {dimension}")
        result = parse_quantity(value, dimension)
        if result < 0 or (result == 0 and not zero):
            raise ValueError(f"{value!r} is not positive")
        return result

    return read


def _size(value: object) -> int:
    result = quantity("size")(value)
    if result != int(result):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(result)


Text = Annotated[str, Field(min_length=1)]
Expression = Annotated[Expr, Read(expression, 0)]
Reference = Annotated[Ref, Read(reference)]
Coefficient = Annotated[float, Read(coefficient)]
Range = Annotated[tuple[Expr, Expr], Read(range_, "[0, 0)")]
PlainValue = Annotated[Value, Read(plain)]
Choices = Annotated[tuple[Value, ...], Read(choices)]
Size = Annotated[Bytes, Read(_size)]
Frequency = Annotated[Hertz, Read(quantity("frequency"))]
Time = Annotated[Seconds, Read(quantity("time"))]
Bandwidth = Annotated[BytesPerSecond, Read(quantity("bandwidth"))]
Throughput = Annotated[BytesPerCycle, Read(quantity("throughput"))]
CycleCount = Annotated[Cycles, Read(quantity("cycles"))]
