"""``autotune learn show``: what a file or a study holds to learn from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune.commands.learn.table_options import TableOptions, write
from autotune.commands.options import StoreOptions, command, command_options, refuse_together
from autotune.commands.output import document, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autotune.domain.tables.table import MeasurementTable

EXAMPLE = (
    "Example: autotune learn show measurements.csv --response time_s;"
    " autotune learn show results.xml --model model.xml -o results.csv"
)


@command_options
class ShowOptions:
    """Options of ``autotune learn show``, in the order of its help."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Measurements: CSV, SPL Conqueror XML, Extra-P text, JSON, JSON Lines or TaLPas,"
            " T4 or Kernel Tuner results; gzipped or not.",
        ),
    ] = None
    study: Annotated[
        str | None,
        typer.Option(
            "--study", metavar="STUDY", help="Show a study of the store instead of a file."
        ),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="With --study: the engine whose predictions are shown.",
        ),
    ] = None
    columns: TableOptions
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also write the table to this file.")
    ] = None
    to: Annotated[
        Literal["csv", "extra-p"], typer.Option("--to", help="The format of --output.")
    ] = "csv"
    results: StoreOptions


@command
def show(options: ShowOptions) -> None:
    """Show what a file or a study holds to learn from.

    Shows parameters, domains, rows and response, and how rows that no model can use were treated.
    With -o the table is also written, as CSV or for Extra-P.
    """
    from autotune.commands.learn.show import document as documents
    from autotune.commands.learn.show import text

    tables = _tables(options)
    if options.output is not None:
        write(_content(tables, options.output, options.to), options.output, options.file)
    if options.results.json:
        document(documents.measurements(tables))
    else:
        say(text.text(tables))


def _tables(options: ShowOptions) -> "Sequence[MeasurementTable]":
    """The table of a study, or a table for each response of a file."""
    if options.study is not None:
        given = {"FILE": options.file is not None, **options.columns.given}
        refuse_together("--study", given)
        from autotune.commands.learn.study_tables import read_study

        return [read_study(options.study, options.results.store, engine=options.engine).table]
    if options.file is None:
        raise typer.BadParameter("give a file, or --study", param_hint="FILE")
    refuse_together("--engine", {"FILE": options.engine is not None})
    from autotune.domain.tables.table import MeasurementTable

    measured = options.columns.read(options.file)
    return [measured] if isinstance(measured, MeasurementTable) else measured.tables


def _content(
    tables: "Sequence[MeasurementTable]", path: Path, to: Literal["csv", "extra-p"]
) -> str:
    """Tables as the text of a file; InputError if the format cannot hold them."""
    from autotune.domain.tables.table import Tables
    from autotune.errors import Fault, InputError
    from autotune.files.tables.writers import to_csv, to_extrap

    if to == "csv" and len(tables) > 1:
        hint = "name one: --response NAME, or --to extra-p"
        found = f"{len(tables)} responses"
        raise InputError(Fault(where=str(path), found=found, expected="one for CSV", hint=hint))
    return to_csv(tables[0]) if to == "csv" else to_extrap(Tables(tables=tuple(tables)))
