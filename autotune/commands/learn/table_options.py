"""Options of the ``learn`` commands that describe a file of measurements."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune import paths
from autotune.commands.options import command_options, refuse_together
from autotune.commands.output import note
from autotune.errors import Fault, InputError

if TYPE_CHECKING:
    from autotune.domain.tables.table import MeasurementTable, Tables
    from autotune.files.tables import Columns
    from autotune.learning.formulas.base import Formula

FormatName = Literal[
    "csv", "spl-conqueror", "extra-p", "extra-p-json", "json-lines", "talpas", "recorded"
]

Measurements = Annotated[
    Path, typer.Argument(help="Measurements, as autotune learn show reads them.")
]


@command_options
class TableOptions:
    """The roles of the columns of a file of measurements."""

    model: Annotated[
        Path | None, typer.Option("--model", help="A variability model of SPL Conqueror (XML).")
    ] = None
    response: Annotated[
        str | None,
        typer.Option(
            "--response",
            metavar="NAME",
            help="What is learned: a column, or a call path and metric, 'compute: time'. Default:"
            " the last column.",
        ),
    ] = None
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="COLUMN",
            help="A column that is neither parameter nor response. May be repeated.",
        ),
    ] = None
    analytical: Annotated[
        str | None,
        typer.Option(
            "--analytical",
            metavar="COLUMN",
            help="The column with the predictions of an analytical model.",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            metavar="PARAMETER",
            help="A parameter whose numbers stand for categories. May be repeated.",
        ),
    ] = None
    better: Annotated[
        Literal["less", "more"] | None,
        typer.Option(
            "--better",
            help="Which response is better: less for a time, more for a rate. Default: as the file"
            " says, else less.",
        ),
    ] = None
    format: Annotated[
        FormatName | None,
        typer.Option("--format", help="The format of the file. Default: found from its content."),
    ] = None

    @property
    def given(self) -> dict[str, bool]:
        """For every option by name, whether it was set on the command line."""
        return {
            "--model": self.model is not None,
            "--response": self.response is not None,
            "--without": bool(self.without),
            "--analytical": self.analytical is not None,
            "--categorical": bool(self.categorical),
            "--better": self.better is not None,
            "--format": self.format is not None,
        }

    def read(self, file: Path) -> "MeasurementTable | Tables":
        """The table of a file, or one table for each response that the file holds."""
        from autotune.files.tables import read

        return read(
            file,
            model=self.model,
            response=self.response,
            format=self.format,
            wanted=self._columns(),
        )

    def read_one(self, file: Path) -> "MeasurementTable":
        """The table of a file. InputError where the file holds several responses."""
        from autotune.files.tables import read_one

        return read_one(
            file,
            model=self.model,
            response=self.response,
            format=self.format,
            wanted=self._columns(),
        )

    def _columns(self) -> "Columns":
        from autotune.files.tables import Columns

        return Columns(
            without=tuple(self.without or ()),
            analytical=self.analytical,
            categories=tuple(self.categorical or ()),
            better=self.better,
        )


@command_options
class FormulaOptions:
    """The analytical model, as a formula by its name."""

    formula: Annotated[
        str | None,
        typer.Option(
            "--formula",
            metavar="NAME",
            help="A formula that comes with autotune as the analytical model: smg2000-1d, fmm, ...",
        ),
    ] = None
    constant: Annotated[
        list[str] | None,
        typer.Option(
            "--constant",
            metavar="NAME=NUMBER",
            help="A constant of the formula. May be repeated.",
        ),
    ] = None

    def made(self, analytical: str | None) -> "Formula | None":
        """The formula; None if none is named.

        ``analytical``: the name of a column with predictions, which excludes a formula.
        BadParameter for a constant that is not NAME=NUMBER, and for options that exclude each
        other.
        """
        if self.constant and self.formula is None:
            raise typer.BadParameter("needs --formula", param_hint="--constant")
        if self.formula is None:
            return None
        refuse_together("--formula", {"--analytical": analytical is not None})
        from autotune.learning.formulas.named_formulas import make

        return make(self.formula, dict(map(_constant, self.constant or ())))


def _constant(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name.strip() or math.isnan(value):
        raise typer.BadParameter(f"{text!r} is not NAME=NUMBER", param_hint="--constant")
    return name.strip(), value


def write(text: str, path: Path, source: Path | None) -> None:
    """Write a file and report it. BadParameter if it is the file that was read."""
    paths.check_output(path, appended=True)
    there = path.exists()
    if source is not None and there and path.samefile(source):
        raise typer.BadParameter("is the file that was read", param_hint="--output")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    note(f"{'replaced' if there else 'wrote'} {path}")
