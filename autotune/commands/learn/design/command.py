"""``autotune learn design``: which rows to measure, so that a model can be learned from them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autotune.commands.learn.table_options import write
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import TerminalProgress, document, note

EXAMPLE = (
    "Example: autotune learn design space.yaml --kind plackett-burman --levels 3 -o rows.csv;"
    " autotune learn design configs/quickstart.yaml --kind d-optimal --terms linear -n 40"
)

KindName = Literal[
    "full-factorial", "random", "plackett-burman", "central-composite", "box-behnken", "sobol",
    "d-optimal",
]  # fmt: skip


@command_options
class DesignOptions:
    """Options of ``autotune learn design``, in the order of its help."""

    file: Annotated[
        Path,
        typer.Argument(
            help="Parameters and constraints (schema autotune.design/1), a config, a variability"
            " model of SPL Conqueror, or a table of measurements.",
        ),
    ]
    kind: Annotated[KindName, typer.Option("--kind", help="The kind of design.")] = "sobol"
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            "-n",
            help="How many rows to measure; for a Plackett-Burman design, its n.",
            min=1,
        ),
    ] = None
    levels: Annotated[
        int | None,
        typer.Option("--levels", "-l", help="Levels of a Plackett-Burman design: 3, 5 or 7."),
    ] = None
    terms: Annotated[
        Literal["linear", "interactions", "quadratic"] | None,
        typer.Option(
            "--terms", help="The model that a D-optimal design is for. Default: interactions."
        ),
    ] = None
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the design; the same seed, the same rows.")
    ] = 0
    illegal: Annotated[
        Literal["repair", "drop"] | None,
        typer.Option(
            "--illegal",
            help="Points that constraints forbid: moved to the nearest allowed row, or left out."
            " Default: repair; a Sobol sequence passes over them while that yields rows.",
        ),
    ] = None
    compatibility: Annotated[
        Literal["spl-conqueror"] | None,
        typer.Option("--compatibility", help="Choose levels and cube points as this tool does."),
    ] = None
    model: Annotated[
        Path | None, typer.Option("--model", help="The variability model of a table (XML).")
    ] = None
    beyond: Annotated[
        bool,
        typer.Option("--beyond", help="Also choose combinations that a table does not hold."),
    ] = False
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file. Default: stdout.")
    ] = None
    json: Json = False


@command
def design(options: DesignOptions) -> None:
    """Choose few rows to measure that a model can learn from.

    Prints the rows as CSV, a column per parameter. Notes on aliased parameters and on points that
    constraints forbid go to stderr. If the space is a config, the first column is the candidate.
    """
    from autotune.commands.learn.design import document as documents
    from autotune.commands.learn.design import flow, text
    from autotune.learning.designs import DesignPlan

    flow.check_there(options.file)
    plan = DesignPlan(
        kind=options.kind,
        rows=options.rows,
        levels=options.levels,
        terms=options.terms,
        seed=options.seed,
        treatment=options.illegal,
        compatibility=options.compatibility,
    )
    progress = TerminalProgress()
    result = flow.designed(options.file, plan, progress, model=options.model, beyond=options.beyond)
    progress.close()
    table = text.table(result.design, result.candidates)
    if options.output is not None:
        write(table, options.output, options.file)
    if options.json:
        document(
            documents.DesignDocument(
                source=result.space.source,
                notes=result.space.notes,
                design=result.design,
                candidates=result.candidates,
            )
        )
        return
    note(text.summary(result.design, result.space))
    if options.output is None:
        typer.echo(table, nl=False)
