"""Launcher templates: how a measuring program is started (``srun -n 1 {command}``).

A launcher must pass standard input on to the program, as srun and mpirun do.
"""

import shlex
import shutil
from collections.abc import Sequence

from autotune.errors import Fault, InputError, MissingTool

PLACE = "{command}"


def expand(template: str, command: Sequence[str], where: str = "launcher") -> list[str]:
    """The arguments of the command line, never read by a shell.

    Words are split as a POSIX shell would; the word ``{command}`` becomes the arguments. Inside a
    longer word it becomes the command quoted for a shell (``sh -c "module load gcc; {command}"``).
    Raises InputError for a template without ``{command}`` or with an open quote.

    >>> expand("taskset -c 0 {command}", ["./prog", "a b"])
    ['taskset', '-c', '0', './prog', 'a b']
    """
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(_fault(where, template, f"is not a command line: {error}")) from error
    if not any(PLACE in word for word in words):
        raise InputError(_fault(where, template, f"does not contain {PLACE}"))
    result: list[str] = []
    for word in words:
        if word == PLACE:
            result.extend(command)
        else:
            result.append(word.replace(PLACE, shlex.join(command)))
    return result


def check(template: str, where: str = "launcher") -> None:
    """Refuse a template that cannot work: InputError, or MissingTool for an unknown program."""
    program = expand(template, ["program"], where)[0]
    if program != "program" and shutil.which(program) is None:
        fault = Fault(
            where=where,
            found=f"the launcher {program!r} is not installed",
            expected="a program on PATH or a path to one",
        )
        raise MissingTool(fault)


def _fault(where: str, template: str, why: str) -> Fault:
    return Fault(
        where=where,
        found=f"{template!r} {why}",
        expected=f'a command line with {PLACE}, such as "srun -n 1 {PLACE}"',
    )
