"""Options of the ``learn`` commands that say what a file of measurements holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune.commands.options import refuse_together
from autotune.commands.output import note
from autotune.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autotune.files.tables import Columns
    from autotune.learning.formulas.base import Formula

FormatName = Literal[
    "csv", "spl-conqueror", "extra-p", "extra-p-json", "json-lines", "talpas", "recorded"
]
Model = Annotated[
    Path | None, typer.Option("--model", help="A variability model of SPL Conqueror (XML).")
]
Response = Annotated[
    str | None,
    typer.Option(
        "--response", help="A column, or a call path and metric: compute: time. Default: the last."
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", help="A column that is neither parameter nor response; repeatable."),
]
Analytical = Annotated[
    str | None,
    typer.Option("--analytical", help="The column of an analytical model's predictions."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical", help="A parameter whose numbers are codes of categories; repeatable."
    ),
]
Format = Annotated[
    FormatName | None, typer.Option("--format", help="Default: found by the content.")
]
FormulaName = Annotated[
    str | None,
    typer.Option("--formula", help="The analytical model: smg2000-1d, fmm, ... by name."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--constant", metavar="NAME=NUMBER", help="Of the formula; repeatable."),
]


def write(text: str, path: Path, source: Path | None) -> None:
    """Write a file and say so; never over the file that was read."""
    there = path.exists()
    if source is not None and there and path.samefile(source):
        raise typer.BadParameter("is the file that was read", param_hint="--output")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    note(f"{'replaced' if there else 'wrote'} {path}")


def columns(
    without: "Sequence[str] | None", analytical: str | None, categorical: "Sequence[str] | None"
) -> "Columns":
    """What these options say of the parameters of a file."""
    from autotune.files.tables import Columns

    return Columns(
        without=tuple(without or ()), analytical=analytical, categories=tuple(categorical or ())
    )


def formula_of(
    name: str | None, constants: "Sequence[str] | None", analytical: str | None
) -> "Formula | None":
    """The formula that these options name, instead of a column of predictions.

    BadParameter for what is no NAME=NUMBER, and for options that do not go together.
    """
    if constants and name is None:
        raise typer.BadParameter("needs --formula", param_hint="--constant")
    if name is None:
        return None
    refuse_together("--formula", {"--analytical": analytical is not None})
    from autotune.learning.formulas.named_formulas import make

    values: dict[str, float] = {}
    for pair in constants or ():
        key, _, number = pair.partition("=")
        try:
            values[key.strip()] = float(number)
        except ValueError:
            raise typer.BadParameter(
                f"{pair!r} is not NAME=NUMBER", param_hint="--constant"
            ) from None
    return make(name, values)
