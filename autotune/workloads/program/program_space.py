"""The combinations of an external program's parameters: legal, or with the constraint that is not.

Constraints are told apart by how many combinations each leaves out, so that a space in which none
is left says which one took the last.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.space import same
from autotune.domain.variant import Value
from autotune.errors import Fault, InputError

LARGEST = 1_000_000
"""Combinations of all parameters together, forbidden ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCombinations:
    """The combinations of a program's parameters for one problem and number of threads."""

    legal: tuple[Mapping[str, Value], ...]
    """The baseline first, where it is legal."""
    illegal: tuple[tuple[Mapping[str, Value], ProgramConstraint], ...]
    """With the first constraint that is not fulfilled."""


def sift(problem: ProgramProblem, threads: int) -> ParameterCombinations:
    """The combinations that fulfil all constraints, and the others.

    Raises InputError, with the place of the constraint, where there are none, where a constraint
    says nothing about a combination, and for too many of them.
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
    known = {**problem.arguments, "threads": threads}
    legal: list[Mapping[str, Value]] = []
    illegal: list[tuple[Mapping[str, Value], ProgramConstraint]] = []
    for values in program.combinations():
        violated = _violated(program, values, known)
        if violated is not None:
            illegal.append((values, violated))
        elif all(same(value, program.baseline[name]) for name, value in values.items()):
            legal.insert(0, values)
        else:
            legal.append(values)
    if not legal:
        raise InputError(_nothing_left(problem, known))
    return ParameterCombinations(legal=tuple(legal), illegal=tuple(illegal))


def check_baseline(problem: ProgramProblem, threads: int) -> None:
    """Raise InputError, with its place, where a constraint forbids the baseline."""
    program = problem.program
    known = {**problem.arguments, "threads": threads}
    violated = _violated(program, program.baseline, known)
    if violated is not None:
        raise InputError(_forbidden_baseline(problem, violated))


def _violated(
    program: Program, values: Mapping[str, Value], known: Mapping[str, Value]
) -> ProgramConstraint | None:
    try:
        return program.violated(values, known)
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


def _nothing_left(problem: ProgramProblem, known: Mapping[str, Value]) -> Fault:
    """How many combinations each constraint leaves out, and which one takes the last of them."""
    program = problem.program
    every = [{**known, **values} for values in program.combinations()]
    left, told, last = every, [], 0
    for index, constraint in enumerate(program.constraints):
        alone = sum(_forbids(constraint, values) for values in every)
        told.append(f"{constraint.require.text!r} leaves out {alone}")
        if left:
            left = [values for values in left if not _forbids(constraint, values)]
            last = index
    text = program.constraints[last].require.text
    before = "alone" if last == 0 else "with those before it"
    told_apart = any("threads" in each.require.names for each in program.constraints)
    threads = f", threads = {known['threads']}" if told_apart else ""
    return Fault(
        where=_place(program, last),
        found=f"the constraints leave nothing of {len(every)} combinations with"
        f" {problem.size_name}{threads}: {text!r}, {before}, takes the last",
        expected="at least one combination that fulfils them all",
        hint="; ".join(told),
    )


def _forbids(constraint: ProgramConstraint, values: Mapping[str, Value]) -> bool:
    """Whether it does; not where it says nothing, for one before it forbids these already."""
    try:
        return not constraint.require.holds(values)
    except ValueError:
        return False
