"""Values of parameters: when two are the same, and which of them a parameter does not have."""

from collections.abc import Iterable, Iterator, Mapping

from autotune.domain.misfit import Keys, Misfit, unknown
from autotune.errors import describe, nearest, one_of
from autotune.language.constraint import Value


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal in value and type: the flag ``true`` is not the number 1."""
    return type(a) is type(b) and a == b


def within(value: Value, domain: tuple[Value, ...]) -> bool:
    """Whether a value belongs to a domain, compared by ``same``."""
    return value in domain and any(same(value, other) for other in domain)


_SHOWN = 12
"""Values that an error names."""


def wrong_values(
    keys: Keys, values: Iterable[Value], parameters: Mapping[str, tuple[Value, ...]]
) -> Iterator[Misfit]:
    """The misfits of values of the parameter that the last key names: it is none of the
    parameters, or they are not in its domain (none is compared with an empty one).
    """
    name = str(keys[-1])
    yield from unknown(keys, "parameter", name, parameters, of_key=True)
    domain = parameters.get(name, ())
    for value in values if name in parameters else ():
        if domain and not within(value, domain):
            yield misfit_of(keys, name, value, domain)


def misfit_of(keys: Keys, name: str, value: Value, domain: tuple[Value, ...]) -> Misfit:
    """The misfit of a value that is none of a parameter's, with the nearest of them."""
    allowed = ["null" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
               for v in domain]  # fmt: skip
    found = f"{name}: {describe(value)} is not one of its values"
    return Misfit(keys, found, _some(allowed), _nearest(value, domain, allowed))


def _some(allowed: list[str]) -> str:
    """The allowed values in words; of many the first and the last."""
    if len(allowed) <= _SHOWN:
        return one_of(allowed)
    return f"one of {len(allowed)} values, {', '.join(allowed[:3])}, ... {allowed[-1]}"


def _nearest(value: Value, domain: tuple[Value, ...], allowed: list[str]) -> str:
    """The hint at the nearest value: of numbers the nearest number."""
    numbers = [v for v in domain if isinstance(v, int | float) and not isinstance(v, bool)]
    if isinstance(value, bool) or not isinstance(value, int | float) or not numbers:
        return nearest(str(value), allowed)
    close = min(numbers, key=lambda number: abs(number - value))
    return f"did you mean {close}?"


def values_of_parameters(settings: Iterable[Mapping[str, Value]]) -> dict[str, tuple[Value, ...]]:
    """The different values of each parameter, in the order in which they first occur; 1 and true
    are different.

    >>> values_of_parameters([{"tile": 8, "au": True}, {"tile": 16, "au": True}])
    {'tile': (8, 16), 'au': (True,)}
    """
    distinct: dict[str, dict[tuple[type, Value], None]] = {}
    for setting in settings:
        for name, value in setting.items():
            distinct.setdefault(name, {})[type(value), value] = None
    return {name: tuple(value for _, value in values) for name, values in distinct.items()}
