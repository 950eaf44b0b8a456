"""``autotune learn compare``: models against one another, and against an analytical one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune.commands.learn.curve_options import (
    Drawing,
    LeaveOut,
    Level,
    Models,
    Page,
    Repeats,
    Seed,
    Sizes,
    Top,
    check_page,
    known_models,
    leave_if_interrupted,
    listed,
    numbers,
    sizes_of,
    write_page,
)
from autotune.commands.learn.table_options import (
    Analytical,
    Categorical,
    Constants,
    Format,
    FormatName,
    FormulaName,
    Model,
    Response,
    Without,
    columns,
    formula_of,
)
from autotune.commands.options import Json, share
from autotune.commands.output import TerminalProgress, document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autotune.domain.tables.table import MeasurementTable
    from autotune.files.tables import Columns

EXAMPLE = (
    "Example: autotune learn compare runs.csv --models pool,influence --sizes 16,32,64;"
    " autotune learn compare runs.csv --formula smg2000-1d"
    " --constant alpha=1e-6 --constant beta=1e-9 --constant f=1e-10 --convention kaltenecker"
)


def compare(
    file: Annotated[Path, typer.Argument(help="Measurements, as autotune learn show reads them.")],
    models: Models = "",
    sizes: Sizes = "",
    repeats: Repeats = 5,
    seed: Seed = 0,
    leave_out: LeaveOut = "",
    design: Drawing = "random",
    top: Top = "1,3,10",
    confidence: Level = "90 %",
    convention: Annotated[
        Literal["textbook", "kaltenecker"],
        typer.Option("--convention", help="Of the distances; kaltenecker: as in his tables."),
    ] = "textbook",
    formula: FormulaName = None,
    constant: Constants = None,
    count_constant: Annotated[
        bool,
        typer.Option("--count-constant", help="Syntactic score: constants are terms, too."),
    ] = False,
    by_part: Annotated[
        bool,
        typer.Option(
            "--by-part",
            help="Also a model for each part of the program (region, call path), summed; of parts"
            " that do not contain one another.",
        ),
    ] = False,
    model: Model = None,
    response: Response = None,
    without: Without = None,
    analytical: Analytical = None,
    categorical: Categorical = None,
    format: Format = None,  # noqa: A002
    output: Page = None,
    json: Json = False,
) -> None:
    """How well models predict rows that they have not seen, by how many they have.

    Learning curves over repeated, seeded splits; then, of the largest training set, the semantic
    measures against what was measured and against the analytical model, and the syntactic score of
    learned formulas. The analytical model is a column predicted_s, --analytical, or --formula.
    """
    from autotune.commands.learn.compare import document as documents
    from autotune.commands.learn.compare import text
    from autotune.learning.comparison import model_comparison
    from autotune.learning.comparison.curve_fits import Scoring
    from autotune.learning.comparison.splits import SplitPlan
    from autotune.learning.models.catalogue import DEFAULT
    from autotune.learning.models.formula_predictions import with_analytical

    made = formula_of(formula, constant, analytical)
    scoring = Scoring(tops=numbers(top, "--top"), level=share(confidence, "--confidence"))
    known_models(listed(models))
    check_page(output)
    wanted = columns(without, analytical, categorical)
    table, parts = _read(file, model, response, format, wanted, by_part=by_part)
    if made is not None:
        table = with_analytical(table, made)
    request = model_comparison.ComparisonRequest(
        course=SplitPlan(
            sizes=sizes_of(sizes, table, leave_out),
            repeats=repeats,
            seed=seed,
            leave_out=leave_out,
            drawing=design,
        ),
        scoring=scoring,
        convention=convention,
        formula=made,
        constant=count_constant,
    )
    names = listed(models) or model_comparison.default_models(table, made)
    entered = model_comparison.contenders(table, names)
    if by_part:
        entered += model_comparison.by_part(table, parts, listed(models) or (DEFAULT,))
    progress = TerminalProgress()
    found = model_comparison.compare(entered, request, progress)
    progress.close()
    told = text.comparison(found)
    if output is not None:
        write_page(found.curve, f"Models of {table.name}", told, output)
    if json:
        document(documents.comparison(found))
    else:
        typer.echo(told)
    leave_if_interrupted(found.curve)


def _read(
    file: Path,
    model: Path | None,
    response: str | None,
    format: "FormatName | None",  # noqa: A002
    wanted: "Columns",
    *,
    by_part: bool,
) -> "tuple[MeasurementTable, Mapping[str, MeasurementTable]]":
    """The one table of a file; ``by_part``: of the whole program, and those of its parts."""
    from autotune.domain.tables.table import Tables
    from autotune.errors import Fault, InputError
    from autotune.files.tables import read, read_one
    from autotune.learning.models.parts import whole_and_parts

    if not by_part:
        one = read_one(file, model=model, response=response, format=format, wanted=wanted)
        return one, {}
    found = read(file, model=model, response=response, format=format, wanted=wanted)
    if not isinstance(found, Tables):
        told, expected = "one response", "regions or call paths of one metric"
        raise InputError(Fault(where=str(file), found=told, expected=expected))
    return whole_and_parts(found)
