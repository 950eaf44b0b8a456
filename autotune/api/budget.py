"""The budget of a study as Python states it: seconds, candidates, or both."""

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.commands.tune.tune_options import StudyOptions
from autotune.errors import Fault, InputError, describe
from autotune.units import parse

Budget = str | Mapping[str, float]
_EXPECTED = 'text such as "30 s", "2 min", "40 evaluations" or "30 s, 40 evaluations"'


@dataclass(slots=True)
class _Limits:
    seconds: float | None = None
    evaluations: int | None = None

    def add_text(self, text: str) -> None:
        """Add one limit; ValueError, in words, for what is none."""
        number, _, unit = text.strip().partition(" ")
        if unit.strip().startswith("evaluation"):
            self.add("evaluations", int(number) if number.isdigit() else None)
        else:
            self.add("seconds", parse(text, "time"))

    def add(self, key: str, number: object) -> None:
        """Add one limit by name; ValueError, in words, for what is none."""
        if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 1:
            raise ValueError(f"{key}: {number!r} is not a number of {key}, at least 1")
        if key == "seconds" and self.seconds is None:
            self.seconds = float(number)
        elif key == "evaluations" and self.evaluations is None and number == int(number):
            self.evaluations = int(number)
        else:
            raise ValueError(f"{key}: unknown, here twice, or no whole number")


def options_of(budget: Budget | None, *, resume: bool = False) -> StudyOptions:
    """The limits of a study; InputError for what is no budget.

    >>> options_of("2 min, 40 evaluations").budget_seconds
    120.0
    >>> options_of({"evaluations": 40}).budget_evaluations
    40
    """
    limits = _Limits()
    try:
        if isinstance(budget, str):
            for part in budget.split(","):
                limits.add_text(part)
        elif isinstance(budget, Mapping):
            for key, number in budget.items():
                limits.add(str(key), number)
        elif budget is not None:
            raise ValueError(f"{describe(budget)} without a unit")
    except ValueError as error:
        fault = Fault(where="budget", found=str(error), expected=_EXPECTED)
        raise InputError(fault) from None
    return StudyOptions(
        budget_seconds=limits.seconds, budget_evaluations=limits.evaluations, resume=resume
    )
