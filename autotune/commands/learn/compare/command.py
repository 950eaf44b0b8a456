"""``autotune learn compare``: models against one another, and against an analytical one."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune.commands.learn.curve_options import (
    CurveOptions,
    Page,
    check_models,
    check_page,
    leave_if_interrupted,
    write_page,
)
from autotune.commands.learn.table_options import FormulaOptions, Measurements, TableOptions
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import TerminalProgress, document, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autotune.domain.tables.table import MeasurementTable
    from autotune.learning.comparison.curve_fits import ComparedModel
    from autotune.learning.formulas.base import Formula

EXAMPLE = (
    "Example: autotune learn compare runs.csv --models pool,influence --sizes 16,32,64;"
    " autotune learn compare runs.csv --formula smg2000-1d"
    " --constant alpha=1e-6 --constant beta=1e-9 --constant f=1e-10 --convention kaltenecker"
)


@command_options
class CompareModelsOptions:
    """Options of ``autotune learn compare``, in the order of its help."""

    file: Measurements
    curves: CurveOptions
    convention: Annotated[
        Literal["textbook", "kaltenecker"],
        typer.Option(
            "--convention",
            help="How distances are computed; kaltenecker: as in Kaltenecker's tables.",
        ),
    ] = "textbook"
    analytical_model: FormulaOptions
    count_constant: Annotated[
        bool,
        typer.Option("--count-constant", help="Syntactic score: count constants as terms."),
    ] = False
    by_part: Annotated[
        bool,
        typer.Option(
            "--by-part",
            help="Also compare the sum of one model per part of the program (region, call path);"
            " only for parts that do not contain one another.",
        ),
    ] = False
    columns: TableOptions
    output: Page = None
    json: Json = False


@command
def compare(options: CompareModelsOptions) -> None:
    """Show how well models predict unseen rows.

    Learning curves show the error by the number of rows learned from; they come from repeated,
    seeded splits. For the largest training set, semantic measures compare the models with
    the measurements and with the analytical model, and learned formulas get a syntactic score. The
    analytical model is a column predicted_s, --analytical, or --formula.
    """
    from autotune.commands.learn.compare import document as documents
    from autotune.commands.learn.compare import text
    from autotune.learning.comparison import model_comparison
    from autotune.learning.models.formula_predictions import with_analytical

    curves = options.curves
    formula = options.analytical_model.made(options.columns.analytical)
    scoring = curves.scoring()
    check_models(curves.model_names)
    check_page(options.output)
    table, parts = _read(options)
    if formula is not None:
        table = with_analytical(table, formula)
    request = model_comparison.ComparisonRequest(
        split_plan=curves.splits(table, curves.leave_out),
        scoring=scoring,
        convention=options.convention,
        formula=formula,
        constant=options.count_constant,
    )
    progress = TerminalProgress()
    comparison = model_comparison.compare(
        _contenders(options, table, parts, formula), request, progress
    )
    progress.close()
    tables = text.comparison(comparison)
    if options.output is not None:
        write_page(comparison.curve, f"Models of {table.name}", tables, options.output)
    if options.json:
        document(documents.comparison(comparison))
    else:
        say(tables)
    leave_if_interrupted(comparison.curve)


def _read(
    options: CompareModelsOptions,
) -> "tuple[MeasurementTable, Mapping[str, MeasurementTable]]":
    """The table of the file, and with ``--by-part`` those of the parts of the program."""
    from autotune.domain.tables.table import Tables
    from autotune.errors import Fault, InputError
    from autotune.learning.models.parts import whole_and_parts

    if not options.by_part:
        return options.columns.read_one(options.file), {}
    tables = options.columns.read(options.file)
    if not isinstance(tables, Tables):
        fault = Fault(
            where=str(options.file),
            found="one response",
            expected="regions or call paths of one metric",
        )
        raise InputError(fault)
    return whole_and_parts(tables)


def _contenders(
    options: CompareModelsOptions,
    table: "MeasurementTable",
    parts: "Mapping[str, MeasurementTable]",
    formula: "Formula | None",
) -> "tuple[ComparedModel, ...]":
    """The models to compare; with ``--by-part`` also those that sum models of the parts."""
    from autotune.learning.comparison import model_comparison
    from autotune.learning.models.catalogue import DEFAULT

    names = options.curves.model_names
    contenders = model_comparison.contenders(
        table, names or model_comparison.default_models(table, formula)
    )
    if options.by_part:
        contenders += model_comparison.by_part(table, parts, names or (DEFAULT,))
    return contenders
