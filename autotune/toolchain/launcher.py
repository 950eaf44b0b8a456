"""Launcher templates: command lines that start a measuring program, such as ``srun -n 1
{command}``.

A launcher must pass standard input on to the program (to rank 0), as srun and mpirun do. Templates
for several ranks also name ``{nodes}``, ``{ranks}`` (on all nodes together) and ``{threads}`` (of a
rank).
"""

import shlex
import shutil
from collections.abc import Mapping, Sequence

from autotune.errors import Fault, InputError, MissingTool

PLACE = "{command}"


def expand(
    template: str,
    command: Sequence[str],
    where: str = "launcher",
    numbers: Mapping[str, int] | None = None,
) -> list[str]:
    """The arguments of the command line of a template; no shell reads it.

    Words are split as a POSIX shell would; the word ``{command}`` becomes the arguments. Inside a
    longer word it becomes the command quoted for a shell (``sh -c "module load gcc; {command}"``).
    ``numbers`` replaces ``{ranks}`` and the like by their values.
    Raises InputError for a template without ``{command}`` or with an open quote.

    >>> expand("taskset -c 0 {command}", ["./prog", "a b"])
    ['taskset', '-c', '0', './prog', 'a b']
    >>> expand("srun -n {ranks} {command}", ["./prog"], numbers={"ranks": 4})
    ['srun', '-n', '4', './prog']
    """
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(_fault(where, template, f"is not a command line: {error}")) from error
    if not any(PLACE in word for word in words):
        raise InputError(_fault(where, template, f"does not contain {PLACE}"))
    result: list[str] = []
    for word in words:
        for name, value in (numbers or {}).items():
            word = word.replace(f"{{{name}}}", str(value))
        if word == PLACE:
            result.extend(command)
        else:
            result.append(word.replace(PLACE, shlex.join(command)))
    return result


def check(template: str, where: str = "launcher") -> None:
    """Check a template: raises InputError if it cannot work, MissingTool for a missing program."""
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
