"""The notations of studies: numbers of threads, launchers, shares, objectives."""

import re
import shlex

from autotune.domain.program import NAME
from autotune.domain.setup import OBJECTIVES
from autotune.errors import describe, nearest
from autotune.files.config.notations import NUMBER_OR_TEXT, Notation, as_share, one_or_list

PLACEHOLDERS = ("command",)
"""What a launcher template may name in braces."""
LAYOUT_PLACEHOLDERS = ("nodes", "ranks", "threads")
"""What a template for programs of several ranks may name as well."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST_NAME = 200
"""Characters of the name of a study: names of files are made of it."""


def study_name(value: object) -> str:
    """The name of a study, which must be usable as a file name."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"{describe(value)} is not a name of letters, digits, and . _ - inside")
    if len(value) > _LONGEST_NAME:
        raise ValueError(
            f"{value[:20]}... has {len(value)} characters; a name has at most {_LONGEST_NAME}"
        )
    return value


def threads(value: object) -> int | str:
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value if isinstance(value, int) else "all"
    hint = nearest(value, ["all"]) if isinstance(value, str) else ""
    raise ValueError(
        f"{describe(value)} is not a number of threads (at least 1) or all"
        + (hint and f" ({hint})")
    )


def launcher(value: object, further: tuple[str, ...] = ()) -> str:
    """A launcher template: it has ``{command}`` once, and no other placeholders than
    ``further``.
    """
    if not isinstance(value, str):
        raise ValueError(f"{describe(value)} is not a command line")
    names = re.findall(r"\{([^{}]*)\}", value)
    allowed = (*PLACEHOLDERS, *further)
    unknown = [f"{{{name}}}" for name in names if name not in allowed]
    if unknown:
        listed = ", ".join(f"{{{name}}}" for name in allowed)
        raise ValueError(f"unknown placeholder {', '.join(unknown)}; known: {listed}")
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", value)):
        raise ValueError(f"a brace stands alone in {value!r}")
    if names.count("command") != 1:
        raise ValueError(f"{value!r} must name {{command}} once, where the program goes")
    try:
        shlex.split(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not a command line: {error}") from error
    return value


def mpi_launcher(value: object) -> str:
    """A launcher template that may also have placeholders for nodes, ranks and threads of each
    rank.
    """
    return launcher(value, LAYOUT_PLACEHOLDERS)


def share(value: object) -> float:
    """A share below 1, written as ``1 %`` or ``0.01``."""
    number = as_share(value)
    if not 0 <= number < 1:
        raise ValueError(f"{describe(value)} is not a share from 0 up to 100 %, such as 1 %")
    return number


def objectives(value: object) -> tuple[str, ...]:
    """The objectives: time or what stands for it first, then the others, each once."""
    listed = [str(name) for name in value] if isinstance(value, list) else [str(value)]
    for objective in listed:
        if not NAME.fullmatch(objective):
            raise ValueError(f"{describe(objective)} is not the name of an objective")
    if not listed or len(set(listed)) < len(listed):
        raise ValueError("at least one objective is needed, and each is named once")
    usual = [name for name in OBJECTIVES if name in listed]
    return (*usual, *(name for name in listed if name not in OBJECTIVES))


def program_of_config(value: object) -> object:
    """The name of a program, a path to its file, or what the file would say."""
    if (isinstance(value, str) and value) or isinstance(value, dict):
        return value
    raise ValueError(f"{describe(value)} is no name, no path, and not what a program file says")


_OBJECTIVE = {"type": "string", "examples": list(OBJECTIVES)}

NOTATIONS: dict[object, Notation] = {
    "study name": Notation(
        read=study_name,
        schema={"type": "string", "pattern": f"^{_NAME.pattern}$", "maxLength": _LONGEST_NAME},
    ),
    "threads": Notation(
        read=threads, schema={"anyOf": [{"type": "integer", "minimum": 1}, {"const": "all"}]}
    ),
    "launcher": Notation(read=launcher, schema={"type": "string"}),
    "launcher of ranks": Notation(read=mpi_launcher, schema={"type": "string"}),
    "program of a config": Notation(
        read=program_of_config,
        schema={"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]},
    ),
    "share": Notation(read=share, schema={**NUMBER_OR_TEXT, "examples": ["1 %"]}),
    "objectives": Notation(read=objectives, schema=one_or_list(_OBJECTIVE, minItems=1)),
}
"""By the name that ``InNotation`` gives."""
