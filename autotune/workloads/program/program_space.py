"""The combinations of an external program's parameters, legal or forbidden by a constraint.

Every constraint counts the combinations that it removes, so that an empty space can be reported
with the constraint that removed the last one.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autotune.domain.parameter_values import same
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.errors import Fault, InputError
from autotune.workloads.base import MOST_ILLEGAL
from autotune.workloads.program.counted_tree import NothingLegalError
from autotune.workloads.program.legal_combinations import LegalCombinations
from autotune.workloads.program.partial_combination import UndecidedError

DRAWN = 1000
"""Combinations of a space with more than can be listed that are drawn at the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCombinations:
    """The combinations of a program's parameters for one problem and number of threads."""

    space: LegalCombinations
    legal: tuple[Mapping[str, Value], ...]
    """The baseline first, where it is legal; a few where there are too many to be listed."""

    @property
    def illegal_count(self) -> int:
        """How many combinations a constraint forbids."""
        return max(0, self.space.product - self.space.count.value)

    def illegal(self) -> Iterator[tuple[Mapping[str, Value], ProgramConstraint]]:
        """Combinations with the first constraint that each violates."""
        for values in self.space.program.combinations():
            violated = self.space.violated(values)
            if violated is not None:
                yield values, violated


def sift(problem: ProgramProblem, threads: int) -> ParameterCombinations:
    """The combinations that fulfil all constraints, and those that do not.

    Raises InputError, with the place of the constraint, if no combination is left, or if a
    constraint cannot be evaluated for a combination.
    """
    program = problem.program
    arguments = {**problem.arguments, "threads": threads}
    space = LegalCombinations(program, arguments)
    try:
        listed = space.listed
        legal = _drawn(space, problem) if listed is None else listed
    except UndecidedError as error:
        raise InputError(_says_nothing(program, error)) from error
    except NothingLegalError as error:
        raise InputError(_nothing_found(problem, space)) from error
    if not legal:
        raise InputError(_nothing_left(problem, arguments))
    first = [v for v in legal if all(same(v[name], program.baseline[name]) for name in v)]
    others = [values for values in legal if values not in first] if first else legal
    return ParameterCombinations(space=space, legal=(*first, *others))


def _drawn(space: LegalCombinations, problem: ProgramProblem) -> list[Mapping[str, Value]]:
    """Some legal combinations, the baseline among them if it is legal."""
    chance = random.Random(problem.program.name)  # problems of a study share what they can
    drawn = [space.draw(chance) for _ in range(DRAWN)]
    baseline = problem.program.baseline
    together = [*([dict(baseline)] if space.legal(baseline) else []), *drawn]
    return list({tuple(values.items()): values for values in together}.values())


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
        raise InputError(_says_nothing(program, UndecidedError(values, error))) from error


def _says_nothing(program: Program, error: UndecidedError) -> Fault:
    pairs = ", ".join(f"{name} = {value!r}" for name, value in error.values.items())
    return Fault(
        where=_place(program, 0) if len(program.requirements) == 1 else program.source,
        found=f"a constraint says nothing about {pairs}: {error.reason}",
        expected="true or false for every combination",
        hint="conditions are read from left to right: u != null and u <= 8",
    )


def _place(program: Program, index: int) -> str:
    number = index - (len(program.requirements) - len(program.constraints))
    place = "parameters" if number < 0 else f"constraints.{number}"
    return program.places.get(place, program.source)


def _forbidden_baseline(problem: ProgramProblem, constraint: ProgramConstraint) -> Fault:
    program = problem.program
    index = program.requirements.index(constraint)
    return Fault(
        where=program.places.get("baseline", program.source),
        found=f"the baseline is forbidden with {problem.size_name}: {constraint.words}",
        expected=f"values that fulfil the constraint at {_place(program, index)}",
    )


def _nothing_left(problem: ProgramProblem, arguments: Mapping[str, Value]) -> Fault:
    """The fault of an empty space: constraints that contradict one another, and how many
    combinations each forbids where there are few enough to be counted.
    """
    program = problem.program
    space = LegalCombinations(program, arguments)
    needed = space.contradiction()
    texts = [_shown(program, rule) for rule in needed]
    told_apart = any("threads" in rule.require.names for rule in program.requirements)
    threads = f", threads = {arguments['threads']}" if told_apart else ""
    why = "contradict one another" if len(texts) > 1 else "is never true"
    return Fault(
        where=_place(program, program.requirements.index(needed[-1])),
        found=f"the constraints leave nothing of {space.product} combinations with"
        f" {problem.size_name}{threads}: {' and '.join(texts)} {why}",
        expected="at least one combination that fulfils them all",
        hint="; ".join(_shares(space)) if space.product <= MOST_ILLEGAL else "",
    )


def _shown(program: Program, rule: ProgramConstraint) -> str:
    """A constraint as it is written, or what the condition of a parameter says."""
    return repr(rule.require.text if rule in program.constraints else rule.words)


def _nothing_found(problem: ProgramProblem, space: LegalCombinations) -> Fault:
    """The fault of a space so large, and with so few legal combinations, that none was found."""
    rules = "; ".join(_shown(space.program, rule) for rule in space.program.requirements)
    return Fault(
        where=_place(space.program, 0),
        found=f"no legal combination was found among {space.product} with {problem.size_name}",
        expected="constraints that more combinations fulfil",
        hint=f"they are {rules}",
    )


def _shares(space: LegalCombinations) -> Iterator[str]:
    """How many combinations each constraint forbids."""
    every = list(space.program.combinations())
    for number, rule in enumerate(space.program.requirements):
        alone = sum(space.forbids(number, values) for values in every)
        yield f"{_shown(space.program, rule)} leaves out {alone}"
