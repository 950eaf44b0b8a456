"""Which keywords a function takes, compared with those that a study would give it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from autotune.errors import Fault, InputError, nearest

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def require_accepted(function: Callable[..., Any], given: Mapping[str, str]) -> None:
    """InputError for names that a function does not take, and for required ones that none gives.

    ``given``: by the name of a parameter or argument the keyword that states it. A function whose
    signature cannot be read, as of some built-in ones, is not compared.

    >>> require_accepted(lambda block: block, {"blok": "parameters"})
    Traceback (most recent call last):
    autotune.errors.InputError: parameters.blok: <lambda> has no argument 'blok'; expected one of \
its arguments: block (did you mean block?)
    """
    try:
        stated = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    label = getattr(function, "__name__", type(function).__name__)
    named = [name for name, parameter in stated.items() if parameter.kind in _BY_NAME]
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in stated.values()):
        strangers = []
    else:
        strangers = [name for name in given if name not in named]
    faults = [
        Fault(
            where=f"{given[name]}.{name}",
            found=f"{label} has no argument {name!r}",
            expected=f"one of its arguments: {', '.join(named)}" if named else "",
            hint=nearest(name, named) or "**parameters takes any",
        )
        for name in strangers
    ]
    # a required argument next to a misspelt one is the same mistake, which is said once
    if not faults:
        faults = [_not_given(label, parameter) for parameter in _missing(stated, given)]
    if faults:
        raise InputError(*faults)


def _missing(
    stated: Mapping[str, inspect.Parameter], given: Mapping[str, str]
) -> list[inspect.Parameter]:
    """Arguments without a default that nothing gives."""
    alone = (*_BY_NAME, inspect.Parameter.POSITIONAL_ONLY)
    return [
        parameter
        for name, parameter in stated.items()
        if parameter.kind in alone
        and parameter.default is inspect.Parameter.empty
        and not (name in given and parameter.kind in _BY_NAME)
    ]


def _not_given(label: str, parameter: inspect.Parameter) -> Fault:
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return Fault(
            where="target",
            found=f"{label} takes {parameter.name!r} by its position only",
            expected="a function whose arguments can be given by name",
        )
    return Fault(
        where="parameters",
        found=f"{label} needs an argument {parameter.name!r} that nothing gives",
        expected="a parameter or an argument of this name",
        hint=f'arguments={{"{parameter.name}": VALUE}} where it does not vary',
    )
