"""Why times of two problems must not be compared: another problem, size, amount of work or unit."""

from collections.abc import Sequence

from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.variant import Value


def problem_difference(first: ProblemFacts, second: ProblemFacts) -> str:
    """What is different, in words; empty where times of the two are comparable.

    A program may have other sources: the key, which holds them, is not looked at there.
    """
    if (first.family, first.name) != (second.family, second.name):
        return f"another problem: {first.name} and {second.name}"
    if first.goal != second.goal:
        return f"another unit: {first.goal.title} and {second.goal.title}"
    if first.per != second.per:
        return f"another amount of work: times of a {first.per} and of a {second.per}"
    one_size, other_size = _sizes(first), _sizes(second)
    if one_size != other_size:
        return f"another size: {_changes(one_size, other_size)}"
    if first.settings != second.settings:
        return f"another amount of work: {_changes(first.settings, second.settings)}"
    if first.stepped and first.key != second.key:
        return "another problem: its definition was changed"
    return ""


def comparable_with(
    problem: ProblemFacts, others: Sequence[ProblemFacts]
) -> tuple[ProblemFacts | None, str]:
    """Of other problems the one whose times are comparable; else None, and why not even the one of
    the same name is.
    """
    for other in others:
        if not problem_difference(problem, other):
            return other, ""
    alike = [other for other in others if other.name == problem.name] or list(others)
    if not alike:
        return None, "there is no problem at all"
    return None, problem_difference(problem, alike[0])


def _sizes(problem: ProblemFacts) -> dict[str, Value]:
    """What counts as size, by the names under which it is shown."""
    if problem.ivp:
        return {"N": problem.size}
    if problem.grid:
        return {f"grid.{name}": extent for name, extent in problem.grid}
    name = problem.size_argument
    return {name: problem.arguments[name]} if name in problem.arguments else {}


def _changes(first: dict[str, Value], second: dict[str, Value]) -> str:
    names = dict.fromkeys([*first, *second])
    return ", ".join(
        f"{name} = {first.get(name, 'none')} and {second.get(name, 'none')}"
        for name in names
        if first.get(name) != second.get(name)
    )
