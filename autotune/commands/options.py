"""Options of commands, declared once as fields of a class; and options of several commands."""

import copy
import functools
import inspect
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar, dataclass_transform, get_args

import typer
from typer.models import ArgumentInfo, OptionInfo

from autotune.commands import completion

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]

Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="AUTOTUNE_STORE",
        metavar="STORE",
        help="Results file (SQLite) or database URL.",
    ),
]
DEFAULT_STORE = "autotune-results.sqlite"

Config = Annotated[
    Path,
    typer.Argument(
        help="A config file, such as configs/quickstart.yaml.", autocompletion=completion.configs
    ),
]
EngineName = Literal["reuse", "kerncraft", "planes", "both"]
Engine = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        help="Who predicts the time on a node: reuse (from the compiled loops), kerncraft (as"
        " published; marked loops of programs too), planes (stencils, as published), or both (all"
        " that can). Not for a program that has its own model. Default: the config's.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Run any compiler that the files name, with any flags. Without it, only compilers on"
        " PATH, with flags that run no program and name no file.",
    ),
]
Report = Annotated[
    Path | None, typer.Option("-o", "--report", help="Also write the result as an HTML page here.")
]


def seconds(least: float = 1, most: float = math.inf) -> Callable[[str | float], float]:
    """What reads a duration between two limits, which a number states in seconds, or a text with a
    unit: ``90``, ``90 s``, ``2min``.
    """

    def duration(stated: str | float) -> float:
        try:
            number = float(stated)
        except ValueError:
            number = _with_unit(str(stated))
        if not least <= number <= most:
            limit = (
                f"from {least:g} to {most:g} s" if math.isfinite(most) else f"at least {least:g} s"
            )
            raise typer.BadParameter(f"{stated} is not {limit}")
        return number

    return duration


def _with_unit(stated: str) -> float:
    from autotune.units import parse

    try:
        return parse(stated.strip(), "time")
    except ValueError:
        said = f"{stated!r} is neither a number of seconds nor a time such as '90 s' or '2 min'"
        raise typer.BadParameter(said) from None


BudgetSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Start no launch after this many seconds.", parser=seconds()
    ),
]
Top = Annotated[int, typer.Option("--top", help="Rows per problem; 0 for all.", min=0)]
Ids = Annotated[
    bool,
    typer.Option(
        "--ids",
        help="Also print the identities of candidates, which stay the same where names change.",
    ),
]
Confidence = Annotated[
    str, typer.Option("--confidence", metavar="SHARE", help="The probability of every interval.")
]
USUAL_CONFIDENCE = "90 %"
Study = Annotated[
    str,
    typer.Argument(
        help="A study in the store, or its config file; the latest study if left out.",
        autocompletion=completion.studies,
    ),
]


def engines(engine: EngineName | None, both: Sequence[str]) -> Sequence[str] | None:
    """The engines that an option selects; None means the engine of the config.

    ``both``: all engines of the workload, selected by ``both``.
    """
    return None if engine is None else both if engine == "both" else (engine,)


def refuse_together(option: str, others: Mapping[str, bool]) -> None:
    """Raise BadParameter if an option is set together with one that it excludes."""
    given = [name for name, present in others.items() if present]
    if given:
        raise typer.BadParameter(f"does not go with {', '.join(given)}", param_hint=option)


