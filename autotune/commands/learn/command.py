"""``autotune learn``: models learned from measurements, and the designs that they learn from."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autotune.commands.learn.compare import command as compare_command
from autotune.commands.learn.fit import command as fit_command
from autotune.commands.learn.show import command as show_command
from autotune.commands.learn.table_options import write
from autotune.commands.options import Json
from autotune.commands.output import TerminalProgress, document, note

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learned models: which rows to measure, what they teach, how models compare.",
)

DESIGN_EXAMPLE = (
    "Example: autotune learn design space.yaml --kind plackett-burman --levels 3 -o rows.csv;"
    " autotune learn design configs/quickstart.yaml --kind d-optimal --terms linear -n 12"
)

KindName = Literal[
    "full-factorial", "random", "plackett-burman", "central-composite", "box-behnken", "sobol",
    "d-optimal",
]  # fmt: skip


@app.command("design", epilog=DESIGN_EXAMPLE)
def design(
    file: Annotated[
        Path,
        typer.Argument(
            help="Parameters and constraints (schema autotune.design/1), a config, a variability"
            " model of SPL Conqueror, or a table of measurements.",
        ),
    ],
    kind: Annotated[KindName, typer.Option("--kind", help="Which design.")] = "sobol",
    rows: Annotated[
        int | None,
        typer.Option("--rows", "-n", help="How many to measure; of Plackett-Burman its n.", min=1),
    ] = None,
    levels: Annotated[
        int | None, typer.Option("--levels", "-l", help="Of Plackett-Burman: 3, 5 or 7.")
    ] = None,
    terms: Annotated[
        Literal["linear", "interactions", "quadratic"] | None,
        typer.Option("--terms", help="What a D-optimal design is for; interactions if left out."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same rows for the same seed.")] = 0,
    illegal: Annotated[
        Literal["repair", "drop"] | None,
        typer.Option(
            "--illegal",
            help="Points that constraints forbid: moved to the nearest allowed row, or left out."
            " Default: repair; a Sobol sequence passes over them while that yields rows.",
        ),
    ] = None,
    compatibility: Annotated[
        Literal["spl-conqueror"] | None,
        typer.Option("--compatibility", help="Values of levels and cube points as it has them."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="Of a table: its variability model (XML).")
    ] = None,
    beyond: Annotated[
        bool,
        typer.Option("--beyond", help="Of a table: also combinations that it does not hold."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file; stdout if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Which rows to measure, so that a model can be learned from few of them.

    The rows as CSV, a column per parameter; what to know of them on stderr: aliased parameters,
    points that constraints forbid. Of a config the first column is the candidate.
    """
    from autotune.commands.learn.design import document as documents
    from autotune.commands.learn.design import flow as design_flow
    from autotune.commands.learn.design import text
    from autotune.learning.designs import DesignPlan

    plan = DesignPlan(
        kind=kind,
        rows=rows,
        levels=levels,
        terms=terms,
        seed=seed,
        treatment=illegal,
        compatibility=compatibility,
    )
    progress = TerminalProgress()
    found = design_flow.designed(file, plan, progress, model=model, beyond=beyond)
    progress.close()
    table = text.table(found.design, found.candidates)
    if output is not None:
        write(table, output, file)
    if json:
        document(
            documents.DesignDocument(
                source=found.space.source,
                notes=found.space.notes,
                design=found.design,
                candidates=found.candidates,
            )
        )
        return
    note(text.told(found.design, found.space))
    if output is None:
        typer.echo(table, nl=False)


app.command("show", epilog=show_command.EXAMPLE)(show_command.show)
app.command("compare", epilog=compare_command.EXAMPLE)(compare_command.compare)
app.command("fit", epilog=fit_command.EXAMPLE)(fit_command.fit)
