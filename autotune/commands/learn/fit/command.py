"""``autotune learn fit``: models fitted to all rows of a table, to be read and to predict with."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.learn.curve_options import Level, known_models, listed
from autotune.commands.learn.table_options import (
    Analytical,
    Categorical,
    Constants,
    Format,
    FormulaName,
    Model,
    Response,
    Without,
    columns,
    formula_of,
    write,
)
from autotune.commands.options import Json, share
from autotune.commands.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from autotune.learning.models.fits import Fits, Predicted

EXAMPLE = (
    "Example: autotune learn fit benchmarks/recorded/wave1d.json.gz --models ridge;"
    " autotune learn show benchmarks/recorded/wave1d.json.gz -o runs.csv;"
    " autotune learn fit runs.csv --models ridge --predict runs.csv -o predicted.csv"
)

Models = Annotated[
    str,
    typer.Option(
        "--models",
        help="Between commas, the one that predicts first; by default pool, influence, and pmnf"
        " where the table allows it.",
    ),
]
Predict = Annotated[
    Path | None,
    typer.Option(
        "--predict",
        metavar="ROWS.csv",
        help="Also predict these rows: the parameters as columns, others are kept.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="CSV file of --predict; stdout if left out."),
]


def fit(
    file: Annotated[Path, typer.Argument(help="Measurements, as autotune learn show reads them.")],
    models: Models = "",
    predict: Predict = None,
    confidence: Level = "90 %",
    formula: FormulaName = None,
    constant: Constants = None,
    model: Model = None,
    response: Response = None,
    without: Without = None,
    analytical: Analytical = None,
    categorical: Categorical = None,
    format: Format = None,  # noqa: A002
    output: Output = None,
    json: Json = False,
) -> None:
    """Models fitted to all rows: their whole formulas, their terms by influence, their errors.

    Errors are of rows held out in turn (five folds), with the standard error of their mean. With
    --predict the first model adds median, low, high and outside to each row of a CSV.
    """
    from autotune.commands.learn.fit import document as documents
    from autotune.commands.learn.fit import text
    from autotune.files.tables import read_one
    from autotune.learning.comparison import model_comparison
    from autotune.learning.comparison.curve_fits import Scoring
    from autotune.learning.models import fits
    from autotune.learning.models.formula_predictions import with_analytical
    from autotune.learning.models.rows_to_predict import read_rows

    made = formula_of(formula, constant, analytical)
    if output is not None and predict is None:
        raise typer.BadParameter("needs --predict", param_hint="--output")
    level = Scoring(level=share(confidence, "--confidence")).level
    known_models(listed(models))
    _check_output(output, (file, predict, model))
    wanted = columns(without, analytical, categorical)
    table = read_one(file, model=model, response=response, format=format, wanted=wanted)
    if made is not None:
        table = with_analytical(table, made)
    entered = model_comparison.contenders(table, listed(models) or fits.usual_models(table))
    rows = predict and read_rows(predict, table, analytical=analytical, formula=made)
    progress = TerminalProgress()
    found = fits.fit_all(table, entered, progress)
    progress.close()
    said = fits.predict(found, rows, level) if rows else None
    if said is not None and output is not None:
        write(text.table(said), output, predict)
    if json:
        document(documents.fits(found, said))
    else:
        _tell(found, said, output)
    if found.interrupted:
        note(f"interrupted after {len(found.models)} of {len(entered)} models")
        raise typer.Exit(130)


def _tell(found: "Fits", said: "Predicted | None", output: Path | None) -> None:
    """The fits on stdout; on stderr where the predictions are there."""
    from autotune.commands.learn.fit import text

    if said is None:
        typer.echo(text.fits(found))
        return
    told = f"{text.fits(found)}\n\n{text.told(said, found.table.unit)}"
    if output is not None:
        typer.echo(told)
    else:
        note(told)
        typer.echo(text.table(said), nl=False)


def _check_output(path: Path | None, sources: "tuple[Path | None, ...]") -> None:
    """Before anything is fitted: a file that can be written, and none of those that are read."""
    from autotune.errors import Fault, InputError

    if path is None:
        return
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        found = f"a file cannot be written into {path.parent}"
        raise InputError(Fault(where=str(path), found=found, expected="a folder that is there"))
    for source in sources:
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise typer.BadParameter(f"is {source}, which is read", param_hint="--output")
