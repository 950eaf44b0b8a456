"""``autotune learn fit``: models fitted to all rows of a table, to be read and to predict with."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.learn.curve_options import check_models, listed
from autotune.commands.learn.table_options import FormulaOptions, Measurements, TableOptions, write
from autotune.commands.options import (
    USUAL_CONFIDENCE,
    Confidence,
    Json,
    command,
    command_options,
    share,
)
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    from autotune.learning.models.fits import Fits, Predicted

EXAMPLE = (
    "Example: autotune learn fit runs.csv --models ridge;"
    " autotune learn fit runs.csv --models ridge --predict new-rows.csv -o predicted.csv"
)


@command_options
class FitOptions:
    """Options of ``autotune learn fit``, in the order of its help."""

    file: Measurements
    models: Annotated[
        str,
        typer.Option(
            "--models",
            metavar="MODEL,...",
            help="Which models are fitted; the first one predicts. Default: pool, influence, and"
            " pmnf if the table allows it.",
        ),
    ] = ""
    predict: Annotated[
        Path | None,
        typer.Option(
            "--predict",
            metavar="ROWS.csv",
            help="Also predict these rows, with the parameters as columns; other columns are kept.",
        ),
    ] = None
    confidence: Confidence = USUAL_CONFIDENCE
    analytical_model: FormulaOptions
    columns: TableOptions
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="With --predict: the CSV file. Default: stdout."),
    ] = None
    json: Json = False


@command
def fit(options: FitOptions) -> None:
    """Fit models to all rows, and predict new ones.

    Prints whole formulas, their terms by influence, their errors.

    Errors are those of rows held out in turn (five folds), with the standard error of their mean.
    With --predict the first model adds median, low, high and outside to each row of a CSV.
    """
    from autotune.commands.learn.fit import document as documents
    from autotune.learning.comparison import model_comparison
    from autotune.learning.comparison.curve_fits import Scoring
    from autotune.learning.models import fits
    from autotune.learning.models.formula_predictions import with_analytical
    from autotune.learning.models.rows_to_predict import read_rows

    analytical = options.columns.analytical
    formula = options.analytical_model.made(analytical)
    if options.output is not None and options.predict is None:
        raise typer.BadParameter("needs --predict", param_hint="--output")
    level = Scoring(level=share(options.confidence, "--confidence")).level
    names = listed(options.models)
    check_models(names)
    _check_output(options.output, (options.file, options.predict, options.columns.model))
    table = options.columns.read_one(options.file)
    if formula is not None:
        table = with_analytical(table, formula)
    contenders = model_comparison.contenders(table, names or fits.usual_models(table))
    rows = options.predict and read_rows(
        options.predict, table, analytical=analytical, formula=formula
    )
    progress = TerminalProgress()
    fitted = fits.fit_all(table, contenders, progress)
    progress.close()
    predicted = fits.predict(fitted, rows, level) if rows else None
    if options.json:
        _write(predicted, options)
        document(documents.fits(fitted, predicted))
    else:
        _show(fitted, predicted, options)
    if fitted.interrupted:
        note(f"interrupted after {len(fitted.models)} of {len(contenders)} models")
        raise typer.Exit(130)


def _write(predicted: "Predicted | None", options: FitOptions) -> None:
    """Write the predictions to the file of ``--output`` if predictions and a file are requested."""
    from autotune.commands.learn.fit import text

    if predicted is not None and options.output is not None:
        write(text.table(predicted), options.output, options.predict)


def _show(fitted: "Fits", predicted: "Predicted | None", options: FitOptions) -> None:
    """Print the models to stdout, or to stderr where the predictions go to stdout."""
    from autotune.commands.learn.fit import text

    _write(predicted, options)
    if predicted is None:
        say(text.fits(fitted))
        return
    summary = f"{text.fits(fitted)}\n\n{text.summary(predicted, fitted.table.unit)}"
    if options.output is not None:
        say(summary)
    else:
        note(summary)
        typer.echo(text.table(predicted), nl=False)


def _check_output(path: Path | None, sources: "tuple[Path | None, ...]") -> None:
    """Refuse, before anything is fitted, an output file that is an input file or not writable."""
    from autotune.errors import Fault, InputError

    if path is None:
        return
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        found = f"a file cannot be written into {path.parent}"
        raise InputError(Fault(where=str(path), found=found, expected="a folder that is there"))
    for source in sources:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise typer.BadParameter(f"is {source}, which is read", param_hint="--output")