def share(text: str, option: str) -> float:
    """A share from ``5 %``, ``5%`` or ``0.05``; BadParameter for any other text.

    A number of 1 and more needs its ``%``: who writes 3 hardly means 300 %.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a share: 5 %", param_hint=option)
    number = float(match[1])
    if number >= 1 and not match[2]:
        said = f"{text!r} would be {100 * number:g} %: write {number:g}% or {number / 100:g}"
        raise typer.BadParameter(said, param_hint=option)
    return number / (100 if match[2] else 1)


_Options = TypeVar("_Options")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def command_options(options: type[_Options]) -> type[_Options]:
    """A frozen dataclass whose fields are options and arguments, in the order of the help.

    A field is ``name: Annotated[type, typer.Option(...)] = default``, or a group of options: a
    field whose type is again such a class.
    """
    # ``dataclass`` would compile methods for each class, a fifth of the time of a start.
    options.__init__ = _fill  # type: ignore[method-assign]
    options.__setattr__ = _refuse  # type: ignore[method-assign]
    return dataclass(init=False, repr=False, eq=False, kw_only=True)(options)


def _fill(self: object, **values: object) -> None:
    """Give every field its value or default. TypeError for a name that is missing or unknown."""
    for field in fields(self):  # type: ignore[arg-type]
        value = values.pop(field.name, field.default)
        if value is MISSING and (group := _group(field)) is not None:
            value = group()
        if value is MISSING:
            raise TypeError(f"{type(self).__name__} needs {field.name}")
        object.__setattr__(self, field.name, value)
    if values:
        raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")
    check = getattr(self, "__post_init__", None)
    if check is not None:
        check()


def _refuse(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"{name} of {type(self).__name__} cannot be set to {value!r}")


def command(function: Callable[[_Options], None]) -> Callable[..., None]:
    """A function with one parameter per option, as typer needs it, from an options class.

    Groups of options are flattened in place.
    """
    (options,) = (kind for name, kind in function.__annotations__.items() if name != "return")
    parameters = _parameters(options)

    @functools.wraps(function)
    def run(**values: object) -> None:
        function(_filled(options, values))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _group(field: Field[object]) -> type | None:
    """The options class of a field that is a group of options; None for a single option."""
    return field.type if isinstance(field.type, type) and is_dataclass(field.type) else None


def _parameters(options: type) -> list[inspect.Parameter]:
    """The parameters that the fields of an options class declare."""
    parameters: list[inspect.Parameter] = []
    for field in fields(options):
        if group := _group(field):
            parameters += _parameters(group)
        else:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=_with_placeholder(field),
                )
            )
    return parameters


_PLACEHOLDERS: Mapping[object, str] = {str: "TEXT", int: "N", float: "NUMBER", Path: "PATH"}


def _with_placeholder(field: Field[object]) -> object:
    """The type of an option or argument, with a word for its value in the help.

    The word is the one that is declared, else for an argument its name, for an option its type.
    Options with fixed values show these, switches show nothing.
    """
    declared, *notes = get_args(field.type)
    (info,) = (note for note in notes if isinstance(note, OptionInfo | ArgumentInfo))
    if info.metavar is not None:
        return field.type
    if isinstance(info, ArgumentInfo):
        word: str | None = field.name.upper()
    else:
        kinds = [kind for kind in (declared, *get_args(declared)) if kind in _PLACEHOLDERS]
        word = _PLACEHOLDERS[kinds[0]] if kinds else None
    if word is None:
        return field.type
    worded = copy.copy(info)
    worded.metavar = word
    return Annotated[declared, worded]


def _filled(options: type[_Options], values: Mapping[str, object]) -> _Options:
    """An object of an options class, with its groups, from the value of every option by name."""
    filled: dict[str, object] = {}
    for field in fields(options):  # type: ignore[arg-type]
        group = _group(field)
        filled[field.name] = _filled(group, values) if group else values[field.name]
    return options(**filled)


@command_options
class RowsShown:
    """How much of a study's tables is printed."""

    top: Top = 25
    ids: Ids = False


@command_options
class StoreOptions:
    """Where measurements are kept, and whether the answer is a document: the last options."""

    store: Store = DEFAULT_STORE
    json: Json = False

    @property
    def shown(self) -> str:
        """The location of the store for every output: without a password."""
        from autotune.files.store.store_place import masked

        return masked(self.store)

    @property
    def again(self) -> str:
        """The option as further commands need it, with a space before; empty for the default."""
        return "" if self.store == DEFAULT_STORE else f" --store {shlex.quote(self.shown)}"
