"""The combinations of an external program's parameters, legal or forbidden by a constraint.

Every constraint counts the combinations that it removes, so that an empty space can be reported
with the constraint that removed the last one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.domain.parameter_values import same
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.errors import Fault, InputError

LARGEST = 1_000_000
"""Largest number of combinations of all parameters, forbidden ones included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCombinations:
    """The combinations of a program's parameters for one problem and number of threads."""

    legal: tuple[Mapping[str, Value], ...]
    """The baseline first, where it is legal."""
    illegal: tuple[tuple[Mapping[str, Value], ProgramConstraint], ...]
    """Combinations with the first constraint that each violates."""


def sift(problem: ProgramProblem, threads: int) -> ParameterCombinations:
    """The combinations that fulfil all constraints, and those that do not.

    Raises InputError, with the place of the constraint, if no combination is left, if a constraint
    cannot be evaluated for a combination, and if there are too many combinations.
    """
    program = problem.program
    total = math.prod(len(domain) for domain in program.parameters.values())
    if total > LARGEST:
        raise InputError(
            Fault(
                where=program.places.get("parameters", program.source),
                found=f"{total} combinations of {len(program.parameters)} parameters",
                expected=f"at most {LARGEST}",
                hint="shorten their lists of values",
            )
        )
    arguments = {**problem.arguments, "threads": threads}
    legal: list[Mapping[str, Value]] = []
    illegal: list[tuple[Mapping[str, Value], ProgramConstraint]] = []
    for values in program.combinations():
        violated = _violated(program, values, arguments)
        if violated is not None:
            illegal.append((values, violated))
        elif all(same(value, program.baseline[name]) for name, value in values.items()):
            legal.insert(0, values)
        else:
            legal.append(values)
    if not legal:
        raise InputError(_nothing_left(problem, arguments))
    return ParameterCombinations(legal=tuple(legal), illegal=tuple(illegal))


def check_baseline(problem: ProgramProblem, threads: int) -> None:
    """Raise InputError, with the constraint's place, if a constraint forbids the baseline."""
    program = problem.program
    arguments = {**problem.arguments, "threads": threads}
    violated = _violated(program, program.baseline, arguments)
    if violated is not None:
        raise InputError(_forbidden_baseline(problem, violated))


def _violated(
    program: Program, values: Mapping[str, Value], arguments: Mapping[str, Value]
) -> ProgramConstraint | None:
    try:
        return program.violated(values, arguments)
    except ValueError as error:
        pairs = ", ".join(f"{name} = {value!r}" for name, value in values.items())
        raise InputError(
            Fault(
                where=_place(program, 0) if len(program.constraints) == 1 else program.source,
                found=f"a constraint says nothing about {pairs}: {error}",
                expected="true or false for every combination",
                hint="conditions are read from left to right: u != null and u <= 8",
            )
        ) from error


def _place(program: Program, index: int) -> str:
    return program.places.get(f"constraints.{index}", program.source)


def _forbidden_baseline(problem: ProgramProblem, constraint: ProgramConstraint) -> Fault:
    program = problem.program
    index = program.constraints.index(constraint)
    return Fault(
        where=program.places.get("baseline", program.source),
        found=f"the baseline is forbidden with {problem.size_name}: {constraint.words}",
        expected=f"values that fulfil the constraint at {_place(program, index)}",
    )


def _nothing_left(problem: ProgramProblem, arguments: Mapping[str, Value]) -> Fault:
    """The fault of an empty space: how many combinations each constraint removes."""
    program = problem.program
    every = [{**arguments, **values} for values in program.combinations()]
    left, phrases, last = every, [], 0
    for index, constraint in enumerate(program.constraints):
        alone = sum(_forbids(constraint, values) for values in every)
        phrases.append(f"{constraint.require.text!r} leaves out {alone}")
        if left:
            left = [values for values in left if not _forbids(constraint, values)]
            last = index
    text = program.constraints[last].require.text
    before = "alone" if last == 0 else "with those before it"
    told_apart = any("threads" in rule.require.names for rule in program.constraints)
    threads = f", threads = {arguments['threads']}" if told_apart else ""
    return Fault(
        where=_place(program, last),
        found=f"the constraints leave nothing of {len(every)} combinations with"
        f" {problem.size_name}{threads}: {text!r}, {before}, takes the last",
        expected="at least one combination that fulfils them all",
        hint="; ".join(phrases),
    )


def _forbids(constraint: ProgramConstraint, values: Mapping[str, Value]) -> bool:
    """Whether the constraint forbids the values; False where it cannot be evaluated."""
    try:
        return not constraint.require.holds(values)
    except ValueError:
        return False
