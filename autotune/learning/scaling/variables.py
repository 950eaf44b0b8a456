"""The variables of a scaling model: a symbol with a formula of columns, a unit and a
transformation.

A regression on "SIZE" means nothing unless it is known whether SIZE is an edge, a volume or a
number of the grid, so each model carries the variables that it was fitted to.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.errors import Fault, InputError, unknown_name
from autotune.language import expression
from autotune.language.expression import Expr, Sym

_FARTHEST = 2.0**60


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A positive quantity that enters a model as the logarithm of a formula of columns.

    ``formula``: arithmetic on the columns of the runs, such as ``nx*ny*nz`` or ``(SIZE_K +
    50)/60``. Where ``plain`` is True, it is the name of a column, whatever its characters. ``unit``
    is empty where none was stated. ``transformation`` is applied before the regression.
    """

    symbol: str
    formula: str
    unit: str = ""
    transformation: Literal["log2"] = "log2"
    plain: bool = False

    def __post_init__(self) -> None:
        self._parsed()

    def __str__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        named = "" if self.formula == self.symbol else f" = {self.formula}"
        return f"{self.symbol}{named}{unit}"

    @property
    def logarithm(self) -> str:
        """The name of the variable in a regression of logarithms."""
        return f"{self.transformation}({self.symbol})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the formula, sorted."""
        return tuple(sorted(expression.symbols(self._parsed())))

    def value(self, columns: Mapping[str, float]) -> float:
        """The value of the formula for values of the columns; ValueError where it has none."""
        return float(expression.number(self._parsed(), columns))

    def column(self, value: float) -> float | None:
        """The value of the only column in the formula at which the formula has ``value``.

        None where the formula has several columns, or does not grow with its column.

        >>> Variable(symbol="SIZE", formula="(K + 50)/60").column(35.0)
        2050.0
        """
        if len(self.columns) != 1:
            return None
        name = self.columns[0]
        if self.formula == name:
            return value

        def at(x: float) -> float:
            return self.value({name: x}) - value

        return _root(at, value)

    def _parsed(self) -> Expr:
        return Sym(self.formula) if self.plain else expression.parse(self.formula)


def variable(
    symbol: str, formula: str, *, where: str, columns: Collection[str], unit: str = ""
) -> Variable:
    """The variable of a formula over the known ``columns``; ``where`` names the option in error
    messages.

    Raises InputError for a text that is no arithmetic and for unknown columns.
    """
    try:
        made = Variable(symbol=symbol, formula=formula, unit=unit, plain=formula in columns)
    except ValueError as error:
        expected = "a column, or arithmetic on columns: nx*ny*nz"
        raise InputError(Fault(where=where, found=str(error), expected=expected)) from error
    unknown = [name for name in made.columns if name not in columns]
    if unknown:
        raise InputError(unknown_name(where, "column", unknown[0], columns))
    return made


def _root(at: Callable[[float], float], start: float) -> float | None:
    """The zero of a growing function of a positive number; None where there is none or the function
    has no value.
    """
    low, high = 0.0, max(start, 1.0)
    try:
        while at(high) < 0:
            low, high = high, 2 * high
            if high > _FARTHEST:
                return None
        if at(low) > 0:
            return None
        for _ in range(200):
            middle = (low + high) / 2
            if at(middle) < 0:
                low = middle
            else:
                high = middle
    except ValueError:
        return None
    return high if abs(at(high)) <= 1e-9 * max(1.0, abs(start)) else None
